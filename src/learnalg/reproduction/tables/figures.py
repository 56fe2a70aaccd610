"""Figures 1 and 2: accuracy in three norms, and learning curves. The runs are those of tables, which keep them; at
scale laptop they are released models. The tables beside the figures have the numbers at the end.
"""

from __future__ import annotations

from dataclasses import replace

from learnalg.reproduction.experiment import Cell, Experiment, Shown
from learnalg.reproduction.tables.decompositions import TABLE_8, TABLE_9, TABLE_10
from learnalg.reproduction.tables.eigenvalues import TABLE_6
from learnalg.reproduction.tables.operations import TABLE_2, TABLE_3, TABLE_4
from learnalg.reproduction.tables.sizes import TABLE_16

# Accuracy at 5 % tolerance along training in L1, L2 and L-infinity: of eigenvalues and vectors, the largest numbers are
# learned long before the rest, which only L1 tells. The paper does not name the models of its figure.

IN_NORMS = {  # problem -> experiment, and the cell that shows it: at scale paper, at scale laptop
    "transposition 5x5": (TABLE_2, "b1999-5", "b1999-5"),
    "addition 10x10": (TABLE_3, "10-2-2", "10-2-2"),
    "matrix times vector 5x5": (TABLE_4, "p1000-5", "p1000-5"),
    "eigenvalues 5x5": (TABLE_6, "p1000-5-4-1", "p1000-5-4-1"),
    "eigenvalues, larger": (TABLE_6, "fp15-10-1-6", "p1000-8-6-1"),
    "eigenvectors 5x5": (TABLE_8, "fp15-p1000-5", "fp15-p1000-5"),
    "singular values 4x4": (TABLE_10, "singular-values-p1000", "singular-values-p1000"),
}
NORMS = {"l1": "L1", "l2": "L2", "linf": "L-infinity"}


def norms(scale: str) -> list[Cell]:
    found = []
    for problem, (experiment, *keys) in IN_NORMS.items():
        key = keys[scale == "laptop"]
        cell = next(cell for cell in experiment.cells_at(scale) if cell.key == key)
        shows = tuple(Shown(problem, name, f"report/accuracy/{norm}/0.05") for norm, name in NORMS.items())
        found.append(replace(cell, shows=shows, home=experiment.name))
    return found


# Loss and accuracy at 5 and 1 % tolerance along training, several encodings and sizes of each problem, as the paper.

CURVES = {  # problem -> the experiments that have it, and what keys begin with
    "addition 10x10": ((TABLE_3, ("10-2-2",)), (TABLE_16, ("p1000-2-2-512", "p1000-6-6-512"))),
    "eigenvalues 5x5": ((TABLE_6, ("p10-5-", "p1000-5-", "b1999-5-", "fp15-5-6")),),
    "eigenvectors 5x5": ((TABLE_8, ("p10-5", "p1000-5", "fp15-5", "fp15-p1000-5")),),
    "inversion 5x5": ((TABLE_9, ("p1000-8", "p1000-10", "p1000-12", "fp15-p1000-12")),),
}


def curves(scale: str) -> list[Cell]:
    found = []
    for problem, sources in CURVES.items():
        for experiment, beginnings in sources:
            for cell in experiment.cells_at(scale):
                if cell.key.startswith(beginnings):
                    row = f"{problem}, {label(cell)}"
                    shows = (
                        Shown(row, "loss", "report/loss", factor=1.0, digits=2),
                        Shown(row, "accuracy at 5 %", "report/accuracy/l1/0.05"),
                        Shown(row, "accuracy at 1 %", "report/accuracy/l1/0.01"),
                    )
                    found.append(replace(cell, shows=shows, home=experiment.name))
    return found


def label(cell: Cell) -> str:
    if cell.released:
        return cell.released
    data, model = cell.config.data, cell.config.model
    encodings = "/".join(dict.fromkeys((data.input_encoding, data.output_encoding))).upper()
    heads = f" {'/'.join(map(str, model.heads))} heads" if len(model.heads) > 1 else ""
    return f"{encodings} {model.encoder_layers}/{model.decoder_layers}{heads}"


EXPERIMENTS = (
    Experiment("figure-1", "Accuracy in three norms along training", norms, has_paper=False, figure="norms"),
    Experiment("figure-2", "Learning curves", curves, has_paper=False, figure="curves"),
)
