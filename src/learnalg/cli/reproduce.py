"""Tables and figures of the paper, and our own."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from learnalg.cli.flags import Names, parse
from learnalg.cli.launching import Launch
from learnalg.cli.plugins import load_plugins
from learnalg.naming import find

if TYPE_CHECKING:
    from learnalg.reproduction.experiment import Cell, Experiment
    from learnalg.reproduction.pending import Job
    from learnalg.training.watcher import Watcher


@dataclass(frozen=True)
class Reproduce:
    """Run what a table or figure shows, and set the result beside the paper's. What is finished is not run again, what
    was stopped is resumed. Results are written to results/NAME/SCALE of the current folder."""

    names: Names = ()  # such as table-6; `--list` shows all
    scale: Literal["smoke", "laptop", "paper"] = "laptop"  # seconds; two cores; the paper's own networks and budgets
    cells: tuple[str, ...] = ()  # only runs whose name is, or contains, one of these
    pending: bool = False  # run what is missing of NAMES, or of all: what fills most numbers for the least work first
    minutes: float = 0.0  # of --pending: then it stops, and the next call resumes; 0: as long as it takes
    list: bool = False  # list experiments: how many of the paper's numbers are measured, examples left
    dry_run: bool = False  # print the plan, run nothing
    show: bool = False  # print the tables, run nothing
    quiet: bool = False  # no progress
    launching: Launch = field(default_factory=Launch)


def run(arguments: list[str]) -> int:
    command = parse(Reproduce, "reproduce", load_plugins(arguments))
    from learnalg.reproduction.tables import EXPERIMENTS

    chosen = [find("experiment", name, EXPERIMENTS) for name in command.names or EXPERIMENTS]
    if not command.launching.launch and command.launching != Launch():
        raise ValueError("--jobs and --job-threads are for --launch")
    if command.launching.launch and (command.names or command.pending):
        return _run_launched(chosen, command, arguments)
    if command.pending:
        return _run_pending(chosen, command)
    if command.minutes:
        raise ValueError("--minutes is for --pending")
    if not command.names and not command.list:
        raise ValueError(f"which table or figure? known: {', '.join(EXPERIMENTS)}")
    if command.list:
        _print_list(chosen, command.scale)
        return 0
    for experiment in chosen:
        code = _reproduce(experiment, command)
        if code:
            return code
    return 0


def _reproduce(experiment: Experiment, command: Reproduce) -> int:
    from learnalg.reproduction.table import as_markdown, table_of

    print(f"{experiment.name}: {experiment.title} ({command.scale})")
    if command.dry_run or command.scale == "paper":
        _print_plan(experiment, command)
    if command.dry_run:
        return 0
    if not command.show:
        code = _run(experiment, command)
        if code:
            return code
    print(f"\n{as_markdown(table_of(experiment, command.scale, Path()))}\n")
    if experiment.figure:
        print("figure: learnalg report\n")
    return 0


def _run_pending(experiments: list[Experiment], command: Reproduce) -> int:
    from learnalg.reproduction.pending import Deadline, run_pending
    from learnalg.reproduction.runner import unwatched
    from learnalg.training.devices import InterruptedRunError, prepare_cpu

    if command.cells or command.show or command.list:
        raise ValueError("--pending takes names, --scale, --minutes, --dry-run and --quiet")
    if command.minutes < 0:
        raise ValueError(f"--minutes {command.minutes}: 0 or more")
    deadline = Deadline(command.minutes)
    jobs = _pending(experiments, command.scale)
    if command.dry_run:
        _print_jobs(jobs)
        return 0
    prepare_cpu()
    try:
        left = run_pending(jobs, command.scale, Path(), deadline, unwatched if command.quiet else _watch)
    except InterruptedRunError as stop:
        print(f"{stop}; the same command resumes it", file=sys.stderr)
        return 128 + stop.number
    print(f"\nran {len(jobs) - len(left)} of {len(jobs)}; left:")
    _print_jobs(left)
    return int(any(job.state == "failed" for job in left))


def _pending(experiments: list[Experiment], scale: str) -> list[Job]:
    from learnalg.cli.bars import bar
    from learnalg.reproduction.pending import pending

    with bar("counting FLOPs", sum(len(experiment.cells_at(scale)) for experiment in experiments)) as done:
        return pending({experiment.name: experiment for experiment in experiments}, scale, Path(), done)


def _run_launched(experiments: list[Experiment], command: Reproduce, arguments: list[str]) -> int:
    """All that is missing of these experiments, as jobs; then the tables."""
    from learnalg.cli.launching import run_jobs
    from learnalg.reproduction.jobs import cell_jobs, run_folder
    from learnalg.reproduction.pending import Deadline
    from learnalg.reproduction.runner import choose
    from learnalg.reproduction.table import as_markdown, table_of

    if command.show or command.list or command.dry_run:
        raise ValueError("--launch runs jobs: it does not go with --show, --list or --dry-run")
    engine = command.launching.engine(arguments)
    deadline = Deadline(command.minutes)
    found = _pending(experiments, command.scale)
    if command.cells:
        wanted = {cell.key for one in experiments for cell in choose(one, command.scale, command.cells)}
        found = [job for job in found if job.cell is not None and job.cell.key in wanted]
    jobs, refused = cell_jobs(found, command.scale)
    for line in refused:
        print(line)
    again = shlex.join(["learnalg", "reproduce", *arguments])
    code = run_jobs(jobs, engine, again, run_folder, deadline.end, command.quiet)
    for experiment in [] if command.pending or code > 128 else experiments:
        print(f"\n{experiment.name}: {experiment.title}\n\n{as_markdown(table_of(experiment, command.scale, Path()))}")
    return code


def _print_jobs(jobs: Sequence[Job]) -> None:
    from learnalg.cli.texts import clock
    from learnalg.reproduction.runner import GPU_FLOPS, measured_rate

    rate = measured_rate(Path())
    width = max((len(job.name) for job in jobs), default=0) + 2
    for job in jobs:
        cost = (
            job.note
            if job.waits or job.state == "failed"
            else f"{job.flops:8.1e} FLOPs {clock(job.flops / rate):>9} here"
        )
        print(f"  {job.name:<{width}}{job.state:<9}{job.numbers:>4} numbers  {cost}")
    numbers, flops = sum(job.numbers for job in jobs), sum(job.flops for job in jobs)
    print(
        f"{len(jobs)} cells, {numbers} numbers of the paper, {flops:.2e} FLOPs: {clock(flops / rate)} here, "
        f"{flops / GPU_FLOPS / 3600:.1f} hours on a GPU of {GPU_FLOPS / 1e12:g} TFLOP/s"
    )


def _run(experiment: Experiment, command: Reproduce) -> int:
    from learnalg.reproduction.runner import run_experiment, unwatched
    from learnalg.training.devices import InterruptedRunError, prepare_cpu

    prepare_cpu()
    watch = unwatched if command.quiet else _watch
    try:
        run_experiment(experiment, command.scale, Path(), command.cells, watch)
    except InterruptedRunError as stop:
        again = f"learnalg reproduce {experiment.name} --scale {command.scale}"
        print(f"{stop}; resume with: {again}", file=sys.stderr)
        return 128 + stop.number
    return 0


@contextmanager
def _watch(cell: Cell) -> Iterator[Watcher | None]:
    from learnalg.cli.bars import status
    from learnalg.cli.progress import watch

    if cell.released:
        with status(f"{cell.key}: testing {cell.released}"):
            yield None
        return
    with watch(cell.key, cell.config.train.num_steps * cell.config.train.batch_size) as watcher:
        yield watcher


def _print_plan(experiment: Experiment, command: Reproduce) -> None:
    from learnalg.cli.texts import clock
    from learnalg.reproduction.runner import GPU_FLOPS, measured_rate, plan

    steps = plan(experiment, command.scale, Path(), command.cells)
    width = max((len(step.key) for step in steps), default=0) + 2
    for step in steps:
        print(f"  {step.key:<{width}}{step.state:<9}{step.examples:>13,} examples {step.flops:9.2e} FLOPs  {step.note}")
    flops, examples = sum(step.flops for step in steps), sum(step.examples for step in steps)
    print(
        f"left: {examples:,} examples, {flops:.2e} FLOPs: {clock(flops / measured_rate(Path()))} here, "
        f"{flops / GPU_FLOPS / 3600:.1f} hours on a GPU of {GPU_FLOPS / 1e12:g} TFLOP/s"
    )


def _print_list(experiments: list[Experiment], scale: str) -> None:
    from learnalg.reproduction.runner import plan
    from learnalg.reproduction.table import best_of, counts, table_of

    row = "{:<22}{:>9}{:>9}{:>9}{:>15}  {}".format
    print(row("", "numbers", "best", "paper's", "examples left", ""))
    for experiment in experiments:
        table = table_of(experiment, scale, Path())
        best, papers = ("", "") if experiment.computed else best_of(table)
        left = sum(step.examples for step in plan(experiment, scale, Path()))
        numbers = "{}/{}".format(*counts(table))
        print(row(experiment.name, numbers, best, papers, f"{left:,}" if left else "", experiment.title))
    print("\nNumbers: measured, of all that the paper has. learnalg reproduce NAME --dry-run says what is left to run.")
