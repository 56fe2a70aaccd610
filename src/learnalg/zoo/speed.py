"""How fast a released model answers, beside NumPy, as it was measured.

`benchmarks/solve.py` writes results/solve-speed/NAME.json; docs/linalg.md shows them. The times belong to weights, by
their SHA-256, and to a machine.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from learnalg.files import read_json, results_folder, write_json

VERSION = 1


@dataclass(frozen=True)
class SolveSpeed:
    """Milliseconds, medians."""

    model: str
    sha256: str  # of the weights
    dims: tuple[int, int]
    threads: int
    clock: str  # wall, or processor: the time of all threads
    one: float  # model.solve(A) of one problem
    function: float  # the function of learnalg.linalg, of one problem
    stack: float  # of each problem in a stack of `num`
    numpy_one: float
    numpy_stack: float
    num: int
    provenance: dict[str, Any]
    version: int = VERSION

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, asdict(self))


def speed_file(name: str) -> Path:
    return results_folder() / "solve-speed" / f"{name}.json"


def read_speed(name: str, sha256: str) -> SolveSpeed | None:
    """None where there is none for these weights."""
    path = speed_file(name)
    values = read_json(path) if path.is_file() else {}
    if values.get("version") != VERSION or values.get("sha256") != sha256:
        return None
    return SolveSpeed(**values | {"dims": tuple(values["dims"])})
