"""Singular values and the whole decomposition of 4x4 matrices, by encoding and tolerance.

The matrices are symmetric, as in section 4.7. At scale paper 512 dimensions, 8 heads; 60 million examples for the
values, 150 million for the vectors (4 GPUs, 3 to 7 days). At scale laptop the released models.
"""

from __future__ import annotations

from learnalg.reproduction.configs import MILLION, by_tolerance, paper, released_cell, slug
from learnalg.reproduction.experiment import Cell, Experiment

COLUMNS = (  # task, encoding, layers, examples
    ("singular_values", "p10", "2/2", 60 * MILLION),
    ("singular_values", "p1000", "4/4", 60 * MILLION),
    ("svd", "p10", "1/6", 150 * MILLION),
    ("svd", "p1000", "6/6", 150 * MILLION),
)
RELEASED = {1: "singular-values-4", 3: "svd-4"}


def cells(scale: str) -> list[Cell]:
    found = []
    for column, (task, encoding, layers, examples) in enumerate(COLUMNS):
        key, shows = slug(task, encoding), by_tolerance(column + 1)
        if scale == "paper":
            found.append(Cell(key, paper(task, "4", layers, encoding, examples, symmetric=True), shows))
        elif column in RELEASED:
            found.append(released_cell(key, RELEASED[column], task, shows))
    return found


EXPERIMENT = Experiment("table-10", "Singular values and vectors of 4x4 matrices", cells)
