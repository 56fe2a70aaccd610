"""Models by name: a run's folder, a .safetensors file, or a released model.

    >>> config, model = load_model("eigenvalues-5")

A released model is NAME.safetensors with its card NAME.md here, and its result NAME.json in the folder of results. The
result, of a run or of a release, has the SHA-256 of the weights, and a file with another one is refused.
"""

from __future__ import annotations

from pathlib import Path

from torch import Tensor, nn

from learnalg.config import RunConfig
from learnalg.files import checksum, read_json, results_folder
from learnalg.models.weights import build_model, read_model
from learnalg.naming import unknown

ZOO = Path(__file__).parent
MODEL_FILE, RESULT_FILE = "model.safetensors", "result.json"


def released() -> list[str]:
    """The names of the released models."""
    return sorted(path.stem for path in ZOO.glob("*.safetensors"))


def find_model(name: str | Path) -> Path:
    """The file of weights."""
    path = Path(name)
    if path.is_dir():
        return path / MODEL_FILE
    if path.exists():
        return path
    if str(name) not in released():
        raise unknown("run or model", str(name), released())
    return ZOO / f"{name}.safetensors"


def result_of(path: Path) -> Path:
    """Where the result of these weights is."""
    return results_folder() / f"{path.stem}.json" if path.parent == ZOO else path.with_name(RESULT_FILE)


def check_weights(path: Path) -> None:
    """Refuses weights that are not those that their result was measured with."""
    result = result_of(path)
    expected = read_json(result).get("sha256", "") if result.is_file() else ""
    if expected and checksum(path) != expected:
        raise ValueError(f"{path} is damaged: it is not the file that {result} was measured with (SHA-256)")


def load_weights(name: str | Path) -> tuple[RunConfig, dict[str, Tensor]]:
    path = find_model(name)
    if path.is_file():
        check_weights(path)
    return read_model(path)


def load_model(name: str | Path) -> tuple[RunConfig, nn.Module]:
    config, tensors = load_weights(name)
    return config, build_model(config, tensors, str(name))
