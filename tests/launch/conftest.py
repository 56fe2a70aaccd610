"""Cells that take a few seconds, for clusters to disturb, and what comes out of them when nobody does."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learnalg.files import checksum, read_json, write_whole
from learnalg.training.run import Run

# Two cells of 80 steps, and one that starts from the first. A step takes as long as the file `pause` says.
PLUGIN = """
import time
from dataclasses import replace
from pathlib import Path
from learnalg.config import RunConfig, replace_fields
from learnalg.problems import TASKS
from learnalg.reproduction.experiment import Cell, Experiment, Shown
from learnalg.reproduction.tables import EXPERIMENTS

def slow():
    task = TASKS["transpose"]()
    def solve(M):
        time.sleep(float(Path("pause").read_text()) if Path("pause").is_file() else 0.0)
        return task.solve(M)
    return replace(task, solve=solve)

TASKS["slow"] = slow
TINY = dict(task="slow", dim="2", encoder_layers=1, dim_model=16, heads=2, batch_size=8, examples=80 * 8,
            eval_num=8, final_num=20, checkpoint_seconds=0.5, workers=0, threads=1, device="cpu", precision="fp32")

def cells(scale):
    cell = lambda key, init="", **changes: Cell(
        key, replace_fields(RunConfig(), **TINY, **changes), (Shown(key, "loss", "report/loss"),), init=init)
    return [cell("first"), cell("other", seed=2), cell("child", "first", seed=3)]

EXPERIMENTS["own"] = Experiment("own", "Own", cells, has_paper=False)
"""


class Cells:
    """The command on these cells in a folder, and what it has left there."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "own.py").write_text(PLUGIN)

    def pause(self, seconds):
        """Before each batch from now on: long enough to disturb a run at a certain step, none to let it end."""
        write_whole(self.folder / "pause", str(seconds).encode())

    def start(self, *arguments):
        command = [sys.executable, "-m", "learnalg", "reproduce", "own", "--plugin", "own.py", *arguments]
        return subprocess.Popen(
            command, cwd=self.folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip

    def run(self, cell):
        return Run.open(self.folder / "runs" / "own" / "laptop" / cell)

    def job(self, cell, file):
        path = self.folder / "runs" / "jobs" / "own" / "laptop" / cell / file
        return read_json(path) if path.is_file() else {}

    def wait_for(self, cell, step, process, sessions=1):
        """Until this cell's run is so far, in that session."""
        end = time.monotonic() + 300
        while time.monotonic() < end and process.poll() is None:
            if (self.folder / "runs" / "own" / "laptop" / cell / "provenance.json").is_file():
                run = self.run(cell)
                if len(run.sessions()) >= sessions and run.metrics() and run.metrics()[-1]["step"] >= step:
                    return
            time.sleep(0.05)
        raise AssertionError(f"{cell} did not come to step {step}: {process.communicate() if process.poll() else ''}")

    def outcome(self, cell):
        """Weights, and the report of the test split but for its time."""
        result = read_json(self.folder / "results" / "own" / "laptop" / f"{cell}.json")
        report = {name: value for name, value in result["report"].items() if name != "seconds"}
        return checksum(self.run(cell).folder / "model.safetensors"), report

    def resumed_at(self, cell):
        return [session["resumed_at"] for session in self.run(cell).sessions()[1:]]


@pytest.fixture
def cells(tmp_path):
    return Cells(tmp_path)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    cells = Cells(tmp_path_factory.mktemp("undisturbed"))
    process = cells.start("--quiet")
    _, error = process.communicate(timeout=300)
    assert (process.returncode, error) == (0, "")
    return cells


@pytest.fixture(scope="session")
def script():
    return Path(__file__).with_name("slurm.sh")
