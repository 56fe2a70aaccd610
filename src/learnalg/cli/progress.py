"""What a user sees of a run: a picture in a terminal (`cli/screen.py`), plain lines elsewhere.

51,200 / 200,000   loss 1.217   learning rate 0.0021   940 examples/s   2:38 left
50,000 examples: accuracy at 5%: 62.1  2%: 9.8  1%: 1.2  0.5%: 0.1   well-formed 100.0
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from learnalg.cli.bars import is_terminal
from learnalg.cli.texts import accuracies, clock, log_line
from learnalg.config import RunConfig
from learnalg.evaluation.result import Point, Report, Result, percent
from learnalg.training.devices import InterruptedRunError
from learnalg.training.watcher import Log, Silent, Watcher
from learnalg.zoo.index import MODEL_FILE, RESULT_FILE


def follow(
    config: RunConfig,
    out: Path,
    quiet: bool,
    again: str,
    go: Callable[[Watcher], object],
    curve: Sequence[Point] = (),
) -> int:
    """Calls `go`, which trains, and shows the progress and the result; `again` is the command that resumes, `curve` the
    evaluations of earlier sessions."""
    title = f"{config.data.task} {config.data.dim}, {out}"
    quiet = quiet or os.environ.get("RANK", "0") != "0"  # under torchrun the first process prints for all
    watching = nullcontext(Silent()) if quiet else watch(title, config.train.num_steps * config.train.batch_size, curve)
    try:
        with watching as watcher:
            go(watcher)
    except InterruptedRunError as stop:
        print(f"{stop}; resume with: {again}", file=sys.stderr)
        return 128 + stop.number
    if not quiet:
        print_result(out)
    return 0


def print_result(out: Path) -> None:
    from learnalg.cli.terminal import print_report

    result = Result.read(out / RESULT_FILE)
    print(f"\n{result.examples:,} examples in {clock(result.seconds)}; weights in {out / MODEL_FILE}")
    print_report(result.report)


class Lines(Silent):
    """A line at most every few seconds, and one for each evaluation."""

    def __init__(self, total: int, every: float = 10.0) -> None:
        self.total, self.every, self.last, self.notice = total, every, time.monotonic(), ""

    def on_log(self, log: Log) -> None:
        if log.notice and not self.notice:
            print(log.notice, flush=True)
        self.notice = log.notice
        if time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            print(f"{log.examples:,} / {self.total:,}   {log_line(log)}", flush=True)

    def on_evaluation(self, examples: int, report: Report) -> None:
        well_formed = percent(report.well_formed)
        print(f"{examples:,} examples: accuracy at {accuracies(report)}   well-formed {well_formed}", flush=True)

    def on_final_evaluation(self, num: int, split: str = "validation") -> None:
        print(f"final evaluation on {num:,} examples of the {split} split ...", flush=True)


@contextmanager
def watch(title: str, total: int, curve: Sequence[Point] = ()) -> Iterator[Watcher]:
    if not is_terminal(sys.stdout):
        yield Lines(total)
        return
    from rich.live import Live

    from learnalg.cli.screen import Screen

    screen = Screen(title, total, curve)
    with Live(screen, refresh_per_second=2):  # a refresh takes 5 ms of the core that trains
        yield screen
