"""Shared by all tests: one thread a process, tiny configurations, one tiny trained run."""

import os
import subprocess
import sys

# pytest-xdist runs a worker on every core; processes that tests start inherit this.
os.environ["OMP_NUM_THREADS"] = "1"

import pytest
import torch

from learnalg.config import RunConfig, replace_fields
from learnalg.training.loop import train

torch.set_num_threads(1)

TWO_DIGITS = "positional:base=100,digits=2,exponents=-3:2"

# What the presets `fast` are made of, at a size that trains in seconds. Written out: tests must not move with a preset.
TINY = {
    "task": "transpose",
    "dim": "1-2",
    "output_encoding": TWO_DIGITS,
    "encoder_layers": 1,
    "dim_model": 32,
    "heads": 2,
    "input_embedding": "features",
    "positions": "grid",
    "norm": "pre",
    "output_bias": "place",
    "optimizer": "muon:learning_rate=0.02",
    "learning_rate": 3e-3,
    "schedule": "linear:cooldown=0.7",
    "warmup_steps": 20,
    "beta2": 0.99,
    "clip": 1.0,
    "soft_width": 1.0,
    "batch_size": 64,
    "examples": 20 * 64,
    "eval_every": 10**6,
    "eval_num": 20,
    "final_num": 20,
    "checkpoint_seconds": 1e6,  # none in between, however slow the machine
    "workers": 0,
    "device": "cpu",
    "precision": "fp32",
    "threads": 1,
}

# What the paper does: one vector a token, learned positions, post-norm, Adam.
PAPER = {name: TINY[name] for name in TINY if name in ("encoder_layers", "dim_model", "heads", "output_encoding")} | {
    "task": "add",
    "dim": "2",
    "input_encoding": "p1000",
    "max_positions": 64,
    "learning_rate": 1e-3,
    "schedule": "cosine:lowest=0.0,period=0",
    "warmup_steps": 10,
    "examples": 20 * 64,
    "eval_num": 20,
    "final_num": 20,
    "checkpoint_seconds": 1e6,
    "workers": 0,
    "device": "cpu",
    "precision": "fp32",
    "threads": 1,
}


@pytest.fixture(scope="session")
def tiny_config():
    """tiny_config(dropout=0.1): a run of 20 steps, made as `fast` is or, with paper=True, as the paper's."""

    def make(paper=False, **changes):
        return replace_fields(RunConfig(), **(PAPER if paper else TINY) | changes)

    return make


@pytest.fixture(scope="session")
def tiny_run(tiny_config, tmp_path_factory):
    """A finished run that transposes 1x1 and 2x2 matrices, mostly right at 5 % tolerance and seldom at 1 %."""
    config = tiny_config(examples=8_000, eval_every=4_000)
    return train(config, tmp_path_factory.mktemp("tiny") / "run")


@pytest.fixture(scope="session")
def learnalg_process():
    """learnalg_process('list', 'tasks', cwd=...): the command in its own process, with its output."""

    def run(*arguments, **options):
        command = [sys.executable, "-m", "learnalg", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)

    return run
