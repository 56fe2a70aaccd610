"""--launch: work as jobs of an engine, with a table of them that follows.

 12 jobs: 5 done, 2 running, 5 waiting
 table-6/laptop/p10-5-6-6    running   node1   12:31   12,800 examples, loss 1.217

In a terminal the table stays in its place; in a pipe each change is a line.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnalg.cli.bars import is_terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    from learnalg.config import RunConfig
    from learnalg.launch import Engine, Entry, Job

FOLDER = Path("runs") / "jobs"
STATES = ("running", "queued", "failed", "stopped", "not run", "waits", "done")  # in the order of a table
COLORS = {"running": "cyan", "done": "green", "failed": "red", "not run": "red", "stopped": "yellow"}
TAIL = 1 << 16  # bytes: more than the longest line of metrics


@dataclass(frozen=True)
class Launch:
    """Jobs on this machine or on a cluster."""

    launch: str = ""  # run it as jobs: local, slurm or ray; with options, such as slurm:partition=gpu,minutes=240
    jobs: int = 0  # of --launch: at most so many jobs at once; 0: all that there is room for
    job_threads: int = 1  # of --launch: threads, and so cores, of each job

    def engine(self, arguments: list[str]) -> Engine:
        """`arguments` are the command's: they may have plugins."""
        from learnalg.cli.plugins import plugins_in
        from learnalg.launch import Resources, make_engine

        plugins = plugins_in(arguments)
        plugins[1::2] = [str(Path(name).absolute()) for name in plugins[1::2]]
        return make_engine(self.launch, Resources(self.jobs, self.job_threads, tuple(plugins)))


def launch_training(engine_name: str, config: RunConfig, out: Path, quiet: bool, arguments: list[str]) -> int:
    """A training as one job, with as many cores as it has threads; then its result."""
    from learnalg.cli.plugins import plugins_in
    from learnalg.cli.progress import print_result
    from learnalg.config import to_dict
    from learnalg.launch import Job

    engine = Launch(engine_name, 1, config.train.threads or 1).engine(arguments)
    values = {"config": to_dict(config), "out": str(out)}
    place = str(out.absolute())
    name = re.sub(r"[^\w-]", "-", out.absolute().name) + "-" + hashlib.sha256(place.encode()).hexdigest()[:8]
    job = Job(f"training/{name}", "learnalg.launch.training:train_or_resume", values)
    again = shlex.join(["learnalg", "resume", str(out), "--launch", engine_name, *plugins_in(arguments)])
    code = run_jobs([job], engine, again, lambda job: out, quiet=quiet)
    if not code and not quiet:
        print_result(out)
    return code


def run_jobs(
    jobs: Sequence[Job],
    engine: Engine,
    again: str,
    run_folder: Callable[[Job], Path | None],
    until: float = math.inf,
    quiet: bool = False,
) -> int:
    """Brings all jobs to their end; returns the exit code. `again` is the command that continues, `run_folder` says
    where a job's run is."""
    from learnalg.launch import Queue

    queue = Queue(jobs, engine, FOLDER)
    code = 0
    try:
        with _interruptible(), _board(engine.name, run_folder, quiet) as show:
            queue.run(show, until)
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    failed = [entry for entry in queue.left() if entry.state == "failed"]
    for entry in failed:
        print(f"{entry.job.name}: failed, {entry.note}", file=sys.stderr)
    others = Counter(entry.state for entry in queue.left() if entry.state != "failed")
    if others:
        counts = ", ".join(f"{count} {state}" for state, count in others.items())
        done = f"{len(jobs) - len(queue.left())} of {len(jobs)} jobs done"
        print(f"{done}, {counts}; resume with: {again}", file=sys.stderr)
    return code or int(bool(failed))


@contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM stops the jobs as Ctrl-C does."""
    old = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


@contextmanager
def _board(
    engine: str, run_folder: Callable[[Job], Path | None], quiet: bool
) -> Iterator[Callable[[list[Entry]], None]]:
    if quiet:
        yield lambda entries: None
    elif not is_terminal(sys.stdout):
        yield Lines(engine).show
    else:
        from rich.live import Live

        with Live(refresh_per_second=2) as live:

            def show(entries: list[Entry]) -> None:
                live.update(table(entries, run_folder, live.console.size.height - 3))

            yield show


class Lines:
    """A line for each change."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.known: dict[str, tuple[str, int]] = {}

    def show(self, entries: list[Entry]) -> None:
        for entry in entries:
            state = (entry.state, entry.submitted)
            if self.known.get(entry.job.name) != state:
                self.known[entry.job.name] = state
                print(self._line(entry), flush=True)

    def _line(self, entry: Entry) -> str:
        words = [f"{entry.job.name}: {entry.state}"]
        if entry.state == "queued":
            words.append(f"on {self.engine} as {entry.handle}")
            words += [f"again, {entry.note}"] if entry.submitted > 1 else []
        elif entry.state == "running":
            words.append(f"on {_host(entry)}" if _host(entry) else "")
        elif entry.state == "done" and entry.outcome is not None:
            words.append(f"on {entry.outcome.host}, {entry.outcome.seconds:.0f} s")
        else:
            words.append(f"{entry.note}" if entry.state == "waits" else f", {entry.note}" if entry.note else "")
        return " ".join(filter(None, words)).replace(" ,", ",")


def table(entries: list[Entry], run_folder: Callable[[Job], Path | None], height: int) -> RenderableType:
    """What runs first, what is done last; what does not fit into the height is only counted."""
    from rich.table import Table
    from rich.text import Text

    from learnalg.cli.texts import clock
    from learnalg.launch.queue import STOPPING

    counts = Counter[str](entry.state for entry in entries)
    title = f"{len(entries)} jobs: " + ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    found = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False)
    for _ in range(6):
        found.add_column(no_wrap=True)
    ordered = sorted(entries, key=lambda entry: (STATES.index(entry.state), -entry.since))
    for entry in ordered[: max(height, 1)]:
        took = entry.outcome.seconds if entry.outcome else time.time() - entry.since
        note = entry.note
        if entry.state == "running" and note != STOPPING:
            folder = run_folder(entry.job)
            note = how_far(folder) if folder else ""
        found.add_row(
            entry.job.name,
            Text(entry.state, style=COLORS.get(entry.state, "")),
            _host(entry),
            clock(took),
            f"{entry.submitted} times" if entry.submitted > 1 else "",
            note,
        )
    return found


def _host(entry: Entry) -> str:
    return str(entry.outcome.host if entry.outcome else entry.started().get("host", ""))


def how_far(folder: Path) -> str:
    """'12,800 examples, loss 1.217': the last line of a run's metrics."""
    path = folder / "metrics.jsonl"
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - TAIL, 0))
        lines = file.read().split(b"\n")[:-1]  # what follows the last newline is half a line
    values: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    parts = [f"{values['examples']:,} examples"] if "examples" in values else []
    return ", ".join(parts + ([f"loss {values['loss']:.3f}"] if "loss" in values else []))
