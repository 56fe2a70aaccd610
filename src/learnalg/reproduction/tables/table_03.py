"""Sums of matrices: fixed and variable sizes, by tolerance.

At scale paper B1999, 512 dimensions, 8 heads, and 30 million examples, the budget of table 13, for every size: the
paper says a few hours. At scale laptop the input is in FP15, and the output of the 5x5 model in P1000; variable sizes
start from the looped 5x5 model and are tested on 2,000 matrices.

Time on two cores, at 60 GFLOP/s: smoke seconds, laptop 6 minutes, paper 10 years.

Measured at scale laptop: 3 of 6 cells, the highest number 100.0 where the paper has 100.
"""

from __future__ import annotations

from typing import Any

from learnalg.reproduction.making import ADD_BUDGET, by_tolerance, describe, fast, go_on, kept_config, origin, paper, slug
from learnalg.reproduction.experiment import Cell, Recipe

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
KEPT = {0: "add-5", 3: "add-10"}
LAPTOP = {1: 60_000, 2: 60_000}  # column -> examples
VARIABLE = {6: 8_000, 9: 8_000}  # that follow those of the looped 5x5 model


def cells(scale: str) -> list[Cell]:
    found = [origin("add-5-looped", "add")] if scale == "laptop" else []
    for column, (dim, layers) in enumerate(COLUMNS):
        key, shows = slug(dim, layers), by_tolerance(column + 1)
        if scale == "paper":
            found.append(Cell(key, paper("add", dim, layers, "b1999", ADD_BUDGET), shows))
        elif column in KEPT:
            config = kept_config(KEPT[column], "add")
            found.append(Cell(key, config, shows, kept=KEPT[column], note=describe(config, KEPT[column])))
        elif column in LAPTOP:
            small: dict[str, Any] = {"dim_model": 64, "batch_size": 32, "eval_num": 200}
            config = fast("add", dim, "1/1", LAPTOP[column], "fp15/b1999", evals=5, **small)
            found.append(Cell(key, config, shows, note=describe(config)))
        elif column in VARIABLE:
            # Tested on fewer examples: of long sequences decoding takes longer than training.
            few: dict[str, Any] = {"batch_size": 16, "eval_num": 200, "final_num": 2_000}
            config, note = go_on("add-5-looped", "add", VARIABLE[column], dim=dim, **few)
            found.append(Cell(key, config, shows, init=found[0].key, note=note))
    return found


RECIPE = Recipe("table-3", "Sums of matrices", cells)
