"""Eigenvalues: by encoding and size (table 6), with large models (19, of which 7 is a part), and retraining (25)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from learnalg.reproduction.configs import (
    EIGENVALUES_BUDGET,
    MILLION,
    along_row,
    by_tolerance,
    fine_tune,
    paper,
    released_cell,
    slug,
)
from learnalg.reproduction.experiment import Cell, Experiment, Shown, paper_table

# Encodings, fixed and variable sizes, by tolerance.
#
# At scale paper 512 dimensions and 8 heads. The 10x10 model has 510 dimensions and 12 heads in the paper; 12 does not
# divide 510, so it has 516 here, as in table 19. Budgets: 60 million for 5x5 (table 14), 90 for 8x8 (60 to 99 %), 360
# for 10x10 (section 4.4); of variable sizes the paper says nothing, we take 180. At scale laptop FP15/P1000; variable
# sizes start from the released 5x5 model.

COLUMNS = (  # dim, encoding, layers and examples, in the paper's order
    ("5", "p10", "6/6", EIGENVALUES_BUDGET),
    ("5", "p1000", "4/1", EIGENVALUES_BUDGET),
    ("5", "b1999", "6/6", EIGENVALUES_BUDGET),
    ("5", "fp15", "6/1", EIGENVALUES_BUDGET),
    ("8", "p1000", "6/1", 90 * MILLION),
    ("8", "fp15", "1/6", 90 * MILLION),
    ("10", "fp15", "1/6", 360 * MILLION),
    ("5-10", "fp15", "4/4", 180 * MILLION),
    ("5-15", "fp15", "6/6", 180 * MILLION),
    ("5-20", "fp15", "4/4", 180 * MILLION),
)
RELEASED = {1: "eigenvalues-5", 4: "eigenvalues-8"}


def paper_cell(column: int) -> Cell:
    """Of table 6; columns count from 0."""
    dim, encoding, layers, examples = COLUMNS[column]
    sizes: dict[str, Any] = {"dim_model": 516, "heads": 12} if dim == "10" else {}
    config = paper("eigenvalues", dim, layers, encoding, examples, **sizes)
    return Cell(slug(encoding, dim, layers), config, by_tolerance(column + 1))


def by_size(scale: str) -> list[Cell]:
    if scale == "paper":
        return [paper_cell(column) for column in range(len(COLUMNS))]
    found = []
    for column, name in RELEASED.items():
        dim, encoding, layers, _ = COLUMNS[column]
        found.append(released_cell(slug(encoding, dim, layers), name, "eigenvalues", by_tolerance(column + 1)))
    config, note = fine_tune(RELEASED[1], "eigenvalues", 120_000, dim="5-10")
    return [*found, Cell("fp15-5-10-4-4", config, by_tolerance(8), note=note)]


# Large models: accuracies by tolerance, and millions of examples until 99 % accuracy at 5 % tolerance.
#
# Scale paper only, since two cores are far from all of it: layers, dimensions, heads and encodings of each side as the
# paper's rows name them. Its budgets are not given; here they are one for each size, beyond the slowest of the paper's
# models of that size: 125 million for 8x8, 200 for 10x10, 150 for 12x12.

BUDGETS = {"8x8": 125 * MILLION, "10x10": 200 * MILLION, "12x12": 150 * MILLION}
SAMPLE_SIZE = 7  # column


def large_models(scale: str) -> list[Cell]:
    if scale == "laptop":
        return []
    found = []
    for row, (_, model, size, *numbers) in enumerate(paper_table("table-19")[1]):
        speed = () if numbers[-1] == "-" else (sample_size(row, SAMPLE_SIZE),)
        found.append(large_cell(model, size, (*along_row(row, 3), *speed)))
    return found


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


# Deeper decoders for larger matrices: accuracy at 5 % tolerance, and millions of examples until 99 %. The runs are
# those of table 19 that fit, which keeps them: the base configuration of each depth, FP15/P1000; for 12x12 with 8
# layers the only one there, FP15/FP15.

SIZES = ("8x8", "10x10", "12x12")  # rows
DECODERS = ("8/640/10/P1000", "12/768/12/P1000", "24/1024/16/P1000")  # columns
EXCEPTIONS = {("12x12", "8/640/10/P1000"): "8/645/15/FP15"}


def deeper_models(scale: str) -> list[Cell]:
    if scale == "laptop":
        return []
    rows = paper_table("table-7")[1]
    found = []
    for row, size in enumerate(SIZES):
        for k, base in enumerate(DECODERS):
            decoder, column = EXCEPTIONS.get((size, base), base), 1 + len(DECODERS) + k
            shows: tuple[Shown, ...] = (Shown(row, 1 + k, "report/accuracy/l1/0.05"),)
            if rows[row][column] != "-":
                shows += (sample_size(row, column),)
            found.append(large_cell(f"E:1/512/8/FP15 D:{decoder}", size, shows, home="table-19"))
    return found


# Retraining: models of 5x5 matrices learn other sizes from few more examples.
#
# At scale paper they start from runs of table 6 (P10 with 6/6 layers, P1000 with 4/1; the paper does not say which)
# and take as many examples as the paper's. At scale laptop the released 5x5 model, FP15/P1000.

RETRAINED = (  # encoding, dim, column of table 6 to start from (from 0), examples
    ("p10", "5-6", 0, 10 * MILLION),
    ("p10", "5-7", 0, 25 * MILLION),
    ("p1000", "5-6", 1, 25 * MILLION),
)
LAPTOP_RETRAINED, LAPTOP_EXAMPLES = 2, 40_000  # row


def retrained(scale: str) -> list[Cell]:
    if scale == "laptop":
        config, note = fine_tune(RELEASED[1], "eigenvalues", LAPTOP_EXAMPLES, dim="5-6")
        return [Cell("p1000-5-6", config, shown(LAPTOP_RETRAINED, 2), note=note)]
    origins = {column: replace(paper_cell(column), shows=(), home="table-6") for column in (0, 1)}
    found = list(origins.values())
    for row, (encoding, dim, column, examples) in enumerate(RETRAINED):
        config = paper("eigenvalues", dim, COLUMNS[column][2], encoding, examples)
        found.append(Cell(slug(encoding, dim), config, shown(row, 0), init=origins[column].key))
    return found


def shown(row: int, digits: int) -> tuple[Shown, ...]:
    return (
        Shown(row, 2, "report/accuracy/l1/0.05"),
        Shown(row, 3, "report/accuracy/l1/0.02"),
        Shown(row, 4, "examples", factor=1 / MILLION, digits=digits),
    )


TABLE_6 = Experiment("table-6", "Eigenvalues", by_size)
TABLE_7 = Experiment("table-7", "Eigenvalues with deeper models", deeper_models)
TABLE_19 = Experiment("table-19", "Eigenvalues with large models", large_models)
TABLE_25 = Experiment("table-25", "Retraining on other sizes", retrained)
EXPERIMENTS = (TABLE_6, TABLE_7, TABLE_19, TABLE_25)
