"""Where models and their results are: a run's folder, a .safetensors file, or a released model by its name.

    >>> find_model("eigenvalues-3")

A released model is NAME.safetensors with its card NAME.md here, and its result NAME.json in the folder of results.
"""

from __future__ import annotations

from pathlib import Path

from learnalg.files import results_folder
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
