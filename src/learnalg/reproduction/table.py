"""The paper's tables with our numbers beside them.

>>> print(as_markdown(table_of(EXPERIMENTS["table-6"], "laptop", Path("."))))

A number is read out of a result by its path:

    report/accuracy/l1/0.05   an entry, by its names
    reached/0.05/0.99         examples until 99 % accuracy at 5 % tolerance on the validation split; None if never
    after/18000000/0.05       accuracy at 5 % tolerance on the validation split after so many examples, or at the end

The last two come from the curve, so they are as coarse as its evaluations: the paper's are 300,000 examples apart.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from learnalg.evaluation.result import Part, Point, Report, Result, percent, wilson
from learnalg.reproduction.experiment import Cell, Experiment, Shown, paper_table
from learnalg.reproduction.results import load_computed, load_result


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
    def is_of_paper(self) -> bool:
        """Whether the paper has a number here."""
        return isinstance(self.paper, int | float) and not isinstance(self.paper, bool)

    @property
    def is_ours(self) -> bool:
        return bool(self.ours or self.words)

    @property
    def text(self) -> str:
        if self.words or not self.ours:
            return self.words or ("not run" if self.is_planned else "")
        if any(map(math.isnan, self.ours)):
            return "never"
        spread = f" ± {statistics.stdev(self.ours):.{self.digits}f}" if len(self.ours) > 1 else ""
        mean = statistics.fmean(self.ours)
        # As in every table: less than all is never 100.0.
        return f"{percent(mean / 100) if self.digits == 1 else format(mean, f'.{self.digits}f')}{spread}"


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    columns: list[str]
    rows: list[list[Number]]  # labels are Numbers with only `paper`
    note: str = ""  # of the whole table


def table_of(experiment: Experiment, scale: str, root: Path) -> Table:
    """The paper's table with ours beside it; an experiment without one makes its rows and columns from the cells."""
    if experiment.computed:
        return computed_table(experiment, scale, root)
    cells = experiment.cells_at(scale)
    if experiment.has_paper:
        columns, paper_rows = paper_table(experiment.name)
        rows = [[Number(paper=value) for value in row] for row in paper_rows]
        row_names, column_names = [], []
    else:
        row_names = list(dict.fromkeys(str(s.row) for c in cells for s in c.shows))
        column_names = list(dict.fromkeys(str(s.column) for c in cells for s in c.shows))
        columns = ["", *column_names]
        rows = [[Number(paper=name), *[Number()] * len(column_names)] for name in row_names]
    for cell in cells:
        result = load_result(experiment, scale, cell, root)
        for shown in cell.shows:
            r = shown.row if isinstance(shown.row, int) else row_names.index(shown.row)
            c = shown.column if isinstance(shown.column, int) else 1 + column_names.index(shown.column)
            rows[r][c] = _filled(rows[r][c], cell, shown, result)
    return Table(experiment.name, experiment.title, columns, rows, experiment.note)


def computed_table(experiment: Experiment, scale: str, root: Path) -> Table:
    """What was computed, which has the paper's numbers beside; before it was, the paper's alone."""
    computed = load_computed(experiment, scale, root)
    if computed is None:
        columns, paper_rows = paper_table(experiment.name)
        rows = [[Number(paper=value) for value in row] for row in paper_rows]
    else:
        columns, rows = computed["columns"], [[_computed_number(**place) for place in row] for row in computed["rows"]]
    return Table(experiment.name, experiment.title, columns, rows, experiment.note)


def _computed_number(paper: Any, ours: Any, digits: int, is_share: bool = False) -> Number:
    words = ours if isinstance(ours, str) else ""
    numbers = () if words or ours is None else (float(ours),)
    return Number(paper, numbers, words, is_planned=ours is not None, digits=digits)


