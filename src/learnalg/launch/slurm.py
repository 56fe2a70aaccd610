"""Jobs on a SLURM cluster: one array for all that are ready, by submitit.

A time limit or a preemption stops a training with a checkpoint, and SLURM queues the job again under the same number.
What SLURM does not queue again, such as a job whose process was killed, the queue submits anew.

submitit pickles what it calls. Those pickles are written to a folder that only the user can enter, and read by the
user's own jobs; its answers are pickles too, and are never read: the job's folder has the outcome. Its question to the
accounting (sacct) is not asked: not every cluster has one.
"""

from __future__ import annotations

import getpass
import io
import os
import shutil
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from submitit.core.utils import FailedJobError
from submitit.helpers import DelayedSubmission
from submitit.slurm.slurm import SlurmExecutor

from learnalg.launch.engine import Resources, State
from learnalg.launch.job import Outcome
from learnalg.launch.worker import start

NAME = "learnalg"  # of all jobs
LONGEST = 1000  # jobs of an array: SLURM's own default
RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "STAGE_OUT", "SIGNALING")


class SlurmEngine:
    name = "slurm"

    def __init__(
        self, resources: Resources, minutes: int, notice: int, poll: float, gpus: int, asked: Mapping[str, str]
    ) -> None:
        for program in ("sbatch", "squeue", "scancel"):
            if shutil.which(program) is None:
                raise ValueError(f"engine slurm: there is no {program} here; run this on a machine of the cluster")
        for option, value in (("minutes", minutes), ("notice", notice), ("poll", poll)):
            if value <= 0:
                raise ValueError(f"engine slurm: {option}={value}, expected more than 0")
        if notice + 60 >= 60 * minutes:
            longest = max(60 * minutes - 61, 0)
            raise ValueError(
                f"engine slurm: notice={notice}, expected at most {longest} with minutes={minutes}: "
                f"SLURM may give notice a minute earlier"
            )
        self.resources, self.seconds, self.room = resources, poll, resources.jobs
        self.parameters: dict[str, Any] = {
            "job_name": NAME,
            "time": minutes,
            "signal_delay_s": notice,
            "cpus_per_task": resources.threads,
            "stderr_to_stdout": True,
            "additional_parameters": {"requeue": True},
            **asked,
        } | ({"gpus_per_node": gpus} if gpus else {})
        self.known: dict[str, State] = {}

    def submit(self, folders: Sequence[Path]) -> list[str]:
        handles = []
        for first in range(0, len(folders), LONGEST):
            part = folders[first : first + LONGEST]
            # What submitit keeps of an array stands with its first job.
            folder = part[0].absolute() / "submitit"
            folder.mkdir(mode=0o700, exist_ok=True)
            executor = SlurmExecutor(folder, max_num_timeout=10**9)
            executor.update_parameters(**self.parameters, array_parallelism=len(part))
            try:
                with redirect_stderr(io.StringIO()), executor.batch():  # submitit repeats what sbatch says
                    jobs = [executor.submit(Attempt(self.resources, job.absolute())) for job in part]
            except FailedJobError as error:
                raise ValueError(f"engine slurm: {' '.join(str(error).split())}") from None
            handles += [str(job.job_id) for job in jobs]
        self.known |= dict.fromkeys(handles, "waiting")
        return handles

    def poll(self, handles: Collection[str]) -> Mapping[str, State]:
        question = ["squeue", "--noheader", "--array", "--user", getpass.getuser(), "--name", NAME, "--format", "%i %T"]
        answer = subprocess.run(question, capture_output=True, text=True, check=False)
        if answer.returncode == 0:  # else it is busy or restarts: nothing is known to have changed
            lines = (line.split() for line in answer.stdout.splitlines())
            self.known = {handle: "running" if state in RUNNING else "waiting" for handle, state in lines}
        return {handle: self.known.get(handle, "ended") for handle in handles}

    def cancel(self, handles: Collection[str]) -> None:
        if handles:
            subprocess.run(["scancel", *handles], capture_output=True, check=False)

    def close(self) -> None:
        """Jobs that nobody has cancelled stay in the cluster's queue: the same command finds them again."""


class Attempt:
    """What submitit pickles, and calls on the job's machine."""

    def __init__(self, resources: Resources, folder: Path) -> None:
        self.resources, self.folder = resources, folder
        self.process = 0

    def __call__(self) -> int:
        if self._has_ended():  # and was queued again all the same
            return 0
        child = start(self.resources, self.folder)
        self.process = child.pid
        return child.wait()

    def checkpoint(self) -> DelayedSubmission | None:
        """Called by a signal, some time before the time limit. submitit then asks SLURM to queue the job again, unless
        there is nothing left to do."""
        if self.process:
            try:
                os.kill(self.process, signal.SIGTERM)
                os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOWAIT)  # `wait` above is interrupted, and has it
            except (ChildProcessError, ProcessLookupError):  # it has ended
                pass
        return None if self._has_ended() else DelayedSubmission(Attempt(self.resources, self.folder))

    def _has_ended(self) -> bool:
        outcome = Outcome.read(self.folder)
        return outcome is not None and outcome.state != "stopped"
