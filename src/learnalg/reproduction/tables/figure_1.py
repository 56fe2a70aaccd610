"""Accuracy at 5 % tolerance along training in L1, L2 and L-infinity: of eigenvalues and vectors, the largest numbers
are learned long before the rest, which only L1 tells.

The paper does not name the models of its figure: at scale paper these are runs of tables 2 to 10, which keep them; at
scale laptop released models. The table has the accuracies at the end.
"""

from __future__ import annotations

from dataclasses import replace

from learnalg.reproduction.experiment import Cell, Experiment, Shown
from learnalg.reproduction.tables import table_02, table_03, table_04, table_06, table_08, table_10

# problem -> experiment, and the cell that shows it: at scale paper, at scale laptop
PROBLEMS = {
    "transposition 5x5": (table_02.EXPERIMENT, "b1999-5", "b1999-5"),
    "addition 10x10": (table_03.EXPERIMENT, "10-2-2", "10-2-2"),
    "matrix times vector 5x5": (table_04.EXPERIMENT, "p1000-5", "p1000-5"),
    "eigenvalues 5x5": (table_06.EXPERIMENT, "p1000-5-4-1", "p1000-5-4-1"),
    "eigenvalues, larger": (table_06.EXPERIMENT, "fp15-10-1-6", "p1000-8-6-1"),
    "eigenvectors 5x5": (table_08.EXPERIMENT, "fp15-p1000-5", "fp15-p1000-5"),
    "singular values 4x4": (table_10.EXPERIMENT, "singular-values-p1000", "singular-values-p1000"),
}
NORMS = {"l1": "L1", "l2": "L2", "linf": "L-infinity"}


def cells(scale: str) -> list[Cell]:
    found = []
    for problem, (experiment, *keys) in PROBLEMS.items():
        key = keys[scale == "laptop"]
        cell = next(cell for cell in experiment.cells_at(scale) if cell.key == key)
        shows = tuple(Shown(problem, name, f"report/accuracy/{norm}/0.05") for norm, name in NORMS.items())
        found.append(replace(cell, shows=shows, home=experiment.name))
    return found


EXPERIMENT = Experiment("figure-1", "Accuracy in three norms along training", cells, has_paper=False, figure="norms")