def _filled(number: Number, cell: Cell, shown: Shown, result: Result | None) -> Number:
    ours, interval = number.ours, None
    if result is not None:
        value = lookup(result, shown.measure)
        ours = (*ours, math.nan if value is None else float(value) * shown.factor)
        report = report_behind(result, shown.measure)
        if report is not None and len(ours) == 1:
            low, high = wilson(value, report.num)
            interval = 100 * low, 100 * high
    note = "; ".join(dict.fromkeys(n for n in (number.note, note_of(cell, result)) if n))
    return replace(
        number,
        ours=ours,
        keys=(*number.keys, cell.key),
        is_planned=True,
        interval=interval,
        note=note,
        digits=shown.digits,
    )


def note_of(cell: Cell, result: Result | None) -> str:
    """What a reader must know of a number: of the run that was done, or else of the one that is planned."""
    return cell.note if result is None or cell.released else result.note or cell.note


def lookup(result: Result, path: str) -> Any:
    kind, *rest = path.split("/")
    if kind == "reached":
        return reached(result.curve, tolerance=rest[0], share=float(rest[1]))
    if kind == "after":
        return after(result.curve, int(rest[0]), tolerance=rest[1])
    value: Any = result
    for name in path.split("/"):
        entries = value if isinstance(value, dict) else vars(value) if isinstance(value, Result | Report | Part) else {}
        if name not in entries:
            raise ValueError(f"a result has no {path}: nothing at {name!r}")
        value = entries[name]
    return value


def reached(curve: tuple[Point, ...], tolerance: str, share: float) -> int | None:
    return next((point.examples for point in curve if point.accuracy["l1"][tolerance] >= share), None)


def after(curve: tuple[Point, ...], examples: int, tolerance: str) -> float:
    """At the first evaluation after at least so many examples; of a shorter run, at its last."""
    point = next((point for point in curve if point.examples >= examples), curve[-1])
    return point.accuracy["l1"][tolerance]


def report_behind(result: Result, path: str) -> Report | Part | None:
    """The report, or the part of one, that an accuracy is from; None for what is no accuracy of a report."""
    above, slash, _ = path.partition("/accuracy/")
    found: Any = lookup(result, above) if slash else None
    return found


PARAMETERS = ("Tolerance %", "Error (sigma)")  # columns of numbers that name a row, and are no result


def num_labels(table: Table) -> int:
    """The first column names the rows; so do those after it that have words only, or parameters."""
    columns = list(zip(*table.rows, strict=True))
    for c, column in enumerate(columns[1:], start=1):
        is_words = all(isinstance(n.paper, str) and n.paper != "-" for n in column) and any(n.paper for n in column)
        if any(n.is_planned for n in column) or not (is_words or table.columns[c] in PARAMETERS):
            return c
    return len(columns)


def counts(table: Table) -> tuple[int, int]:
    """How many of the paper's numbers are measured, and how many it has; of our own tables, of what is planned."""
    labels = num_labels(table)
    places = [number for row in table.rows for number in row[labels:]]
    papers = [number for number in places if number.is_of_paper] or [number for number in places if number.is_planned]
    return sum(number.is_ours for number in papers), len(papers)


def best_of(table: Table) -> tuple[str, str]:
    """Our highest number and the paper's at the same place."""
    numbers = [number for row in table.rows for number in row]
    filled = [number for number in numbers if number.ours and not math.isnan(sum(number.ours))]
    if not filled:
        return "", ""
    best = max(filled, key=lambda number: statistics.fmean(number.ours))
    return percent(statistics.fmean(best.ours) / 100), str(best.paper)


def as_markdown(table: Table) -> str:
    def cell(number: Number, column: int) -> str:
        if not number.is_planned:
            return str(number.paper)
        beside = f" ({number.paper})" if number.paper != "" else ""
        return f"{number.text}{beside}"

    lines = [
        _line(table.columns),
        _line(["---"] * len(table.columns)),
        *(_line(cell(number, k) for k, number in enumerate(row)) for row in table.rows),
    ]
    return "\n".join([*lines, "", table.note] if table.note else lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
