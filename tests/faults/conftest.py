"""Faults, for real: processes that are killed, disks that are full, files that are damaged.

A short form runs with all tests, a long one by `make faults`, which writes its figures to results/faults/.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from learnalg.evaluation.result import Result
from learnalg.files import PART, checksum, load_tensors, write_json
from learnalg.training.checkpoint import list_checkpoints, load_checkpoint
from learnalg.training.run import Run, provenance
from learnalg.zoo.load import MODEL_FILE, RESULT_FILE, load_weights

HERE = Path(__file__).parent
IS_LONG = os.environ.get("FAULTS") == "long"
PATIENCE = 120  # seconds until a process counts as hanging
FIGURES = HERE.parents[1] / "results" / "faults"


@pytest.fixture(scope="session")
def times():
    """times(4, 50): how often a fault is tried, in the short and in the long form."""
    return lambda short, long: long if IS_LONG else short


@pytest.fixture(scope="module")
def record(request):
    """record("kill -9", 50, "equal weights", seconds=12): a row of docs/faults.md."""
    rows = []

    def add(fault, tries, result):
        rows.append({"fault": fault, "tries": tries, "result": result})

    yield add
    if IS_LONG and rows:
        FIGURES.mkdir(exist_ok=True)
        write_json(
            FIGURES / f"{request.path.stem.removeprefix('test_')}.json",
            {"rows": rows, **provenance(), "command": "make faults"},
        )


class Fork:
    """A command in a process of its own."""

    def __init__(self, server, says, job):
        self.server, self.says, self.code = server, says, None
        self.pid = self._ask(job | {"says": str(says)})

    def _ask(self, words):
        self.server.stdin.write(json.dumps(words) + "\n")
        self.server.stdin.flush()
        if not select.select([self.server.stdout], [], [], PATIENCE)[0]:
            os.kill(self.pid, signal.SIGKILL)
            raise AssertionError(f"no end after {PATIENCE} s: {self.said()}")
        return int(self.server.stdout.readline())

    def is_alive(self):
        return state_of(self.pid) not in ("", "Z")

    def send(self, number):
        os.kill(self.pid, number)

    def wait(self):
        if self.code is None:
            self.code = self._ask(self.pid)
        return self.code

    def said(self):
        return self.says.read_text()


def state_of(pid):
    """R, S, T, Z, ... or nothing for a process that is gone."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.fixture(scope="session")
def server():
    """A process that forks others."""
    # One thread until a run asks for two: none has begun to wait when the process forks. Two threads on one busy core
    # wait long for each other unless they are passive.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    command = [sys.executable, HERE / "forks.py"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment, cwd=HERE) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def fork(server, tmp_path):
    """fork("resume", folder): the command in a process."""
    started = []

    def start(*arguments, **job):
        says = tmp_path / f"said-{len(started)}.txt"
        started.append(Fork(server, says, job | {"arguments": [*map(str, arguments)]}))
        return started[-1]

    yield start
    for process in started:
        if process.code is None:
            process.send(signal.SIGKILL)
            process.wait()


@pytest.fixture
def pair(fork):
    """pair("resume", folder): one run in two processes, which meet as those of torchrun do."""

    def start(*arguments, **job):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
        shared = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
        ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(2)]
        return [fork(*arguments, environment=shared | ranks[k], **job) for k in range(2)]

    return start


class Torchrun:
    """One run in two processes of torchrun, in a group of their own."""

    def __init__(self, says, arguments):
        self.says = says
        launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "learnalg"]
        with says.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, *launch, *arguments], stdout=file, stderr=file, start_new_session=True
            )

    @property
    def workers(self):
        """Ids, by rank."""
        pid = self.process.pid
        children = (Path("/proc") / str(pid) / "task" / str(pid) / "children").read_text().split()
        by_rank = {}
        for child in children:
            environment = (Path("/proc") / child / "environ").read_bytes().split(b"\0")
            rank = next((line[5:] for line in environment if line.startswith(b"RANK=")), b"")
            if rank:
                by_rank[int(rank)] = int(child)
        return [by_rank[rank] for rank in sorted(by_rank)]

    def kill(self):
        """All at once, as when the power is cut."""
        for pid in (*self.workers, self.process.pid):  # each worker has a session of its own
            os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=60)

    def said(self):
        """Lines of ours among torchrun's."""
        ours = ("learnalg: ", "stopped at step ")
        return [line for line in self.says.read_text().splitlines() if line.startswith(ours)]


@pytest.fixture
def torchrun(tmp_path):
    started = []

    def start(*arguments):
        started.append(Torchrun(tmp_path / f"torchrun-{len(started)}.txt", [*map(str, arguments)]))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()


def step_of(folder):
    """The step of the newest checkpoint; -1 before the first."""
    return max((int(path.stem) for path in list_checkpoints(folder / "checkpoints")), default=-1)


@pytest.fixture(scope="session")
def wait_until():
    def wait(condition, seconds=60.0, every=0.002):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it takes too long"
            time.sleep(every)

    return wait


@pytest.fixture(scope="session")
def newest_step():
    return step_of


@pytest.fixture(scope="session")
def files_load():
    """files_load(folder): each file of a run that is at its final name is whole. Returns how many there are."""

    def check(folder):
        if not (folder / "config.json").is_file():
            assert not [path for path in folder.iterdir() if not path.match(PART)]
            return 0
        run = Run.open(folder)
        run.metrics(), run.sessions()
        for path in list_checkpoints(run.checkpoints):
            assert load_checkpoint(run.checkpoints, path.name)[0]
        if (folder / MODEL_FILE).is_file():
            load_tensors(folder / MODEL_FILE, is_ours=True)
        if (folder / RESULT_FILE).is_file():
            assert Result.read(folder / RESULT_FILE).steps == run.config.train.num_steps
            load_weights(folder)
        whole = [path for path in folder.rglob("*") if path.is_file() and not path.match(PART)]
        known = {"config.json", "metrics.jsonl", "provenance.json", MODEL_FILE, RESULT_FILE}
        assert {path.name for path in whole if path.suffix != ".ckpt"} <= known
        return len(whole)

    return check


@pytest.fixture(scope="session")
def same_bits():
    """same_bits(one, other): of weights, moments, losses, evaluations and the model's file."""

    def check(one, other):
        a, b = Run.open(one), Run.open(other)
        (expected, _), (found, _) = (load_checkpoint(run.checkpoints) for run in (a, b))
        assert expected.keys() == found.keys() and any(key.startswith("optim.") for key in expected)
        assert [key for key in expected if not torch.equal(expected[key], found[key])] == []
        results = [Result.read(run.folder / RESULT_FILE) for run in (a, b)]
        assert results[0].sha256 == results[1].sha256 == checksum(other / MODEL_FILE)
        assert (results[0].report.loss, results[0].curve) == (results[1].report.loss, results[1].curve)
        losses = [[(m["step"], m["loss"]) for m in run.metrics() if "loss" in m] for run in (a, b)]
        assert losses[0] == losses[1]
        assert not [path for path in other.rglob("*") if path.match(PART)]

    return check
