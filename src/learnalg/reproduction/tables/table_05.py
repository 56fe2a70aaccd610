"""Products of two matrices M^T N with 24 to 26 coefficients each, by tolerance.

At scale paper 512 dimensions, 8 heads and 60 million examples: the paper says a day, and more than for vectors. At
scale laptop FP15/P1000, of 5x5 matrices the released model, FP15/B1999.
"""

from __future__ import annotations

from learnalg.reproduction.configs import MILLION
from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.tables.table_04 import Columns, products

COLUMNS: Columns = (  # encoding, dim and layers, in the paper's order
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
    return products(scale, "matmul", COLUMNS, 60 * MILLION, LAPTOP)


EXPERIMENT = Experiment("table-5", "Matrix times matrix", cells)
