"""Learning speed by size of the model: epochs of 300,000 examples until 95 % accuracy at 5 % tolerance, for products of
5x5 matrices with vectors and for eigenvalues.

At scale paper P1000, 8 heads; a run ends when it is there, or after 40 epochs (products) or 250 (eigenvalues): the
slowest of the paper need 29 and 244. Models for which it gives no number are not run. At scale laptop FP15/P1000.
"""

from __future__ import annotations

from typing import Any

from learnalg.config import RunConfig
from learnalg.reproduction.configs import EPOCH, fast, paper, slug
from learnalg.reproduction.experiment import Cell, Experiment, Shown, paper_table

LAYERS = ("1/1", "2/2", "4/4", "6/6", "8/8")  # rows
COLUMNS = (
    *(("matvec", dimensions) for dimensions in (128, 256, 512)),
    *(("eigenvalues", dimensions) for dimensions in (128, 256, 512, 1024)),
)
BUDGETS = {"matvec": 40 * EPOCH, "eigenvalues": 250 * EPOCH}
LAPTOP_BUDGETS = {"matvec": 400_000, "eigenvalues": 600_000}
LAPTOP = {(1, 0), (2, 0), (1, 3), (2, 3)}  # row and column


def config(scale: str, task: str, layers: str, dimensions: int) -> RunConfig:
    stop: dict[str, Any] = {"dim_model": dimensions, "stop_accuracy": 0.95}
    if scale == "paper":
        return paper(task, "5", layers, "p1000", BUDGETS[task], **stop)
    return fast(task, "5", layers, LAPTOP_BUDGETS[task], evals=20, **stop)


def cells(scale: str) -> list[Cell]:
    rows = paper_table("table-17")[1]
    found = []
    for row, layers in enumerate(LAYERS):
        for column, (task, dimensions) in enumerate(COLUMNS):
            is_planned = (row, column) in LAPTOP if scale == "laptop" else rows[row][column + 1] != "-"
            if is_planned:
                digits = 1 if scale == "paper" else 2
                shown = Shown(row, column + 1, "reached/0.05/0.95", factor=1 / EPOCH, digits=digits)
                note = "" if scale == "paper" else f"FP15/P1000, at most {LAPTOP_BUDGETS[task]:,} examples"
                key = slug(task, layers, str(dimensions))
                found.append(Cell(key, config(scale, task, layers, dimensions), (shown,), note=note))
    return found


EXPERIMENT = Experiment("table-17", "Learning speed by size of the model", cells)
