"""What a run answers, as it is written to and read from JSON: one versioned type, here and nowhere else.

    >>> Result.read(Path("results/eigenvalues-8.json")).report.accuracy["l1"]["0.05"]

A `Report` is one evaluation. A `Result` is a whole run: its config, its learning curve, its report, where it was made,
and the SHA-256 of the weights that were evaluated.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from learnalg.config import RunConfig, from_dict, to_dict
from learnalg.files import read_json, write_json

VERSION = 2

# Norm -> tolerance, as text -> share of predictions. Tolerance '0.0' is the exact solution.
Shares = dict[str, dict[str, float]]


def wilson(share: float, num: int, z: float = 1.959964) -> tuple[float, float]:
    """Interval of a share of `num`, of 95 % unless another number `z` of deviations is given."""
    centre = (share + z * z / (2 * num)) / (1 + z * z / num)
    half = z / (1 + z * z / num) * math.sqrt(share * (1 - share) / num + z * z / (4 * num * num))
    return max(0.0, centre - half), min(1.0, centre + half)


@dataclass(frozen=True)
class Part:
    """Of a report, the examples of one size or one task."""

    num: int
    well_formed: float
    accuracy: Shares


@dataclass(frozen=True)
class Report:
    task: str
    num: int
    seed: int
    split: str
    well_formed: float
    accuracy: Shares
    interval: dict[str, dict[str, list[float]]]  # 95 %, Wilson
    distance_accuracy: Shares  # by |P - O| < tolerance |O|, for tasks judged otherwise
    malformed: dict[str, int]  # reason -> how many
    by_dimension: dict[str, Part]
    by_task: dict[str, Part]
    loss: float  # cross-entropy a token, the right prefix given
    seconds: float
    data: dict[str, Any] = field(default_factory=dict)  # what was tested on


@dataclass(frozen=True)
class Point:
    """One evaluation along training, on the validation split."""

    examples: int
    loss: float
    accuracy: Shares


@dataclass(frozen=True)
class Origin:
    """What a run started from."""

    model: str
    part: str  # all, or encoder
    # Of it and of all runs before it; 0 where it is not known.
    examples: int = 0
    seconds: float = 0.0
    flops: float = 0.0


@dataclass(frozen=True)
class Result:
    config: RunConfig
    steps: int
    examples: int  # of this run
    seconds: float
    parameters: int
    flops_per_example: float
    report: Report
    provenance: dict[str, Any]
    sha256: str = ""  # of the weights that the report is of
    curve: tuple[Point, ...] = ()
    origin: Origin | None = None
    tests: dict[str, Report] = field(default_factory=dict)  # on other matrices than its own, by name
    released: str = ""  # the released model that this is
    note: str = ""  # what a reader must know
    version: int = VERSION

    # Of the run and of all runs behind the weights it started from.
    @property
    def all_examples(self) -> int:
        return self.examples + (self.origin.examples if self.origin else 0)

    @property
    def all_seconds(self) -> float:
        return self.seconds + (self.origin.seconds if self.origin else 0.0)

    @property
    def all_flops(self) -> float:
        return self.flops_per_example * self.examples + (self.origin.flops if self.origin else 0.0)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, asdict(self) | {"config": to_dict(self.config)})

    @classmethod
    def read(cls, path: Path) -> Result:
        values = read_json(path)
        if values.get("version") != VERSION:
            raise ValueError(f"{path} is no result of this version ({values.get('version')!r}, not {VERSION})")
        try:
            result: Result = _built(cls, values)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise ValueError(f"{path} is no result of a run: {error}") from None
        return result


def _built(hint: Any, value: Any) -> Any:
    """Nested dataclasses from nested dicts."""
    if hint is RunConfig:
        return from_dict(value)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return hint(**{name: _built(hints[name], entry) for name, entry in value.items()})  # type: ignore[operator]
    if type(None) in arguments:
        return None if value is None else _built(arguments[0], value)
    if origin is dict and dataclasses.is_dataclass(arguments[1]):
        return {key: _built(arguments[1], entry) for key, entry in value.items()}
    if origin is tuple:
        return tuple(_built(arguments[0], entry) for entry in value)
    return value


def describe_matrices(data: dict[str, Any]) -> str:
    """What a report was tested on, in a line: 'dim 5, iid-uniform, A=10'."""
    amplitude = "-".join(f"{a:g}" for a in data["amplitude"])
    matrices = f"dim {data['dim']}, {'+'.join(data['ensemble'])}, A={amplitude}"
    matrices += f", sigma x {data['sigma_factor']:g}" if data["sigma_factor"] != 1 else ""
    return matrices + (f", noise {data['noise']:g}" if data["noise"] else "")
