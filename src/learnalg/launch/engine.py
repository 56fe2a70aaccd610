"""What an engine is, and which there are. Names have options: 'slurm:partition=gpu,minutes=240'.

An engine knows no job: it starts a command for a job's folder, on a machine that sees the same files. A lost node or a
killed process is a command that has ended: the queue sees no outcome, and submits the job again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from learnalg.naming import make

State = Literal["waiting", "running", "ended"]


@dataclass(frozen=True)
class Resources:
    jobs: int = 0  # at most so many at once; 0: as many as the engine has room for
    threads: int = 1  # of each job: torch's, and the cores that are asked for
    arguments: tuple[str, ...] = ()  # more of the command, such as --plugin FILE

    def __post_init__(self) -> None:
        if self.jobs < 0:
            raise ValueError(f"{self.jobs} jobs at once: 0 or more")
        if self.threads < 1:
            raise ValueError(f"{self.threads} threads for each job: 1 or more")

    def command(self, folder: Path) -> list[str]:
        return [sys.executable, "-m", "learnalg", "work", str(folder.absolute()), *self.arguments]

    def environment(self) -> dict[str, str]:
        """Of the command, besides what its machine sets."""
        kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        return kept | {"OMP_NUM_THREADS": str(self.threads)}


class Engine(Protocol):
    name: str
    seconds: float  # between two polls

    def submit(self, folders: Sequence[Path]) -> list[str]:
        """Queues the command for each of these jobs; returns a handle of each."""

    def poll(self, handles: Collection[str]) -> Mapping[str, State]:
        """What they do now. A handle that the engine does not know has ended."""

    def cancel(self, handles: Collection[str]) -> None:
        """Takes those that wait out of the queue, and sends SIGTERM to those that run."""

    def close(self) -> None:
        """Ends what still runs at once, and what was started for the engine."""


def local(resources: Resources) -> Engine:
    """Processes on this machine; as many at once as it has cores for."""
    from learnalg.launch.local import LocalEngine

    return LocalEngine(resources)


ENGINES: dict[str, Callable[..., Engine]] = {"local": local}


def make_engine(name: str, resources: Resources) -> Engine:
    return make("engine", name, ENGINES, resources)
