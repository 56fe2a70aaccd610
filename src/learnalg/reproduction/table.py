"""The paper's tables with our numbers beside them.

>>> print(as_markdown(table_of(RECIPES["table-6"], "laptop", Path("."))))
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from learnalg.evaluation.evaluate import wilson
from learnalg.reproduction.tables import Cell, Recipe, Shown, lookup, paper_table, place_of
from learnalg.reproduction.runner import load_computed, load_result


@dataclass(frozen=True)
class Number:
    """One place of a table: the paper's number, ours (one for each seed), and what it is of."""

    paper: Any = ""
    ours: tuple[float, ...] = ()  # NaN for what was never reached
    words: str = ""  # ours, where it is no number
    keys: tuple[str, ...] = ()  # of the cells that fill it, run or not
    is_planned: bool = False  # some cell fills it, run or not
    interval: tuple[float, float] | None = None  # 95 %, of a single share
    note: str = ""
    digits: int = 1  # after the point

    @property
    def text(self) -> str:
        if self.words or not self.ours:
            return self.words or ("not run" if self.is_planned else "")
        if any(map(math.isnan, self.ours)):
            return "never"
        spread = f" ± {statistics.stdev(self.ours):.{self.digits}f}" if len(self.ours) > 1 else ""
        return f"{statistics.fmean(self.ours):.{self.digits}f}{spread}"


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    columns: list[str]
    rows: list[list[Number]]  # labels are Numbers with only `paper`


def table_of(recipe: Recipe, scale: str, root: Path) -> Table:
    """The paper's table with ours beside it; a recipe without one makes its rows and columns from the cells."""
    if recipe.computed:
        return computed_table(recipe, scale, root)
    cells = recipe.cells_at(scale)
    if recipe.has_paper:
        columns, paper_rows = paper_table(recipe.name)
        rows = [[Number(paper=value) for value in row] for row in paper_rows]
        row_names, column_names = [], []
    else:
        row_names = list(dict.fromkeys(str(s.row) for c in cells for s in c.shows))
        column_names = list(dict.fromkeys(str(s.column) for c in cells for s in c.shows))
        columns = ["", *column_names]
        rows = [[Number(paper=name), *[Number()] * len(column_names)] for name in row_names]
    for cell in cells:
        result = load_result(recipe, scale, cell, root)
        for shown in cell.shows:
            r = shown.row if isinstance(shown.row, int) else row_names.index(shown.row)
            c = shown.column if isinstance(shown.column, int) else 1 + column_names.index(shown.column)
            rows[r][c] = _filled(rows[r][c], cell, shown, result)
    return Table(recipe.name, recipe.title, columns, rows)


def computed_table(recipe: Recipe, scale: str, root: Path) -> Table:
    """What was computed, which has the paper's numbers beside; before it was, the paper's alone."""
    computed = load_computed(recipe, scale, root)
    if computed is None:
        columns, paper_rows = paper_table(recipe.name)
        return Table(recipe.name, recipe.title, columns, [[Number(paper=value) for value in row] for row in paper_rows])
    rows = [[_computed_number(**place) for place in row] for row in computed["rows"]]
    return Table(recipe.name, recipe.title, computed["columns"], rows)


def _computed_number(paper: Any, ours: Any, digits: int, is_share: bool = False) -> Number:
    words = ours if isinstance(ours, str) else ""
    numbers = () if words or ours is None else (float(ours),)
    return Number(paper, numbers, words, is_planned=ours is not None, digits=digits)


def _filled(number: Number, cell: Cell, shown: Shown, result: dict[str, Any] | None) -> Number:
    ours, interval = number.ours, None
    if result is not None:
        value = lookup(result, shown.measure)
        ours = (*ours, math.nan if value is None else float(value) * shown.factor)
        report = place_of(result, shown.measure)
        if report is not None and len(ours) == 1:
            low, high = wilson(value, report["num"])
            interval = 100 * low, 100 * high
    note = "; ".join(dict.fromkeys(n for n in (number.note, cell.note) if n))
    return replace(
        number,
        ours=ours,
        keys=(*number.keys, cell.key),
        is_planned=True,
        interval=interval,
        note=note,
        digits=shown.digits,
    )


def best_of(table: Table) -> tuple[str, str]:
    """Our highest number and the paper's at the same place."""
    filled = [number for row in table.rows for number in row if number.ours and not math.isnan(sum(number.ours))]
    if not filled:
        return "", ""
    best = max(filled, key=lambda number: statistics.fmean(number.ours))
    return f"{statistics.fmean(best.ours):.1f}", str(best.paper)


def as_markdown(table: Table) -> str:
    def cell(number: Number, column: int) -> str:
        if not number.is_planned:
            return str(number.paper)
        beside = f" ({number.paper})" if number.paper != "" else ""
        return f"{number.text}{beside}"

    return "\n".join(
        [
            _line(table.columns),
            _line(["---"] * len(table.columns)),
            *(_line(cell(number, k) for k, number in enumerate(row)) for row in table.rows),
        ]
    )


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
