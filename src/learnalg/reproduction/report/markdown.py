"""The report as Markdown, with the numbers of the page: ours, its 95 % interval in brackets, the paper's in
parentheses with the difference."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from learnalg.reproduction.report.gathering import Document, Section
from learnalg.reproduction.report.tables import COLUMNS, PAPER_RUNS, POINTS, fields, interval_text, ours_text, show
from learnalg.reproduction.table import Number

SPECIAL = str.maketrans({"<": "&lt;"} | {c: f"\\{c}" for c in r"\|*_`[]"})


def markdown(document: Document, folder: Path) -> str:
    """`folder` is where the text will be, from which figures are linked."""
    lines = [
        "# Linear algebra with transformers, reproduced",
        "",
        f"Scale {document.scale}. Ours, its 95 % interval in brackets, the paper's in parentheses with the difference: "
        "▲ better, ≈ as good, = equal, ▼ worse. A number in parentheses alone is the paper's. ± is the standard "
        "deviation over seeds.",
    ]
    for section in document.sections:
        lines += ["", f"## {section.heading}: {plain(section.table.title)}", "", plain(section.title), ""]
        lines += [f"![{section.heading}]({figure_name(section)})\n"] if section.figure else []
        lines += [plain(section.finding), ""] if section.finding else []
        lines += _table(section)
        lines += [f"\n{plain(section.table.note)}"] if section.table.note else []
        lines += [f"\n{letter}: {plain(text)}" for text, letter in section.notes().items()]
        lines += _runs(section)
    if document.paper_runs:
        lines += ["", f"## {PAPER_RUNS}"]
    for run in document.paper_runs:
        lines += ["", f"{plain(run.name)}, {plain(run.title)}: {plain(run.said)} {plain(run.papers)}", ""]
        lines += _lines(POINTS, run.points)
    if document.released:
        names = ("Model", "Problem", "Network", "Parameters", "5 / 2 / 1 / 0.5 %", "The paper's", *COLUMNS[:-1])
        rows = (
            (m.name, m.problem, m.network, m.parameters, " / ".join(m.accuracy), m.paper, *fields(m.measured)[:-1])
            for m in document.released
        )
        lines += ["", "## Released models", "", *_lines(names, (map(plain, row) for row in rows))]
    if document.figures:
        lines += ["", "## Figures", ""]
        lines += [f"![{path.stem}]({_relative(path, folder)})" for path in document.figures]
    return "\n".join(lines) + "\n"


def figure_name(section: Section) -> str:
    """Of the file beside the text."""
    return f"{section.name}.svg"


def plain(text: str) -> str:
    """Text that Markdown shows as it is, also within a table."""
    return text.translate(SPECIAL).replace("\n", " ")


def _table(section: Section) -> list[str]:
    rows = (
        [
            plain(show(number.paper)) if c < section.num_labels else _number(section, r, c, number)
            for c, number in enumerate(row)
        ]
        for r, row in enumerate(section.table.rows)
    )
    return _lines([plain(name) for name in section.table.columns], rows)


def _number(section: Section, r: int, c: int, number: Number) -> str:
    paper = plain(show(number.paper))
    if not number.is_ours:
        return " ".join(filter(None, (number.text, f"({paper})" if paper else "")))
    comparison = section.comparisons[r, c]
    beside = " ".join(filter(None, (comparison.mark, comparison.words)))
    said = ", ".join(filter(None, (paper, beside)))
    note = section.notes().get(number.note)
    parts = (
        plain(ours_text(number)) + (f"<sup>{note}</sup>" if note else ""),
        plain(f"[{interval_text(number)}]") if number.interval else "",
        f"({said})" if said else "",
    )
    return " ".join(filter(None, parts))


def _runs(section: Section) -> list[str]:
    lines = []
    if section.runs:
        rows = ([plain(key), *map(plain, fields(run))] for key, run in section.runs.items())
        table = _lines(("Run", *COLUMNS), rows)
        lines += ["", "<details><summary>How it was measured</summary>", "", *table, "", "</details>"]
    if section.missing:
        lines += ["", f"Planned and not run: {', '.join(map(plain, section.missing))}."]
    return lines


def _lines(names: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(names)
    return [_line(head), _line(["---"] * len(head)), *(_line(row) for row in rows)]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
