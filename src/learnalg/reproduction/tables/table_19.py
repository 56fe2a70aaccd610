"""Eigenvalues with large models: accuracies by tolerance, and millions of examples until 99 % accuracy at 5 %
tolerance.

Scale paper only, since two cores are far from all of it: layers, dimensions, heads and encodings of each side as the
paper's rows name them. Its budgets are not given; here they are one for each size, beyond the slowest of the paper's
models of that size: 125 million for 8x8, 200 for 10x10, 150 for 12x12.
"""

from __future__ import annotations

import re

from learnalg.reproduction.configs import MILLION, along_row, paper, slug
from learnalg.reproduction.experiment import Cell, Experiment, Shown, paper_table

BUDGETS = {"8x8": 125 * MILLION, "10x10": 200 * MILLION, "12x12": 150 * MILLION}
SAMPLE_SIZE = 7  # column


def large_cell(model: str, size: str, shows: tuple[Shown, ...], home: str = "") -> Cell:
    """`model` as the paper writes it: 'E:1/512/8/FP15 D:6/516/12/P1000'."""
    sides = re.fullmatch(r"E:(\d+)/(\d+)/(\d+)/(\w+) D:(\d+)/(\d+)/(\d+)/(\w+)", model)
    if sides is None:
        raise ValueError(f"model {model!r}: expected layers/dimensions/heads/encoding of E and of D")
    encoder, decoder = sides.groups()[:4], sides.groups()[4:]
    config = paper(
        "eigenvalues",
        size.partition("x")[0],
        f"{encoder[0]}/{decoder[0]}",
        f"{encoder[3]}/{decoder[3]}".lower(),
        BUDGETS[size],
        dim_model=(int(encoder[1]), int(decoder[1])),
        heads=(int(encoder[2]), int(decoder[2])),
    )
    return Cell(slug(size, *encoder, *decoder), config, shows, home=home)


def sample_size(row: int, column: int) -> Shown:
    return Shown(row, column, "reached/0.05/0.99", factor=1 / MILLION)


def cells(scale: str) -> list[Cell]:
    if scale == "laptop":
        return []
    found = []
    for row, (_, model, size, *numbers) in enumerate(paper_table("table-19")[1]):
        speed = () if numbers[-1] == "-" else (sample_size(row, SAMPLE_SIZE),)
        found.append(large_cell(model, size, (*along_row(row, 3), *speed)))
    return found


EXPERIMENT = Experiment("table-19", "Eigenvalues with large models", cells)
