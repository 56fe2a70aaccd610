"""Run one job. Engines call it (`learnalg.launch`); --launch of other commands makes the jobs."""

from __future__ import annotations

from dataclasses import dataclass

from learnalg.cli.flags import Folder, parse
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Work:
    """Run one job of a command with --launch, or run it again. It is what an engine calls on the job's machine."""

    job: Folder  # the job's folder: runs/jobs/NAME


def run(arguments: list[str]) -> int:
    command = parse(Work, "work", load_plugins(arguments))
    from learnalg.launch.worker import work

    return work(command.job)
