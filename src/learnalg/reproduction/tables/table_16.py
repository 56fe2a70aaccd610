"""Sums of 10x10 matrices by encoding, dimensions and layers: epochs of 300,000 examples until 95 % accuracy at 5 %
tolerance.

At scale paper 8 heads and 100 epochs: the slowest model of the paper needs 96. Models for which it gives no number are
run for table 15 all the same. At scale laptop FP15/B1999 and 60,000 examples: a fifth of an epoch.
"""

from __future__ import annotations

from dataclasses import replace

from learnalg.reproduction.configs import EPOCH
from learnalg.reproduction.experiment import Cell, Experiment, Shown, paper_table
from learnalg.reproduction.tables.table_15 import COLUMNS, LAPTOP, LAYERS, add_cell


def cells(scale: str) -> list[Cell]:
    rows = paper_table("table-16")[1]
    found = []
    for row in range(len(LAYERS)):
        for column in range(len(COLUMNS)):
            if scale == "laptop" and (row, column) not in LAPTOP:
                continue
            digits = 1 if scale == "paper" else 2
            shown = Shown(row, column + 1, "reached/0.05/0.95", factor=1 / EPOCH, digits=digits)
            cell = add_cell(scale, row, column, (shown,), "")
            has_number = rows[row][column + 1] != "-" or scale == "laptop"
            found.append(cell if has_number else replace(cell, shows=()))
    return found


EXPERIMENT = Experiment("table-16", "Sums by size of the model: epochs", cells)
