"""A real SLURM of two emulated nodes: cells are requeued, stopped before their time limit, and lose their node, and end
as if nothing had happened. Debian: `make cluster`."""

import shutil
import signal
import subprocess

import pytest

from learnalg.cli import main
from learnalg.launch import Resources, make_engine

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
PATH = "/usr/sbin:/usr/bin:/bin"
lacking = [
    program for program in PROGRAMS if shutil.which(program) is None and shutil.which(program, path=PATH) is None
]
pytestmark = pytest.mark.skipif(bool(lacking), reason=f"SLURM is not installed (make cluster): no {', '.join(lacking)}")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory, script):
    """slurm('squeue', ...) asks the cluster."""
    pytest.importorskip("submitit")
    folder = tmp_path_factory.mktemp("slurm")
    subprocess.run([script, "start", folder], check=True)

    def call(*command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        yield call
    subprocess.run([script, "stop", folder], check=True)


def test_cells_end_as_undisturbed_ones_whatever_the_cluster_does(cells, undisturbed, slurm):
    launch = ("--launch", "slurm:poll=0.3")

    def job(cell):
        return cells.job(cell, "handle.json")["handle"]

    cells.pause(0.1)
    process = cells.start(*launch)
    cells.wait_for("first", 10, process)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=300)
    assert process.returncode == 130 and slurm("squeue", "-h") == "", error
    assert "stopped; resume with: learnalg reproduce own --plugin own.py --launch slurm:poll=0.3" in error
    assert cells.job("first", "outcome.json")["error"].startswith("stopped at step ")

    process = cells.start(*launch)
    cells.wait_for("first", 20, process, sessions=2)
    process.kill()  # its jobs run on, and the next one finds them
    found = job("first")
    process = cells.start(*launch)
    cells.wait_for("first", 30, process, sessions=2)
    assert job("first") == found
    slurm("scontrol", "requeue", job("first"))  # as a preemption does
    cells.wait_for("other", 30, process)
    slurm("scancel", "--signal=USR2", job("other"))  # what SLURM sends before the time limit
    cells.wait_for("child", 10, process)
    node = cells.job("child", "started.json")["host"]
    slurm("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    cells.wait_for("child", 0, process, sessions=2)
    cells.pause(0)
    out, error = process.communicate(timeout=300)
    assert (process.returncode, error) == (0, "")
    assert f"own/laptop/child: running on {node}" in out and "own/laptop/child: done on" in out
    for cell in ("first", "other", "child"):
        assert all(0 < step < 80 for step in cells.resumed_at(cell)), cell
        assert cells.outcome(cell) == undisturbed.outcome(cell), cell
    assert [len(cells.resumed_at(cell)) for cell in ("first", "child")] == [2, 1]
    assert cells.job("child", "outcome.json")["host"] != node


def test_what_the_cluster_refuses_is_one_line(slurm, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--task", "add", "--dim", "2", "--launch", "slurm:partition=nobodys"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("learnalg: error: engine slurm: sbatch: error: ") and error.count("\n") == 1
    assert "nobodys" in error
    with pytest.raises(ValueError, match="notice=120, expected at most 59 with minutes=2"):
        make_engine("slurm:minutes=2", Resources())
