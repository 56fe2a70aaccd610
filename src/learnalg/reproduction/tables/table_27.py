"""Noise in the inputs of sums of 5x5 matrices, by encoding, layers and dimensions.

At scale paper 30 million examples each (table 13). At scale laptop one model, FP15/P1000, that starts from add-5.
"""

from __future__ import annotations

from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.tables.noise import noisy

COLUMNS = tuple(
    (encoding, layers, dimensions)
    for encoding in ("b1999", "p1000")
    for layers in ("2/2", "4/4")
    for dimensions in (256, 512)
)


def cells(scale: str) -> list[Cell]:
    columns = COLUMNS if scale == "paper" else COLUMNS[:1]
    return [cell for k, model in enumerate(columns) for cell in noisy(scale, "add", *model, column=k + 2)]


EXPERIMENT = Experiment("table-27", "Noise in the inputs of sums", cells)
