"""How far the verdict of a released model can be believed, and what refining its answers takes, as it was measured.

    >>> read_verdict("eigenvalues-5", result.sha256).shares(in_distribution=False)
    Shares(right=0.41, precision=1.0, recall=0.99)

`benchmarks/verdict.py` writes results/verdicts/NAME.json, `benchmarks/certify.py` writes results/refined/NAME.json.
Both belong to weights, by their SHA-256.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from learnalg.files import read_json, results_folder, write_json

VERSION = 1


@dataclass(frozen=True)
class Counts:
    name: str
    in_distribution: bool
    num: int
    right: int  # within 5 %, by the criterion of the accuracy tables
    trusted: int
    both: int


class Shares(NamedTuple):
    right: float
    precision: float | None  # of the trusted, right; None where none is trusted
    recall: float | None  # of the right, trusted; None where none is right


@dataclass(frozen=True)
class Verdict:
    model: str
    sha256: str  # of the weights
    sets: tuple[Counts, ...]
    confidence_auc: float | None  # of the model's confidence alone, as a predictor of failures
    provenance: dict[str, Any]
    version: int = VERSION

    def shares(self, in_distribution: bool) -> Shares:
        chosen = [test for test in self.sets if test.in_distribution == in_distribution]
        num, right, trusted, both = (
            sum(getattr(t, key) for t in chosen) for key in ("num", "right", "trusted", "both")
        )
        return Shares(right / num, both / trusted if trusted else None, both / right if right else None)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, asdict(self))


@dataclass(frozen=True)
class Refined:
    model: str
    sha256: str
    task: str
    num: int  # answers of the model's test split that were refined
    certified: int  # without NumPy
    exact: int  # with a residual of at most 1e-12
    wrong: int  # certified, but further from the right answer than the certificate says
    worst_error: float  # of a certified answer, relative, in the Frobenius norm
    steps: float  # mean number from the prediction
    standard_steps: float  # and from the standard start
    seed: int
    provenance: dict[str, Any]
    version: int = VERSION

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, asdict(self))


def verdict_file(name: str) -> Path:
    return results_folder() / "verdicts" / f"{name}.json"


def refined_file(name: str) -> Path:
    return results_folder() / "refined" / f"{name}.json"


def read_verdict(name: str, sha256: str) -> Verdict | None:
    """None where there is none for these weights."""
    values = _read(verdict_file(name), sha256)
    return Verdict(**values | {"sets": tuple(Counts(**test) for test in values["sets"])}) if values else None


def read_refined(name: str, sha256: str) -> Refined | None:
    """None where there is none for these weights."""
    values = _read(refined_file(name), sha256)
    return Refined(**values) if values else None


def _read(path: Path, sha256: str) -> dict[str, Any]:
    values = read_json(path) if path.is_file() else {}
    return values if values.get("version") == VERSION and values.get("sha256") == sha256 else {}
