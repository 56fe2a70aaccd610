"""Numbers of a run as text, the same in a terminal and in a file."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from learnalg.evaluation.result import Report, percent

if TYPE_CHECKING:
    from learnalg.training.watcher import Log


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def tolerance_name(tolerance: str) -> str:
    """'0.05' is '5 %'."""
    return "exact" if float(tolerance) == 0 else f"{100 * float(tolerance):g} %"


def accuracies(report: Report) -> str:
    by_tolerance = next(iter(report.accuracy.values()))
    return "  ".join(f"{100 * float(t):g}%: {percent(share)}" for t, share in by_tolerance.items())


def log_line(log: Log) -> str:
    left = f"{clock(log.seconds_left)} left" + ("" if log.counts_evaluations else " and evaluations")
    parts = [f"loss {log.loss:.3f}", f"learning rate {log.learning_rate:.2g}", f"{log.speed:,.0f} examples/s", left]
    return "   ".join(parts)


def columns(rows: list[list[str]], right: Collection[int] = ()) -> str:
    """Rows of cells under each other, two spaces apart; columns `right` end at the same place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [">" if k in right else "<" for k in range(len(widths))]
    formats = [f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True)]
    lines = ("  ".join(form.format(cell) for form, cell in zip(formats, row, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
