"""Joint training (table 26): one model of 5x5 matrices for several problems, accuracy at 5 % tolerance.

At scale paper P1000 and 6/6 layers (the paper has 4 or 6 and names no encoding), 512 dimensions, 8 heads, 60 million
examples, 150 million with eigenvectors. At scale laptop FP15/P1000, TA and TADM with the preset `fast-1`; the others
with `fast-2`, FP15/B1999, and operands by their position.
"""

from __future__ import annotations

from typing import Any

from learnalg.problems import LETTERS
from learnalg.reproduction.configs import MILLION, assembled, describe, fast, paper
from learnalg.reproduction.experiment import Cell, Experiment, Shown

GOAL_SETS = ("TA", "TAD", "TADM", "TADME", "TADMEF", "TADMEFI", "EFI")  # rows
COLUMNS = "TADMEFI"  # from column 1
LAPTOP = {"TA": 24_000, "TADM": 24_000}  # examples
ASSEMBLED = {"TAD": 40_000, "TADME": 100_000, "TADMEF": 120_000, "TADMEFI": 140_000, "EFI": 120_000}


def cells(scale: str) -> list[Cell]:
    found = []
    for row, goals in enumerate(GOAL_SETS):
        shows = tuple(
            Shown(row, 1 + COLUMNS.index(goal), f"report/by_task/{LETTERS[goal]}/accuracy/l1/0.05") for goal in goals
        )
        if scale == "paper":
            examples = (150 if "F" in goals else 60) * MILLION
            found.append(Cell(goals.lower(), paper(goals, "5", "6/6", "p1000", examples), shows))
        elif goals in LAPTOP:
            fields: dict[str, Any] = {"batch_size": 32, "output_embedding": "lookup"}
            config = fast(goals, "5", "2/1", LAPTOP[goals], evals=4, **fields)
            found.append(Cell(goals.lower(), config, shows, note=describe(config)))
        else:
            config = assembled(goals, "5", "fp15/b1999", ASSEMBLED[goals], positions=("operands", "grid"), stage=())
            found.append(Cell(goals.lower(), config, shows, note=describe(config)))
    return found


EXPERIMENTS = (Experiment("table-26", "Several problems in one model", cells),)
