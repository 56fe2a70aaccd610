"""Cells with noisy inputs, for tables 11, 27 and 28: one run for each model and level of noise, tested with the noise
that it was trained with. Rows of these tables are the tolerances 5, 2 and 1 %, each with the three levels."""

from __future__ import annotations

from learnalg.recipes.making import ADD_BUDGET, EIGENVALUES_BUDGET, describe, fast, paper, slug
from learnalg.recipes.recipe import Cell, Shown

LEVELS = (0.01, 0.02, 0.05)  # of the coefficients' standard deviation
ROW_TOLERANCES = ("0.05", "0.02", "0.01")
BUDGETS = {"add": ADD_BUDGET, "eigenvalues": EIGENVALUES_BUDGET}
LAPTOP = {"add": (200_000, "1/1"), "eigenvalues": (400_000, "4/1")}  # examples, layers


def noisy(
    scale: str, task: str, encoding: str, layers: str, dimensions: int, column: int, home: str = ""
) -> list[Cell]:
    """The three runs behind a column."""
    found = []
    for level, noise in enumerate(LEVELS):
        shows = tuple(
            Shown(len(LEVELS) * k + level, column, f"report/accuracy/l1/{tolerance}")
            for k, tolerance in enumerate(ROW_TOLERANCES)
        )
        key, note = slug(task, encoding, layers, str(dimensions), f"noise-{noise}"), ""
        if scale == "paper":
            config = paper(task, "5", layers, encoding, BUDGETS[task], dim_model=dimensions, noise=noise)
        else:
            examples, own_layers = LAPTOP[task]
            config = fast(task, "5", own_layers, examples, noise=noise)
            note = describe(config)
        found.append(Cell(key, config, shows, home=home, note=note))
    return found
