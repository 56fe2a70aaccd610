"""Tiny models do learn, in seconds: the whole way from random matrices to a report."""

import pytest

from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.evaluation.evaluate import evaluate
from learnalg.evaluation.result import Result
from learnalg.problem import Problem
from learnalg.training.loop import train
from learnalg.zoo.load import load_model

ONE_DIGIT = "positional:base=10,digits=1,exponents=-2:2"

ONE_TOKEN = "floating:digits=1,exponents=-1:1"
SHORT = {"input_encoding": ONE_TOKEN, "output_encoding": ONE_TOKEN, "soft_width": 0.0}
LOOPED = SHORT | {"encoder_loops": 2}
RECURRENT = SHORT | {"heads": 8, "dim_model": 64, "batch_size": 32}

# name: preset, examples, changes, and the share of new 2x2 matrices that must be transposed at a tolerance (L1); chance
# is near 0. FP15 to P1000; the paper's network has one digit a coefficient, and learns it exactly.
CASES = {
    "fast": ("fast-1", 15_000, {"learning_rate": 3e-3}, 0.9, "0.02"),
    "paper": (
        *("paper-1", 16_000),
        {"input_encoding": ONE_DIGIT, "output_encoding": ONE_DIGIT, "schedule": "constant", "learning_rate": 3e-3},
        *(0.9, "0.005"),
    ),
    "looped": ("fast-1", 5_000, LOOPED, 0.5, "0.02"),
    "looped, copy": ("fast-1", 5_000, LOOPED | {"architecture": "transformer:loop_gate=copy"}, 0.5, "0.02"),
    "looped, act": ("fast-1", 5_000, LOOPED | {"architecture": "transformer:loop_gate=act"}, 0.5, "0.02"),
    "lstm": ("recurrent-1", 8_000, RECURRENT | {"architecture": "lstm:memory=9"}, 0.5, "0.05"),
    "gru": ("recurrent-1", 8_000, RECURRENT | {"architecture": "gru:memory=9"}, 0.5, "0.05"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_tiny_model_learns_to_transpose(tmp_path, name):
    start, examples, changes, share, tolerance = CASES[name]
    defaults = {"dim_model": 32, "heads": 2, "batch_size": 64}
    config = replace_fields(
        preset(start),
        task="transpose",
        dim="2",
        encoder_layers=1,
        decoder_layers=1,
        examples=examples,
        warmup_steps=20,
        eval_num=100,
        final_num=500,
        workers=0,
        device="cpu",
        precision="fp32",
        threads=1,
        **defaults | changes,
    )
    run = train(config, tmp_path / "run")
    report = Result.read(run.folder / "result.json").report
    assert (report.num, report.split, report.seed) == (500, "valid", config.train.seed)
    assert report.accuracy["l1"][tolerance] >= share
    assert report.well_formed >= 0.95
    config, model = load_model(run.folder)
    tested = evaluate(model, Problem(config.data), num=500)
    assert (tested.split, tested.seed) == ("test", 0)
    assert tested.accuracy["l1"][tolerance] >= share - 0.05
