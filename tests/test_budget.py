"""A run whose budget is changed on its way is one that had it from the start, or the change is refused."""

import json

import pytest
import torch

from learnalg.budget import with_budget
from learnalg.config import replace_fields
from learnalg.curriculum import Lessons
from learnalg.optim import rate, soft_width
from learnalg.presets import preset
from learnalg.processes import InterruptedRunError
from learnalg.progress import Silent
from learnalg.runs import Run, load_weights
from learnalg.train import RESULT_FILE, resume, train

# 1,000 steps: 50 of warm-up, the rates fall after 300.
CONFIG = replace_fields(preset("fast"), task="add", dim="2", examples=32_000, batch_size=32, soft_width_end=1.0)


class StopAt(Silent):
    """Stops a run at its evaluation after so many examples, as a signal would."""

    def __init__(self, examples):
        self.examples = examples

    def on_evaluation(self, examples, report):
        if examples == self.examples:
            raise KeyboardInterrupt


@pytest.fixture
def stopped(tmp_path, tiny_config):
    """A run of 20 steps that was stopped after 4; its rates fall after 6."""
    config = tiny_config(eval_every=2 * 64, eval_num=5, checkpoint_seconds=0, warmup_steps=2)
    assert config.train.num_steps == 20
    assert config.optim.cooldown == 0.7
    with pytest.raises((KeyboardInterrupt, InterruptedRunError)):
        train(config, tmp_path / "stopped", watcher=StopAt(4 * 64))
    return Run.open(tmp_path / "stopped")


@pytest.mark.parametrize("steps", [14, 20, 30])
def test_a_run_with_another_budget_is_one_that_had_it_from_the_start(tmp_path, stopped, steps):
    straight = train(replace_fields(stopped.config, examples=steps * 64), tmp_path / "straight")
    changed = resume(stopped.folder, examples=steps * 64)
    assert changed.config == straight.config == Run.open(stopped.folder).config
    one, other = (load_weights(run.folder) for run in (straight, changed))
    assert one[0] == other[0]
    assert all(torch.equal(one[1][name], other[1][name]) for name in one[1])
    assert json.loads((stopped.folder / RESULT_FILE).read_text())["steps"] == steps
    sessions = json.loads((stopped.folder / "provenance.json").read_text())
    assert [s.get("examples") for s in sessions] == [None, steps * 64]
