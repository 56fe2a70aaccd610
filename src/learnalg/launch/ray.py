"""Jobs on a Ray cluster, where there is no SLURM. A task waits for its command. With its node the task is lost, and the
queue submits the job again."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere; read when ray is loaded

import ray

from learnalg.launch.engine import Resources, State
from learnalg.launch.job import STARTED
from learnalg.launch.worker import start


class RayEngine:
    name = "ray"
    seconds = 0.5

    def __init__(self, resources: Resources, address: str, gpus: int) -> None:
        self.resources, self.room = resources, resources.jobs
        self.tasks: dict[str, tuple[Any, Path]] = {}
        self.is_own = not ray.is_initialized()
        if self.is_own:
            try:
                ray.init(address or None, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
            except ConnectionError as error:
                raise ValueError(f"engine ray: no cluster at {address}: {error}") from None
        self.attempt = ray.remote(num_cpus=resources.threads, num_gpus=gpus, max_retries=0)(attempt)

    def submit(self, folders: Sequence[Path]) -> list[str]:
        handles = [str(len(self.tasks) + k) for k in range(len(folders))]
        for handle, folder in zip(handles, folders, strict=True):
            self.tasks[handle] = (self.attempt.remote(self.resources, str(folder.absolute()), os.getcwd()), folder)
        return handles

    def poll(self, handles: Collection[str]) -> Mapping[str, State]:
        return {handle: self._state(handle) for handle in handles}

    def _state(self, handle: str) -> State:
        if handle not in self.tasks:
            return "ended"
        task, folder = self.tasks[handle]
        if ray.wait([task], timeout=0, fetch_local=False)[0]:
            return "ended"
        return "running" if (folder / STARTED).is_file() else "waiting"

    def cancel(self, handles: Collection[str]) -> None:
        for handle in handles:
            ray.cancel(self.tasks[handle][0])

    def close(self) -> None:
        if self.is_own:
            ray.shutdown()


def attempt(resources: Resources, folder: str, here: str) -> None:
    """Runs on the job's node."""
    child = start(resources, Path(folder), cwd=here)
    try:
        while child.poll() is None:  # no `wait`: a cancelled task is interrupted between two steps of Python only
            time.sleep(0.2)
    finally:
        child.terminate()
        child.wait()
