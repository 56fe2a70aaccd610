"""Numbers read out of a cell's JSON, by path.

    report/accuracy/l1/0.05   an entry, by its keys
    reached/0.05/0.99         examples until 99 % were within 5 % on the validation set; None if they never were
    after/18000000/0.05       accuracy within 5 % on the validation set after so many examples, or at the end

The last two come from the curve, so they are as coarse as its evaluations: the paper's are 300,000 examples apart.
"""

from __future__ import annotations

from typing import Any


def lookup(result: dict[str, Any], path: str) -> Any:
    kind, *rest = path.split("/")
    if kind == "reached":
        return reached(result["curve"], tolerance=rest[0], share=float(rest[1]))
    if kind == "after":
        return after(result["curve"], int(rest[0]), tolerance=rest[1])
    value: Any = result
    for part in path.split("/"):
        if not isinstance(value, dict) or part not in value:
            raise ValueError(f"a result has no {path}: nothing at {part!r}")
        value = value[part]
    return value


def reached(curve: list[dict[str, Any]], tolerance: str, share: float) -> int | None:
    return next((point["examples"] for point in curve if point["accuracy"][tolerance] >= share), None)


def after(curve: list[dict[str, Any]], examples: int, tolerance: str) -> float:
    """At the first evaluation after at least so many examples; of a shorter run, at its last."""
    point = next((point for point in curve if point["examples"] >= examples), curve[-1])
    return float(point["accuracy"][tolerance])


def place_of(result: dict[str, Any], path: str) -> dict[str, Any] | None:
    """The report, or the part of one, that an accuracy is from; None for what is no accuracy of a report."""
    above, slash, _ = path.partition("/accuracy/")
    found: Any = lookup(result, above) if slash else None
    return found
