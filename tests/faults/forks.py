"""Runs commands of learnalg in processes that start in no time: torch is loaded once, and each is a fork.

Reads a line of JSON: a job, which is answered with the process's id; or such an id, which is answered with the exit
code of that process when it has ended (negative: the signal).

arguments     of the command, say ["resume", "runs/ev5"]
environment   more variables
beats         seconds between signs of life, and how many may be missing
at            the moment to begin at, of the clock that only counts
die_at        the process kills itself (-9) at its n-th operation on a file
says          the file that takes what it prints
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any

CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.truncate")


def die_at(number: int) -> None:
    """Before the operation: whatever comes after it is as a power cut at that moment leaves it."""
    numbers, fsync = count(1), os.fsync

    def operation() -> None:
        if next(numbers) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        is_write = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if is_write or event in CHANGES:
            operation()

    def fsync_watched(descriptor: int) -> None:
        operation()
        fsync(descriptor)

    sys.addaudithook(watch)
    os.fsync = fsync_watched


def work(job: dict[str, Any]) -> int:
    from learnalg.cli import main
    from learnalg.training import heartbeat

    os.setsid()
    os.environ.update(job.get("environment", {}))
    said = os.open(job["says"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(said, descriptor)
    heartbeat.BEAT, heartbeat.SILENT = job.get("beats", (heartbeat.BEAT, heartbeat.SILENT))
    if "die_at" in job:
        die_at(job["die_at"])
    while time.monotonic() < job.get("at", 0.0):
        pass
    return main(job["arguments"])


def warm_up() -> None:
    """All that is imported late."""
    from learnalg.cli import main

    small = [
        "--dim",
        "1",
        "--examples",
        "1",
        "--batch-size",
        "1",
        "--eval-num",
        "1",
        "--final-num",
        "1",
        "--threads",
        "1",
    ]
    network = ["--encoder-layers", "1", "--encoder-loops", "1", "--dim-model", "16", "--heads", "2"]
    with TemporaryDirectory() as folder:
        main(["train", *small, *network, "--precision", "fp32", "--quiet", "--out", f"{folder}/run"])


def serve() -> None:
    warm_up()
    for line in sys.stdin:
        asked = json.loads(line)
        if isinstance(asked, int):
            print(os.waitstatus_to_exitcode(os.waitpid(asked, 0)[1]), flush=True)
            continue
        process = os.fork()
        if not process:
            code = 1
            try:
                code = work(asked)
            finally:
                os._exit(code)
        print(process, flush=True)


if __name__ == "__main__":
    serve()
