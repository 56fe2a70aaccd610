"""Weights by the name of their model.

    >>> config, model = load_model("eigenvalues-3")

The result of a run or of a release has the SHA-256 of the weights; a file with another one is refused.
"""

from __future__ import annotations

from pathlib import Path

from torch import Tensor, nn

from learnalg.config import RunConfig
from learnalg.files import checksum, read_json
from learnalg.models.weights import build_model, read_model
from learnalg.zoo.index import MODEL_FILE, RESULT_FILE, ZOO, find_model, released, result_of
from learnalg.zoo.lawt import read_lawt

__all__ = ["MODEL_FILE", "RESULT_FILE", "ZOO", "find_model", "load_model", "load_weights", "released", "result_of"]


def check_weights(path: Path) -> None:
    """Refuses weights that are not those that their result was measured with."""
    result = result_of(path)
    expected = read_json(result).get("sha256", "") if result.is_file() else ""
    if expected and checksum(path) != expected:
        raise ValueError(f"{path} is damaged: it is not the file that {result} was measured with (SHA-256)")


def load_weights(name: str | Path) -> tuple[RunConfig, dict[str, Tensor]]:
    path = find_model(name)
    if path.suffix == ".pth":
        return read_lawt(path)
    if path.is_file():
        check_weights(path)
    return read_model(path)


def load_model(name: str | Path) -> tuple[RunConfig, nn.Module]:
    config, tensors = load_weights(name)
    return config, build_model(config, tensors, str(name))
