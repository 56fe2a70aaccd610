"""Evaluations as tables in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from learnalg.evaluation.result import Report, describe_matrices, percent


def print_report(report: Report) -> None:
    console = Console(highlight=False)
    tolerances = list(next(iter(report.accuracy.values())))
    name = "validation split" if report.split == "valid" else f"{report.split} split"
    print(
        f"{report.task}, {describe_matrices(report.data)}: accuracy in %, {report.num:,} examples, "
        f"{name}, seed {report.seed}"
    )
    table = Table()
    table.add_column("")
    for tolerance in tolerances:
        table.add_column("exact" if float(tolerance) == 0 else f"{100 * float(tolerance):g} %", justify="right")
    for norm, shares in report.accuracy.items():
        table.add_row(norm, *(percent(shares[t]) for t in tolerances))
        intervals = [report.interval[norm][t] for t in tolerances]
        table.add_row("  95 %", *(f"{percent(low)}-{percent(high)}" for low, high in intervals), style="dim")
    for norm, shares in report.distance_accuracy.items():
        table.add_row(f"{norm}, distance to the solution", *(percent(shares[t]) for t in tolerances))
    for parts in (report.by_task, report.by_dimension):
        if len(parts) > 1:
            table.add_section()
            for key, part in parts.items():
                shares = next(iter(part.accuracy.values()))
                table.add_row(f"{key}  ({part.num:,})", *(percent(shares[t]) for t in tolerances))
    console.print(table)
    malformed = ", ".join(f"{reason}: {count}" for reason, count in report.malformed.items())
    print(
        f"well-formed {percent(report.well_formed)} %{f' ({malformed})' if malformed else ''}, "
        f"loss {report.loss:.3f} a token, {report.seconds:.1f} s"
    )
