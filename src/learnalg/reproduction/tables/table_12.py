"""Eigenvalues of 5x5 matrices out of distribution: seven training sets, eleven test sets, within 2 %.

The paper does not say how many layers its models have; here they are those of table 20 with P1000 and 6/1 layers, which
are kept there. At scale laptop four training sets, FP15/P1000 and 4/1 layers. The models of Wigner and of Laplace
matrices are kept ones, each from scratch; the others start from the first, so that they have seen its matrices, too.

Time on two cores, at 60 GFLOP/s: smoke seconds, laptop 11 minutes, paper 2.1 years, unless these runs are there
already.

Measured at scale laptop: 4 of 4 cells, the highest number 100.0 where the paper has 99.
"""

from __future__ import annotations

from learnalg.reproduction.experiment import Cell, Recipe, Shown
from learnalg.reproduction.tables.table_20 import KEPT, LAPTOP, OUT_OF_DOMAIN, TEST_SETS, TESTS, model_cell, test_name


def cells(scale: str) -> list[Cell]:
    found: list[Cell] = []
    for row, theirs in enumerate(OUT_OF_DOMAIN):
        if scale == "laptop" and theirs not in LAPTOP:
            continue
        key, config, note = model_cell(scale, theirs, "p1000", "6/1" if scale == "paper" else "4/1")
        shows = tuple(
            Shown(row, column, f"tests/{test_name(law, factor)}/accuracy/l1/0.02")
            for column, (law, factor) in enumerate(TEST_SETS, start=1)
        )
        kept = KEPT.get(theirs, "") if scale == "laptop" else ""
        init = found[0].key if scale == "laptop" and not kept else ""
        found.append(Cell(key, config, shows, TESTS, home="table-20", init=init, kept=kept, note=note))
    return found


RECIPE = Recipe("table-12", "Eigenvalues out of distribution", cells)
