"""Eigenvalues: encodings, fixed and variable sizes, by tolerance.

At scale paper 512 dimensions and 8 heads. The 10x10 model has 510 dimensions and 12 heads in the paper; 12 does not
divide 510, so it has 516 here, as in table 19. Budgets: 60 million for 5x5 (table 14), 90 for 8x8 (60 until 99 %), 360
for 10x10 (section 4.4); of variable sizes the paper says nothing, we take 180. At scale laptop FP15/P1000; variable
sizes start from the released 5x5 model.
"""

from __future__ import annotations

from typing import Any

from learnalg.reproduction.configs import (
    EIGENVALUES_BUDGET,
    MILLION,
    by_tolerance,
    fine_tune,
    paper,
    released_cell,
    slug,
)
from learnalg.reproduction.experiment import Cell, Experiment

# dim, encoding, layers and examples, in the paper's order
COLUMNS = (
    ("5", "p10", "6/6", EIGENVALUES_BUDGET),
    ("5", "p1000", "4/1", EIGENVALUES_BUDGET),
    ("5", "b1999", "6/6", EIGENVALUES_BUDGET),
    ("5", "fp15", "6/1", EIGENVALUES_BUDGET),
    ("8", "p1000", "6/1", 90 * MILLION),
    ("8", "fp15", "1/6", 90 * MILLION),
    ("10", "fp15", "1/6", 360 * MILLION),
    ("5-10", "fp15", "4/4", 180 * MILLION),
    ("5-15", "fp15", "6/6", 180 * MILLION),
    ("5-20", "fp15", "4/4", 180 * MILLION),
)
RELEASED = {1: "eigenvalues-5", 4: "eigenvalues-8"}


def paper_cell(column: int) -> Cell:
    dim, encoding, layers, examples = COLUMNS[column]
    sizes: dict[str, Any] = {"dim_model": 516, "heads": 12} if dim == "10" else {}
    config = paper("eigenvalues", dim, layers, encoding, examples, **sizes)
    return Cell(slug(encoding, dim, layers), config, by_tolerance(column + 1))


def cells(scale: str) -> list[Cell]:
    if scale == "paper":
        return [paper_cell(column) for column in range(len(COLUMNS))]
    found = []
    for column, name in RELEASED.items():
        dim, encoding, layers, _ = COLUMNS[column]
        found.append(released_cell(slug(encoding, dim, layers), name, "eigenvalues", by_tolerance(column + 1)))
    config, note = fine_tune(RELEASED[1], "eigenvalues", 120_000, dim="5-10")
    return [*found, Cell("fp15-5-10-4-4", config, by_tolerance(8), note=note)]


EXPERIMENT = Experiment("table-6", "Eigenvalues", cells)
