"""Eigenvalues: by encoding and size (table 6), with large models (19, of which 7 is a part), and retraining (25)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from learnalg.config import replace_fields
from learnalg.reproduction.configs import (
    EIGENVALUES_BUDGET,
    MILLION,
    along_row,
    assembled,
    at_size,
    by_tolerance,
    describe,
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
# for 10x10 (section 4.4); of variable sizes the paper says nothing, we take 180. At scale laptop the released models of
# 5x5 and 8x8, and the one of 2x2 to 10x10 for all else; 5x5 in other encodings is trained from scratch.

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
OF_ALL_SIZES = "eigenvalues"  # released
SIZES_OF_IT = {5: "8", 6: "10", 7: "5-10"}  # column -> matrices
OTHER_ENCODINGS = (0, 2, 3)  # columns
LAPTOP_BUDGET = 100_000


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
    for column in OTHER_ENCODINGS:
        dim, encoding, layers, _ = COLUMNS[column]
        config = assembled("eigenvalues", dim, f"fp15/{encoding}", LAPTOP_BUDGET)
        found.append(Cell(slug(encoding, dim, layers), config, by_tolerance(column + 1), note=describe(config)))
    shows = tuple(shown for column, dim in SIZES_OF_IT.items() for shown in at_size(dim, column + 1))
    tests = {dim: {"dim": dim} for dim in SIZES_OF_IT.values()}
    return [*found, released_cell("all-sizes", OF_ALL_SIZES, "eigenvalues", shows, tests=tests)]


# Large models: accuracies by tolerance, and millions of examples until 99 % accuracy at 5 % tolerance.
#
# At scale paper layers, dimensions, heads and encodings of each side as the paper's rows name them. Its budgets are not
# given; here they are one for each size, beyond the slowest of the paper's models of that size: 125 million for 8x8,
# 200 for 10x10, 150 for 12x12. At scale laptop depth is the number of loops: 1, 2, 4 and 8 for small to extra-large,
# beside the base configurations of a decoder; 8x8 and 10x10 with two loops are released models.

BUDGETS = {"8x8": 125 * MILLION, "10x10": 200 * MILLION, "12x12": 150 * MILLION}
SAMPLE_SIZE = 7  # column


LOOPS = {"6/512/8": 1, "8/640/10": 2, "12/768/12": 4, "24/1024/16": 8}  # of the paper's base configurations
LOOPED_BUDGET = 120_000
IN_PLACE_OF = {("12x12", 2): 12}  # its only model with 8 layers has another configuration: row


def looped_rows() -> dict[tuple[str, int], int]:
    """Size and number of loops -> row of table 19."""
    found = dict(IN_PLACE_OF)
    for row, (_, model, size, *_) in enumerate(paper_table("table-19")[1]):
        decoder = model.partition("D:")[2].removesuffix("/P1000")
        if decoder in LOOPS:
            found.setdefault((size, LOOPS[decoder]), row)
    return found


def looped_models() -> list[Cell]:
    found = []
    for (size, loops), row in looped_rows().items():
        dim, shows = size.partition("x")[0], (*along_row(row, 3), sample_size(row, SAMPLE_SIZE))
        if (size, loops) == ("8x8", 2):
            found.append(released_cell(slug(size, "2-loops"), RELEASED[4], "eigenvalues", shows))
        elif (size, loops) == ("10x10", 2):
            shows = tuple(replace(s, measure=s.measure.replace("report", "tests/10")) for s in shows[:-1])
            found.append(
                released_cell("10x10-2-loops", OF_ALL_SIZES, "eigenvalues", shows, tests={"10": {"dim": "10"}})
            )
        else:
            config = assembled("eigenvalues", dim, "fp15/p1000", LOOPED_BUDGET, evals=12, encoder_loops=loops)
            found.append(Cell(slug(size, f"{loops}-loops"), config, shows, note=describe(config)))
    return found


def large_models(scale: str) -> list[Cell]:
    if scale == "laptop":
        return looped_models()
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


def deeper_looped() -> list[Cell]:
    """Table 19's looped models, with the paper's three depths."""
    places = {row: place for place, row in looped_rows().items()}
    found = []
    for cell in looped_models():
        size, loops = places[int(cell.shows[0].row)]
        if loops > 1:
            row, column = SIZES.index(size), 1 + (2, 4, 8).index(loops)
            shows: tuple[Shown, ...] = (Shown(row, column, cell.shows[0].measure),)
            if cell.shows[-1].measure.startswith("reached"):
                shows += (sample_size(row, len(DECODERS) + column),)
            found.append(replace(cell, shows=shows, home="table-19"))
    return found


def deeper_models(scale: str) -> list[Cell]:
    if scale == "laptop":
        return deeper_looped()
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
# and take as many examples as the paper's. At scale laptop the released 5x5 model, FP15/P1000, and that of table 6 in
# P10.

RETRAINED = (  # encoding, dim, column of table 6 to start from (from 0), examples
    ("p10", "5-6", 0, 10 * MILLION),
    ("p10", "5-7", 0, 25 * MILLION),
    ("p1000", "5-6", 1, 25 * MILLION),
)
LAPTOP_RETRAINED, LAPTOP_EXAMPLES = 2, 40_000  # row


def retrained(scale: str) -> list[Cell]:
    if scale == "laptop":
        config, note = fine_tune(RELEASED[1], "eigenvalues", LAPTOP_EXAMPLES, dim="5-6")
        p10 = replace(next(c for c in by_size("laptop") if c.key == "p10-5-6-6"), shows=(), home="table-6")
        found = [p10]
        for row, (encoding, dim, *_) in enumerate(RETRAINED[:LAPTOP_RETRAINED]):
            again = replace_fields(p10.config, dim=dim, stage=(), examples=LAPTOP_EXAMPLES, eval_every=10_000)
            said = f"{describe(again)}, fine-tuned from {p10.key} ({LAPTOP_BUDGET:,} examples)"
            found.append(Cell(slug(encoding, dim), again, shown(row, 2), init=p10.key, note=said))
        return [*found, Cell("p1000-5-6", config, shown(LAPTOP_RETRAINED, 2), note=note)]
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
