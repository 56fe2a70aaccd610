"""Products of a matrix with a vector: encodings, fixed and variable sizes, by tolerance.

At scale paper 512 dimensions, 8 heads, 30 million examples: the paper says up to a day, and its table 17 has 95 % after
7 epochs of 300,000. At scale laptop FP15/P1000 and 2/1 layers of 128 dimensions.
"""

from __future__ import annotations

from learnalg.reproduction.configs import MILLION, by_tolerance, describe, fast, paper, released_cell, slug
from learnalg.reproduction.experiment import Cell, Experiment

Columns = tuple[tuple[str, str, str], ...]  # encoding, dim and layers, in the paper's order
COLUMNS: Columns = (
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
LAPTOP = {3: 400_000, 4: 400_000, 5: 400_000, 6: 400_000}  # column -> examples


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


def cells(scale: str) -> list[Cell]:
    return products(scale, "matvec", COLUMNS, 30 * MILLION, LAPTOP)


EXPERIMENT = Experiment("table-4", "Matrix times vector", cells)
