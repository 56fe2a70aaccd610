"""Eigenvectors with their eigenvalues, by encoding and tolerance.

At scale paper 512 dimensions, 8 heads, 150 million examples: the paper says 4 GPUs for 3 to 7 days, and 50 million
until they are learned (appendix D.1). At scale laptop the released model.
"""

from __future__ import annotations

from learnalg.reproduction.configs import MILLION, by_tolerance, paper, released_cell, slug
from learnalg.reproduction.experiment import Cell, Experiment

BUDGET = 150 * MILLION
COLUMNS = (  # dim, encoding, layers
    ("5", "p10", "4/4"),
    ("5", "p1000", "6/6"),
    ("5", "fp15", "1/6"),
    ("5", "fp15/p1000", "6/1"),
    ("6", "p1000", "6/1"),
)
RELEASED_COLUMN = 3


def cells(scale: str) -> list[Cell]:
    if scale == "laptop":
        dim, encoding, _ = COLUMNS[RELEASED_COLUMN]
        shows = by_tolerance(RELEASED_COLUMN + 1)
        return [released_cell(slug(encoding, dim), "eigenvectors-5", "eigenvectors", shows)]
    return [
        Cell(slug(encoding, dim), paper("eigenvectors", dim, layers, encoding, BUDGET), by_tolerance(column))
        for column, (dim, encoding, layers) in enumerate(COLUMNS, start=1)
    ]


EXPERIMENT = Experiment("table-8", "Eigenvectors", cells)
