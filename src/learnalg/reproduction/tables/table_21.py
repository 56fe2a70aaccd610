"""Sums of 5x5 matrices with LSTM and GRU, by layers, hidden dimensions and dimensions of the embeddings.

At scale paper as many layers in the encoder as in the decoder, B1999, as the paper's other sums, and 30 million
examples (table 13): it names neither here. At scale laptop one small LSTM and one small GRU, with ingredients that the
paper's do not have: positions, number features, ordered tokens, gates that begin with long memories (`recurrent.py`).
"""

from __future__ import annotations

from typing import Any

from learnalg.reproduction.configs import ADD_BUDGET, by_tolerance, paper, slug
from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.tables.recurrent import small

KINDS = ("lstm", "gru")
COLUMNS = tuple((layers, hidden, embedding) for layers in (2, 4) for hidden in (1024, 2048) for embedding in (256, 512))
NUM_TOLERANCES = 4


def cells(scale: str) -> list[Cell]:
    found = []
    for k, kind in enumerate(KINDS):
        for column, (layers, hidden, embedding) in enumerate(COLUMNS if scale == "paper" else COLUMNS[:1], start=2):
            key, shows = slug(kind, f"{layers}-{hidden}-{embedding}"), by_tolerance(column, NUM_TOLERANCES * k)
            if scale == "paper":
                architecture = f"{kind}:embedding_dim={embedding}"
                sizes: dict[str, Any] = {"architecture": architecture, "dim_model": hidden, "positions": "none"}
                config, note = paper("add", "5", f"{layers}/{layers}", "b1999", ADD_BUDGET, **sizes), ""
            else:
                config, note = small(kind, "add", "1/2", 160_000, "fp15/b1999", batch_size=32, eval_num=500)
            found.append(Cell(key, config, shows, note=note))
    return found


EXPERIMENT = Experiment("table-21", "Sums with LSTM and GRU", cells)
