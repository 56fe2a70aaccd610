"""Notices that another process of a run has stopped, and ends this one with a line that says so.

A process that waits for another waits in C++, for as long as that takes: an evaluation may take hours. So each process
says every second that it is alive, from a thread of its own, and listens for the others. A process that is computing
says so too; one that is stopped (SIGSTOP), killed or cut off does not.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch.distributed as dist

BEAT = 1.0  # seconds between two signs of life
SILENT = 20  # beats without one, after which another process counts as stopped: torchrun kills all after 30 seconds


@contextmanager
def watch_others(store: dist.Store, rank: int, world: int, folder: Path) -> Iterator[None]:
    """`store` is what the processes have met at."""
    # A beat is counted by this process, not by a clock: time in which all were stopped (Ctrl-Z) does not count.
    silent = dict.fromkeys(set(range(world)) - {rank}, 0)
    ended = threading.Event()

    def talk() -> None:
        known: dict[int, int] = {}
        try:
            own: Any = store.clone()  # type: ignore[attr-defined]  # a connection of its own
            while not ended.wait(BEAT):
                own.add(f"alive/{rank}", 1)
                for other in silent:
                    count = own.add(f"alive/{other}", 0)
                    if known.get(other) != count:
                        known[other], silent[other] = count, 0
        except RuntimeError:  # the store has gone with its process: `listen` finds the others silent
            return

    def listen() -> None:
        while not ended.wait(BEAT):
            for other in silent:
                silent[other] += 1
            lost = [other for other, beats in silent.items() if beats > SILENT]
            if lost:
                _end(lost, world, folder)

    threads = [threading.Thread(target=work, daemon=True, name=work.__name__) for work in (talk, listen)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()


def _end(lost: list[int], world: int, folder: Path) -> None:
    """The main thread may be waiting in C++, where no exception reaches it. Files are whole whenever a process ends."""
    names = ", ".join(str(other + 1) for other in sorted(lost))
    print(
        f"learnalg: error: process {names} of {world} has given no sign of life for {SILENT * BEAT:.0f} s, so this one "
        f"ends; resume with: learnalg resume {folder}",
        file=sys.stderr,
        flush=True,
    )
    os._exit(2)
