"""What a person sees of a training: one live line in a terminal, plain lines elsewhere.

eigenvalues 3x3   51,200 / 200,000   loss 1.217   940 examples/s   2:38 left   5%: 62.1  2%: 9.8  1%: 1.2
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from learnalg.evaluate import Report


class Watcher(Protocol):
    def on_log(self, examples: int, loss: float, rate: float, seconds_left: float) -> None: ...

    def on_evaluation(self, examples: int, report: Report) -> None: ...


class Silent:
    def on_log(self, examples: int, loss: float, rate: float, seconds_left: float) -> None:
        pass

    def on_evaluation(self, examples: int, report: Report) -> None:
        pass


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def accuracies(report: Report) -> str:
    by_tolerance = next(iter(report.accuracy.values()))
    return "  ".join(f"{100 * float(t):g}%: {100 * share:.1f}" for t, share in by_tolerance.items())


class Lines:
    """A line at most every few seconds, and one for each evaluation."""

    def __init__(self, total: int, every: float = 10.0) -> None:
        self.total, self.every, self.last, self.accuracy = total, every, time.monotonic(), ""

    def line(self, examples: int, loss: float, rate: float, left: float) -> str:
        parts = [f"{examples:,} / {self.total:,}", f"loss {loss:.3f}", f"{rate:,.0f} examples/s", f"{clock(left)} left"]
        return "   ".join([*parts, self.accuracy])

    def on_log(self, examples: int, loss: float, rate: float, seconds_left: float) -> None:
        if time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            print(self.line(examples, loss, rate, seconds_left), flush=True)

    def on_evaluation(self, examples: int, report: Report) -> None:
        self.accuracy = accuracies(report)
        print(f"{examples:,} examples: within {self.accuracy}   well-formed {100 * report.well_formed:.1f}", flush=True)


@contextmanager
def watch(title: str, total: int) -> Iterator[Watcher]:
    if not sys.stdout.isatty():
        yield Lines(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = [
        TextColumn("[bold]{task.description}"),
        BarColumn(24),
        TaskProgressColumn(),
        TextColumn("{task.fields[line]}"),
    ]
    with Progress(*columns, console=Console(), refresh_per_second=4) as progress:
        yield Live(progress, title, total)


class Live(Lines):
    """The same line beside a bar; evaluations stay on the screen above it."""

    def __init__(self, progress: object, title: str, total: int) -> None:
        super().__init__(total, every=0.0)
        from rich.progress import Progress

        assert isinstance(progress, Progress)
        self.progress = progress
        self.bar = progress.add_task(title, total=total, line="starting")

    def on_log(self, examples: int, loss: float, rate: float, seconds_left: float) -> None:
        line = self.line(examples, loss, rate, seconds_left)
        self.progress.update(self.bar, completed=examples, line=line)

    def on_evaluation(self, examples: int, report: Report) -> None:
        self.accuracy = accuracies(report)
        self.progress.console.print(f"{examples:>11,} examples   accuracy within {self.accuracy}", highlight=False)
