"""Sweeps: workers share a journal, prune, choose by the validation split, and come through kills."""

import signal
import subprocess
import sys
import time

import pytest
import torch

from learnalg.config import replace_fields
from learnalg.evaluation.result import Result
from learnalg.sweep.locks import FileLock
from learnalg.sweep.space import Dimension
from learnalg.sweep.study import Plan, begin, open_study, trial_folder
from learnalg.training.checkpoint import list_checkpoints
from learnalg.training.loop import train
from learnalg.training.run import Run
from learnalg.zoo.index import RESULT_FILE
from learnalg.zoo.load import load_weights

pytest.importorskip("optuna", reason="sweeps need optuna: pip install 'learnalg[sweep]'")

from learnalg.sweep.trials import draw, rows_of
from learnalg.sweep.worker import work

# Two workers that begin together, when all is imported.
WORK = "import sys, optuna; from learnalg.sweep.worker import work; print(1, flush=True); input(); work(sys.argv[1])"


@pytest.fixture
def plan(tiny_config):
    """plan('learning_rate=1e-3,3e-3'): a sweep of runs of 20 steps, each evaluated four times."""

    def make(*vary, trials=100, config=None, **changes):
        return Plan(tiny_config(eval_every=5 * 64, **(config or {})), vary, trials, **changes)

    return make


def test_two_workers_share_a_sweep_that_is_killed_and_resumes(plan, tmp_path):
    """One worker is killed, the other one stopped, in the middle of their trials. Later both trials end as if nothing
    had been."""
    wanted = plan("learning_rate=log:1e-3:1e-2", trials=2, config={"examples": 100 * 64, "checkpoint_seconds": 0.0})
    begin(tmp_path, wanted)
    command, pipe = [sys.executable, "-c", WORK, str(tmp_path)], subprocess.PIPE
    workers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(2)]
    assert [worker.stdout.readline() for worker in workers] == ["1\n", "1\n"]
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    folders = [trial_folder(tmp_path, number) for number in range(2)]
    deadline = time.monotonic() + 120
    while any(len(list_checkpoints(folder / "checkpoints")) < 2 for folder in folders):
        assert time.monotonic() < deadline and all(worker.poll() is None for worker in workers)
        time.sleep(0.02)
    assert [row.state for row in rows_of(tmp_path)] == ["running", "running"]
    workers[0].kill()
    workers[1].send_signal(signal.SIGTERM)
    assert (workers[0].wait(60), workers[1].wait(60)) == (-signal.SIGKILL, 1)
    assert [row.state for row in rows_of(tmp_path)] == ["stopped", "stopped"]
    assert not any((folder / RESULT_FILE).exists() for folder in folders)

    assert work(str(tmp_path)) == 2
    rows = {row.number: row for row in rows_of(tmp_path)}
    assert {row.state for row in rows.values()} == {"done"} and sorted(rows) == [0, 1]
    assert [len(Run.open(folder).sessions()) for folder in folders] == [2, 2]
    for number, folder in enumerate(folders):
        config = replace_fields(wanted.config_with(rows[number].values), checkpoint_seconds=1e6)
        found, expected = (load_weights(run)[1] for run in (folder, train(config, tmp_path / f"{number}").folder))
        assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())
    assert work(str(tmp_path)) == 0


def test_the_worst_trials_are_pruned_and_the_best_is_that_of_the_validation_split(plan, tmp_path):
    wanted = plan("learning_rate=3e-3,2e-3,1e-2,5e-3,1e-7", config={"optimizer": "adamw"})
    begin(tmp_path, wanted)
    assert work(str(tmp_path)) == 5
    rows = rows_of(tmp_path)
    assert [row.state for row in rows] == ["done"] * 4 + ["pruned"]
    assert rows[-1].values == {"learning_rate": 1e-7} and len(rows[-1].curve) == 2
    assert not (trial_folder(tmp_path, rows[-1].number) / RESULT_FILE).exists()
    results = {row.number: Result.read(trial_folder(tmp_path, row.number) / RESULT_FILE) for row in rows[:4]}
    assert {result.report.split for result in results.values()} == {"valid"}
    assert rows[0].number == min(results, key=lambda number: results[number].report.loss)
    study = open_study(tmp_path, wanted)
    assert study.best_trial.number == rows[0].number
    assert study.best_value == results[rows[0].number].report.loss
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        assert draw(tmp_path, kind).startswith(start)


def test_a_trial_that_cannot_be_trained_says_why_and_the_others_go_on(plan, tmp_path):
    begin(tmp_path, plan("dim_model=32,48", "heads=2,32", by="accuracy", tolerance=0.02))
    assert work(str(tmp_path)) == 4
    rows = rows_of(tmp_path)
    assert [row.state for row in rows] == ["done"] * 3 + ["failed"]
    assert rows[-1].values == {"dim_model": 48, "heads": 32} and "32 heads do not divide 48" in rows[-1].note
    accuracies = [row.seen.accuracy["l1"]["0.02"] for row in rows[:3]]
    assert accuracies == sorted(accuracies, reverse=True)


