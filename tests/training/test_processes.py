"""Several processes train as one: the same examples, losses, weights and evaluations, to rounding."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from learnalg.config import to_dict
from learnalg.data import Stream, TrainingData, shard
from learnalg.evaluation.result import Result
from learnalg.models.dropout import Dropout, rows_of_batch
from learnalg.problem import Problem
from learnalg.processes import join_rows, own_part, own_rows
from learnalg.training.checkpoint import load_checkpoint
from learnalg.training.loop import resume, train
from learnalg.training.run import Run
from learnalg.training.step import compute_gradient, new_state, set_first_weights, train_step
from learnalg.zoo.load import RESULT_FILE, load_weights

# The trainings of some configs, one after the other, each in a folder of its own; or resumptions.
PROGRAM = """
import json, sys
from pathlib import Path
from learnalg.config import from_dict
from learnalg.training.loop import resume, train
for name, config in json.loads(Path(sys.argv[1]).read_text()).items():
    train(from_dict(config), Path(name)) if config else resume(Path(name), despite=("processes",), examples=310)
"""
# An odd batch, so that parts differ in size; few examples to evaluate, so that these do too.
COMMON = {"batch_size": 31, "examples": 6 * 31, "eval_every": 3 * 31, "eval_num": 33, "final_num": 45}
CASES = {
    "fast": {"dim": "1-3", "dropout": 0.2},
    "paper": {"paper": True, "dropout": 0.3, "schedule": "constant", "warmup_steps": 3},
    "ponder cost": {"architecture": "transformer:loop_gate=act", "decoder_loops": 2, "dim": "2"},
    "micro-batches": {"dropout": 0.2, "micro_batch": 6, "optimizer": "adamw"},
    "several tasks, repeated": {"task": "transpose+add", "repeated_share": 0.3, "pool": 40},
}


@pytest.fixture(scope="module")
def configs(tiny_config):
    return {name: tiny_config(**COMMON | changes) for name, changes in CASES.items()}


def torchrun(folder, world, configs):
    (folder / "configs.json").write_text(json.dumps({name: c and to_dict(c) for name, c in configs.items()}))
    (folder / "program.py").write_text(PROGRAM)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world), "program.py"]
    done = subprocess.run(
        [sys.executable, *launch, "configs.json"], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def one(configs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    return {name: train(config, folder / name) for name, config in configs.items()}


@pytest.fixture(scope="module")
def two(configs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    torchrun(folder, 2, configs)
    return {name: Run.open(folder / name) for name in configs}


def assert_close_weights(*runs):
    """Muon and Adam make rounding errors of small gradients larger: a number may be off, all weights are not."""
    found, expected = (torch.cat([t.flatten() for _, t in sorted(load_weights(r.folder)[1].items())]) for r in runs)
    assert float((found - expected).norm() / expected.norm()) < 2e-3


@pytest.mark.parametrize("name", CASES)
def test_two_processes_train_as_one(one, two, name):
    a, b = one[name], two[name]
    assert b.config == a.config
    assert_close_weights(b, a)
    # One writer: each line of metrics and each session once.
    assert [(m["step"], "loss" in m) for m in b.metrics()] == [(m["step"], "loss" in m) for m in a.metrics()]
    for key in ("loss", "valid_loss"):
        logged = [[m[key] for m in run.metrics() if key in m] for run in (a, b)]
        assert logged[1] == pytest.approx(logged[0], rel=1e-4) and logged[0]
    assert len(json.loads((b.folder / "provenance.json").read_text())) == 1
    results = [Result.read(run.folder / RESULT_FILE) for run in (a, b)]
    assert results[1].report.loss == pytest.approx(results[0].report.loss, rel=1e-4)
    # Equal to rounding, which may change a token that is as likely as another.
    assert results[1].report.num == 45
    assert results[1].report.accuracy["l1"]["0.05"] == pytest.approx(results[0].report.accuracy["l1"]["0.05"], abs=0.03)
    assert len(list(b.folder.rglob("*.safetensors"))) == 1


def test_a_checkpoint_says_how_many_processes_wrote_it_and_others_resume_it(two, tmp_path):
    """To a larger budget."""
    run = two["paper"]
    assert json.loads(load_checkpoint(run.checkpoints)[1]["processes"]) == 2
    (run.folder / RESULT_FILE).unlink()
    with pytest.raises(ValueError, match=r"processes 2 there, 1 here.*--despite processes"):
        resume(run.folder)
    four, alone = tmp_path / "four", tmp_path / "alone"
    for folder in (four, alone):
        subprocess.run(["cp", "-r", run.folder, folder], check=True)
    torchrun(tmp_path, 4, {"four": None})
    found = resume(alone, despite=("processes",), examples=310)
    assert Result.read(four / RESULT_FILE).steps == Result.read(alone / RESULT_FILE).steps == 10
    assert_close_weights(Run.open(four), found)
    assert json.loads(load_checkpoint(four / "checkpoints")[1]["processes"]) == 4


def rows_of(monkeypatch, rank, world):
    monkeypatch.setattr("torch.distributed.is_initialized", lambda: True)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: world)
    monkeypatch.setattr("torch.distributed.get_rank", lambda: rank)


@pytest.mark.parametrize("num", [8, 7, 3])
@pytest.mark.parametrize("world", [1, 2, 3, 4])
def test_each_process_takes_its_own_part_of_a_batch(tiny_config, monkeypatch, world, num):
    batch = Stream(Problem(tiny_config().data), 1, "valid", num).batch(0)
    assert own_part(batch) is batch and own_rows(num) == (0, num)
    assert join_rows(batch.sources, num) is batch.sources
    parts = []
    for rank in range(world):
        rows_of(monkeypatch, rank, world)
        parts.append(own_part(batch))
    sizes = [len(part) for part in parts]
    assert sum(sizes) == num and max(sizes) - min(sizes) <= 1
    np.testing.assert_array_equal(np.concatenate([part.sources for part in parts]), batch.sources)
    for kind in ("inputs", "solutions"):
        found = sum(np.abs(getattr(group, kind)).sum() for part in parts for group in part.groups)
        assert found == pytest.approx(sum(np.abs(getattr(group, kind)).sum() for group in batch.groups))


MICRO = {
    "dropout": {"paper": True, "dropout": 0.3},
    "ponder cost": {"architecture": "transformer:loop_gate=act", "encoder_loops": 2, "dim": "2", "dropout": 0.1},
    "soft targets": {"dim": "1-3", "dropout": 0.1},
}


@pytest.mark.parametrize("name", MICRO)
@pytest.mark.parametrize("size", [1, 5, 8, 13, 16])
def test_micro_batches_have_the_gradient_of_the_batch(tiny_config, name, size):
    def gradient(micro_batch):
        state = new_state(tiny_config(batch_size=16, micro_batch=micro_batch, **MICRO[name]), torch.device("cpu"))
        set_first_weights(state)
        with torch.no_grad():  # zero-initialised layers have no gradient to compare before they have moved
            for p in state.model.parameters():
                p.add_(torch.linspace(-0.05, 0.05, p.numel()).view_as(p))
        found = compute_gradient(state, batch)
        return found, {n: p.grad for n, p in state.model.named_parameters() if p.grad is not None}

    batch = TrainingData(tiny_config(batch_size=16, **MICRO[name])).batch(0)
    (total, num), expected = gradient(0)
    (found_total, found_num), found = gradient(size)
    assert (found_num, found_total) == (num, pytest.approx(total, rel=1e-5))
    assert found.keys() == expected.keys()
    for key, grad in expected.items():
        torch.testing.assert_close(found[key], grad, rtol=1e-4, atol=1e-5)
        if size == 16:  # a batch in one piece: to the last bit
            assert torch.equal(found[key], grad)


def test_rows_of_a_batch_drop_what_the_batch_drops():
    layer, x = Dropout(0.4), torch.arange(1.0, 61).view(6, 5, 2)
    torch.manual_seed(3)
    whole = layer(x)
    assert 0.4 < float((whole != 0).float().mean()) < 0.8
    parts = []
    for first, stop in ((0, 1), (1, 4), (4, 6), (0, 6)):
        with rows_of_batch(layer, first, stop - first, 6) as is_shared:
            assert is_shared
            torch.manual_seed(3)
            parts.append(layer(x[first:stop]))
    torch.testing.assert_close(torch.cat(parts[:3]), whole)
    assert torch.equal(parts[3], whole)
    layer.eval()
    assert torch.equal(layer(x), x)


def test_parts_of_a_recurrent_network_have_masks_of_their_own(tiny_config):
    """torch draws them for the rows that are there: equal seeds would drop the same in each part."""
    recurrent = {"architecture": "lstm", "positions": "none", "norm": "post", "encoder_layers": 2, "heads": 8}
    recurrent |= {"optimizer": "adam", "dropout": 0.5, "batch_size": 8, "micro_batch": 4}
    state = new_state(tiny_config(**recurrent), torch.device("cpu"))
    batch = TrainingData(state.config).batch(0)
    half = shard(batch, 0, 4)
    twice = type(batch)(np.concatenate([half.sources] * 2), np.concatenate([half.targets] * 2), ())
    seen = []
    state.model.register_forward_hook(lambda module, inputs, parts: seen.append(parts[0].logits_BTK.detach()))
    train_step(state, twice)
    assert len(seen) == 2 and not torch.equal(*seen)


def test_a_batch_that_cannot_be_shared_is_refused(tmp_path, tiny_config, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "65")
    with pytest.raises(ValueError, match="batch_size 64 cannot be shared by 65 processes"):
        train(tiny_config(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_micro_batch_larger_than_the_batch_is_refused(tiny_config):
    with pytest.raises(ValueError, match="micro_batch 65: must be from 0 to batch_size 64"):
        tiny_config(micro_batch=65)
