"""Transposition: exact copies for four encodings, sizes from 5x5 to 30x30 and matrices of variable sizes.

At scale paper 1/1 layers, 256 dimensions, 8 heads, and Adam at a constant 1e-4, as the published code trains
transposition; at most 50 epochs, less where 99.5 % are exact on the validation split. At scale laptop the tokens are
looked up and the targets hard, in 1/1 layers of 64 dimensions; variable sizes start from the released 10x10 model and
are tested on 2,000 matrices.
"""

from __future__ import annotations

from typing import Any

from learnalg.evaluation.result import Origin
from learnalg.reproduction.configs import EPOCH, describe, fast, paper, released_cell, slug
from learnalg.reproduction.experiment import Cell, Experiment, Shown

ENCODINGS = ("p10", "p1000", "b1999", "fp15")
DIMS = ("5", "10", "20", "30", "5x6", "7x8", "9x11", "5-15", "5-20", "5-15x5-15", "5-20x5-20")
TOO_LONG = ("30", "5-20", "5-20x5-20")  # for P10 and P1000: the paper has no number there
RELEASED = {("b1999", "5"): "transpose-5", ("b1999", "10"): "transpose-10"}
LAPTOP = {  # encoding and sizes -> examples, examples a batch
    ("p10", "5"): (20_000, 64),
    ("p1000", "5"): (20_000, 64),
    ("fp15", "5"): (40_000, 64),
    ("b1999", "5x6"): (20_000, 64),
    ("b1999", "7x8"): (32_000, 64),
    ("b1999", "9x11"): (32_000, 32),
    ("b1999", "5-15"): (4_000, 16),
    ("b1999", "5-15x5-15"): (4_000, 16),
}
PAPER: dict[str, Any] = {
    "dim_model": 256,
    "schedule": "constant",
    "warmup_steps": 0,
    "eval_every": 50_000,
    "stop_accuracy": 0.995,
    "stop_tolerance": 0.0,
}
VARIABLE_FROM = "transpose-10"  # matrices of variable sizes start from the 10x10 model


def laptop_cell(key: str, encoding: str, dim: str, shows: tuple[Shown, ...]) -> Cell:
    if (encoding, dim) in RELEASED:
        return released_cell(key, RELEASED[encoding, dim], "transpose", shows)
    examples, batch = LAPTOP[encoding, dim]
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


def cells(scale: str) -> list[Cell]:
    found = []
    for row, encoding in enumerate(ENCODINGS):
        for column, dim in enumerate(DIMS, start=1):
            shows = (Shown(row, column, "report/accuracy/l1/0.0"),)
            key = slug(encoding, dim)
            if scale == "laptop":
                if (encoding, dim) in {*RELEASED, *LAPTOP}:
                    found.append(laptop_cell(key, encoding, dim, shows))
            elif encoding in ("b1999", "fp15") or dim not in TOO_LONG:
                found.append(Cell(key, paper("transpose", dim, "1/1", encoding, 50 * EPOCH, **PAPER), shows))
    return found


EXPERIMENT = Experiment("table-2", "Transposition, exact copies", cells)
