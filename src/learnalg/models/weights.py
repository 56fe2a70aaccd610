"""A model's file: weights as safetensors, with the run's config inside.

>>> config, tensors = read_model(Path("runs/ev3/model.safetensors"))
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from learnalg.config import RunConfig, from_dict, to_dict
from learnalg.config.upgrade import upgrade
from learnalg.files import load_tensors, save_tensors
from learnalg.models import build, sides
from learnalg.problem import Problem, check_attention

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


SPARE = 2**24  # numbers that a network may take beyond those of its weights, for tables of positions and values


class Building(TorchFunctionMode):
    """While a network is built for weights from a file. Random starts are left out, since the weights follow; and a
    config that asks for much more numbers than the file has is refused before they are taken."""

    def __init__(self, num: int, origin: str) -> None:
        super().__init__()
        self.left, self.origin = num + SPARE, origin

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", "") == "torch.nn.init":
            return kwargs["tensor"] if kwargs and "tensor" in kwargs else args[0]
        if func in (torch.empty, torch.zeros, torch.arange) and args:
            self.left -= math.prod(args[0] if isinstance(args[0], tuple | list) else args)
            if self.left < 0:
                raise ValueError(f"the weights of {self.origin} do not fit: its config asks for more than there are")
        return func(*args, **(kwargs or {}))


def build_model(config: RunConfig, tensors: dict[str, Tensor], origin: str) -> nn.Module:
    """The network of a config with these weights, ready to predict."""
    if config.model.encoder_layers + config.model.decoder_layers > len(tensors):
        raise ValueError(f"the weights of {origin} do not fit: its config has more layers than there are tensors")
    problem = Problem(config.data)
    check_attention(problem, config)
    with Building(sum(tensor.numel() for tensor in tensors.values()), origin):
        model = build(config.model, *sides(problem))
    set_weights(model, tensors, origin)
    return model.eval()


def set_weights(model: nn.Module, tensors: dict[str, Tensor], origin: str, part: str = "all") -> None:
    """All of a model's weights, or those of a part, such as its encoder."""
    prefix = "" if part == "all" else f"{part}."
    tensors = {name: tensor for name, tensor in tensors.items() if name.startswith(prefix)}
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
    model.load_state_dict(tensors, strict=part == "all")
