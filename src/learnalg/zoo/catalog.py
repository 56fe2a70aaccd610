"""What the released models are, from their results alone: torch is not needed to choose one.

>>> best_model("eigenvalues", 5, 5)
'eigenvalues-5'
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from learnalg.evaluation.result import Result
from learnalg.files import results_folder
from learnalg.problem import Problem
from learnalg.zoo.index import released


@dataclass(frozen=True)
class Entry:
    name: str
    result: Result

    @cached_property
    def problem(self) -> Problem:
        return Problem(self.result.config.data)

    @property
    def accuracy(self) -> tuple[float, ...]:
        """At 5, 2, 1 and 0.5 % tolerance, in L1."""
        return tuple(self.result.report.accuracy["l1"][t] for t in ("0.05", "0.02", "0.01", "0.005"))

    def solves(self, task: str, m: int, n: int) -> bool:
        return any(name == task for name, _ in self.problem.tasks) and self.problem.dims.admits(m, n)


def index() -> list[Entry]:
    """Every released model that has a result."""
    paths = ((name, results_folder() / f"{name}.json") for name in released())
    return [Entry(name, Result.read(path)) for name, path in paths if path.is_file()]


def best_model(task: str, m: int, n: int, is_symmetric: bool = False, allow_outside: bool = False) -> str:
    """The released model that is most accurate on its own test set among those for a task and a size. One that was
    trained on symmetric matrices alone is for these."""
    entries = [e for e in index() if any(name == task for name, _ in e.problem.tasks)]
    fitting = [e for e in entries if e.solves(task, m, n)]
    fitting = [e for e in fitting if is_symmetric or not e.problem.config.symmetric]
    if not fitting and allow_outside:
        fitting = entries
    if not fitting:
        sizes = ", ".join(f"{e.name} ({e.problem.config.dim})" for e in entries) or "none"
        raise ValueError(f"no released model for {task} of {m}x{n} matrices; there are: {sizes}")
    return max(fitting, key=lambda e: e.accuracy).name
