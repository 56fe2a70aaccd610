"""What is missing is run in order of its worth, stops in time, and goes on where it stopped."""

import json
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from learnalg.cli import main
from learnalg.config import to_dict
from learnalg.evaluation.result import Result
from learnalg.reproduction.computed import COMPUTED
from learnalg.reproduction.configs import fast
from learnalg.reproduction.experiment import Cell, Experiment, Shown
from learnalg.reproduction.pending import Deadline, Job, in_order, pending, run_pending
from learnalg.reproduction.tables import EXPERIMENTS
from learnalg.training.checkpoint import list_checkpoints
from learnalg.training.run import Run
from learnalg.training.watcher import Silent

SOME = Experiment("some", "Some")
TINY = {"dim_model": 8, "heads": 1, "batch_size": 10, "eval_num": 5, "final_num": 5, "workers": 0, "precision": "fp32"}


def job(name, numbers, flops, needs=""):
    return Job(name, SOME, None, numbers, flops, needs)


def test_most_numbers_for_each_flop_come_first():
    jobs = [job("two", 2, 4.0), job("none", 0, 1.0), job("one", 1, 1.0), job("dear", 0, 9.0), job("free", 1, 0.0)]
    assert [j.name for j in in_order(jobs)] == ["free", "one", "two", "none", "dear"]


def test_what_a_job_needs_comes_before_it_and_is_paid_once():
    jobs = [
        job("child", 6, 1.0, "origin"),
        job("other", 2, 1.0),
        job("sister", 1, 1.0, "origin"),
        job("origin", 0, 5.0),
    ]
    # The child is worth 6 numbers for 6 FLOPs with its origin: less than the other. After it, the origin is free.
    assert [j.name for j in in_order(jobs)] == ["other", "origin", "child", "sister"]
    jobs[0] = job("child", 18, 1.0, "origin")
    assert [j.name for j in in_order(jobs)] == ["origin", "child", "other", "sister"]
    done = [job("child", 6, 1.0, "origin")]  # the origin has its result
    assert in_order(done) == done


def test_a_cell_of_several_tables_is_one_job_with_the_numbers_of_all(tmp_path):
    tables = {name: EXPERIMENTS[name] for name in ("table-16", "table-15", "table-25", "table-1")}
    jobs = {found.name: found for found in pending(tables, "smoke", tmp_path)}
    first = jobs["table-16/b1999-1-1-64"]
    shown = [cell for name in ("table-15", "table-16") for cell in tables[name].cells_at("smoke")]
    assert first.numbers == sum(len(cell.shows) for cell in shown if cell.key == "b1999-1-1-64")
    assert jobs["table-25/p1000-5-6"].needs == "table-6/p1000-5-4-1" in jobs
    assert (jobs["table-1"].cell, jobs["table-1"].flops, jobs["table-1"].numbers) == (None, 0.0, 8)
    assert next(iter(jobs)) == "table-1" and all(found.flops > 0 for found in jobs.values() if found.cell)


def trained(tmp_path):
    """A job of 40 steps."""
    cell = Cell("own", fast("add", "2", "1/1", 400, **TINY), (Shown("row", "column", "report/accuracy/l1/0.05"),))
    experiment = Experiment("some", "Some", lambda scale: [cell], has_paper=False)
    (found,) = pending({"some": experiment}, "laptop", tmp_path)
    return found


def test_a_training_that_has_no_time_left_is_resumed_from_its_checkpoint(tmp_path):
    deadline, said, result = Deadline(10), [], tmp_path / "results/some/laptop/own.json"

    @contextmanager
    def watch(cell):
        deadline.end = time.monotonic()  # it ends as the training begins
        yield None

    first = trained(tmp_path)
    assert run_pending([first], "laptop", tmp_path, deadline, watch, said.append) == [first]
    run = Run.open(tmp_path / "runs/some/laptop/own")
    assert [path.stem for path in list_checkpoints(run.checkpoints)][-1] == "00000010" and not result.exists()
    assert said[-1] == "some/own: stopped at step 10; the next call resumes it"
    again = trained(tmp_path)
    assert (again.state, again.flops) == ("begun", 0.75 * first.flops)
    assert run_pending([again], "laptop", tmp_path, Deadline(0), say=said.append) == []
    assert [session.get("resumed_at") for session in run.sessions()] == [None, 10]
    assert Result.read(result).steps == 40 and "done" in said[-1]


