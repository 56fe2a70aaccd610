"""What is missing of all experiments, most valuable first, one cell after the other, within a time.

    >>> run_pending(pending(EXPERIMENTS, "laptop", Path(".")), "laptop", Path("."), Deadline(60))

A cell's value is how many of the paper's numbers it fills for each FLOP that is left to train. When the time is up, a
training stops after its step with a checkpoint, and is resumed next time; an evaluation stops at once, and begins anew.
A cell that fails is named and passed over.
"""

from __future__ import annotations

import itertools
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from learnalg.reproduction.experiment import Cell, Experiment, paper_table
from learnalg.reproduction.results import cell_folder
from learnalg.reproduction.runner import Watch, compute, plan, run_cell, unwatched
from learnalg.reproduction.table import counts, table_of

if TYPE_CHECKING:
    from learnalg.evaluation.result import Report
    from learnalg.evaluation.samples import Sample
    from learnalg.training.watcher import Log, Watcher


@dataclass(frozen=True)
class Job:
    """A cell, or what is computed without training."""

    name: str  # where its result is: table-6/p10-5-6-6
    experiment: Experiment
    cell: Cell | None
    numbers: int  # of the paper's, that it fills in all tables
    flops: float = 0.0  # left
    needs: str = ""  # the job that it starts from
    state: str = "to do"  # see runner.Step; or failed
    note: str = ""

    @property
    def waits(self) -> bool:
        """For a released model, or for somebody who removes a run with another config."""
        return self.state in ("missing", "stale")


def in_order(jobs: list[Job]) -> list[Job]:
    """Most numbers for each FLOP first, what costs nothing before all else; of equal value the cheaper. What a job
    needs comes before it, and counts among its costs until it is taken."""
    left = {job.name: job for job in jobs}
    found: list[Job] = []
    while left:
        chains = [_chain(job, left) for job in left.values()]
        for job in min(chains, key=_rank):
            found.append(left.pop(job.name))
    return found


def _chain(job: Job, left: Mapping[str, Job]) -> list[Job]:
    return [*(_chain(left[job.needs], left) if job.needs in left else []), job]


def _rank(chain: list[Job]) -> tuple[float, float]:
    numbers, flops = sum(job.numbers for job in chain), sum(job.flops for job in chain)
    return -(numbers / flops if flops else math.inf if numbers else 0.0), flops


def pending(
    experiments: Mapping[str, Experiment], scale: str, root: Path, done: Callable[[int], None] = lambda cells: None
) -> list[Job]:
    """All that has no result, in order. A cell that several experiments show is one job. It takes half a second to
    count the FLOPs of a large network: `done` is called with the number of cells so far."""
    found: dict[str, Job] = {}
    count = itertools.count(1)
    for experiment in experiments.values():
        steps = {step.key: step for step in plan(experiment, scale, root) if step.state != "done"}
        if experiment.computed and experiment.name in steps:
            numbers = counts(table_of(experiment, scale, root))[1]
            found[experiment.name] = Job(experiment.name, experiment, None, numbers)
        homes = {cell.key: cell.home or experiment.name for cell in experiment.cells_at(scale)}
        for cell in experiment.cells_at(scale):
            done(next(count))
            if cell.key not in steps:
                continue
            name, step, numbers = f"{homes[cell.key]}/{cell.key}", steps[cell.key], _numbers(experiment, cell)
            if name in found:
                found[name] = replace(found[name], numbers=found[name].numbers + numbers)
                continue
            needs = f"{homes[cell.init]}/{cell.init}" if cell.init else ""
            flops = 0.0 if step.state in ("missing", "stale") else step.flops
            found[name] = Job(name, experiment, cell, numbers, flops, needs, step.state, step.note)
    waiting = [job for job in found.values() if job.waits]
    return [*in_order([job for job in found.values() if not job.waits]), *waiting]


