"""Inverses of 5x5 matrices, by encoding, heads and tolerance.

At scale paper 6/1 layers (P1000 with 10 heads: 6/6) and 400 million examples: 75 % takes 120 to 250 million (section
4.6). The paper has 512 dimensions everywhere, which 10 and 12 heads do not divide: encoders have 510 and 516 there. At
scale laptop the released model, which writes four digits (P10000) where the paper's write three, and in the column of
10/4 heads the model before it, which writes three (B1999).
"""

from __future__ import annotations

from learnalg.reproduction.configs import MILLION, by_tolerance, fine_tune, paper, released_cell, slug
from learnalg.reproduction.experiment import Cell, Experiment

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
RELEASED, RELEASED_COLUMN = "inverse-5", 5
THREE_DIGITS, THREE_DIGITS_COLUMN = "inverse-5@d1b7832", 4  # the model before, whose result stays


def cells(scale: str) -> list[Cell]:
    found = []
    for column, (encoding, layers, encoder, decoder) in enumerate(COLUMNS):
        key, shows = slug(encoding, f"{encoder}-{decoder}"), by_tolerance(column + 1)
        if scale == "paper":
            sizes = {"dim_model": (DIMENSIONS[encoder], DIMENSIONS[8]), "heads": (encoder, decoder)}
            found.append(Cell(key, paper("inverse", "5", layers, encoding, BUDGET, **sizes), shows))
        elif column == RELEASED_COLUMN:
            found.append(released_cell(key, RELEASED, "inverse", shows))
        elif column == THREE_DIGITS_COLUMN:
            config, note = fine_tune(THREE_DIGITS, "inverse", 110_000)
            found.append(Cell(key, config, shows, note=f"three digits, as the paper's; {note}"))
    return found


EXPERIMENT = Experiment("table-9", "Inverses of 5x5 matrices", cells)
