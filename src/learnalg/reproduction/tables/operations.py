"""Matrix operations: transposition (table 2), sums (3), products with vectors (4) and of matrices (5)."""

from __future__ import annotations

from typing import Any

from learnalg.evaluation.result import Origin
from learnalg.reproduction.configs import (
    ADD_BUDGET,
    EPOCH,
    MILLION,
    by_tolerance,
    describe,
    fast,
    fine_tune,
    paper,
    released_cell,
    slug,
)
from learnalg.reproduction.experiment import Cell, Experiment, Shown

# Transposition: exact copies for four encodings, sizes from 5x5 to 30x30 and matrices of variable sizes.
#
# At scale paper 1/1 layers, 256 dimensions, 8 heads, and Adam at a constant 1e-4, as the published code trains
# transposition; at most 50 epochs, less where 99.5 % are exact on the validation split. At scale laptop the
# tokens are looked up and the targets hard, in 1/1 layers of 64 dimensions; variable sizes start from the released
# 10x10 model and are tested on 2,000 matrices.

ENCODINGS = ("p10", "p1000", "b1999", "fp15")
DIMS = ("5", "10", "20", "30", "5x6", "7x8", "9x11", "5-15", "5-20", "5-15x5-15", "5-20x5-20")
TOO_LONG = ("30", "5-20", "5-20x5-20")  # for P10 and P1000: the paper has no number there
RELEASED_COPIES = {("b1999", "5"): "transpose-5", ("b1999", "10"): "transpose-10"}
LAPTOP_COPIES = {  # encoding and sizes -> examples, examples a batch
    ("p10", "5"): (20_000, 64),
    ("p1000", "5"): (20_000, 64),
    ("fp15", "5"): (40_000, 64),
    ("b1999", "5x6"): (20_000, 64),
    ("b1999", "7x8"): (32_000, 64),
    ("b1999", "9x11"): (32_000, 32),
    ("b1999", "5-15"): (4_000, 16),
    ("b1999", "5-15x5-15"): (4_000, 16),
}
PUBLISHED: dict[str, Any] = {
    "dim_model": 256,
    "schedule": "constant",
    "warmup_steps": 0,
    "eval_every": 50_000,
    "stop_accuracy": 0.995,
    "stop_tolerance": 0.0,
}
VARIABLE_FROM = "transpose-10"  # matrices of variable sizes start from the 10x10 model


def copies(scale: str) -> list[Cell]:
    found = []
    for row, encoding in enumerate(ENCODINGS):
        for column, dim in enumerate(DIMS, start=1):
            shows = (Shown(row, column, "report/accuracy/l1/0.0"),)
            key = slug(encoding, dim)
            if scale == "laptop":
                if (encoding, dim) in {*RELEASED_COPIES, *LAPTOP_COPIES}:
                    found.append(laptop_copy(key, encoding, dim, shows))
            elif encoding in ("b1999", "fp15") or dim not in TOO_LONG:
                found.append(Cell(key, paper("transpose", dim, "1/1", encoding, 50 * EPOCH, **PUBLISHED), shows))
    return found


def laptop_copy(key: str, encoding: str, dim: str, shows: tuple[Shown, ...]) -> Cell:
    if (encoding, dim) in RELEASED_COPIES:
        return released_cell(key, RELEASED_COPIES[encoding, dim], "transpose", shows)
    examples, batch = LAPTOP_COPIES[encoding, dim]
    fields: dict[str, Any] = {
        "dim_model": 64,
        "input_embedding": "lookup",
        "soft_width": 0.0,
        "batch_size": batch,
        "eval_num": 200,
        "init": VARIABLE_FROM if "-" in dim else "",
    }
    # Tested on fewer examples where sequences are long: decoding takes longer than training.
    config = fast("transpose", dim, "1/1", examples, encoding, **fields, final_num=2_000 if "15" in dim else 10_000)
    return Cell(key, config, shows, note=describe(config, Origin(VARIABLE_FROM, "all", 32_000) if "-" in dim else None))


# Sums: fixed and variable sizes, by tolerance.
#
# At scale paper B1999, 512 dimensions, 8 heads, and 30 million examples, the budget of table 13, for every size: the
# paper says a few hours. At scale laptop the input is in FP15, and the output of the 5x5 model in P1000; variable sizes
# start from the 5x5 model and are tested on 2,000 matrices.

SUMS = (  # dim and layers, in the paper's order
    ("5", "2/2"),
    ("6x4", "2/2"),
    ("3x8", "2/2"),
    ("10", "2/2"),
    ("15", "2/2"),
    ("20", "1/1"),
    ("5-10", "2/2"),
    ("5-15", "1/1"),
    ("5-15", "1/6"),
    ("5-10x5-10", "2/2"),
    ("5-15x5-15", "2/2"),
    ("5-15x5-15", "1/6"),
)
RELEASED_SUMS = {0: "add-5", 3: "add-10"}
LAPTOP_SUMS = {1: 60_000, 2: 60_000}  # column -> examples
VARIABLE_SUMS = {6: 8_000, 9: 8_000}  # examples, fine-tuned from the 5x5 model


