"""Noise in the inputs of 5x5 matrices: each coefficient has an error of 1, 2 or 5 % of the coefficients' standard
deviation, in training and test. Table 11, and its two parts by encoding, layers and dimensions: sums (table 27) and
eigenvalues (28), which keep the runs.

Rows are the tolerances 5, 2 and 1 %, each with the three levels. At scale paper 30 and 60 million examples (tables 13
and 14). At scale laptop one model of each, FP15/P1000, that starts from the released model of exact inputs. That of
eigenvalues reads upper triangles, so it sees each noisy coefficient once; two from scratch stand beside it: one reads
whole matrices (in the column of 1024 dimensions), and one reads triangles and writes FP15.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from learnalg.reproduction.configs import (
    ADD_BUDGET,
    EIGENVALUES_BUDGET,
    assembled,
    describe,
    fine_tune,
    paper,
    slug,
)
from learnalg.reproduction.experiment import Cell, Experiment, Shown

LEVELS = (0.01, 0.02, 0.05)  # of the coefficients' standard deviation
ROW_TOLERANCES = ("0.05", "0.02", "0.01")
BUDGETS = {"add": ADD_BUDGET, "eigenvalues": EIGENVALUES_BUDGET}
RELEASED = {"add": ("add-5", 24_000), "eigenvalues": ("eigenvalues-5", 40_000)}  # origin, examples
FIRST_COLUMN = 2

Columns = tuple[tuple[str, str, str, int], ...]  # task, encoding, layers, dimensions
SUMS: Columns = tuple(
    ("add", encoding, layers, dimensions)
    for encoding in ("b1999", "p1000")
    for layers in ("2/2", "4/4")
    for dimensions in (256, 512)
)
EIGENVALUES: Columns = tuple(
    ("eigenvalues", encoding, layers, dimensions)
    for encoding in ("fp15", "p1000")
    for layers in ("4/4", "6/6")
    for dimensions in (512, 1024)
)
BOTH: Columns = (
    *(column for column in SUMS if column[1:3] == ("b1999", "2/2")),
    *(column for column in EIGENVALUES if column[2] == "4/4"),
)
LAPTOP: Columns = (("add", "b1999", "2/2", 256), ("eigenvalues", "p1000", "4/4", 512))
# column -> output encoding, examples and fields of a model from scratch
FROM_SCRATCH: dict[tuple[str, str, str, int], tuple[str, int, dict[str, Any]]] = {
    ("add", "p1000", "2/2", 256): ("p1000", 40_000, {"products": 0, "encoder_loops": 1}),
    ("eigenvalues", "p1000", "4/4", 1024): ("p1000", 100_000, {"triangle": False}),
    ("eigenvalues", "fp15", "4/4", 512): ("fp15", 100_000, {}),
}


def cells(columns: Columns, homes: dict[str, str], scale: str) -> list[Cell]:
    """`homes`: task -> the table that keeps its runs."""
    return [
        cell
        for k, column in enumerate(columns, start=FIRST_COLUMN)
        if scale == "paper" or column in LAPTOP or column in FROM_SCRATCH
        for cell in noisy(scale, *column, k, homes.get(column[0], ""))
    ]


def noisy(scale: str, task: str, encoding: str, layers: str, dimensions: int, column: int, home: str) -> list[Cell]:
    """The three runs behind a column."""
    found = []
    for level, noise in enumerate(LEVELS):
        shows = tuple(
            Shown(len(LEVELS) * k + level, column, f"report/accuracy/l1/{tolerance}")
            for k, tolerance in enumerate(ROW_TOLERANCES)
        )
        key = slug(task, encoding, layers, str(dimensions), f"noise-{noise}")
        if scale == "paper":
            config = paper(task, "5", layers, encoding, BUDGETS[task], dim_model=dimensions, noise=noise)
            found.append(Cell(key, config, shows, home=home))
        elif (task, encoding, layers, dimensions) in LAPTOP:
            name, examples = RELEASED[task]
            config, note = fine_tune(name, task, examples, batch_size=32, noise=noise)
            found.append(Cell(key, config, shows, home=home, note=note))
        else:
            output, examples, fields = FROM_SCRATCH[task, encoding, layers, dimensions]
            config = assembled(task, "5", f"fp15/{output}", examples, noise=noise, **fields)
            found.append(Cell(key, config, shows, home=home, note=describe(config)))
    return found


EXPERIMENTS = (
    Experiment("table-11", "Noise in the inputs", partial(cells, BOTH, {"add": "table-27", "eigenvalues": "table-28"})),
    Experiment("table-27", "Noise in the inputs of sums", partial(cells, SUMS, {})),
    Experiment("table-28", "Noise in the inputs of eigenvalues", partial(cells, EIGENVALUES, {})),
)
