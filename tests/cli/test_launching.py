"""--launch: what is shown of jobs, and what is refused."""

import io
import shutil
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from learnalg.cli.launching import how_far, run_jobs, table
from learnalg.launch import Entry, Job, Outcome, Resources, make_engine

SPLIT = "learnalg.naming:split_name"


def test_jobs_in_a_pipe_are_a_line_a_change_and_a_failure_is_exit_code_1(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    jobs = [Job("good", SPLIT, {"text": "a"}), Job("bad", SPLIT, {"text": "a:b"}), Job("after", SPLIT, after=("bad",))]
    assert run_jobs(jobs, make_engine("local", Resources(jobs=1)), "the command", lambda job: None) == 1
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[:3] == ["good: running", "bad: waits for room", "after: waits for bad"]
    assert lines[3].startswith("good: done on ") and lines[-1] == "after: not run, comes after bad"
    assert said.err.splitlines() == [
        "bad: failed, 'a:b': options are written name:option=value,option=value",
        "1 of 3 jobs done, 1 not run; resume with: the command",
    ]
    assert (tmp_path / "runs/jobs/bad/log.txt").read_text().startswith("learnalg: error: 'a:b'")


def test_the_table_has_what_runs_first_and_fits_the_terminal(tmp_path):
    def entry(name, state, **fields):
        return Entry(Job(name, SPLIT), tmp_path / name, state, **fields)

    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "examples": 64, "loss": 2.5}\n{"step": 2, "exam')
    outcome = Outcome("done", host="node2", seconds=75.0)
    entries = [entry(f"done{k}", "done", outcome=outcome, since=k) for k in range(9)]
    entries += [entry("runs", "running", submitted=2, since=time.time() - 61), entry("bad", "failed", note="no size")]
    console = Console(width=120, file=io.StringIO())
    console.print(table(entries, lambda job: tmp_path, 4))
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert lines[0] == "11 jobs: 1 running, 1 failed, 9 done"
    assert [line.split()[0] for line in lines[1:]] == ["runs", "bad", "done8", "done7"]
    assert lines[1].split("  ")[-1] == "64 examples, loss 2.500" and "1:01" in lines[1] and "2 times" in lines[1]
    assert lines[2].endswith("no size") and "node2" in lines[3] and "1:15" in lines[3]


def test_how_far_a_run_is_needs_no_metrics(tmp_path):
    assert how_far(tmp_path) == ""
    (tmp_path / "metrics.jsonl").write_text("")
    assert how_far(tmp_path) == ""
    (tmp_path / "metrics.jsonl").write_text('{"step": 3, "skipped": "loss"}\n')
    assert how_far(tmp_path) == ""


@pytest.mark.parametrize(("engine", "module"), [("slurm", "submitit"), ("ray", "ray")])
def test_an_engine_that_is_not_installed_is_refused_with_the_name_of_its_extra(engine, module, run, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    for line in ("train --task add --dim 2 --launch", "reproduce table-12 --scale smoke --launch"):
        code, out, err = run(*line.split(), engine)
        assert (code, out) == (2, "")
        assert err == (
            f"learnalg: error: engine {engine} needs {module}, which is not installed: "
            f"pip install 'learnalg[{engine}]'\n"
        )
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train --task add --dim 2 --launch locl", "unknown engine 'locl': did you mean 'local'"),
        ("train --task add --dim 2 --launch local:threads=2", "unknown option of engine 'local' 'threads'"),
        ("train --task add --dim 2 --launch slurm:minutes=soon", "minutes=soon: expected a whole number"),
        ("reproduce table-12 --launch local --jobs -1", "-1 jobs at once: 0 or more"),
        ("reproduce table-12 --launch local --job-threads 0", "0 threads for each job: 1 or more"),
        ("reproduce table-12 --launch local --show", "it does not go with --show"),
        ("reproduce --launch local", "which table or figure?"),
        ("reproduce table-12 --jobs 2", "--jobs and --job-threads are for --launch"),
    ],
)
def test_what_is_refused(line, message, run):
    code, _, err = run(*line.split())
    assert code == 2 and message in err and err.count("\n") == 1 and list(Path().iterdir()) == []


def test_slurm_without_a_cluster_is_refused(run, monkeypatch):
    pytest.importorskip("submitit")
    monkeypatch.setattr(shutil, "which", lambda program: None)
    assert "there is no sbatch here" in run("train", "--task", "add", "--dim", "2", "--launch", "slurm")[2]


def test_a_run_that_exists_is_not_launched_over(run, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    code, _, err = run("train", "--task", "add", "--dim", "2", "--launch", "local", "--out", "mine")
    assert code == 2 and "mine exists already" in err and not (tmp_path / "runs").exists()
