"""Losses, gradients and weights that are no numbers any more: no file ever has one, and the step can be replayed."""

import json
import math
import re
import signal

import pytest
import torch

import learnalg.training.step
from learnalg.evaluation.result import Result
from learnalg.files import load_tensors
from learnalg.training.devices import InterruptedRunError
from learnalg.training.loop import MOST_SKIPPED, Silent, resume, train
from learnalg.training.replay import replay
from learnalg.training.run import Run
from learnalg.zoo.load import MODEL_FILE, RESULT_FILE, load_weights


def assert_all_files_are_finite(folder):
    tensors = [*folder.rglob("*.ckpt"), *folder.rglob("*.safetensors")]
    assert tensors
    for path in tensors:
        for name, tensor in load_tensors(path)[0].items():
            assert tensor.isfinite().all(), f"{path}: {name}"

    def refuse(text):
        raise AssertionError(text)

    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
    for text in [*lines, *(path.read_text() for path in folder.rglob("*.json"))]:
        json.loads(text, parse_constant=refuse)


def spoil_gradients(monkeypatch, steps, value=math.inf):
    """The gradient of one weight becomes infinite at these steps (from 1); the loss stays finite."""
    compute = learnalg.training.step.compute_gradient

    def spoilt(state, batch):
        found = compute(state, batch)
        if state.step + 1 in steps:
            next(iter(state.model.parameters())).grad.view(-1)[0] = value
        return found

    monkeypatch.setattr(learnalg.training.step, "compute_gradient", spoilt)


@pytest.mark.parametrize("num_steps", [1, 4])
def test_weights_that_overflow_are_not_written_even_at_the_last_step(tmp_path, tiny_config, num_steps):
    config = tiny_config(paper=True, learning_rate=1e39, warmup_steps=0, examples=64 * num_steps, checkpoint_seconds=0)
    with pytest.raises(
        ValueError,
        match=r"step 1 \(batch 0, seed 1\): \S+ has numbers that are not finite; "
        r"the last good checkpoint is 00000000.ckpt. `learnalg replay \S+ 1` shows more; try smaller learning rates$",
    ):
        train(config, tmp_path / "run")
    assert_all_files_are_finite(tmp_path / "run")
    assert not (tmp_path / "run" / RESULT_FILE).exists()


def test_a_loss_that_is_not_finite_stops_the_run_and_is_replayed(tmp_path, tiny_config):
    config = tiny_config(paper=True, learning_rate=1e30, clip=0.0, warmup_steps=0, checkpoint_seconds=0)
    with pytest.raises(ValueError, match=r"step 2 \(batch 1, seed 1\): the loss is nan; .* --skip-nonfinite"):
        train(config, tmp_path / "run")
    assert_all_files_are_finite(tmp_path / "run")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    found = replay(tmp_path / "run", 2)
    assert (found.step, found.batch, found.seed, found.start) == (2, 1, 1, "00000001.ckpt")
    assert math.isnan(found.loss) and found.outcome == "the loss is nan"
    assert max(p.weight for p in found.parameters) > 1e29
    assert before == {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}


def test_a_gradient_that_is_not_finite_stops_the_run_before_weights_move(tmp_path, tiny_config, monkeypatch):
    config = tiny_config(dropout=0.1)
    straight = train(config, tmp_path / "straight")
    for value in (math.inf, math.nan):
        with monkeypatch.context() as patch:
            spoil_gradients(patch, {7}, value)
            with pytest.raises(ValueError, match=rf"step 7 .*: the norm of the gradient is {value};"):
                train(config, tmp_path / str(value))
        assert_all_files_are_finite(tmp_path / str(value))
        run = resume(tmp_path / str(value))
        assert Result.read(run.folder / RESULT_FILE).sha256 == Result.read(straight.folder / RESULT_FILE).sha256


class StopAt(Silent):
    def __init__(self, examples):
        self.examples = examples

    def on_log(self, log):
        if log.examples == self.examples:
            signal.raise_signal(signal.SIGINT)


