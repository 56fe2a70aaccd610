"""What the released models are, from their results alone: torch is not needed to choose one.

>>> models_for("eigenvalues", 5, 5)
['eigenvalues-5', ...]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape

from learnalg.evaluation.result import Result, percent
from learnalg.files import results_folder
from learnalg.problem import Problem
from learnalg.zoo.index import released as names_in_zoo


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


class Names(list[str]):
    """Names of models; a notebook shows a table of them."""

    def _repr_html_(self) -> str:
        rows = []
        for entry in index():
            if entry.name in self:
                data = entry.problem.config
                accuracy = " / ".join(map(percent, entry.accuracy))
                cells = (entry.name, data.task, data.dim, " + ".join(data.ensemble), accuracy)
                rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
        head = ("model", "task", "dim", "matrices", "accuracy at 5 / 2 / 1 / 0.5 %")
        return f"<table><tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>{''.join(rows)}</table>"


def released() -> Names:
    """The names of the released models."""
    return Names(names_in_zoo())


def index() -> list[Entry]:
    """Every released model that has a result."""
    paths = ((name, results_folder() / f"{name}.json") for name in names_in_zoo())
    return [Entry(name, Result.read(path)) for name, path in paths if path.is_file()]


def models_for(task: str, m: int, n: int, is_symmetric: bool = False, allow_outside: bool = False) -> list[str]:
    """The released models for a task and a size, the most accurate on its own test set first. Models of symmetric
    matrices are for these."""
    entries = [e for e in index() if task in e.problem.task_names]
    fitting = [e for e in entries if e.problem.dims.admits(m, n)]
    usable = [
        e for e in fitting or (entries if allow_outside else []) if is_symmetric or not e.problem.config.symmetric
    ]
    if not usable:
        sizes = ", ".join(
            f"{e.name} ({e.problem.config.dim}{', symmetric' * e.problem.config.symmetric})" for e in entries
        )
        kind = "matrices that are not symmetric" if fitting else "matrices"
        raise ValueError(f"no released model for {task} of {m}x{n} {kind}; there are: {sizes or 'none'}")
    return [e.name for e in sorted(usable, key=lambda e: e.accuracy, reverse=True)]
