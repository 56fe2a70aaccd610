"""Locks of files, between processes and machines that share a disk. A lock ends with its process, however that ends."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]


class FileLock:
    def __init__(self, path: Path) -> None:
        self.path, self.file = path, -1
        if fcntl is None:
            raise ValueError("a sweep needs locks of files, which this system does not have")

    def acquire(self, wait: bool = True) -> bool:
        """Whether it is ours now."""
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(file)
            return False
        self.file = file
        return True

    def release(self) -> None:
        os.close(self.file)
        self.file = -1

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


class JournalLock(FileLock):
    """Of Optuna's journal. Whoever was killed while writing has left half a line, which goes: else the next line would
    be added to it, and nobody could read the journal any more."""

    def __init__(self, journal: Path) -> None:
        super().__init__(journal.with_name(journal.name + ".lock"))
        self.journal = journal

    def acquire(self, wait: bool = True) -> bool:
        is_ours = super().acquire(wait)
        if is_ours and self.journal.is_file():
            with self.journal.open("rb+") as file:
                end = file.seek(0, os.SEEK_END)
                while end and (file.seek(end - 1), file.read(1))[1] != b"\n":
                    end -= 1
                file.truncate(end)
        return is_ours
