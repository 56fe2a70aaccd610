"""A section's table as HTML in the paper's layout: grouped columns, ours above the paper's, footnotes, and how each
number was measured.

    Fixed / 5x5, Fixed / 8x8, Variable / 5-10   ->   |   Fixed   | Variable |
                                                     | 5x5 | 8x8 |   5-10   |
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from learnalg.reproduction.report.comparing import Comparison
from learnalg.reproduction.report.gathering import Measured, Section
from learnalg.reproduction.table import Number

DASH = "\N{EN DASH}"
SEPARATOR = " / "  # between the levels of a column's name; layers, such as 6/1, have no spaces


def element(name: str, content: str = "", **attributes: str | int) -> str:
    """`class_` and `data_x` become class and data-x; an attribute that is '' is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{written}>{content}</{name}>"


def link(identifier: str, content: str, **attributes: str | int) -> str:
    """Within the page."""
    return element("a", content, href=f"#{identifier}", **attributes)


def scrolling(content: str, label: str) -> str:
    """A box of its own for what may be wider than a phone; the tab key reaches it, arrow keys move it."""
    return element("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)


@dataclass(frozen=True)
class Heading:
    text: str
    columns: int = 1
    rows: int = 1


def headings(names: list[str]) -> list[list[Heading]]:
    """Rows of headings. Neighbours share a heading if all levels down to it agree; short names reach to the bottom."""
    paths = [name.split(SEPARATOR) for name in names]
    neighbours = pairwise(paths)
    if not any(a[0] == b[0] for a, b in neighbours if len(a) > 1 and len(b) > 1):
        return [[Heading(name) for name in names]]  # 'Tokens / coefficient' is one name
    depth = max(map(len, paths))
    rows: list[list[Heading]] = []
    for level in range(depth):
        row: list[Heading] = []
        above: list[str] | None = None  # levels of the group that could go on
        for path in paths:
            if level >= len(path):
                above = None
            elif level == len(path) - 1:
                row.append(Heading(path[level], rows=depth - level))
                above = None
            elif above == path[: level + 1]:
                row[-1] = Heading(path[level], row[-1].columns + 1)
            else:
                row.append(Heading(path[level]))
                above = path[: level + 1]
        rows.append(row)
    return rows


def table_html(section: Section) -> str:
    head = "".join(
        element(
            "tr",
            "".join(
                element(
                    "th",
                    escape(heading.text),
                    scope="colgroup" if heading.columns > 1 else "col",
                    colspan=heading.columns if heading.columns > 1 else "",
                    rowspan=heading.rows if heading.rows > 1 else "",
                )
                for heading in row
            ),
        )
        for row in headings(section.table.columns)
    )
    body = "".join(element("tr", _row(section, r)) for r in range(len(section.table.rows)))
    caption = element("caption", f"<b>{escape(section.heading)}.</b> {escape(section.title)}")
    table = element("table", caption + element("thead", head) + element("tbody", body), class_="numbers")
    return scrolling(table, f"{section.heading}, table") + _footnotes(section)


def _row(section: Section, r: int) -> str:
    rows, cells = section.table.rows, []
    for c, number in enumerate(rows[r]):
        if c >= section.num_labels:
            cells.append(_number(section, r, c, number))
        elif c == 0 and section.num_labels > 1:  # a label of several rows stands once, beside all of them
            same = [row[c].paper == number.paper for row in rows]
            if r == 0 or not same[r - 1]:
                span = [*same[r:], False].index(False)
                text = escape(show(number.paper))
                cells.append(element("th", text, scope="rowgroup", rowspan=span if span > 1 else "", class_="group"))
        else:
            cells.append(element("th", escape(show(number.paper)), scope="row"))
    return "".join(cells)


def _number(section: Section, r: int, c: int, number: Number) -> str:
    paper = element("span", element("span", "paper ", class_="unseen") + escape(show(number.paper)), class_="paper")
    paper = paper if number.paper != "" else ""
    if not number.is_planned:
        return element("td", paper)
    if not number.is_ours:
        return element("td", element("span", escape(number.text), class_="absent") + paper, class_="planned")
    comparison = section.comparisons[r, c]
    ours = element("span", escape(ours_text(number)), class_="ours" if number.ours else "ours words")
    run = next((key for key in (*number.keys, section.name) if key in section.runs), None)
    ours = link(run_id(section, run), ours, class_="origin") if run else ours
    note = section.notes().get(number.note)
    sup = element("sup", link(f"note-{section.name}-{note}", note)) if note else ""
    interval = element("span", escape(interval_text(number)), class_="interval") if number.interval else ""
    hint = f"95 % interval {interval_text(number)}" if number.interval else ""
    beneath = element("span", paper + _difference(comparison), class_="beneath")
    return element("td", ours + sup + interval + beneath, class_=tint(comparison), title=hint)


def _difference(comparison: Comparison) -> str:
    if not comparison.mark and not comparison.words:
        return ""
    return element("span", escape(f" {comparison.mark} {comparison.words}".rstrip()), class_="difference")


def tint(comparison: Comparison) -> str:
    if comparison.step == 0:
        return ""
    return f"{'better' if comparison.step > 0 else 'worse'}-{abs(comparison.step)}"


def interval_text(number: Number) -> str:
    if number.interval is None:
        return ""
    low, high = number.interval
    return f"{low:.{number.digits}f}{DASH}{high:.{number.digits}f}"


def ours_text(number: Number) -> str:
    """As the paper's whole numbers: with commas."""
    is_whole = number.digits == 0 and len(number.ours) == 1 and not number.words and number.text.isdigit()
    return show(int(number.text)) if is_whole else number.text


def show(value: Any) -> str:
    """A value of the paper as it is written: numbers of many digits with commas."""
    if isinstance(value, list):
        return ", ".join(map(show, value))
    if value == "-":
        return DASH
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) and value >= 10_000 else str(value)


