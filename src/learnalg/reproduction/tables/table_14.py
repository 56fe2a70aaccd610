"""Digits and eigenvalues of 5x5 matrices: numbers of two, three and four digits, by tolerance.

At scale paper 4/1 layers, 512 dimensions, 8 heads, P100, P1000 and P10000 on both sides, 60 million examples. At scale
laptop the inputs are one token a number with as many digits.
"""

from __future__ import annotations

from learnalg.reproduction.configs import EIGENVALUES_BUDGET, fast, paper
from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.tables.table_13 import OWN_TEST, ROWS, SOFT_WIDTHS, TOLERANCES, one_token, shown


def cells(scale: str) -> list[Cell]:
    found = []
    for row, encoding in enumerate(ROWS):
        if scale == "paper":
            config, note = paper("eigenvalues", "5", "4/1", encoding, EIGENVALUES_BUDGET), ""
        else:
            sides, width = f"{one_token(encoding)}/{encoding}", SOFT_WIDTHS[encoding]
            config = fast("eigenvalues", "5", "4/1", 400_000, sides, soft_width=width)
            note = "4/1 layers of 128 dimensions, 400,000 examples"
        found.append(Cell(encoding, config, shown(row), OWN_TEST, tuple(map(float, TOLERANCES)), note=note))
    return found


EXPERIMENT = Experiment("table-14", "Digits of the numbers: eigenvalues", cells)
