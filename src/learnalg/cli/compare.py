"""Runs and released models side by side."""

from __future__ import annotations

import html
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from learnalg.cli.flags import Names, parse
from learnalg.cli.texts import clock, columns, tolerance_name
from learnalg.naming import unknown

if TYPE_CHECKING:
    from learnalg.config import RunConfig
    from learnalg.evaluation.result import Point, Report

KINDS = (".html", ".png", ".svg")
MILESTONES = 10  # rows of the table of learning curves
Rows = list[list[str]]


@dataclass(frozen=True)
class Compare:
    """Set runs and released models side by side: the settings in which they differ, what they cost, what they reached,
    and their learning curves."""

    names: Names  # runs' folders or released models, two or more
    tolerance: float = 0.05  # of the learning curves: 0.05, 0.02, 0.01 or 0.005
    out: Path | None = None  # also draw the learning curves: a .png, .svg or .html file, the last with the tables


@dataclass(frozen=True)
class Known:
    """What is known of a run or of a released model."""

    name: str
    config: RunConfig
    curve: tuple[Point, ...]
    examples: int
    seconds: float
    report: Report | None
    parameters: int | None


def run(arguments: list[str]) -> int:
    command = parse(Compare, "compare", arguments)
    if len(set(command.names)) < 2:
        raise ValueError("compare two or more different runs or models")
    if command.out is not None and command.out.suffix not in KINDS:
        raise unknown("kind of file", command.out.suffix or str(command.out), KINDS)
    if command.out is not None and command.out.exists():
        raise ValueError(f"{command.out} exists already")
    tolerance = str(command.tolerance)
    every = [known(name) for name in dict.fromkeys(command.names)]
    _check_tolerance(every, tolerance)
    tables = [settings(every), outcomes(every), curves_table(every, tolerance)]
    if command.out is not None:
        _write(command.out, every, tables, tolerance)
    print("\n\n".join(columns(rows, right=range(1, 1 + len(every))) for rows in tables))
    _plot(every, tolerance)
    if command.out is not None:
        print(f"\n{command.out}")
    return 0


def known(name: str) -> Known:
    from learnalg.evaluation.result import Result
    from learnalg.training.run import Run
    from learnalg.zoo.index import RESULT_FILE, find_model, result_of

    folder = Path(name)
    if folder.is_dir():
        run, path = Run.open(folder), folder / RESULT_FILE
        result = Result.read(path) if path.is_file() else None
        examples, seconds = run.spent()
        parts = (result.report, result.parameters) if result else (None, None)
        return Known(name, run.config, run.curve(), examples, seconds, *parts)
    path = result_of(find_model(name))
    if not path.is_file():
        raise ValueError(f"{name} has no result: {path} is missing")
    result = Result.read(path)
    curve, report = result.curve, result.report
    return Known(name, result.config, curve, result.examples, result.seconds, report, result.parameters)


def _check_tolerance(every: list[Known], tolerance: str) -> None:
    there = {t for one in every for point in one.curve for t in next(iter(point.accuracy.values()))}
    if there and tolerance not in there:
        raise ValueError(f"tolerance {tolerance}: the learning curves have {', '.join(sorted(there, reverse=True))}")


def settings(every: list[Known]) -> Rows:
    """The fields in which the configs differ."""
    from learnalg.serve.runs import fields_of

    fields = [fields_of(one.config) for one in every]
    names = dict.fromkeys(name for values in fields for name in values)
    rows = [[name, *(values.get(name, "") for values in fields)] for name in names]
    different = [row for row in rows if len(set(row[1:])) > 1]
    return [["settings that differ", *(one.name for one in every)], *(different or [["none", *[""] * len(every)]])]


