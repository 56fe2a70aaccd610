"""Eigenvectors with their eigenvalues, by encoding and tolerance.

At scale paper 512 dimensions, 8 heads, 150 million examples: the paper says 4 GPUs for 3 to 7 days, and 50 million
until they are learned (appendix D.1). At scale laptop the kept model.

Time on two cores, at 60 GFLOP/s: smoke seconds, laptop kept models, minutes at most to test them, paper 6.4 years.

Measured at scale laptop: 1 of 1 cells, the highest number 98.3 where the paper has 93.5.
"""

from __future__ import annotations

from learnalg.reproduction.making import MILLION, by_tolerance, describe, kept_config, paper, slug
from learnalg.reproduction.experiment import Cell, Recipe

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
        config = kept_config("eigenvectors-5-precise", "eigenvectors")
        shows = by_tolerance(KEPT_COLUMN + 1)
        return [
            Cell(
                slug(encoding, dim),
                config,
                shows,
                kept="eigenvectors-5-precise",
                note=describe(config, "eigenvectors-5-precise"),
            )
        ]
    return [
        Cell(slug(encoding, dim), paper("eigenvectors", dim, layers, encoding, BUDGET), by_tolerance(column))
        for column, (dim, encoding, layers) in enumerate(COLUMNS, start=1)
    ]


RECIPE = Recipe("table-8", "Eigenvectors", cells)
