"""Tiny models do learn, in seconds: the whole way from random matrices to a report."""

import json

import pytest

import learnalg
from learnalg.train import train

TWO_DIGITS = "positional:base=100,digits=2,exponents=-3:2"

# fields, tolerance in L1, the share of 500 matrices never seen that must be right
CASES = {
    "fast": (
        {"task": "transpose", "dim": "2", "examples": 20_000, "learning_rate": 3e-3, "warmup_steps": 20},
        "0.05",
        0.9,
    ),
    "paper": (
        {
            "task": "transpose",
            "dim": "2",
            "input_encoding": TWO_DIGITS,
            "output_encoding": TWO_DIGITS,
            "examples": 20_000,
            "learning_rate": 3e-3,
            "warmup_steps": 20,
            "schedule": "constant",
        },
        "0.005",
        0.9,
    ),
}


@pytest.mark.parametrize("preset", CASES)
def test_a_tiny_model_learns_to_transpose(tmp_path, preset):
    changes, tolerance, share = CASES[preset]
    size = {"encoder_layers": 1, "decoder_layers": 1, "dim_model": 32, "heads": 2, "batch_size": 64}
    effort = {"eval_num": 100, "final_num": 500, "device": "cpu", "precision": "fp32"}
    config = learnalg.replace_fields(learnalg.preset(preset), **size, **effort, **changes)
    run = train(config, tmp_path / "run")
    report = json.loads((run.folder / "result.json").read_text())["report"]
    assert report["num"] == 500
    assert report["accuracy"]["l1"][tolerance] >= share
    assert report["well_formed"] >= 0.95