def test_a_training_that_ends_with_the_time_is_evaluated_next_time(tmp_path):
    deadline, said = Deadline(10), []

    class Late(Silent):
        def on_log(self, log):
            deadline.end = time.monotonic() if log.examples == 400 else deadline.end

    @contextmanager
    def watch(cell):
        yield Late()

    assert len(run_pending([trained(tmp_path)], "laptop", tmp_path, deadline, watch, said.append)) == 1
    assert "its evaluation is left" in said[-1] and not (tmp_path / "results").exists()
    assert run_pending([trained(tmp_path)], "laptop", tmp_path, Deadline(0), say=said.append) == []


def test_what_is_no_training_stops_at_once(tmp_path, monkeypatch):
    monkeypatch.setitem(COMPUTED, "slow", lambda scale, root: time.sleep(60))
    slow, began = Job("slow", Experiment("slow", "Slow", computed="slow"), None, 1), time.monotonic()
    assert run_pending([slow], "laptop", tmp_path, Deadline(0.005), say=lambda line: None) == [slow]
    assert time.monotonic() - began < 20 and not (tmp_path / "results").exists()


def test_a_cell_that_fails_is_named_and_passed_over(tmp_path, monkeypatch):
    def broken(message):
        def compute(scale, root):
            raise message

        return compute

    found, said = [], []
    for name, error in (("refused", ValueError("no\n such size")), ("full", OSError("disk")), ("big", MemoryError())):
        monkeypatch.setitem(COMPUTED, name, broken(error))
        found.append(Job(name, Experiment(name, name, computed=name), None, 1))
    own = trained(tmp_path)
    lost = tmp_path / "runs/some/laptop/own"  # as a kill leaves it: a config, no checkpoint
    lost.mkdir(parents=True)
    (lost / "config.json").write_text(json.dumps(to_dict(own.cell.config)))
    found = [found[0], job("child", 1, 1.0, "refused"), *found[1:], own]
    left = run_pending(found, "laptop", tmp_path, Deadline(10), say=said.append)
    assert [(job.name, job.state, job.note) for job in left if job.name != "child"] == [
        ("refused", "failed", "no such size"),
        ("full", "failed", "disk"),
        ("big", "failed", "MemoryError"),
    ]
    assert "refused: failed, no such size" in said and "child: not run, it starts from refused" in said
    assert "some/own: done" in said[-1]


def test_a_damaged_run_waits_for_somebody(tmp_path):
    run = tmp_path / "runs/some/laptop/own"
    run.mkdir(parents=True)
    (run / "config.json").write_text("{")
    found = trained(tmp_path)
    assert (found.state, found.waits) == ("stale", True) and "own/config.json is damaged" in found.note


def test_what_waits_is_named_and_left(tmp_path):
    said, missing = [], replace(job("a", 1, 0.0), state="missing", note="waits for no-model")
    child = job("b", 1, 1.0, "a")
    assert run_pending([missing, child], "laptop", tmp_path, Deadline(0), say=said.append) == [missing, child]
    assert said == ["a: not run, waits for no-model", "b: not run, it starts from a"]


def test_the_command(tmp_path, monkeypatch, capsys):
    def call(*arguments):
        code = main(["reproduce", "table-26", "table-29", "--pending", "--scale", "smoke", "--quiet", *arguments])
        return code, capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    code, said = call("--dry-run")
    lines = [line.split() for line in said.out.splitlines()]
    assert code == 0 and [line[0] for line in lines[:2]] == ["table-29", "table-26/efi"]
    assert lines[-1][:2] == ["3", "cells,"]
    assert list(tmp_path.iterdir()) == []
    code, said = call("--minutes", "1e-9")
    assert code == 0 and "ran 0 of 3; left:" in said.out and list(tmp_path.iterdir()) == []
    code, said = call("--minutes", "10")
    assert code == 0 and "ran 3 of 3; left:\n0 cells" in said.out
    assert {path.stem for path in (tmp_path / "results").rglob("*.json")} == {"table-29", "ta", "efi"}
    assert "ran 0 of 0" in call()[1].out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table-6", "--minutes", "5"), "--minutes is for --pending"),
        (("--pending", "--show"), "--pending takes"),
        (("--pending", "--minutes", "-1"), "--minutes -1.0: 0 or more"),
    ],
)
def test_flags_that_do_not_go_together(arguments, message, capsys):
    assert main(["reproduce", *arguments]) == 2
    assert message in capsys.readouterr().err
