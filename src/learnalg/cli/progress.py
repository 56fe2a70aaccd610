"""What a user sees of a run: one live line in a terminal, plain lines elsewhere.

eigenvalues 3x3   51,200 / 200,000   loss 1.217   940 examples/s   2:38 left   5%: 62.1  2%: 9.8  1%: 1.2
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from learnalg.config import RunConfig
from learnalg.evaluation.result import Report, Result
from learnalg.training.devices import InterruptedRunError
from learnalg.training.loop import Silent, Watcher
from learnalg.zoo.index import MODEL_FILE, RESULT_FILE


def follow(config: RunConfig, out: Path, quiet: bool, again: str, go: Callable[[Watcher], object]) -> int:
    """Calls `go`, which trains, and shows the progress and the result; `again` is the command that resumes."""
    title = f"{config.data.task} {config.data.dim}"
    quiet = quiet or os.environ.get("RANK", "0") != "0"  # under torchrun the first process prints for all
    watching = nullcontext(Silent()) if quiet else watch(title, config.train.num_steps * config.train.batch_size)
    try:
        with watching as watcher:
            go(watcher)
    except InterruptedRunError as stop:
        print(f"{stop}; resume with: {again}", file=sys.stderr)
        return 128 + stop.number
    if not quiet:
        from learnalg.cli.terminal import print_report

        result = Result.read(out / RESULT_FILE)
        print(f"\n{result.examples:,} examples in {clock(result.seconds)}; weights in {out / MODEL_FILE}")
        print_report(result.report)
    return 0


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

    def line(self, examples: int, loss: float, speed: float, left: float) -> str:
        parts = [
            f"{examples:,} / {self.total:,}",
            f"loss {loss:.3f}",
            f"{speed:,.0f} examples/s",
            f"{clock(left)} left",
        ]
        return "   ".join(parts)

    def on_log(self, examples: int, loss: float, speed: float, seconds_left: float) -> None:
        if time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            print(self.line(examples, loss, speed, seconds_left), flush=True)

    def on_evaluation(self, examples: int, report: Report) -> None:
        well_formed = f"{100 * report.well_formed:.1f}"
        print(f"{examples:,} examples: accuracy at {accuracies(report)}   well-formed {well_formed}", flush=True)

    def on_final_evaluation(self, num: int) -> None:
        print(f"final evaluation on {num:,} examples ...", flush=True)


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

        def on_log(self, examples: int, loss: float, speed: float, seconds_left: float) -> None:
            bar.update(task, completed=examples)
            now.plain = self.line(examples, loss, speed, seconds_left)

        def on_evaluation(self, examples: int, report: Report) -> None:
            last.plain = f"accuracy at {accuracies(report)}"

        def on_final_evaluation(self, num: int) -> None:
            now.plain = f"final evaluation on {num:,} examples ..."

    with Live(Group(bar, now, last), refresh_per_second=4):
        yield OnScreen(total)