def sums(scale: str) -> list[Cell]:
    found = []
    for column, (dim, layers) in enumerate(SUMS):
        key, shows = slug(dim, layers), by_tolerance(column + 1)
        if scale == "paper":
            found.append(Cell(key, paper("add", dim, layers, "b1999", ADD_BUDGET), shows))
        elif column in RELEASED_SUMS:
            found.append(released_cell(key, RELEASED_SUMS[column], "add", shows))
        elif column in LAPTOP_SUMS:
            small: dict[str, Any] = {"dim_model": 64, "batch_size": 32, "eval_num": 200}
            config = fast("add", dim, "1/1", LAPTOP_SUMS[column], "fp15/b1999", evals=5, **small)
            found.append(Cell(key, config, shows, note=describe(config)))
        elif column in VARIABLE_SUMS:
            # Tested on fewer examples: of long sequences decoding takes longer than training.
            few: dict[str, Any] = {"batch_size": 16, "eval_num": 200, "final_num": 2_000}
            config, note = fine_tune("add-5", "add", VARIABLE_SUMS[column], dim=dim, **few)
            found.append(Cell(key, config, shows, note=note))
    return found


# Products of a matrix with a vector: encodings, fixed and variable sizes, by tolerance.
#
# At scale paper 512 dimensions, 8 heads, 30 million examples: the paper says up to a day, and its table 17 has 95 %
# after 7 epochs of 300,000. At scale laptop FP15/P1000 and 2/1 layers of 128 dimensions.

Columns = tuple[tuple[str, str, str], ...]  # encoding, dim and layers, in the paper's order
WITH_VECTORS: Columns = (
    ("p10", "5", "2/2"),
    ("p1000", "5", "2/2"),
    ("p1000", "10", "2/2"),
    ("p1000", "14x2", "1/1"),
    ("p1000", "9x3", "1/1"),
    ("p1000", "4x6", "2/2"),
    ("p1000", "2x10", "2/2"),
    ("p1000", "5-10", "4/4"),
    ("p1000", "5-10x5-10", "2/2"),
)
LAPTOP_WITH_VECTORS = {3: 400_000, 4: 400_000, 5: 400_000, 6: 400_000}  # column -> examples


def with_vectors(scale: str) -> list[Cell]:
    return products(scale, "matvec", WITH_VECTORS, 30 * MILLION, LAPTOP_WITH_VECTORS)


def products(scale: str, task: str, columns: Columns, budget: int, laptop: dict[int, int]) -> list[Cell]:
    """A cell for each column; `laptop`: column -> examples of those that are run there. 5x5 is a released model."""
    found = []
    for column, (encoding, dim, layers) in enumerate(columns):
        key, shows = slug(encoding, dim), by_tolerance(column + 1)
        if scale == "paper":
            found.append(Cell(key, paper(task, dim, layers, encoding, budget), shows))
        elif (encoding, dim) == ("p1000", "5"):
            found.append(released_cell(key, f"{task}-5", task, shows))
        elif column in laptop:
            config = fast(task, dim, "2/1", laptop[column])
            found.append(Cell(key, config, shows, note=describe(config)))
    return found


# Products of two matrices M^T N with 24 to 26 coefficients each, by tolerance.
#
# At scale paper 512 dimensions, 8 heads and 60 million examples: the paper says a day, and more than for vectors. At
# scale laptop FP15/P1000, of 5x5 matrices the released model, FP15/B1999.

OF_MATRICES: Columns = (
    ("p10", "5", "2/2"),
    ("p1000", "5", "1/4"),
    ("p1000", "2x13", "4/4"),
    ("p1000", "2x12", "4/4"),
    ("p1000", "3x8", "2/6"),
    ("p1000", "4x6", "1/4"),
    ("p1000", "6x4", "1/6"),
    ("p1000", "8x3", "1/6"),
    ("p1000", "12x2", "1/6"),
    ("p1000", "13x2", "1/4"),
)
LAPTOP_OF_MATRICES = {7: 300_000, 8: 400_000}  # outputs of 2x13 have 169 coefficients, too many for two cores


def of_matrices(scale: str) -> list[Cell]:
    return products(scale, "matmul", OF_MATRICES, 60 * MILLION, LAPTOP_OF_MATRICES)


TABLE_2 = Experiment("table-2", "Transposition, exact copies", copies)
TABLE_3 = Experiment("table-3", "Sums of matrices", sums)
TABLE_4 = Experiment("table-4", "Matrix times vector", with_vectors)
TABLE_5 = Experiment("table-5", "Matrix times matrix", of_matrices)
EXPERIMENTS = (TABLE_2, TABLE_3, TABLE_4, TABLE_5)
