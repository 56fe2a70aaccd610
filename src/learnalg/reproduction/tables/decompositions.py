"""Eigenvectors (table 8), inverses (9), singular values and vectors (10), by encoding and tolerance."""

from __future__ import annotations

from learnalg.reproduction.configs import (
    MILLION,
    assembled,
    at_size,
    by_tolerance,
    describe,
    fine_tune,
    paper,
    released_cell,
    slug,
)
from learnalg.reproduction.experiment import Cell, Experiment

# Eigenvectors with their eigenvalues.
#
# At scale paper 512 dimensions, 8 heads, 150 million examples: the paper says 4 GPUs for 3 to 7 days, and 50 million
# until they are learned (appendix D.1). At scale laptop the released models of 5x5 and of all sizes; other encodings
# from scratch.

EIGENVECTORS_BUDGET = 150 * MILLION
LAPTOP_BUDGETS = {"eigenvectors": 120_000, "inverse": 200_000, "singular_values": 100_000, "svd": 150_000}
EIGENVECTORS = (  # dim, encoding, layers
    ("5", "p10", "4/4"),
    ("5", "p1000", "6/6"),
    ("5", "fp15", "1/6"),
    ("5", "fp15/p1000", "6/1"),
    ("6", "p1000", "6/1"),
)
RELEASED_EIGENVECTORS = 3  # column
OF_ALL_SIZES = "eigenvectors"  # released


def eigenvectors(scale: str) -> list[Cell]:
    found = []
    for column, (dim, encoding, layers) in enumerate(EIGENVECTORS):
        key, shows = slug(encoding, dim), by_tolerance(column + 1)
        if scale == "paper":
            found.append(Cell(key, paper("eigenvectors", dim, layers, encoding, EIGENVECTORS_BUDGET), shows))
        elif column == RELEASED_EIGENVECTORS:
            found.append(released_cell(key, "eigenvectors-5", "eigenvectors", shows))
        elif dim == "5":
            config = assembled("eigenvectors", dim, f"fp15/{encoding}", LAPTOP_BUDGETS["eigenvectors"])
            found.append(Cell(key, config, shows, note=describe(config)))
        else:
            tests = {dim: {"dim": dim}}
            found.append(released_cell(key, OF_ALL_SIZES, "eigenvectors", at_size(dim, column + 1), tests=tests))
    return found


# Inverses of 5x5 matrices, also by heads.
#
# At scale paper 6/1 layers (P1000 with 10 heads: 6/6) and 400 million examples: 75 % takes 120 to 250 million (section
# 4.6). The paper has 512 dimensions everywhere, which 10 and 12 heads do not divide: encoders have 510 and 516. At
# scale laptop the released model, which writes four digits (P10000) where the paper's write three, and in the column of
# 10/4 heads the model before it, which writes three (B1999); P10 and P1000 with 8/8 heads from scratch.

INVERSES_BUDGET = 400 * MILLION
DIMENSIONS = {8: 512, 10: 510, 12: 516}  # heads of the encoder -> its dimensions
INVERSES = (  # encoding, layers, heads of encoder and decoder
    ("p10", "6/1", 8, 8),
    ("p1000", "6/1", 8, 8),
    ("p1000", "6/6", 10, 8),
    ("p1000", "6/1", 12, 8),
    ("fp15/p1000", "6/1", 10, 4),
    ("fp15/p1000", "6/1", 12, 8),
)
RELEASED_INVERSE, RELEASED_INVERSE_COLUMN = "inverse-5", 5
THREE_DIGITS, THREE_DIGITS_COLUMN = "inverse-5@d1b7832", 4  # the model before, whose result stays


def inverses(scale: str) -> list[Cell]:
    found = []
    for column, (encoding, layers, encoder, decoder) in enumerate(INVERSES):
        key, shows = slug(encoding, f"{encoder}-{decoder}"), by_tolerance(column + 1)
        if scale == "paper":
            sizes = {"dim_model": (DIMENSIONS[encoder], DIMENSIONS[8]), "heads": (encoder, decoder)}
            found.append(Cell(key, paper("inverse", "5", layers, encoding, INVERSES_BUDGET, **sizes), shows))
        elif column == RELEASED_INVERSE_COLUMN:
            found.append(released_cell(key, RELEASED_INVERSE, "inverse", shows))
        elif column == THREE_DIGITS_COLUMN:
            config, note = fine_tune(THREE_DIGITS, "inverse", 110_000)
            found.append(Cell(key, config, shows, note=f"three digits, as the paper's; {note}"))
        elif (encoder, decoder) == (8, 8):
            config = assembled("inverse", "5", f"fp15/{encoding}", LAPTOP_BUDGETS["inverse"], decoder_layers=2)
            found.append(Cell(key, config, shows, note=describe(config)))
    return found


# Singular values and the whole decomposition of 4x4 matrices.
#
# The matrices are symmetric, as in section 4.7. At scale paper 512 dimensions, 8 heads; 60 million examples for the
# values, 150 million for the vectors (4 GPUs, 3 to 7 days). At scale laptop the released models; P10 from scratch.

SINGULAR = (  # task, encoding, layers, examples
    ("singular_values", "p10", "2/2", 60 * MILLION),
    ("singular_values", "p1000", "4/4", 60 * MILLION),
    ("svd", "p10", "1/6", 150 * MILLION),
    ("svd", "p1000", "6/6", 150 * MILLION),
)
RELEASED_SINGULAR = {1: "singular-values-4", 3: "svd-4"}


def singular(scale: str) -> list[Cell]:
    found = []
    for column, (task, encoding, layers, examples) in enumerate(SINGULAR):
        key, shows = slug(task, encoding), by_tolerance(column + 1)
        if scale == "paper":
            found.append(Cell(key, paper(task, "4", layers, encoding, examples, symmetric=True), shows))
        elif column in RELEASED_SINGULAR:
            found.append(released_cell(key, RELEASED_SINGULAR[column], task, shows))
        else:
            fields = {"symmetric": True, "triangle": task == "singular_values"}
            config = assembled(task, "4", f"fp15/{encoding}", LAPTOP_BUDGETS[task], **fields)
            found.append(Cell(key, config, shows, note=describe(config)))
    return found


TABLE_8 = Experiment("table-8", "Eigenvectors", eigenvectors)
TABLE_9 = Experiment("table-9", "Inverses of 5x5 matrices", inverses)
TABLE_10 = Experiment("table-10", "Singular values and vectors of 4x4 matrices", singular)
EXPERIMENTS = (TABLE_8, TABLE_9, TABLE_10)
