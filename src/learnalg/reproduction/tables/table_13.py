"""Digits and sums of 10x10 matrices: numbers of two, three and four digits, by tolerance.

At scale paper 2/2 layers, 512 dimensions, 8 heads, P100, P1000 and P10000 on both sides, 30 million examples. At scale
laptop the inputs are one token a number with as many digits, and soft targets are as wide as half a token of P100.
"""

from __future__ import annotations

from typing import Any

from learnalg.reproduction.configs import ADD_BUDGET, fast, paper
from learnalg.reproduction.experiment import Cell, Experiment, Shown

ROWS = ("p100", "p1000", "p10000")
TOLERANCES = ("0.1", "0.05", "0.02", "0.01", "0.005", "0.001")  # columns
OWN_TEST: dict[str, dict[str, Any]] = {"own": {}}  # the test set once more: 10 and 0.1 % are no usual tolerances
SOFT_WIDTHS = {"p100": 0.5, "p1000": 3.0, "p10000": 3.0}  # tokens


def one_token(encoding: str) -> str:
    """FP15 with the digits of a positional encoding."""
    return f"floating:digits={len(encoding) - 2},exponents=-8:7"


def shown(row: int) -> tuple[Shown, ...]:
    return tuple(
        Shown(row, column, f"tests/own/accuracy/l1/{tolerance}") for column, tolerance in enumerate(TOLERANCES, start=1)
    )


def cells(scale: str) -> list[Cell]:
    found = []
    for row, encoding in enumerate(ROWS):
        if scale == "paper":
            config, note = paper("add", "10", "2/2", encoding, ADD_BUDGET), ""
        else:
            sides = f"{one_token(encoding)}/{encoding}"
            fields: dict[str, Any] = {
                "dim_model": 64,
                "batch_size": 32,
                "eval_num": 200,
                "soft_width": SOFT_WIDTHS[encoding],
            }
            config = fast("add", "10", "1/1", 60_000, sides, **fields, final_num=2_000)
            note = "1/1 layers of 64 dimensions, 60,000 examples"
        tolerances = tuple(map(float, TOLERANCES))
        found.append(Cell(encoding, config, shown(row), OWN_TEST, tolerances, note=note))
    return found


EXPERIMENT = Experiment("table-13", "Digits of the numbers: sums", cells)
