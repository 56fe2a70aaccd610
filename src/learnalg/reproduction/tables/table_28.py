"""Noise in the inputs of eigenvalues of 5x5 matrices, by encoding, layers and dimensions.

At scale paper 60 million examples each (table 14). At scale laptop one model, FP15/P1000, that starts from
eigenvalues-5.
"""

from __future__ import annotations

from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.tables.noise import noisy

COLUMNS = tuple(
    (encoding, layers, dimensions)
    for encoding in ("fp15", "p1000")
    for layers in ("4/4", "6/6")
    for dimensions in (512, 1024)
)
LAPTOP = COLUMNS.index(("p1000", "4/4", 512))


def cells(scale: str) -> list[Cell]:
    return [
        cell
        for k, model in enumerate(COLUMNS)
        if scale == "paper" or k == LAPTOP
        for cell in noisy(scale, "eigenvalues", *model, column=k + 2)
    ]


EXPERIMENT = Experiment("table-28", "Noise in the inputs of eigenvalues", cells)
