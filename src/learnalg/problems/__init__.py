"""The problems (paper, section 2). A new one is a function that returns a `Task`, and a line here.

A task's keyword arguments are its options (`--task eigenvectors:order=ascending`).
"""

from __future__ import annotations

from collections.abc import Callable

from learnalg.naming import make
from learnalg.problems.add import add
from learnalg.problems.eigen import eigenvalues, eigenvectors
from learnalg.problems.inverse import inverse, symmetric_inverse
from learnalg.problems.pairs import NAME as PAIRS
from learnalg.problems.pairs import pairs
from learnalg.problems.products import matmul, matvec
from learnalg.problems.singular import singular_values, svd
from learnalg.problems.task import Task
from learnalg.problems.transpose import transpose

__all__ = ["LETTERS", "PAIRS", "TASKS", "Task", "parse_tasks"]

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

LETTERS = {  # the paper's, in joint training: TA, TAD, ..., TADMEFI, EFI
    "T": "transpose",
    "A": "add",
    "D": "matvec",
    "M": "matmul",
    "E": "eigenvalues",
    "F": "eigenvectors",
    "I": "inverse",
}

MAX_TASKS = 16  # at once; each has a token of its own


def parse_tasks(text: str, has_file: bool = False) -> tuple[tuple[str, Task], ...]:
    """Names and tasks of 'eigenvalues', 'eigenvectors:order=ascending', 'transpose+add', or the paper's 'TADM'. With a
    file of pairs there is also the task that these pairs are."""
    is_letters = text not in TASKS and len(text) > 1 and all(letter in LETTERS for letter in text)
    texts = [LETTERS[letter] for letter in text] if is_letters else text.split("+")
    if len(texts) > MAX_TASKS:
        raise ValueError(f"{len(texts):,} tasks at once: at most {MAX_TASKS}")
    hint = "; several at once: transpose+add; a task of your own needs --plugin FILE, or --data FILE with its pairs"
    known = TASKS | {PAIRS: pairs} if has_file else TASKS
    named = tuple((t.partition(":")[0], make("task", t, known, hint=hint)) for t in texts)
    if len({name for name, _ in named}) != len(named):
        raise ValueError(f"task {text!r}: each task once")
    return named
