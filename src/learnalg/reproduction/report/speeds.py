"""The table of how fast released models answer, beside NumPy (docs/linalg.md)."""

from __future__ import annotations

from collections.abc import Mapping

from learnalg.evaluation.result import Result
from learnalg.zoo.speed import SolveSpeed, read_speed

TITLES = ("model", "size", "model.solve", "learnalg.linalg", "each of a stack", "NumPy, one", "NumPy, each of a stack")
HEAD = ("| " + " | ".join(TITLES) + " |", "| " + " | ".join(["---"] * len(TITLES)) + " |")


def row(speed: SolveSpeed, folder: str = "../results/solve-speed") -> str:
    """Milliseconds."""
    m, n = speed.dims
    times = (speed.one, speed.function, speed.stack, speed.numpy_one, speed.numpy_stack)
    cells = [f"[{speed.model}]({folder}/{speed.model}.json)", f"{m}x{n}", *(f"{t:.2g}" for t in times)]
    return "| " + " | ".join(cells) + " |"


def speed_table(results: Mapping[str, Result]) -> str:
    """Of each model that was timed with these weights."""
    known = [speed for name, result in results.items() if (speed := read_speed(name, result.sha256))]
    return "\n".join([*HEAD, *map(row, known)])
