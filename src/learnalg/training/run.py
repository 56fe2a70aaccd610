"""A run's folder: what was asked, how it went, what came out.

config.json         every setting            provenance.json   commit, versions, machine, command
metrics.jsonl       losses and accuracies    model.safetensors the weights, config inside
checkpoints/        to resume from           result.json       the final evaluation, when finished
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnalg.config import RunConfig, from_dict, to_dict
from learnalg.config.checks import is_a
from learnalg.evaluation.result import Origin, Point, built, point_of
from learnalg.files import (
    PART,
    add_line,
    json_text,
    naming_errors,
    parse_json,
    read_json,
    read_json_list,
    read_small,
    write_json,
    write_whole,
)

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

MOST_METRICS = 128 * 2**20  # bytes: some million steps


@dataclass(frozen=True)
class Run:
    folder: Path
    config: RunConfig

    @classmethod
    def create(cls, folder: Path, config: RunConfig) -> Run:
        run = cls(folder, config)
        with run.begun():
            return run

    @contextmanager
    def begun(self) -> Iterator[None]:
        """A new run in its folder, locked before anything is written: of two that begin, one leaves no trace."""
        check_is_free(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.locked():
            check_is_free(self.folder)  # another run may have begun here, and ended, in between
            self.remove_parts()
            self.save_config()
            yield

    def save_config(self) -> None:
        write_json(self.folder / "config.json", to_dict(self.config))

    @classmethod
    def open(cls, folder: Path) -> Run:
        path = folder / "config.json"
        if not path.is_file():
            raise ValueError(f"{folder} is not a run's folder: it has no config.json")
        try:
            return cls(folder, from_dict(read_json(path)))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time writes to a run; the lock ends with the process, however it ends."""
        with ExitStack() as stack:
            if fcntl is not None:
                # The folder: files in it are replaced, and a lock on one would go with it.
                folder = os.open(self.folder, os.O_RDONLY)
                stack.callback(os.close, folder)
                try:
                    with naming_errors(self.folder):
                        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise ValueError(f"{self.folder} is being trained by another process") from None
                if not os.path.samestat(os.fstat(folder), os.stat(self.folder)):
                    raise ValueError(f"{self.folder} was replaced by another folder")
            yield

    def remove_parts(self) -> None:
        """What a killed process has left half written. Only with the lock: another process may be writing."""
        for part in (*self.folder.glob(PART), *self.checkpoints.glob(PART)):
            part.unlink(missing_ok=True)

    @property
    def checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def metrics_file(self) -> Path:
        return self.folder / "metrics.jsonl"

    def add_metrics(self, values: dict[str, Any]) -> None:
        add_line(self.metrics_file, json_text(values, str(self.metrics_file)))

    def metrics(self) -> list[dict[str, Any]]:
        if not self.metrics_file.is_file():
            return []
        lines, values = read_small(self.metrics_file, MOST_METRICS).split(b"\n"), []
        for number, line in enumerate(lines, 1):
            try:
                values.append(_checked(parse_json(line)))
            except ValueError as error:
                # A killed run may end in half a line, which is left out. A whole one ends in a newline.
                if number < len(lines):
                    raise ValueError(
                        f"{self.metrics_file} is damaged in line {number}: {error}; repair or remove the line"
                    ) from None
        return values

    def curve(self) -> tuple[Point, ...]:
        """The learning curve: all evaluations during training."""
        return tuple(point_of(line) for line in self.metrics() if "accuracy" in line)

    def spent(self) -> tuple[int, float]:
        """Examples and seconds so far, by the last line that has both: lines of steps that were skipped have none."""
        for line in reversed(self.metrics()):
            if is_a(line.get("examples"), int) and is_a(line.get("seconds"), float):
                return line["examples"], line["seconds"]
        return 0, 0.0

    def forget_metrics_after(self, step: int) -> None:
        """Steps that a resumed run will take again."""
        where = str(self.metrics_file)
        kept = [json_text(values, where) + "\n" for values in self.metrics() if values["step"] <= step]
        write_whole(self.metrics_file, "".join(kept).encode())

    def add_session(self, **details: Any) -> None:
        """Each start and each resumption leaves its provenance."""
        write_json(self.folder / "provenance.json", [*self.sessions(), provenance() | details])

    def sessions(self) -> list[dict[str, Any]]:
        path = self.folder / "provenance.json"
        return read_sessions(path) if path.is_file() else []


def read_sessions(path: Path) -> list[dict[str, Any]]:
    sessions = read_json_list(path)
    for session in sessions:
        values = session if isinstance(session, dict) else {}
        if not all(isinstance(values.get(name), str) for name in ("time", "commit", "command")):
            raise ValueError(f"{path} is damaged: a session has time, commit and command; repair or remove the file")
        try:
            built(Origin | None, session.get("origin"), "origin")
        except ValueError as error:
            raise ValueError(f"{path} is damaged: {error}; repair or remove the file") from None
    return sessions


def _checked(entry: Any) -> dict[str, Any]:
    """A line of metrics."""
    if not isinstance(entry, dict) or not is_a(entry.get("step"), int):
        raise ValueError("not an object with a step")
    if "accuracy" in entry:
        point_of(entry)
    return entry


def check_is_free(folder: Path) -> None:
    """A folder that is not there, or is empty but for what a killed process has left half written."""
    if folder.is_symlink() and not folder.exists():
        raise ValueError(f"{folder} is a link to nowhere")
    if folder.exists() and (not folder.is_dir() or any(not path.match(PART) for path in folder.iterdir())):
        raise ValueError(f"{folder} exists already: choose another --out, or `learnalg resume {folder}`")


def is_locked(folder: Path) -> bool | None:
    """Whether a process trains this run; None where there are no locks."""
    locks: Any = fcntl
    if locks is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        locks.flock(descriptor, locks.LOCK_SH | locks.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return None
    finally:
        os.close(descriptor)
    return False


def provenance() -> dict[str, Any]:
    versions = {name: importlib.metadata.version(name) for name in ("learnalg", "torch", "numpy")}
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": " ".join(["learnalg", *sys.argv[1:]]) if "learnalg" in sys.argv[0] else " ".join(sys.argv),
        "commit": commit(),
        "versions": {"python": platform.python_version()} | versions,
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "system": platform.system()},
    }


def commit() -> str:
    """The commit of the source that runs, '+' where it was changed since; '' outside a checkout."""
    source = Path(__file__).parent.parent
    try:
        head = _git(source, "rev-parse", "HEAD")
        return head + ("+" if _git(source, "status", "--porcelain", "--", str(source)) else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(folder: Path, *arguments: str) -> str:
    answer = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