def test_steps_are_skipped_if_asked_for(tmp_path, tiny_config, monkeypatch):
    config = tiny_config(skip_nonfinite=True, dropout=0.1)
    spoil_gradients(monkeypatch, {1, 9, *range(11, 21)})
    straight = train(config, tmp_path / "straight")
    assert_all_files_are_finite(straight.folder)
    metrics = straight.metrics()
    assert [m["step"] for m in metrics if "skipped" in m] == [1, 9, *range(11, 21)]
    assert {m["skipped"] for m in metrics if "skipped" in m} == {"the norm of the gradient is inf"}
    assert [m["step"] for m in metrics if "loss" in m] == [10]  # of the second ten, none was taken
    assert Result.read(straight.folder / RESULT_FILE).steps == 20
    with pytest.raises(InterruptedRunError):
        train(config, tmp_path / "stopped", watcher=StopAt(10 * 64))
    assert Result.read(resume(tmp_path / "stopped").folder / RESULT_FILE).sha256 == (
        Result.read(straight.folder / RESULT_FILE).sha256
    )


def test_a_run_that_only_skips_ends(tmp_path, tiny_config, monkeypatch):
    spoil_gradients(monkeypatch, set(range(5, 30)))
    with pytest.raises(ValueError, match=rf"step {5 + MOST_SKIPPED} .*the norm of the gradient is inf"):
        train(tiny_config(skip_nonfinite=True), tmp_path / "run")


def test_a_stopped_run_resumes_without_its_bad_step(tmp_path, tiny_config, monkeypatch):
    spoil_gradients(monkeypatch, {7})
    with pytest.raises(ValueError, match="step 7"):
        train(tiny_config(), tmp_path / "run")
    with pytest.raises(ValueError, match="step 7"):
        resume(tmp_path / "run")
    run = resume(tmp_path / "run", skip_nonfinite=True)
    assert run.config == Run.open(run.folder).config == tiny_config(skip_nonfinite=True)
    assert [m["step"] for m in run.metrics() if "skipped" in m] == [7]


def test_weights_that_are_not_finite_are_no_start(tmp_path, tiny_config, tiny_run):
    tensors, metadata = load_tensors(tiny_run.folder / MODEL_FILE)
    tensors["decoder.bias"][0, 0] = math.nan
    learnalg.files.save_tensors(tmp_path / "bad.safetensors", tensors, metadata)
    with pytest.raises(ValueError, match=r"decoder.bias has numbers that are not finite; .*checkpoint is none"):
        train(tiny_config(init=str(tmp_path / "bad.safetensors")), tmp_path / "run")
    assert not list((tmp_path / "run").rglob("*.ckpt"))


def test_a_finite_step_is_replayed_bit_for_bit(tmp_path, tiny_config, learnalg_process):
    run = train(tiny_config(dropout=0.1, checkpoint_seconds=0), tmp_path / "run")
    kept = [int(path.stem) for path in run.checkpoints.glob("*.ckpt")]
    assert sorted(kept) == [19, 20]
    for step, start in ((20, "00000019.ckpt"), (5, "the first weights"), (19, "the first weights")):
        found = replay(run.folder, step)
        assert (found.start, found.outcome) == (start, "")
    last = replay(run.folder, 20)
    for name, tensor in load_weights(run.folder)[1].items():
        (parameter,) = (p for p in last.parameters if p.name == name)
        assert parameter.moved == float(tensor.abs().max())
    for step in (0, 21):
        with pytest.raises(ValueError, match=f"step {step}: the run has steps 1 to 20"):
            replay(run.folder, step)
    shown = learnalg_process("replay", run.folder, 20).stdout
    assert re.match(r"step 20: batch 19, seed 1, replayed from 00000019.ckpt\n64 examples", shown)
    assert f"loss {last.loss:.4g} a token, norm of the gradient {last.gradient:.4g}\nall numbers are finite" in shown
    assert torch.is_grad_enabled()
