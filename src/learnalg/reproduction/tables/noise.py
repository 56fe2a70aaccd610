"""Cells with noisy inputs, for tables 11, 27 and 28: one run for each model and level of noise, tested with the noise
that it was trained with. Rows of these tables are the tolerances 5, 2 and 1 %, each with the three levels.

At scale laptop they start from the released models of exact inputs.
"""

from __future__ import annotations

from learnalg.reproduction.configs import ADD_BUDGET, EIGENVALUES_BUDGET, fine_tune, paper, slug
from learnalg.reproduction.experiment import Cell, Shown

LEVELS = (0.01, 0.02, 0.05)  # of the coefficients' standard deviation
ROW_TOLERANCES = ("0.05", "0.02", "0.01")
BUDGETS = {"add": ADD_BUDGET, "eigenvalues": EIGENVALUES_BUDGET}
RELEASED = {"add": ("add-5", 24_000), "eigenvalues": ("eigenvalues-5", 40_000)}  # origin, examples


def noisy(
    scale: str, task: str, encoding: str, layers: str, dimensions: int, column: int, home: str = ""
) -> list[Cell]:
    """The three runs behind a column, and what they start from."""
    name, examples = RELEASED[task]
    found = []
    for level, noise in enumerate(LEVELS):
        shows = tuple(
            Shown(len(LEVELS) * k + level, column, f"report/accuracy/l1/{tolerance}")
            for k, tolerance in enumerate(ROW_TOLERANCES)
        )
        key = slug(task, encoding, layers, str(dimensions), f"noise-{noise}")
        if scale == "paper":
            config = paper(task, "5", layers, encoding, BUDGETS[task], dim_model=dimensions, noise=noise)
            found.append(Cell(key, config, shows, home=home))
        else:
            config, note = fine_tune(name, task, examples, batch_size=32, noise=noise)
            found.append(Cell(key, config, shows, home=home, note=note))
    return found
