"""When a run ends, and whether other work slows its threads down."""

import os
import subprocess
import sys
import time

import pytest
import torch

import learnalg.training.pace
from learnalg.data import TrainingData
from learnalg.training.loop import Silent, resume, train
from learnalg.training.pace import Pace, forward_seconds, slower_threads
from learnalg.training.step import new_state
from learnalg.zoo.load import load_weights


def test_the_time_left_has_the_steps_and_the_evaluations(tiny_config):
    # 20 steps of 64; evaluations at 6, 12, 18 and 20 of 10 examples, the final one of 100.
    pace = Pace(tiny_config(eval_every=6 * 64, eval_num=10, final_num=100), step=0)
    pace.since -= 5.0
    assert pace.speed(5) == pytest.approx(64.0, rel=0.01)
    assert pace.seconds_left() == pytest.approx(15.0, rel=0.01)
    pace.evaluation_seconds = 0.1
    assert pace.seconds_left() == pytest.approx(15.0 + 0.1 * (4 * 10 + 100), rel=0.01)
    pace.since -= 14.0
    pace.speed(19)
    assert pace.seconds_left() == pytest.approx(1.0 + 0.1 * (1 * 10 + 100), rel=0.01)
    pace.speed(20)
    assert pace.seconds_left() == pytest.approx(10.0, rel=0.01)


def test_a_pause_does_not_count(tiny_config):
    pace = Pace(tiny_config(), step=0)
    before = pace.since
    with pace.paused():
        time.sleep(0.05)
    assert pace.since - before >= 0.05


@pytest.mark.parametrize(("one", "all_", "is_said"), [(1.0, 0.6, False), (1.0, 1.05, False), (0.05, 0.34, True)])
def test_threads_that_are_slower_than_one_are_named(one, all_, is_said):
    said = slower_threads(2, one, all_)
    assert said == (
        "other work slows this run: 2 threads take 340 ms where 1 takes 50; stop, and resume with --threads 1"
        if is_said
        else ""
    )


PINNED = """
import os, sys, torch
from learnalg.cli.process import prepare_process
prepare_process()
from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.data import TrainingData
from learnalg.training.pace import forward_seconds, slower_threads
from learnalg.training.step import new_state
config = replace_fields(preset("fast"), dim="3", encoder_layers=1, encoder_loops=1, precision="fp32", threads=2)
state, batch = new_state(config, torch.device("cpu")), TrainingData(config).batch(0)
for thread in os.listdir("/proc/self/task"):
    os.sched_setaffinity(int(thread), {min(os.sched_getaffinity(0))})
print(slower_threads(2, *forward_seconds(state, batch, rounds=1)))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads can be bound to a core on Linux only")
def test_two_threads_on_one_core_are_noticed():
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", PINNED], capture_output=True, text=True, check=False, env=environment)
    assert done.stderr == ""
    assert done.stdout.startswith("other work slows this run: 2 threads take ")


class Notices(Silent):
    def __init__(self):
        self.notices = []

    def on_log(self, log):
        self.notices.append(log.notice)


def test_measuring_threads_changes_nothing_of_a_run(tmp_path, tiny_config, monkeypatch):
    config = tiny_config(dropout=0.2)
    before = load_weights(train(config, tmp_path / "one").folder)[1]
    monkeypatch.setattr(learnalg.training.pace, "PROBE_FIRST", 0.0)
    monkeypatch.setattr(learnalg.training.pace, "PROBE_EVERY", 0.0)
    probed, probe = [], forward_seconds
    monkeypatch.setattr(
        learnalg.training.pace, "forward_seconds", lambda *given: probed.append(given[0].step) or probe(*given)
    )
    train(config, tmp_path / "alone")
    assert probed == []  # one thread has nobody to wait for
    with monkeypatch.context() as patch:
        patch.setattr(learnalg.training.pace, "slower_threads", lambda threads, one, all_: f"{threads} threads")
        # As with two threads, but computed by one: sums stay as they are.
        patch.setattr(torch, "set_num_threads", lambda num: None)
        watcher = Notices()
        two = train(tiny_config(dropout=0.2, threads=2), tmp_path / "two", watcher)
    assert probed == [10, 20] and watcher.notices == ["2 threads", "2 threads"]
    after = load_weights(two.folder)[1]
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_after_the_probe_the_threads_and_the_mode_are_as_before(tiny_config, monkeypatch):
    asked = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    config = tiny_config(threads=2)
    state = new_state(config, torch.device("cpu"))
    one, two = forward_seconds(state, TrainingData(config).batch(0), rounds=1)
    assert one > 0 and two > 0 and state.model.training
    assert asked == [2, 1, 2, 1, 2, 2]  # of the run; in turn, twice; of the run


def test_a_run_may_be_resumed_with_another_number_of_threads(tmp_path, tiny_config, monkeypatch):
    monkeypatch.setattr(torch, "set_num_threads", lambda num: None)  # two would be slow beside other tests
    run = train(tiny_config(threads=2), tmp_path / "run")
    (run.folder / "result.json").unlink()
    assert resume(run.folder, threads=1).config.train.threads == 1
    assert [session["threads"] for session in run.sessions()] == [2, 1]
