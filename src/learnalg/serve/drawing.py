"""Matrices as forms have them: typed, pasted, or drawn from an ensemble.

>>> parse_matrix("[[1, 2], [2, 3]]", "M")
array([[1., 2.],
       [2., 3.]])
"""

from __future__ import annotations

import numpy as np

from learnalg.problem import Problem
from learnalg.problems.dims import Dims
from learnalg.problems.ensembles import Mixture
from learnalg.problems.task import Floats

MOST_SIDE = 40  # of a matrix
MOST_TEXT = 100_000  # characters of a matrix


def parse_matrix(text: str, name: str) -> Floats:
    """Numbers with blanks or commas between them, a line a row; Python's and MATLAB's brackets are read as well."""
    if len(text) > MOST_TEXT:
        raise ValueError(f"{name} has {len(text):,} characters, more than {MOST_TEXT:,}")
    lines = text.replace("\N{MINUS SIGN}", "-").replace("]", "\n").replace(";", "\n").translate(_BLANKS).splitlines()
    rows = [line.split() for line in lines if line.strip()]
    if not rows:
        raise ValueError(f"{name} is empty: type numbers, a line a row, or draw a matrix")
    if max(len(rows), *map(len, rows)) > MOST_SIDE:
        raise ValueError(f"{name} has {len(rows)} rows, the longest of {max(map(len, rows))}: at most {MOST_SIDE}")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise ValueError(f"{name}: row {number} has {len(row)} numbers, row 1 has {len(rows[0])}")
    return np.array([[_number(word, name) for word in row] for row in rows])


_BLANKS = str.maketrans("[(),\t", "     ")


def _number(word: str, name: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"{name}: {word[:40]!r} is not a number") from None


def matrix_text(matrix: Floats) -> str:
    """A matrix as a form shows it, with all that a model can read of it."""
    cells = [[f"{value:.6g}" for value in row] for row in matrix]
    width = max(len(cell) for row in cells for cell in row)
    return "\n".join("  ".join(f"{cell:>{width}}" for cell in row) for row in cells)


def parse_size(text: str) -> tuple[int, int]:
    dims = Dims.parse(text)
    if not dims.is_fixed or max(dims.rows[0], dims.cols[0]) > MOST_SIDE:
        raise ValueError(f"size {text[:40]!r}: one size, such as 5 or 6x4, of at most {MOST_SIDE}")
    return dims.rows[0], dims.cols[0]


def draw(problem: Problem, task: str, ensemble: str, size: tuple[int, int], seed: int) -> list[Floats]:
    """Operands of one problem that has a solution."""
    definition = problem.tasks[problem.find_task(task)][1]
    config, rng = problem.config, np.random.default_rng(seed)
    mixture = Mixture((ensemble,), (config.amplitude[0], config.amplitude[-1]), config.sigma_factor)
    is_symmetric = definition.symmetric or config.symmetric
    if (definition.square or is_symmetric) and size[0] != size[1]:
        raise ValueError(f"{task} needs a square matrix, not {size[0]}x{size[1]}")
    for _ in range(100):
        operands = [mixture.draw(rng, 1, *shape, is_symmetric).matrices[0] for shape in definition.operands(*size)]
        if definition.accept(np.concatenate(operands, axis=1)[None]).all():
            return operands
    raise ValueError(f"no {task} problem of that size has a solution in {ensemble}")
