"""A run whose budget is changed on its way is one that had it from the start, or the change is refused."""

import json
import signal

import pytest
import torch

from learnalg.config import RunConfig, StageConfig, replace_fields
from learnalg.training.budget import with_budget
from learnalg.training.devices import InterruptedRunError
from learnalg.training.loop import RESULT_FILE, Silent, resume, train
from learnalg.training.optim import learning_rate_share
from learnalg.training.run import Run
from learnalg.zoo.load import load_weights

# 1,000 steps: 50 of warm-up, the learning rate falls after 300.
CONFIG = replace_fields(
    RunConfig(),
    task="add",
    dim="2",
    examples=32_000,
    batch_size=32,
    warmup_steps=50,
    learning_rate=1e-3,
    schedule="linear:cooldown=0.7",
)


class StopAt(Silent):
    """Interrupts a run at its evaluation after so many examples."""

    def __init__(self, examples):
        self.examples = examples

    def on_evaluation(self, examples, report):
        if examples == self.examples:
            signal.raise_signal(signal.SIGINT)


@pytest.fixture
def stopped(tmp_path, tiny_config):
    """A run of 20 steps that was stopped after 4; its learning rate falls after 6."""
    config = tiny_config(eval_every=2 * 64, eval_num=5, warmup_steps=2)
    assert config.train.num_steps == 20
    assert config.optim.schedule == "linear:cooldown=0.7"
    with pytest.raises(InterruptedRunError):
        train(config, tmp_path / "stopped", watcher=StopAt(4 * 64))
    return Run.open(tmp_path / "stopped")


@pytest.mark.parametrize("steps", [14, 30])
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


def test_a_budget_that_would_have_gone_another_way_is_refused_and_nothing_is_changed(stopped):
    before = {p: p.read_bytes() for p in stopped.folder.rglob("*") if p.is_file()}
    with pytest.raises(
        ValueError, match="examples 576: with this budget the first 256 examples would have had other learning rates"
    ):
        resume(stopped.folder, examples=9 * 64)  # the learning rate would fall from step 3 on
    with pytest.raises(ValueError, match="examples 64: the run was trained on 256 already"):
        resume(stopped.folder, examples=64)
    assert {p: p.read_bytes() for p in stopped.folder.rglob("*") if p.is_file()} == before
    assert resume(stopped.folder).config == stopped.config


@pytest.mark.parametrize("step", [0, 40, 60, 150, 300, 301, 600])
@pytest.mark.parametrize("examples", [4_000, 16_000, 31_990, 40_000, 320_000])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"schedule": "constant"},
        {"schedule": "cosine:period=500"},
        {"mix_share": 0.5, "mix_until": 0.2, "mix_dim": "1"},
        {"mix_share": 0.5, "mix_until": 1.0, "mix_dim": "1"},
        {"stage": (StageConfig(3_200, dim="1", rate=0.5),)},
    ],
)
def test_a_budget_is_taken_only_where_all_that_was_done_would_have_been_the_same(step, examples, changes):
    config = replace_fields(CONFIG, **changes)
    changed = replace_fields(config, examples=examples)
    if step < changed.train.num_steps and done(config, step) == done(changed, step):
        assert with_budget(config, examples, step) == changed
    else:
        with pytest.raises(ValueError, match=f"examples {examples:,}: "):
            with_budget(config, examples, step)


def done(config, step):
    """All of the first steps that could depend on the budget: learning rates, and whether a batch may be mixed."""
    is_mixed = [k < config.mix.mix_until * config.train.num_steps for k in range(step)] if config.mix.mix_share else []
    return [learning_rate_share(config, k) for k in range(step)], is_mixed