def outcomes(every: list[Known]) -> Rows:
    rows = [
        ["examples", *(f"{one.examples:,}" for one in every)],
        ["time", *(clock(one.seconds) for one in every)],
        ["parameters", *("" if one.parameters is None else f"{one.parameters:,}" for one in every)],
        ["evaluated on", *(f"{one.report.num:,}, {one.report.split}" if one.report else "" for one in every)],
    ]
    reports = [next(iter(one.report.accuracy.values())) if one.report else {} for one in every]
    for tolerance in dict.fromkeys(t for shares in reports for t in shares):
        cells = [f"{100 * shares[tolerance]:.1f}" if tolerance in shares else "" for shares in reports]
        rows.append([f"accuracy at {tolerance_name(tolerance)}".replace("at exact", "exact"), *cells])
    return [["what it cost and reached", *(one.name for one in every)], *rows]


def curves_table(every: list[Known], tolerance: str) -> Rows:
    """Accuracy on the validation split after so many examples: of the last evaluation until then."""
    ends = {one.curve[-1].examples for one in every if one.curve}
    even = {round(max(ends, default=0) * k / MILESTONES) for k in range(1, MILESTONES + 1)}
    rows = [[f"{num:,}", *(_at(one.curve, num, tolerance) for one in every)] for num in sorted(ends | even)]
    head = [f"examples: accuracy at {tolerance_name(tolerance)}", *(one.name for one in every)]
    return [head, *(row for row in rows if any(row[1:]))]


def _at(curve: tuple[Point, ...], examples: int, tolerance: str) -> str:
    before = [point for point in curve if point.examples <= examples]
    is_over = bool(curve) and examples > curve[-1].examples
    return f"{100 * next(iter(before[-1].accuracy.values()))[tolerance]:.1f}" if before and not is_over else ""


def _plot(every: list[Known], tolerance: str) -> None:
    """In a terminal, the learning curves."""
    from learnalg.cli.bars import is_terminal

    if not is_terminal(sys.stdout) or not any(one.curve for one in every):
        return
    from rich.console import Console

    from learnalg.cli.plot import Curve, plot

    console, styles = Console(highlight=False), ("green", "cyan", "magenta", "yellow", "blue", "red")
    lines = []
    for k, one in enumerate(every):
        shares = [100 * next(iter(point.accuracy.values()))[tolerance] for point in one.curve]
        lines.append(Curve([point.examples for point in one.curve], shares, styles[k % len(styles)]))
    end = max(point.examples for one in every for point in one.curve)
    console.print("")
    for line, one in zip(lines, every, strict=True):
        console.print(f"[{line.style}]{one.name}[/]")
    console.print(plot(lines, min(console.width - 2, 100), 12, end, 0, 100))
    console.print(f"0 to {end:,} examples, accuracy from 0 to 100 %", style="dim")


def _write(path: Path, every: list[Known], tables: list[Rows], tolerance: str) -> None:
    from learnalg.evaluation.curves import draw_curves
    from learnalg.files import write_whole

    curves = {one.name: one.curve for one in every if one.curve}
    if path.suffix != ".html":
        write_whole(path, draw_curves(curves, tolerance, path.suffix[1:]))
        return
    picture = draw_curves(curves, tolerance, "svg").decode()
    picture = picture[picture.index("<svg") :]  # without the declaration of a file of its own
    body = "\n".join(_as_html(rows) for rows in tables)
    title = html.escape(" and ".join(one.name for one in every))
    write_whole(path, PAGE.format(title=title, picture=picture, body=body).encode())


def _as_html(rows: Rows) -> str:
    def line(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + line(rows[0], "th") + "".join(line(row, "td") for row in rows[1:]) + "</table>"


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 15px/1.4 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }}
svg {{ width: 100%; height: auto }}
table {{ border-collapse: collapse; margin: 1.5rem 0 }}
th, td {{ padding: .2rem .8rem; text-align: right; border-bottom: 1px solid #ddd }}
th:first-child, td:first-child {{ text-align: left }}
</style>
<h1>{title}</h1>
{picture}
{body}
</html>
"""
