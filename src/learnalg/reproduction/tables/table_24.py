"""Eigenvalues of 5x5 matrices with universal transformers: one encoder layer, looped through 4 or 8 times.

At scale paper 512 dimensions, 8 heads and 60 million examples (table 14); the baselines are runs of table 6, and kept
there. At scale laptop FP15/P1000, 4 loops of 128 dimensions, shown beside P1000.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from learnalg.reproduction.configs import EIGENVALUES_BUDGET, along_row, describe, fast, paper, slug
from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.tables.table_06 import paper_cell
from learnalg.reproduction.tables.table_23 import looped

ROWS = tuple(
    (encoding, loops, gate) for encoding in ("p1000", "fp15") for gate in ("none", "copy", "act") for loops in (4, 8)
)
BASELINES = {12: 1, 13: 3}  # row -> column of table 6, from 0
LAPTOP = (0, 2, 4)  # rows
FIRST_COLUMN = 2


def cells(scale: str) -> list[Cell]:
    found = []
    for row, (encoding, loops, gate) in enumerate(ROWS):
        fields: dict[str, Any] = {"architecture": looped(gate), "encoder_loops": loops}
        key, shows = slug(encoding, f"{loops}-{gate}"), along_row(row, FIRST_COLUMN)
        if scale == "paper":
            config = paper("eigenvalues", "5", "1/1", encoding, EIGENVALUES_BUDGET, **fields)
            found.append(Cell(key, config, shows))
        elif row in LAPTOP:
            config = fast("eigenvalues", "5", "1/1", 400_000, **fields)
            found.append(Cell(key, config, shows, note=describe(config)))
    if scale == "paper":
        for row, column in BASELINES.items():
            found.append(replace(paper_cell(column), shows=along_row(row, FIRST_COLUMN), home="table-6"))
    else:
        config = fast("eigenvalues", "5", "4/1", 1_250_000, relations="learned", heads=8)
        shows = along_row(min(BASELINES), FIRST_COLUMN)
        found.append(Cell("baseline", config, shows, note=describe(config)))
    return found


EXPERIMENT = Experiment("table-24", "Eigenvalues with universal transformers", cells)
