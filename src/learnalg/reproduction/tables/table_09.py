"""Inverses of 5x5 matrices, by encoding, heads and tolerance.

At scale paper 6/1 layers (P1000 with 10 heads: 6/6) and 400 million examples: 75 % takes 120 to 250 million (section
4.6). The paper has 512 dimensions everywhere, which 10 and 12 heads do not divide: encoders have 510 and 516 there. At
scale laptop the kept model, which writes four digits (P10000) where the paper's write three.

Time on two cores, at 60 GFLOP/s: smoke seconds, laptop kept models, minutes at most to test them, paper 15 years.

Measured at scale laptop: 1 of 1 cells, the highest number 91.3 where the paper has 90.0.
"""

from __future__ import annotations

from learnalg.reproduction.making import MILLION, by_tolerance, describe, kept_config, paper, slug
from learnalg.reproduction.experiment import Cell, Recipe

BUDGET = 400 * MILLION
DIMENSIONS = {8: 512, 10: 510, 12: 516}  # heads of the encoder -> its dimensions
COLUMNS = (  # encoding, layers, heads of encoder and decoder
    ("p10", "6/1", 8, 8),
    ("p1000", "6/1", 8, 8),
    ("p1000", "6/6", 10, 8),
    ("p1000", "6/1", 12, 8),
    ("fp15/p1000", "6/1", 10, 4),
    ("fp15/p1000", "6/1", 12, 8),
)
KEPT, KEPT_COLUMN = "inverse-5-digits", 5


def cells(scale: str) -> list[Cell]:
    found = []
    for column, (encoding, layers, encoder, decoder) in enumerate(COLUMNS):
        key, shows = slug(encoding, f"{encoder}-{decoder}"), by_tolerance(column + 1)
        if scale == "paper":
            sizes = {"encoder_dim": DIMENSIONS[encoder], "encoder_heads": encoder, "decoder_heads": decoder}
            found.append(Cell(key, paper("inverse", "5", layers, encoding, BUDGET, **sizes), shows))
        elif column == KEPT_COLUMN:
            config = kept_config(KEPT, "inverse")
            found.append(Cell(key, config, shows, kept=KEPT, note=describe(config, KEPT)))
    return found


RECIPE = Recipe("table-9", "Inverses of 5x5 matrices", cells)
