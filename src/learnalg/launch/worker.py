"""Runs one job: what `learnalg work FOLDER` does, wherever an engine calls it.

SIGTERM stops a training after its step with a checkpoint; the outcome is then 'stopped', and whoever runs the job again
continues it. A job that is killed has no outcome. When the process that started it is gone, it stops in the same way.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from learnalg.files import write_json
from learnalg.launch.engine import Resources
from learnalg.launch.job import LOG, OUTCOME, STARTED, Job, Outcome

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

PATIENCE = 60.0  # seconds that an attempt waits for the one before it, whose engine has lost sight of it


def work(folder: Path) -> int:
    """Runs the job in this folder; returns the exit code: 0 done, 2 failed, 128 and the signal stopped."""
    job = Job.read(folder)
    function = function_of(job)
    if hasattr(signal, "SIGUSR2"):
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)  # SLURM's, for the process above this one, which sends SIGTERM
    started, host = time.monotonic(), os.environ.get("SLURMD_NODENAME") or socket.gethostname()
    with alone(folder):
        threading.Thread(target=_stop_when_orphaned, args=(os.getppid(),), daemon=True).start()
        (folder / OUTCOME).unlink(missing_ok=True)
        write_json(folder / STARTED, {"host": host, "process": os.getpid(), "time": time.time()})

        def leave(**outcome: Any) -> None:
            Outcome(host=host, seconds=round(time.monotonic() - started, 1), **outcome).write(folder)

        try:
            value = function(**job.arguments)
        except _interrupted() as stop:
            leave(state="stopped", error=str(stop))
            return 128 + stop.number
        except (ValueError, OSError) as error:
            leave(state="failed", error=" ".join(str(error).split()))
            print(f"learnalg: error: {error}", flush=True)
            return 2
        except KeyboardInterrupt:
            leave(state="stopped", error="interrupted")
            return 128 + signal.SIGINT
        except BaseException as error:  # a mistake of ours, or no memory: its traceback goes to the log
            if not isinstance(error, SystemExit):
                text = " ".join(str(error).split())
                leave(state="failed", error=f"{type(error).__name__}: {text}; see {folder / LOG}")
            raise
        leave(state="done", value=value)
        return 0


def _interrupted() -> type[Any]:
    """What a training raises. Imported only when something was raised: it takes torch along."""
    from learnalg.training.devices import InterruptedRunError

    return InterruptedRunError


def function_of(job: Job) -> Callable[..., Any]:
    """Only a function that its module defines: what a module has imported is none of it."""
    module, _, name = job.function.partition(":")
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError:
        found = None
    if not callable(found) or getattr(found, "__module__", "") != module:
        raise ValueError(f"job {job.name}: there is no function {job.function}")
    return found  # type: ignore[no-any-return]


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One attempt at a time. The lock ends with its process."""
    with ExitStack() as stack:
        if fcntl is not None:
            file = stack.enter_context((folder / "lock").open("w"))
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise ValueError(f"{folder} is being run by another process") from None
                    time.sleep(0.1)
        yield


def _stop_when_orphaned(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


def start(resources: Resources, folder: Path, **options: Any) -> subprocess.Popen[bytes]:
    """`learnalg work` in a process of its own, which prints to the job's log."""
    environment = {**os.environ, **resources.environment()}
    with (folder / LOG).open("ab") as log:
        return subprocess.Popen(
            resources.command(folder), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, **options
        )
