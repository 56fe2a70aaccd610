"""Sums of matrices: fixed and variable sizes, by tolerance.

At scale paper B1999, 512 dimensions, 8 heads, and 30 million examples, the budget of table 13, for every size: the
paper says a few hours. At scale laptop the input is in FP15, and the output of the 5x5 model in P1000; variable sizes
start from the 5x5 model and are tested on 2,000 matrices.
"""

from __future__ import annotations

from typing import Any

from learnalg.reproduction.configs import (
    ADD_BUDGET,
    by_tolerance,
    describe,
    fast,
    fine_tune,
    paper,
    released_cell,
    slug,
)
from learnalg.reproduction.experiment import Cell, Experiment

# dim and layers, in the paper's order
COLUMNS = (
    ("5", "2/2"),
    ("6x4", "2/2"),
    ("3x8", "2/2"),
    ("10", "2/2"),
    ("15", "2/2"),
    ("20", "1/1"),
    ("5-10", "2/2"),
    ("5-15", "1/1"),
    ("5-15", "1/6"),
    ("5-10x5-10", "2/2"),
    ("5-15x5-15", "2/2"),
    ("5-15x5-15", "1/6"),
)
RELEASED = {0: "add-5", 3: "add-10"}
LAPTOP = {1: 60_000, 2: 60_000}  # column -> examples
VARIABLE = {6: 8_000, 9: 8_000}  # examples, fine-tuned from the 5x5 model


def cells(scale: str) -> list[Cell]:
    found = []
    for column, (dim, layers) in enumerate(COLUMNS):
        key, shows = slug(dim, layers), by_tolerance(column + 1)
        if scale == "paper":
            found.append(Cell(key, paper("add", dim, layers, "b1999", ADD_BUDGET), shows))
        elif column in RELEASED:
            found.append(released_cell(key, RELEASED[column], "add", shows))
        elif column in LAPTOP:
            small: dict[str, Any] = {"dim_model": 64, "batch_size": 32, "eval_num": 200}
            config = fast("add", dim, "1/1", LAPTOP[column], "fp15/b1999", evals=5, **small)
            found.append(Cell(key, config, shows, note=describe(config)))
        elif column in VARIABLE:
            # Tested on fewer examples: of long sequences decoding takes longer than training.
            few: dict[str, Any] = {"batch_size": 16, "eval_num": 200, "final_num": 2_000}
            config, note = fine_tune("add-5", "add", VARIABLE[column], dim=dim, **few)
            found.append(Cell(key, config, shows, note=note))
    return found


EXPERIMENT = Experiment("table-3", "Sums of matrices", cells)
