"""What a person sees of a training: one live line in a terminal, plain lines elsewhere.

eigenvalues 3x3   51,200 / 200,000   loss 1.217   940 examples/s   2:38 left   5%: 62.1  2%: 9.8  1%: 1.2
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from learnalg.evaluation.evaluate import Report


class Watcher(Protocol):
    def on_log(self, examples: int, loss: float, rate: float, seconds_left: float) -> None: ...

    def on_evaluation(self, examples: int, report: Report) -> None: ...

    def on_final_test(self, num: int) -> None: ...


class Silent:
    def on_log(self, examples: int, loss: float, rate: float, seconds_left: float) -> None:
        pass

    def on_evaluation(self, examples: int, report: Report) -> None:
        pass

    def on_final_test(self, num: int) -> None:
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
        self.total, self.every, self.last = total, every, time.monotonic()

    def line(self, examples: int, loss: float, rate: float, left: float) -> str:
        parts = [f"{examples:,} / {self.total:,}", f"loss {loss:.3f}", f"{rate:,.0f} examples/s", f"{clock(left)} left"]
        return "   ".join(parts)

    def on_log(self, examples: int, loss: float, rate: float, seconds_left: float) -> None:
        if time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            print(self.line(examples, loss, rate, seconds_left), flush=True)

    def on_evaluation(self, examples: int, report: Report) -> None:
        well_formed = f"{100 * report.well_formed:.1f}"
        print(f"{examples:,} examples: within {accuracies(report)}   well-formed {well_formed}", flush=True)

    def on_final_test(self, num: int) -> None:
        print(f"testing on {num:,} examples ...", flush=True)


@contextmanager
def watch(title: str, total: int) -> Iterator[Watcher]:
    if not sys.stdout.isatty():
        yield Lines(total)
        return
    from rich.console import Group
    from rich.live import Live
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.text import Text

    bar = Progress(TextColumn("[bold]{task.description}"), BarColumn(), TaskProgressColumn())
    task, now, last = bar.add_task(title, total=total), Text("starting"), Text("")

    class OnScreen(Lines):
        """The bar with the numbers below it; they must fit into 80 columns."""

        def on_log(self, examples: int, loss: float, rate: float, seconds_left: float) -> None:
            bar.update(task, completed=examples)
            now.plain = self.line(examples, loss, rate, seconds_left)

        def on_evaluation(self, examples: int, report: Report) -> None:
            last.plain = f"accuracy within {accuracies(report)}"

        def on_final_test(self, num: int) -> None:
            now.plain = f"testing on {num:,} examples ..."

    with Live(Group(bar, now, last), refresh_per_second=4):
        yield OnScreen(total)
