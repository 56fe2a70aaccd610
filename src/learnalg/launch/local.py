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
        self.waiting: dict[str, Path] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.count = 0

    def submit(self, folders: Sequence[Path]) -> list[str]:
        handles = []
        for folder in folders:
            self.count += 1
            handles.append(f"{os.getpid()}-{self.count}")
            self.waiting[handles[-1]] = folder
        return handles

    def poll(self, handles: Collection[str]) -> Mapping[str, State]:
        for handle in [handle for handle, process in self.running.items() if process.poll() is not None]:
            del self.running[handle]
        while self.waiting and len(self.running) < self.room:
            handle = next(iter(self.waiting))
            folder = self.waiting.pop(handle)
            # In a session of its own: Ctrl-C in the terminal is for the queue, which sends SIGTERM.
            self.running[handle] = start(
                self.resources.command(folder), folder, self.resources.environment(), start_new_session=True
            )
        return {
            handle: "running" if handle in self.running else "waiting" if handle in self.waiting else "ended"
            for handle in handles
        }

    def cancel(self, handles: Collection[str]) -> None:
        for handle in handles:
            self.waiting.pop(handle, None)
            if handle in self.running:
                self.running[handle].terminate()

    def close(self) -> None:
        self.waiting.clear()
        for process in self.running.values():
            process.kill()
            process.wait()
        self.running.clear()


def _cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
