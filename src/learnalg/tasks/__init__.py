"""The problems (paper, section 2). A new one is a function that returns a `Task`, and a line here.

A task's keyword arguments are its options (`--task-options order=ascending`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from learnalg.tasks.add import add
from learnalg.tasks.eigen import eigenvalues, eigenvectors
from learnalg.tasks.inverse import inverse, symmetric_inverse
from learnalg.tasks.products import matmul, matvec
from learnalg.tasks.singular import singular_values, svd
from learnalg.tasks.task import Task
from learnalg.tasks.transpose import transpose

__all__ = ["COTRAINING", "GOALS", "TASKS", "Task", "get_task", "parse_subset"]

TASKS: dict[str, Callable[..., Task]] = {
    "transpose": transpose,
    "add": add,
    "matvec": matvec,
    "matmul": matmul,
    "eigenvalues": eigenvalues,
    "eigenvectors": eigenvectors,
    "singular_values": singular_values,
    "svd": svd,
    "inverse": inverse,
    "symmetric_inverse": symmetric_inverse,
}

# Joint training (appendix F.2): any subset of the tasks, mixed per example, a task token first on both sides.
COTRAINING = "cotraining"
GOALS = {  # the paper's letters: TA, TAD, ..., TADMEFI, EFI
    "T": "transpose",
    "A": "add",
    "D": "matvec",
    "M": "matmul",
    "E": "eigenvalues",
    "F": "eigenvectors",
    "I": "inverse",
}


def get_task(name: str, options: dict[str, str] | None = None) -> Task:
    if name not in TASKS:
        known = ", ".join([*TASKS, COTRAINING])
        raise ValueError(f"unknown task {name!r}; known: {known} (a task of your own needs --plugin FILE)")
    allowed = inspect.signature(TASKS[name]).parameters
    for option in options or {}:
        if option not in allowed:
            raise ValueError(f"task {name} has no option {option!r}; it has: {', '.join(allowed) or 'none'}")
    return TASKS[name](**(options or {}))


def parse_subset(names: tuple[str, ...]) -> tuple[str, ...]:
    """('TADM',) or ('transpose', 'add') -> names of tasks, in that order, each once."""
    expanded: list[str] = []
    for name in names:
        is_goal = name not in TASKS and name and all(letter in GOALS for letter in name)
        expanded += [GOALS[letter] for letter in name] if is_goal else [name]
    for name in expanded:
        if name not in TASKS:
            raise ValueError(
                f"unknown task {name!r} in cotraining; known: {', '.join(TASKS)}, or letters {''.join(GOALS)}"
            )
    if len(set(expanded)) != len(expanded) or len(expanded) < 2:
        raise ValueError(f"cotraining needs two or more different tasks, not {' '.join(names) or 'none'}")
    return tuple(expanded)
