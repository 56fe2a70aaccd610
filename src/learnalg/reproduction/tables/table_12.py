"""Eigenvalues of 5x5 matrices out of distribution: seven training sets, eleven test sets, accuracy at 2 % tolerance.

The paper does not say how many layers its models have; here they are those of table 20 with P1000 and 6/1 layers, which
are kept there. At scale laptop four training sets, FP15/P1000 and 4/1 layers. The models of Wigner and of Laplace
matrices are released ones, each from scratch; the others start from the first, so that they have seen its matrices,
too.
"""

from __future__ import annotations

from dataclasses import replace

from learnalg.reproduction.experiment import Cell, Experiment, Shown
from learnalg.reproduction.tables.table_20 import LAPTOP, OUT_OF_DISTRIBUTION, TEST_SETS, TESTS, model_cell, test_name


def cells(scale: str) -> list[Cell]:
    found: list[Cell] = []
    for row, theirs in enumerate(OUT_OF_DISTRIBUTION):
        if scale == "laptop" and theirs not in LAPTOP:
            continue
        shows = tuple(
            Shown(row, column, f"tests/{test_name(law, factor)}/accuracy/l1/0.02")
            for column, (law, factor) in enumerate(TEST_SETS, start=1)
        )
        cell = model_cell(scale, theirs, "p1000", "6/1" if scale == "paper" else "4/1", shows)
        found.append(replace(cell, tests=TESTS, home="table-20"))
    return found


EXPERIMENT = Experiment("table-12", "Eigenvalues out of distribution", cells)
