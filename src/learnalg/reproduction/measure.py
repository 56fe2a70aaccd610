"""Numbers read out of a result, by path.

    report/accuracy/l1/0.05   an entry, by its names
    reached/0.05/0.99         examples until 99 % accuracy at 5 % tolerance on the validation split; None if never
    after/18000000/0.05       accuracy at 5 % tolerance on the validation split after so many examples, or at the end

The last two come from the curve, so they are as coarse as its evaluations: the paper's are 300,000 examples apart.
"""

from __future__ import annotations

from typing import Any

from learnalg.evaluation.result import Part, Point, Report, Result


def lookup(result: Result, path: str) -> Any:
    kind, *rest = path.split("/")
    if kind == "reached":
        return reached(result.curve, tolerance=rest[0], share=float(rest[1]))
    if kind == "after":
        return after(result.curve, int(rest[0]), tolerance=rest[1])
    value: Any = result
    for name in path.split("/"):
        entries = value if isinstance(value, dict) else vars(value) if isinstance(value, Result | Report | Part) else {}
        if name not in entries:
            raise ValueError(f"a result has no {path}: nothing at {name!r}")
        value = entries[name]
    return value


def reached(curve: tuple[Point, ...], tolerance: str, share: float) -> int | None:
    return next((point.examples for point in curve if point.accuracy["l1"][tolerance] >= share), None)


def after(curve: tuple[Point, ...], examples: int, tolerance: str) -> float:
    """At the first evaluation after at least so many examples; of a shorter run, at its last."""
    point = next((point for point in curve if point.examples >= examples), curve[-1])
    return point.accuracy["l1"][tolerance]


def report_behind(result: Result, path: str) -> Report | Part | None:
    """The report, or the part of one, that an accuracy is from; None for what is no accuracy of a report."""
    above, slash, _ = path.partition("/accuracy/")
    found: Any = lookup(result, above) if slash else None
    return found
