"""Eigenvectors with their eigenvalues, by encoding and tolerance.

At scale paper 512 dimensions, 8 heads, 150 million examples: the paper says 4 GPUs for 3 to 7 days, and 50 million until
they are learned (appendix D.1). At scale laptop the kept model, FP15/P1000.

@TIME@
"""

from __future__ import annotations

from learnalg.recipes.making import MILLION, by_tolerance, fast, paper, slug
from learnalg.recipes.recipe import Cell, Recipe

BUDGET = 150 * MILLION
COLUMNS = (  # dim, encoding, layers
    ("5", "p10", "4/4"),
    ("5", "p1000", "6/6"),
    ("5", "fp15", "1/6"),
    ("5", "fp15/p1000", "6/1"),
    ("6", "p1000", "6/1"),
)
KEPT_COLUMN = 3


def cells(scale: str) -> list[Cell]:
    if scale == "laptop":
        dim, encoding, _ = COLUMNS[KEPT_COLUMN]
        config = fast("eigenvectors", dim, "4/1", 500_000)
        return [Cell(slug(encoding, dim), config, by_tolerance(KEPT_COLUMN + 1), kept="eigenvectors-5")]
    return [
        Cell(slug(encoding, dim), paper("eigenvectors", dim, layers, encoding, BUDGET), by_tolerance(column))
        for column, (dim, encoding, layers) in enumerate(COLUMNS, start=1)
    ]


RECIPE = Recipe("table-8", "Eigenvectors", cells)
