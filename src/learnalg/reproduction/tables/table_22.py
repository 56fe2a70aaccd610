"""Eigenvalues of 5x5 matrices with LSTM and GRU, by encoding, hidden dimensions and layers.

At scale paper as many layers in the encoder as in the decoder, embeddings of 512 dimensions, of which the paper says
nothing here, and 60 million examples (table 14). At scale laptop one small LSTM and one small GRU.
"""

from __future__ import annotations

from typing import Any

from learnalg.reproduction.configs import EIGENVALUES_BUDGET, by_tolerance, paper, slug
from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.tables.recurrent import small
from learnalg.reproduction.tables.table_21 import KINDS, NUM_TOLERANCES

COLUMNS = tuple(
    (encoding, hidden, layers) for encoding in ("fp15", "p1000") for hidden in (1024, 2048) for layers in (4, 6, 8)
)
LAPTOP = COLUMNS.index(("p1000", 1024, 4))


def cells(scale: str) -> list[Cell]:
    found = []
    for k, kind in enumerate(KINDS):
        for column, (encoding, hidden, layers) in enumerate(COLUMNS):
            key, shows = slug(kind, encoding, f"{hidden}-{layers}"), by_tolerance(column + 2, NUM_TOLERANCES * k)
            if scale == "paper":
                architecture = f"{kind}:embedding_dim=512"
                sizes: dict[str, Any] = {"architecture": architecture, "dim_model": hidden, "positions": "none"}
                config = paper("eigenvalues", "5", f"{layers}/{layers}", encoding, EIGENVALUES_BUDGET, **sizes)
                found.append(Cell(key, config, shows))
            elif column == LAPTOP:
                config, note = small(kind, "eigenvalues", "2/1", 400_000, "fp15/p1000")
                found.append(Cell(key, config, shows, note=note))
    return found


EXPERIMENT = Experiment("table-22", "Eigenvalues with LSTM and GRU", cells)
