"""Tiny models do learn, in seconds: the whole way from random matrices to a report."""

import json

import pytest

import learnalg
from learnalg.training.loop import train

ONE_DIGIT = "positional:base=10,digits=1,exponents=-2:2"

# preset: its examples, changes, and the tolerance (L1) within which 90 % of matrices never seen must be transposed.
# 2x2, FP15 to P1000; the paper's recipe gets one digit a number, and learns it to the last.
CASES = {
    "fast": (15_000, {}, "0.02"),
    "paper": (16_000, {"input_encoding": ONE_DIGIT, "output_encoding": ONE_DIGIT, "schedule": "constant"}, "0.005"),
}


@pytest.mark.parametrize("preset", CASES)
def test_a_tiny_model_learns_to_transpose(tmp_path, preset):
    examples, changes, tolerance = CASES[preset]
    config = learnalg.replace_fields(
        learnalg.preset(preset),
        task="transpose",
        dim="2",
        encoder_layers=1,
        decoder_layers=1,
        dim_model=32,
        heads=2,
        batch_size=64,
        examples=examples,
        learning_rate=3e-3,
        warmup_steps=20,
        eval_num=100,
        final_num=500,
        workers=0,
        device="cpu",
        precision="fp32",
        **changes,
    )
    run = train(config, tmp_path / "run")
    report = json.loads((run.folder / "result.json").read_text())["report"]
    assert report["num"] == 500
    assert report["accuracy"]["l1"][tolerance] >= 0.9
    assert report["well_formed"] >= 0.95
    tolerances = tuple(map(float, report["accuracy"]["l1"]))
    assert learnalg.load(run.folder).evaluate(num=500, tolerances=tolerances).accuracy == report["accuracy"]


def test_a_tiny_model_learns_with_the_number_loss_and_whole_numbers(tmp_path, tiny_config):
    changes = {"soft_width": 0.0, "number_loss": 1.0, "input_embedding": "number", "input_encoding": "p1000"}
    run = train(tiny_config(examples=8_000, final_num=200, **changes), tmp_path / "run")
    losses = [m["loss"] for m in run.metrics() if "loss" in m]
    assert losses[-1] < 0.5 * losses[0]
    report = json.loads((run.folder / "result.json").read_text())["report"]
    assert report["accuracy"]["l1"]["0.05"] >= 0.5
