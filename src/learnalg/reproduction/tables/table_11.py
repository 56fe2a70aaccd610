"""Noise in the inputs: sums and eigenvalues of 5x5 matrices when each coefficient has an error of 1, 2 or 5 % of the
coefficients' standard deviation, in training and test.

The runs are those of tables 27 and 28, which have more of them, and are kept there. At scale laptop they start from the
released models of exact inputs.
"""

from __future__ import annotations

from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.tables.noise import noisy

COLUMNS = (  # task, encoding, layers, dimensions, the table that keeps it
    ("add", "b1999", "2/2", 256, "table-27"),
    ("add", "b1999", "2/2", 512, "table-27"),
    ("eigenvalues", "fp15", "4/4", 512, "table-28"),
    ("eigenvalues", "fp15", "4/4", 1024, "table-28"),
    ("eigenvalues", "p1000", "4/4", 512, "table-28"),
    ("eigenvalues", "p1000", "4/4", 1024, "table-28"),
)
LAPTOP = (0, 4)  # columns


def cells(scale: str) -> list[Cell]:
    return [
        cell
        for k, (task, encoding, layers, dimensions, home) in enumerate(COLUMNS)
        if scale == "paper" or k in LAPTOP
        for cell in noisy(scale, task, encoding, layers, dimensions, k + 2, home)
    ]


EXPERIMENT = Experiment("table-11", "Noise in the inputs", cells)
