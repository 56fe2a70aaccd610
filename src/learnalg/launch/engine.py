"""What an engine is, and which there are. Names have options: 'slurm:partition=gpu,minutes=240'.

An engine knows no job: it starts a command for a job's folder, on a machine that sees the same files. A lost node or a
killed process is a command that has ended: the queue sees no outcome, and submits the job again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
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
    room: int  # jobs at once; 0: the engine has a queue of its own, and takes all

    def submit(self, folders: Sequence[Path]) -> list[str]:
        """Starts or queues the command for each of these jobs; returns a handle of each."""

    def poll(self, handles: Collection[str]) -> Mapping[str, State]:
        """What they do now. A handle that the engine does not know has ended."""

    def cancel(self, handles: Collection[str]) -> None:
        """Takes those that wait out of the queue, and sends SIGTERM to those that run."""

    def close(self) -> None:
        """Ends at once what it would leave behind."""


def local(resources: Resources) -> Engine:
    """Processes on this machine, as many at once as there are cores."""
    from learnalg.launch.local import LocalEngine

    return LocalEngine(resources)


def slurm(
    resources: Resources,
    minutes: int = 240,  # the time limit of a job: then it is queued again, and resumes
    partition: str = "",
    account: str = "",
    qos: str = "",
    constraint: str = "",
    memory: str = "",  # 8G
    gpus: int = 0,
    notice: int = 120,  # seconds before the time limit, in which a job writes its checkpoint
    poll: float = 10.0,  # seconds between two questions to the cluster
) -> Engine:
    """Job arrays of a SLURM cluster."""
    _need("slurm", "submitit")
    from learnalg.launch.slurm import SlurmEngine

    asked = {"partition": partition, "account": account, "qos": qos, "constraint": constraint, "mem": memory}
    return SlurmEngine(resources, minutes, notice, poll, gpus, {name: text for name, text in asked.items() if text})


def ray(
    resources: Resources,
    address: str = "",  # of the cluster; none: RAY_ADDRESS, else the one on this machine, else a new one here
    gpus: int = 0,
) -> Engine:
    """Tasks of a Ray cluster."""
    _need("ray", "ray")
    from learnalg.launch.ray import RayEngine

    return RayEngine(resources, address, gpus)


ENGINES: dict[str, Callable[..., Engine]] = {"local": local, "slurm": slurm, "ray": ray}


def make_engine(name: str, resources: Resources) -> Engine:
    return make("engine", name, ENGINES, resources)


def _need(extra: str, module: str) -> None:
    try:
        import_module(module)
    except ImportError as error:
        raise ValueError(
            f"engine {extra} needs {error.name}, which is not installed: pip install 'learnalg[{extra}]'"
        ) from None
