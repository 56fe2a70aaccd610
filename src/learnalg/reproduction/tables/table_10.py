"""Singular values and the whole decomposition of 4x4 matrices, by encoding and tolerance.

The matrices are symmetric, as in section 4.7. At scale paper 512 dimensions, 8 heads; 60 million examples for the
values, 150 million for the vectors (4 GPUs, 3 to 7 days). At scale laptop the kept models.

Time on two cores, at 60 GFLOP/s: smoke seconds, laptop kept models, minutes at most to test them, paper 4.4 years.

Measured at scale laptop: 2 of 2 cells, the highest number 100.0 where the paper has 100.
"""

from __future__ import annotations

from learnalg.reproduction.making import MILLION, by_tolerance, describe, kept_config, paper, slug
from learnalg.reproduction.experiment import Cell, Recipe

COLUMNS = (  # task, encoding, layers, examples
    ("singular_values", "p10", "2/2", 60 * MILLION),
    ("singular_values", "p1000", "4/4", 60 * MILLION),
    ("svd", "p10", "1/6", 150 * MILLION),
    ("svd", "p1000", "6/6", 150 * MILLION),
)
KEPT = {1: "singular-values-4", 3: "svd-4-deeper"}


def cells(scale: str) -> list[Cell]:
    found = []
    for column, (task, encoding, layers, examples) in enumerate(COLUMNS):
        key, shows = slug(task, encoding), by_tolerance(column + 1)
        if scale == "paper":
            found.append(Cell(key, paper(task, "4", layers, encoding, examples, symmetric=True), shows))
        elif column in KEPT:
            config = kept_config(KEPT[column], task)
            found.append(Cell(key, config, shows, kept=KEPT[column], note=describe(config, KEPT[column])))
    return found


RECIPE = Recipe("table-10", "Singular values and vectors of 4x4 matrices", cells)
