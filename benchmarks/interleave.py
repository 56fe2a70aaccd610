"""Several ways to do the same, timed in turn, so that a busy moment of the machine affects all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def interleave(variants: dict[str, Callable[[], object]], rounds: int) -> str:
    """The median time of each, of all rounds but the first."""
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, work in variants.items():
            begun = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - begun)
    return ", ".join(f"{name} {1000 * statistics.median(values[1:]):.0f} ms" for name, values in seconds.items())
