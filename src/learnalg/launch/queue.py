"""Brings all jobs to their end: submits those whose turn it is, gathers outcomes, submits again what was lost.

A job waits for those that it comes after. One that fails takes only those with it that come after it. A job that ends
without an outcome was killed, or its node is lost. It is submitted again, some times, and resumes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from learnalg.files import read_json, write_json
from learnalg.launch.engine import Engine
from learnalg.launch.job import HANDLE, JOB, LOG, OUTCOME, STARTED, Job, Outcome

MOST_LOST = 5  # times in a row that a job may end without an outcome
LONG = 600.0  # seconds after which an attempt has saved some steps, so that its loss begins a new row
GRACE = 60.0  # seconds that stopped jobs have for their checkpoints
STOPPING = "stopping"

Where = Literal["waits", "queued", "running", "done", "failed", "not run", "stopped"]


@dataclass
class Entry:
    """A job and how far it is."""

    job: Job
    folder: Path
    state: Where = "waits"
    note: str = ""
    handle: str = ""
    submitted: int = 0  # times
    lost: int = 0  # of these, in a row: ended without an outcome
    since: float = field(default_factory=time.time)  # of this state
    outcome: Outcome | None = None
    gone: bool = False  # whether the engine had no trace of it when it was asked last

    @property
    def is_active(self) -> bool:
        return self.state in ("queued", "running")

    def to(self, state: Where, note: str = "") -> None:
        if self.state != state:
            self.since = time.time()
        self.state, self.note = state, note

    def started(self) -> dict[str, Any]:
        """Where the last attempt runs, as it says itself; {} before that."""
        path = self.folder / STARTED
        return read_json(path) if path.is_file() else {}


class Queue:
    def __init__(self, jobs: Sequence[Job], engine: Engine, folder: Path) -> None:
        """`folder` keeps the jobs' folders, and every machine of the engine sees it."""
        self.engine = engine
        self.entries = {job.name: Entry(job, folder / job.name) for job in jobs}
        if len(self.entries) < len(jobs):
            raise ValueError("two jobs have one name")
        for job in jobs:
            unknown = [name for name in job.after if name not in self.entries]
            if unknown:
                raise ValueError(f"job {job.name} comes after {unknown[0]}, which is none of the jobs")

    def run(self, show: Callable[[list[Entry]], None] = lambda entries: None, until: float = math.inf) -> None:
        """To the end of all, or until `time.monotonic()` is that late. KeyboardInterrupt stops the jobs, each with a
        checkpoint, and is then raised again. `show` is called after each look at the jobs."""
        try:
            self._take_up()
            while True:
                self._submit()
                self._look()
                show(list(self.entries.values()))
                if not any(entry.state == "waits" or entry.is_active for entry in self.entries.values()):
                    return
                if time.monotonic() >= until:
                    self._stop(show)
                    return
                time.sleep(self.engine.seconds)
        except KeyboardInterrupt:
            self._stop(show)
            raise
        finally:
            self.engine.close()

    def left(self) -> list[Entry]:
        return [entry for entry in self.entries.values() if entry.state != "done"]

    def _take_up(self) -> None:
        """Jobs that an earlier queue has submitted, and that still wait or run: it was killed, or its connection was
        lost."""
        known = {}
        for entry in self.entries.values():
            path = entry.folder / HANDLE
            if not path.is_file() or not (entry.folder / JOB).is_file():
                continue
            said = read_json(path)
            if said.get("engine") == self.engine.name and entry.job.is_same(entry.folder):
                known[str(said.get("handle"))] = entry
        states = self.engine.poll(known) if known else {}
        for handle, entry in known.items():
            if states[handle] != "ended":
                entry.handle, entry.submitted = handle, 1
                entry.to("queued", "found again")

    def _submit(self) -> None:
        """Those whose turn it is, all at once: an engine may make one array of them."""
        ready = []
        for entry in self.entries.values():
            if entry.state != "waits":
                continue
            before = [self.entries[name] for name in entry.job.after]
            lacking = [other for other in before if other.state in ("failed", "not run")]
            if lacking:
                entry.to("not run", f"comes after {lacking[0].job.name}")
            elif all(other.state == "done" for other in before):
                ready.append(entry)
            else:
                entry.note = f"for {next(other.job.name for other in before if other.state != 'done')}"
        if self.engine.room:
            free = max(self.engine.room - sum(entry.is_active for entry in self.entries.values()), 0)
            for entry in ready[free:]:
                entry.note = entry.note or "for room"
            ready = ready[:free]
        for entry in ready:
            entry.job.write(entry.folder)
            for name in (OUTCOME, STARTED):
                (entry.folder / name).unlink(missing_ok=True)
        if not ready:
            return
        for entry, handle in zip(ready, self.engine.submit([entry.folder for entry in ready]), strict=True):
            write_json(entry.folder / HANDLE, {"engine": self.engine.name, "handle": handle})
            entry.handle, entry.gone = handle, False
            entry.submitted += 1
            entry.to("queued", entry.note if entry.submitted > 1 else "")

    def _look(self) -> None:
        active = {entry.handle: entry for entry in self.entries.values() if entry.is_active}
        states = self.engine.poll(active) if active else {}
        for handle, entry in active.items():
            outcome = Outcome.read(entry.folder)
            if outcome is not None and outcome.state != "stopped":
                self._end(entry, outcome)
            elif states[handle] == "ended":
                # Looked at twice: a file of another machine may come a little later than the news of its job's end.
                if entry.gone:
                    self._again(entry, outcome)
                entry.gone = True
            else:
                entry.gone = False
                note = outcome.error if outcome else entry.note  # the engine has queued it again
                entry.to("running" if states[handle] == "running" else "queued", note)

    def _end(self, entry: Entry, outcome: Outcome) -> None:
        entry.outcome = outcome
        entry.to("done" if outcome.state == "done" else "failed", outcome.error)
        (entry.folder / HANDLE).unlink(missing_ok=True)

    def _again(self, entry: Entry, outcome: Outcome | None) -> None:
        ran = time.time() - entry.started().get("time", math.inf)
        entry.lost = 0 if outcome else 1 if ran > LONG else entry.lost + 1
        if entry.lost >= MOST_LOST:
            entry.to("failed", f"ended {entry.lost} times without an outcome: see {entry.folder / LOG}")
        else:
            entry.to("waits", outcome.error if outcome else "its process or its node was lost")

    def _stop(self, show: Callable[[list[Entry]], None]) -> None:
        """SIGTERM for all that run; they have some time for their checkpoints. A second Ctrl-C does not wait."""
        stopping = [entry for entry in self.entries.values() if entry.is_active]
        for entry in stopping:
            entry.note = STOPPING
        self.engine.cancel([entry.handle for entry in stopping])
        end = time.monotonic() + GRACE
        while True:
            active = {entry.handle: entry for entry in self.entries.values() if entry.is_active}
            states = self.engine.poll(active) if active and time.monotonic() < end else dict.fromkeys(active, "ended")
            for handle, entry in active.items():
                outcome = Outcome.read(entry.folder)
                if outcome is not None and outcome.state != "stopped":
                    self._end(entry, outcome)
                elif states[handle] == "ended":
                    entry.to("stopped", outcome.error if outcome else "")
            for entry in self.entries.values():
                if entry.state == "waits":
                    entry.to("stopped")
            show(list(self.entries.values()))
            if not active:
                return
            time.sleep(min(self.engine.seconds, 1.0))
