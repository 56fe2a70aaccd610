"""Products of two matrices M^T N with 24 to 26 coefficients each, by tolerance.

At scale paper 512 dimensions, 8 heads and 60 million examples: the paper says a day, and more than for vectors. At
scale laptop FP15/P1000, of 5x5 matrices the kept model, FP15/B1999.

Time on two cores, at 60 GFLOP/s: smoke seconds, laptop 37 minutes, paper 7.9 years.

Measured at scale laptop: 1 of 3 cells, the highest number 100.0 where the paper has 100.
"""

from __future__ import annotations

from learnalg.reproduction.making import MILLION, by_tolerance, describe, fast, kept_config, paper, slug
from learnalg.reproduction.experiment import Cell, Recipe

# encoding, dim and layers, in the paper's order
COLUMNS = (
    ("p10", "5", "2/2"),
    ("p1000", "5", "1/4"),
    ("p1000", "2x13", "4/4"),
    ("p1000", "2x12", "4/4"),
    ("p1000", "3x8", "2/6"),
    ("p1000", "4x6", "1/4"),
    ("p1000", "6x4", "1/6"),
    ("p1000", "8x3", "1/6"),
    ("p1000", "12x2", "1/6"),
    ("p1000", "13x2", "1/4"),
)
LAPTOP = {7: 300_000, 8: 400_000}  # column -> examples; answers of 2x13 have 169 coefficients, too many for two cores


def cells(scale: str) -> list[Cell]:
    found = []
    for column, (encoding, dim, layers) in enumerate(COLUMNS):
        key, shows = slug(encoding, dim), by_tolerance(column + 1)
        if scale == "paper":
            found.append(Cell(key, paper("matmul", dim, layers, encoding, 60 * MILLION), shows))
        elif (encoding, dim) == ("p1000", "5"):
            config = kept_config("matmul-5-longer", "matmul")
            found.append(Cell(key, config, shows, kept="matmul-5-longer", note=describe(config, "matmul-5-longer")))
        elif column in LAPTOP:
            config = fast("matmul", dim, "2/1", LAPTOP[column])
            found.append(Cell(key, config, shows, note=describe(config)))
    return found


RECIPE = Recipe("table-5", "Matrix times matrix", cells)
