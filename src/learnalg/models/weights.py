"""A model's file: weights as safetensors, with the run's config inside.

>>> config, tensors = read_model(Path("runs/ev3/model.safetensors"))
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor, nn

from learnalg.config import RunConfig, from_dict, to_dict
from learnalg.config.upgrade import upgrade
from learnalg.files import load_tensors, save_tensors
from learnalg.models import build, sides
from learnalg.problem import Problem

FORMAT = "learnalg-2"
OLD_FORMAT = "learnalg-1"  # its config has other fields, and the same weights


def save_model(path: Path, config: RunConfig, model: nn.Module, **metadata: object) -> str:
    """Returns the file's SHA-256."""
    texts = {"format": FORMAT, "config": json.dumps(to_dict(config))} | {k: str(v) for k, v in metadata.items()}
    return save_tensors(path, model.state_dict(), texts)


def read_model(path: Path) -> tuple[RunConfig, dict[str, Tensor]]:
    tensors, metadata = load_tensors(path)
    if metadata.get("format") not in (FORMAT, OLD_FORMAT):
        raise ValueError(f"{path} was not written by learnalg (format {metadata.get('format')!r}, not {FORMAT!r})")
    try:
        values = json.loads(metadata["config"])
        values = upgrade(values) if metadata["format"] == OLD_FORMAT else values
        return from_dict(values), tensors
    except (KeyError, TypeError, AttributeError, ValueError) as error:  # of any other program
        raise ValueError(f"{path}: its config cannot be read: {error}") from None


def build_model(config: RunConfig, tensors: dict[str, Tensor], origin: str) -> nn.Module:
    """The network of a config with these weights, ready to predict. A file may ask for more memory than it has numbers:
    shapes are compared on torch's meta device, which takes none, before anything is built."""
    network = config.model
    if network.encoder_layers + network.decoder_layers > len(tensors):
        raise ValueError(f"the weights of {origin} do not fit: its config has more layers than there are tensors")
    seen = sides(Problem(config.data))
    with torch.device("meta"):
        check_shapes(build(network, *seen), tensors, origin)
    model = build(network, *seen)
    set_weights(model, tensors, origin)
    return model.eval()


def set_weights(model: nn.Module, tensors: dict[str, Tensor], origin: str, part: str = "all") -> None:
    """All of a model's weights, or those of a part, such as its encoder."""
    prefix = "" if part == "all" else f"{part}."
    tensors = {name: tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    check_shapes(model, tensors, origin, part)
    model.load_state_dict(tensors, strict=part == "all")


def check_shapes(model: nn.Module, tensors: dict[str, Tensor], origin: str, part: str = "all") -> None:
    """Refuses tensors that are not those of this model, or of that part of it."""
    prefix = "" if part == "all" else f"{part}."
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items() if name.startswith(prefix)}
    given = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if not own:
        raise ValueError(f"this model has no {part} to set the weights of")
    if own != given:
        name = next(n for n in [*own, *given] if own.get(n) != given.get(n))
        raise ValueError(
            f"the weights of {origin} do not fit: {name} is {given.get(name, 'missing')} there, "
            f"{own.get(name, 'missing')} in this model; use the same architecture, encodings and max_positions"
        )
