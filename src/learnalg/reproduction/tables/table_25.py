"""Retraining: models of the eigenvalues of 5x5 matrices learn other sizes from few more examples.

At scale paper they start from runs of table 6 (P10 with 6/6 layers, P1000 with 4/1; the paper does not say which), and
take as many examples as the paper's. At scale laptop the released 5x5 model, FP15/P1000.
"""

from __future__ import annotations

from dataclasses import replace

from learnalg.reproduction.configs import MILLION, fine_tune, paper, slug
from learnalg.reproduction.experiment import Cell, Experiment, Shown
from learnalg.reproduction.tables.table_06 import COLUMNS, paper_cell

# encoding, dim, column of table 6 to start from (from 0), examples
ROWS = (
    ("p10", "5-6", 0, 10 * MILLION),
    ("p10", "5-7", 0, 25 * MILLION),
    ("p1000", "5-6", 1, 25 * MILLION),
)
LAPTOP = 2  # row
LAPTOP_EXAMPLES = 40_000
ORIGIN = "eigenvalues-5"


def shown(row: int, digits: int) -> tuple[Shown, ...]:
    return (
        Shown(row, 2, "report/accuracy/l1/0.05"),
        Shown(row, 3, "report/accuracy/l1/0.02"),
        Shown(row, 4, "examples", factor=1 / MILLION, digits=digits),
    )


def cells(scale: str) -> list[Cell]:
    if scale == "laptop":
        config, note = fine_tune(ORIGIN, "eigenvalues", LAPTOP_EXAMPLES, dim="5-6")
        return [Cell("p1000-5-6", config, shown(LAPTOP, 2), note=note)]
    origins = {column: replace(paper_cell(column), shows=(), home="table-6") for column in (0, 1)}
    found = list(origins.values())
    for row, (encoding, dim, column, examples) in enumerate(ROWS):
        config = paper("eigenvalues", dim, COLUMNS[column][2], encoding, examples)
        found.append(Cell(slug(encoding, dim), config, shown(row, 0), init=origins[column].key))
    return found


EXPERIMENT = Experiment("table-25", "Retraining on other sizes", cells)
