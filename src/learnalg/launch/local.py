"""Jobs as processes on this machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from learnalg.launch.engine import Resources, State
from learnalg.launch.worker import start


class LocalEngine:
    name = "local"
    seconds = 0.2

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.room = resources.jobs or max(_cores() // resources.threads, 1)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def submit(self, folders: Sequence[Path]) -> list[str]:
        # In sessions of their own: Ctrl-C in the terminal is for the queue, which sends SIGTERM.
        processes = [start(self.resources, folder, start_new_session=True) for folder in folders]
        self.processes |= {str(process.pid): process for process in processes}
        return [str(process.pid) for process in processes]

    def poll(self, handles: Collection[str]) -> Mapping[str, State]:
        alive = {handle for handle, process in self.processes.items() if process.poll() is None}
        return {handle: "running" if handle in alive else "ended" for handle in handles}

    def cancel(self, handles: Collection[str]) -> None:
        for handle in handles:
            self.processes[handle].terminate()

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


def _cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
