"""Sums of 10x10 matrices by encoding, dimensions and layers: accuracy at 5 % tolerance after 60 epochs of 300,000
examples.

The runs are those of table 16, and are kept there: at scale paper they go on to 100 epochs, and this table reads their
curves at 60, as the paper did. At scale laptop it shows the end of much shorter runs, FP15/B1999.
"""

from __future__ import annotations

from typing import Any

from learnalg.reproduction.configs import EPOCH, fast, paper, slug
from learnalg.reproduction.experiment import Cell, Experiment, Shown

LAYERS = ("1/1", "2/2", "4/4", "6/6")  # rows
COLUMNS = tuple((encoding, dimensions) for encoding in ("b1999", "p1000") for dimensions in (64, 128, 256, 512))
LAPTOP = {(0, 0), (1, 0), (0, 1), (1, 1)}  # row and column


def add_cell(scale: str, row: int, column: int, shows: tuple[Shown, ...], home: str) -> Cell:
    (encoding, dimensions), layers = COLUMNS[column], LAYERS[row]
    key = slug(encoding, layers, str(dimensions))
    if scale == "paper":
        return Cell(key, paper("add", "10", layers, encoding, 100 * EPOCH, dim_model=dimensions), shows, home=home)
    fields: dict[str, Any] = {"dim_model": dimensions, "batch_size": 32, "eval_num": 200, "final_num": 2_000}
    config = fast("add", "10", layers, 60_000, f"fp15/{encoding}", evals=20, **fields)
    return Cell(key, config, shows, home=home, note="60,000 examples, FP15 in the input")


def cells(scale: str) -> list[Cell]:
    measure = f"after/{60 * EPOCH}/0.05" if scale == "paper" else "report/accuracy/l1/0.05"
    return [
        add_cell(scale, row, column, (Shown(row, column + 1, measure),), "table-16")
        for row in range(len(LAYERS))
        for column in range(len(COLUMNS))
        if scale == "paper" or (row, column) in LAPTOP
    ]


EXPERIMENT = Experiment("table-15", "Sums by size of the model: accuracy", cells)
