"""The result of a run, as it is written to JSON and read from it: one versioned type, here and nowhere else.

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
from learnalg.config.checks import is_a
from learnalg.files import read_json, write_json
from learnalg.naming import unknown

VERSION = 2

# Norm -> tolerance, as text -> share of predictions. Tolerance '0.0' is the exact solution.
Shares = dict[str, dict[str, float]]


def wilson(share: float, num: int, z: float = 1.959964) -> tuple[float, float]:
    """Interval of a share of `num`, of 95 % unless another number `z` of deviations is given."""
    centre = (share + z * z / (2 * num)) / (1 + z * z / num)
    half = z / (1 + z * z / num) * math.sqrt(share * (1 - share) / num + z * z / (4 * num * num))
    return max(0.0, centre - half), min(1.0, centre + half)


def percent(share: float | None) -> str:
    """One decimal; two where one would make 100.0 of less than all. '-' for none."""
    if share is None:
        return "-"
    text = f"{100 * share:.1f}"
    return f"{math.floor(10_000 * share) / 100:.2f}" if text == "100.0" and share < 1 else text


# What a result says comes from a file: no HTML, no link and no other cell of a table. Code stays code.
QUOTED = str.maketrans({"\\": r"\\", "<": "&lt;", "[": r"\[", "]": r"\]", "|": r"\|", "\n": " ", "\r": " "})


def quoted(text: str) -> str:
    """Text of a result in Markdown."""
    return text.translate(QUOTED)


def _check_shares(where: str, num: int, accuracy: Shares) -> None:
    """What all who read a report count on."""
    if num < 1:
        raise ValueError(f"{where} is of {num} examples")
    if not accuracy or not all(accuracy.values()):
        raise ValueError(f"{where} has no accuracy")
    if len({tuple(shares) for shares in accuracy.values()}) > 1:
        raise ValueError(f"{where} has other tolerances in one norm than in another")
    for shares in accuracy.values():
        for tolerance, share in shares.items():
            if not 0 <= _number(tolerance) < math.inf or not 0 <= share <= 1:
                raise ValueError(f"{where} has an accuracy of {share} at the tolerance {tolerance!r}")


PROVENANCE = {"commit": str, "command": str, "time": str, "device": str, "machine": dict, "tested": dict}


def _check_provenance(provenance: dict[str, Any]) -> None:
    """What is there is of the kind that cards and tables show."""
    inner = {"cpu": provenance.get("machine"), "commit": provenance.get("tested")}
    values = [(name, provenance.get(name, kind()), kind) for name, kind in PROVENANCE.items()]
    values += [(name, part.get(name, ""), str) for name, part in inner.items() if isinstance(part, dict)]
    for name, value, kind in values:
        _need(isinstance(value, kind), f"provenance.{name}", value, "text" if kind is str else "a JSON object")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass(frozen=True)
class Part:
    """Of a report, the examples of one size or one task."""

    num: int
    well_formed: float
    accuracy: Shares

    def __post_init__(self) -> None:
        _check_shares("a part of a report", self.num, self.accuracy)


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

    def __post_init__(self) -> None:
        _check_shares("a report", self.num, self.accuracy)
        if any(len(between) != 2 for shares in self.interval.values() for between in shares.values()):
            raise ValueError("a report has an interval that is no pair")
        try:
            describe_matrices(self.data)
        except (LookupError, TypeError, ValueError):
            raise ValueError("a report's data do not describe matrices") from None


@dataclass(frozen=True)
class Point:
    """One evaluation along training, on the validation split."""

    examples: int
    loss: float
    accuracy: Shares
    by_dimension: Shares = field(default_factory=dict)  # size -> tolerance -> share; of several sizes

    def __post_init__(self) -> None:
        _check_shares("a point of a learning curve", 1, self.accuracy)


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

    def __post_init__(self) -> None:
        for report in (self.report, *self.tests.values()):
            if "l1" not in report.accuracy:
                raise ValueError("a result has no accuracy in l1")
        _check_provenance(self.provenance)

    # Of the run and of all runs that led to the weights it started from.
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
            raise ValueError(f"{path} is not a result of this version ({values.get('version')!r}, not {VERSION})")
        try:
            result: Result = built(cls, values, "result")
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        return result


def built(hint: Any, value: Any, name: str) -> Any:
    """Nested dataclasses from nested dicts. Each value must be of its field's type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if type(None) in arguments:
        return None if value is None else built(arguments[0], value, name)
    if dataclasses.is_dataclass(hint) or origin is dict:
        _need(isinstance(value, dict), name, value, "a JSON object")
        if hint is RunConfig:
            return from_dict(value)
        if origin is dict:
            return {key: built(arguments[1], entry, f"{name}.{key}") for key, entry in value.items()}
        return _dataclass(hint, value, name)
    if origin in (tuple, list):
        _need(isinstance(value, list), name, value, "a list")
        return origin(built(arguments[0], entry, f"{name}.{k}") for k, entry in enumerate(value))
    if hint is float:
        _need(is_a(value, float), name, value, "a finite number")
    else:
        _need(is_a(value, hint), name, value, "a whole number" if hint is int else "text")
    return value


def _dataclass(kind: Any, values: dict[str, Any], name: str) -> Any:
    hints, fields = typing.get_type_hints(kind), dataclasses.fields(kind)
    for key in values:
        if key not in hints:
            raise unknown(f"key of {name}", key, [field.name for field in fields])
    required = [f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING]
    missing = [key for key in required if key not in values]
    if missing:
        raise ValueError(f"{name} has no {', '.join(missing)}")
    return kind(**{key: built(hints[key], value, f"{name}.{key}") for key, value in values.items()})


def _need(condition: bool, name: str, value: Any, wanted: str) -> None:
    if not condition:
        raise ValueError(f"{name} is {str(value)[:40]!r}: must be {wanted}")


def point_of(line: dict[str, Any]) -> Point:
    """Of a line of a run's metrics that has an evaluation."""
    fields = {"examples": "examples", "valid_loss": "loss", "accuracy": "accuracy", "by_dimension": "by_dimension"}
    point: Point = built(Point, {field: line[name] for name, field in fields.items() if name in line}, "evaluation")
    return point


def describe_matrices(data: dict[str, Any]) -> str:
    """What a report was tested on, in a line: 'dim 5, iid-uniform, A=10'."""
    if not data:
        return "matrices that are not known"
    if data.get("data"):
        return f"dim {data['dim']}, pairs of {data['data'].partition(':sha256=')[0]}"
    amplitude = "-".join(f"{a:g}" for a in data["amplitude"])
    matrices = f"dim {data['dim']}, {'+'.join(data['ensemble'])}, A={amplitude}"
    matrices += f", sigma x {data['sigma_factor']:g}" if data["sigma_factor"] != 1 else ""
    return matrices + (f", noise {data['noise']:g}" if data["noise"] else "")