def test_a_sweep_takes_more_trials_and_no_other_settings(plan, tmp_path):
    vary, config = "learning_rate=log:1e-3:1e-2", {"examples": 64, "eval_num": 5, "final_num": 5}
    begin(tmp_path, plan(vary, trials=1, config=config))
    assert (work(str(tmp_path)), work(str(tmp_path))) == (1, 0)
    begin(tmp_path, plan(vary, trials=2, config=config))
    assert work(str(tmp_path)) == 1
    with pytest.raises(ValueError, match=r"was begun with another vary, by, train\.seed"):
        begin(tmp_path, plan("learning_rate=log:1e-3:1e-1", by="accuracy", config=config | {"seed": 3}))
    assert Plan.read(tmp_path) == plan(vary, trials=2, config=config)


def test_half_a_line_in_the_journal_is_forgotten(plan, tmp_path):
    wanted = plan("learning_rate=log:1e-3:1e-2", trials=2)
    begin(tmp_path, wanted)
    open_study(tmp_path, wanted).ask()
    with (tmp_path / "journal.log").open("ab") as journal:
        journal.write(b'{"op_code": 4, "wor')
    open_study(tmp_path, wanted).ask()
    assert [trial.number for trial in open_study(tmp_path, wanted).trials] == [0, 1]


def test_a_lock_ends_with_its_process(tmp_path):
    lock = FileLock(tmp_path / "lock")
    hold = "import sys, time; from learnalg.sweep.locks import FileLock; from pathlib import Path\n"
    hold += "FileLock(Path(sys.argv[1])).acquire(); print(1, flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", hold, str(lock.path)], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"1\n" and not lock.acquire(wait=False)
    holder.kill()
    holder.wait()
    assert lock.acquire(wait=False)
    lock.release()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        FileLock(tmp_path / "link").acquire()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("said", "chosen", "value"),
    [
        ("dim_model=64,128", "64", 64),
        ("model.dim_model=64,256/128", "256/128", (256, 128)),
        ("learning_rate=log:1e-4:1e-2", 0.00123456, 0.001235),
        ("encoder_layers=1:4", 3, 3),
        ("triangle=true,false", "false", False),
        (
            "optimizer=muon:learning_rate={log:0.005:0.05},weight_decay=0.1",
            0.0123456,
            "muon:learning_rate=0.01235,weight_decay=0.1",
        ),
        (
            "schedule=constant|cosine:lowest=1e-5,period=100",
            "cosine:lowest=1e-5,period=100",
            "cosine:lowest=1e-5,period=100",
        ),
        ("dropout=0:0.3", 0.25, 0.25),
    ],
)
def test_what_may_be_varied(tiny_config, said, chosen, value):
    assert Dimension.parse(said, tiny_config()).value(chosen) == value


@pytest.mark.parametrize(
    ("vary", "complaint"),
    [
        (("learning_rte=1e-3,1e-2",), "unknown field to vary 'learning_rte': did you mean 'learning_rate'"),
        (("examples=1000,2000",), "unknown field to vary 'examples'"),
        (("learning_rate",), "write FIELD=VALUE,VALUE"),
        (("learning_rate=1e-3",), "two or more different values"),
        (("learning_rate=1e-3,1e-3",), "two or more different values"),
        (("learning_rate=fast,slow",), "'fast' is no number"),
        (("learning_rate=1e-2:1e-3",), "need LOW < HIGH"),
        (("learning_rate=log:0:1e-3",), "LOW > 0"),
        (("encoder_layers=1.5:3",), "encoder_layers is a whole number"),
        (("encoder_layers=1.5,3",), "expected a whole number"),
        (("triangle=yes,no",), "must be true or false"),
        (("optim.dim_model=64,128",), "dim_model is no field of optim"),
        (("optimizer=muon:learning_rate={fast}",), "in braces stands a range"),
        (("heads=1,2", "heads=2,4"), "named twice"),
        (("output_encoding=p10,p1000",), "choose --by accuracy"),
        ((), "nothing to vary"),
    ],
)
def test_what_cannot_be_varied_is_refused(plan, vary, complaint):
    with pytest.raises(ValueError) as refused:
        plan(*vary)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("optimizer=adam,sgd", "--vary optimizer: sgd: unknown optimizer"),
        ("heads=2,3", "--vary heads: 3: encoder: 3 heads do not divide 32"),
        ("dropout=0:1.5", "--vary dropout: 1.5"),
    ],
)
def test_a_value_that_no_trial_could_have_is_refused_before_there_is_a_sweep(plan, tmp_path, said, complaint):
    with pytest.raises(ValueError) as refused:
        begin(tmp_path / "sweep", plan(said))
    assert complaint in str(refused.value) and not (tmp_path / "sweep" / "sweep.json").exists()
