"""Learning curves: loss and accuracy at 5 and 1 % tolerance along training, for sums of 10x10 matrices and for
eigenvalues, eigenvectors and inverses of 5x5 matrices.

At scale paper the runs of tables 3, 6, 8, 9 and 16, which keep them: the paper's figure has several encodings and sizes
of each. At scale laptop released models. The table has the numbers at the end.
"""

from __future__ import annotations

from dataclasses import replace

from learnalg.reproduction.experiment import Cell, Experiment, Shown
from learnalg.reproduction.tables import table_03, table_06, table_08, table_09, table_16

PROBLEMS = {  # problem -> the experiments that have it, and what keys begin with
    "addition 10x10": ((table_03.EXPERIMENT, ("10-2-2",)), (table_16.EXPERIMENT, ("p1000-2-2-512", "p1000-6-6-512"))),
    "eigenvalues 5x5": ((table_06.EXPERIMENT, ("p10-5-", "p1000-5-", "b1999-5-", "fp15-5-6")),),
    "eigenvectors 5x5": ((table_08.EXPERIMENT, ("p10-5", "p1000-5", "fp15-5", "fp15-p1000-5")),),
    "inversion 5x5": ((table_09.EXPERIMENT, ("p1000-8", "p1000-10", "p1000-12", "fp15-p1000-12")),),
}


def label(cell: Cell) -> str:
    if cell.released:
        return cell.released
    data, model = cell.config.data, cell.config.model
    encodings = "/".join(dict.fromkeys((data.input_encoding, data.output_encoding))).upper()
    heads = f" {'/'.join(map(str, model.heads))} heads" if len(model.heads) > 1 else ""
    return f"{encodings} {model.encoder_layers}/{model.decoder_layers}{heads}"


def cells(scale: str) -> list[Cell]:
    found = []
    for problem, sources in PROBLEMS.items():
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


EXPERIMENT = Experiment("figure-2", "Learning curves", cells, has_paper=False, figure="curves")