def _footnotes(section: Section) -> str:
    notes = "".join(
        element("li", element("b", mark) + " " + escape(text), id=f"note-{section.name}-{mark}")
        for text, mark in section.notes().items()
    )
    of_all = element("p", escape(section.table.note), class_="notes") if section.table.note else ""
    return (element("ul", notes, class_="notes") if notes else "") + of_all


def run_id(section: Section, key: str) -> str:
    return f"run-{section.name}-{key}"


PAPER_RUNS = "The paper's own network"
POINTS = ("Examples", "Accuracy at 5 %, %", "Exact, %")
COLUMNS = ("Commit", "Seed", "Machine", "Minutes", "Examples", "FLOPs", "Tested on", "Command", "Note")


def fields(run: Measured) -> tuple[str, ...]:
    """What COLUMNS name."""
    return (
        *(run.commit, run.seed, run.machine, run.minutes, run.examples, run.flops, run.tested),
        *(run.command, run.note),
    )


def details_html(section: Section) -> str:
    """One row for each run, and the names of those that are not run."""
    runs = {run_id(section, key): (key, run) for key, run in section.runs.items()}
    parts = [runs_html(runs, f"Runs behind {section.heading}")] if runs else []
    if section.missing:
        names = ", ".join(
            element("code", escape(key)) + (f" ({escape(note)})" if note else "")
            for key, note in section.missing.items()
        )
        parts.append(element("p", f"Planned and not run: {names}."))
    if not parts:
        return ""
    count = f"{len(section.runs)} of {len(section.runs) + len(section.missing)} runs"
    return folded(f"How it was measured ({count})", "".join(parts))


def folded(summary: str, content: str) -> str:
    return element("details", element("summary", escape(summary)) + content)


def runs_html(runs: dict[str, tuple[str, Measured]], title: str) -> str:
    """`runs`: the row's id -> the run's name and how it was made."""
    head = element("tr", "".join(element("th", name, scope="col") for name in ("Run", *COLUMNS)))
    rows = "".join(
        element(
            "tr",
            element("th", element("code", escape(name)), scope="row")
            + "".join(_field(column, value) for column, value in zip(COLUMNS, fields(run), strict=True)),
            id=identifier,
        )
        for identifier, (name, run) in runs.items()
    )
    caption = element("caption", escape(title), class_="unseen")
    table = element("table", caption + element("thead", head) + element("tbody", rows), class_="runs")
    return scrolling(table, title)


def _field(column: str, value: str) -> str:
    is_code = column in ("Commit", "Command") and value
    return element("td", element("code", escape(value)) if is_code else escape(value), class_=column.lower().split()[0])