def _numbers(experiment: Experiment, cell: Cell) -> int:
    """How many of the paper's numbers of this experiment the cell fills."""
    if not experiment.has_paper:
        return 0
    rows = paper_table(experiment.name)[1]
    places = ((s.row, s.column) for s in cell.shows if isinstance(s.row, int) and isinstance(s.column, int))
    return sum(isinstance(rows[row][column], int | float) for row, column in places)


class TimeUpError(Exception):
    """The time is up."""


class Deadline:
    """When all ends. `minutes` 0 is never."""

    def __init__(self, minutes: float) -> None:
        self.end = time.monotonic() + 60 * minutes if minutes else math.inf
        self.is_training = False  # then the loop ends it, after a step and with a checkpoint

    @property
    def left(self) -> float:
        return max(self.end - time.monotonic(), 0.0)

    def check(self) -> None:
        if not self.left:
            raise TimeUpError("time is up, its evaluation is left")

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """What is no training ends at once, where the system has alarms."""
        if math.isinf(self.end) or not hasattr(signal, "SIGALRM"):
            yield
            return

        def ring(number: int, frame: object) -> None:
            if not self.is_training:
                raise TimeUpError("time is up, evaluation stopped")

        old = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, max(self.left, 1e-6))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, old)
            self.is_training = False


class Timed:
    """A watcher that stops its run when the time is up."""

    def __init__(self, watcher: Watcher, deadline: Deadline) -> None:
        self.watcher, self.deadline = watcher, deadline

    def on_log(self, log: Log) -> None:
        self.watcher.on_log(log)
        if not self.deadline.left:
            signal.raise_signal(signal.SIGTERM)  # the loop writes a checkpoint and raises InterruptedRunError

    def on_evaluation(self, examples: int, report: Report) -> None:
        self.watcher.on_evaluation(examples, report)

    def on_samples(self, samples: list[Sample]) -> None:
        self.watcher.on_samples(samples)

    def on_final_evaluation(self, num: int, split: str = "validation") -> None:
        self.deadline.is_training = False  # the last checkpoint is written
        self.deadline.check()
        self.watcher.on_final_evaluation(num, split)

    def on_evaluated(self, done: int) -> None:
        self.watcher.on_evaluated(done)


def run_pending(
    jobs: list[Job],
    scale: str,
    root: Path,
    deadline: Deadline,
    watch: Watch = unwatched,
    say: Callable[[str], None] = print,
) -> list[Job]:
    """Runs jobs in their order until the time is up. Returns those that are left, among them those that failed."""
    from learnalg.training.devices import InterruptedRunError

    left = {job.name: job for job in jobs}
    for job in jobs:
        if job.waits or job.needs in left:
            say(f"{job.name}: not run, {job.note if job.waits else f'it starts from {job.needs}'}")
            continue
        if not deadline.left:
            break
        started = time.monotonic()
        say(f"{job.name}: {job.numbers} numbers of the paper, {job.flops:.1e} FLOPs")
        try:
            with deadline.interrupting():
                is_done = _run(job, scale, root, deadline, watch, say)
        except (TimeUpError, InterruptedRunError) as stop:
            if deadline.left:  # somebody's signal
                raise
            say(f"{job.name}: {stop}; the next call resumes it")
            break
        except (ValueError, OSError, RuntimeError, MemoryError) as error:  # torch's errors are RuntimeErrors
            text = " ".join(f"{error}".split()) or type(error).__name__
            left[job.name] = replace(job, state="failed", note=text)
            say(f"{job.name}: failed, {text}")
            continue
        if is_done:
            say(f"{job.name}: done, {time.monotonic() - started:.0f} s")
            del left[job.name]
    return list(left.values())


def _run(job: Job, scale: str, root: Path, deadline: Deadline, watch: Watch, say: Callable[[str], None]) -> bool:
    from learnalg.training.loop import Silent, is_finished

    if job.cell is None:
        return compute(job.experiment, scale, root, say)
    with watch(job.cell) as watcher:
        deadline.is_training = not job.cell.released and not is_finished(
            cell_folder(job.experiment, scale, job.cell, root)
        )
        run_cell(job.experiment, scale, job.cell, root, Timed(watcher or Silent(), deadline))
    return True
