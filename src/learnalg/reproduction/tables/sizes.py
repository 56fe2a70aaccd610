"""Digits of the numbers (tables 13 and 14), and dimensions and layers of the networks (15, 16 and 17)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from learnalg.config import RunConfig
from learnalg.reproduction.configs import (
    ADD_BUDGET,
    EIGENVALUES_BUDGET,
    EPOCH,
    assembled,
    describe,
    fast,
    paper,
    slug,
)
from learnalg.reproduction.experiment import Cell, Experiment, Shown, paper_table

# Digits: numbers of two, three and four, by tolerance; sums of 10x10 matrices and eigenvalues of 5x5 matrices.
#
# At scale paper 2/2 layers for sums and 4/1 for eigenvalues, 512 dimensions, 8 heads, P100, P1000 and P10000 on both
# sides, 30 and 60 million examples. At scale laptop the inputs are one token a number with as many digits, and soft
# targets are as wide as half a token of P100.

ENCODINGS = ("p100", "p1000", "p10000")  # rows
TOLERANCES = ("0.1", "0.05", "0.02", "0.01", "0.005", "0.001")  # columns
OWN_TEST: dict[str, dict[str, Any]] = {"own": {}}  # the test set once more: 10 and 0.1 % are no usual tolerances
SOFT_WIDTHS = {"p100": 0.5, "p1000": 3.0, "p10000": 3.0}  # tokens


def digits_of_sums(scale: str) -> list[Cell]:
    found = []
    for row, encoding in enumerate(ENCODINGS):
        config, note = paper("add", "10", "2/2", encoding, ADD_BUDGET), ""
        if scale == "laptop":
            sizes: dict[str, Any] = {"dim_model": 64, "batch_size": 32, "eval_num": 200, "final_num": 2_000}
            width = SOFT_WIDTHS[encoding]
            config = fast("add", "10", "1/1", 60_000, with_one_token(encoding), soft_width=width, **sizes)
            note = "1/1 layers of 64 dimensions, 60,000 examples"
        found.append(digits_cell(row, config, note))
    return found


def digits_of_eigenvalues(scale: str) -> list[Cell]:
    found = []
    for row, encoding in enumerate(ENCODINGS):
        config, note = paper("eigenvalues", "5", "4/1", encoding, EIGENVALUES_BUDGET), ""
        if scale == "laptop":
            width = SOFT_WIDTHS[encoding]
            config = assembled("eigenvalues", "5", with_one_token(encoding), 100_000, soft_width=width)
            note = describe(config)
        found.append(digits_cell(row, config, note))
    return found


def with_one_token(encoding: str) -> str:
    """Both sides: for the input FP15 with the digits of a positional encoding."""
    return f"floating:digits={len(encoding) - 2},exponents=-8:7/{encoding}"


def digits_cell(row: int, config: RunConfig, note: str) -> Cell:
    shows = tuple(Shown(row, 1 + k, f"tests/own/accuracy/l1/{t}") for k, t in enumerate(TOLERANCES))
    return Cell(ENCODINGS[row], config, shows, OWN_TEST, tuple(map(float, TOLERANCES)), note=note)


# Sums of 10x10 matrices by encoding, dimensions and layers: accuracy at 5 % tolerance after 60 epochs of 300,000
# examples (table 15), and epochs until 95 % (table 16).
#
# At scale paper 8 heads and 100 epochs: the slowest model of the paper needs 96. Table 16 keeps the runs; those for
# which it has no number are run for table 15, which reads the curves at 60, as the paper did. At scale laptop
# FP15/B1999 and 60,000 examples, a fifth of an epoch: table 15 shows the end of these.

SUM_LAYERS = ("1/1", "2/2", "4/4", "6/6")  # rows
SUM_COLUMNS = tuple((encoding, dimensions) for encoding in ("b1999", "p1000") for dimensions in (64, 128, 256, 512))
LAPTOP_SUMS = {(0, 0), (1, 0), (0, 1), (1, 1)}  # row and column


def accuracy_of_sums(scale: str) -> list[Cell]:
    measure = f"after/{60 * EPOCH}/0.05" if scale == "paper" else "report/accuracy/l1/0.05"
    return [
        sum_cell(scale, row, column, (Shown(row, column + 1, measure),), "table-16")
        for row, column in sum_places(scale)
    ]


def epochs_of_sums(scale: str) -> list[Cell]:
    rows = paper_table("table-16")[1]
    found = []
    for row, column in sum_places(scale):
        cell = sum_cell(scale, row, column, (reached(scale, row, column),), "")
        has_number = rows[row][column + 1] != "-" or scale == "laptop"
        found.append(cell if has_number else replace(cell, shows=()))
    return found


def sum_places(scale: str) -> list[tuple[int, int]]:
    places = [(row, column) for row in range(len(SUM_LAYERS)) for column in range(len(SUM_COLUMNS))]
    return [place for place in places if scale == "paper" or place in LAPTOP_SUMS]


def sum_cell(scale: str, row: int, column: int, shows: tuple[Shown, ...], home: str) -> Cell:
    (encoding, dimensions), layers = SUM_COLUMNS[column], SUM_LAYERS[row]
    key = slug(encoding, layers, str(dimensions))
    if scale == "paper":
        return Cell(key, paper("add", "10", layers, encoding, 100 * EPOCH, dim_model=dimensions), shows, home=home)
    fields: dict[str, Any] = {"dim_model": dimensions, "batch_size": 32, "eval_num": 200, "final_num": 2_000}
    config = fast("add", "10", layers, 60_000, f"fp15/{encoding}", evals=20, **fields)
    return Cell(key, config, shows, home=home, note="60,000 examples, FP15 in the input")


def reached(scale: str, row: int, column: int) -> Shown:
    """Epochs until 95 %; `column` counts from 0, without the labels."""
    digits = 1 if scale == "paper" else 2
    return Shown(row, column + 1, "reached/0.05/0.95", factor=1 / EPOCH, digits=digits)


# Epochs until 95 % accuracy at 5 % tolerance for products of 5x5 matrices with vectors and for eigenvalues (table 17).
#
# At scale paper P1000, 8 heads; a run ends when it is there, or after 40 epochs (products) or 250 (eigenvalues): the
# slowest of the paper need 29 and 244. Models for which it gives no number have the same budgets. At scale laptop
# FP15/P1000, the preset `fast-2` without loops: the encoder has the layers, the decoder one.

LAYERS = ("1/1", "2/2", "4/4", "6/6", "8/8")  # rows
COLUMNS = (
    *(("matvec", dimensions) for dimensions in (128, 256, 512)),
    *(("eigenvalues", dimensions) for dimensions in (128, 256, 512, 1024)),
)
BUDGETS = {"matvec": 40 * EPOCH, "eigenvalues": 250 * EPOCH}
LAPTOP_BUDGET = 200_000
LAPTOP = {(row, column) for row in range(len(LAYERS)) for column in (0, 3)} | {(1, 1), (1, 4)}  # row and column


def learning_speed(scale: str) -> list[Cell]:
    found = []
    for row, layers in enumerate(LAYERS):
        for column, (task, dimensions) in enumerate(COLUMNS):
            key, shows = slug(task, layers, str(dimensions)), (reached(scale, row, column),)
            stop: dict[str, Any] = {"dim_model": dimensions, "stop_accuracy": 0.95}
            if scale == "paper":
                found.append(Cell(key, paper(task, "5", layers, "p1000", BUDGETS[task], **stop), shows))
            elif scale == "laptop" and (row, column) in LAPTOP:
                fields: dict[str, Any] = {"encoder_loops": 1, "encoder_layers": int(layers[0]), "stage": ()} | stop
                config = assembled(task, "5", "fp15/p1000", LAPTOP_BUDGET, evals=40, **fields)
                note = f"{describe(config)} at most, one layer in the decoder"
                found.append(Cell(key, config, shows, note=note))
    return found


TABLE_16 = Experiment("table-16", "Sums by size of the model: epochs", epochs_of_sums)
EXPERIMENTS = (
    Experiment("table-13", "Digits of the numbers: sums", digits_of_sums),
    Experiment("table-14", "Digits of the numbers: eigenvalues", digits_of_eigenvalues),
    Experiment("table-15", "Sums by size of the model: accuracy", accuracy_of_sums),
    TABLE_16,
    Experiment("table-17", "Learning speed by size of the model", learning_speed),
)
