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

# preset: its examples, changes, and the tolerance (L1) at which 90 % of new matrices must be transposed. 2x2, FP15 to
# P1000; the paper's network has one digit a coefficient, and learns it exactly.
CASES = {
    "fast-1": (15_000, {}, "0.02"),
    "paper-1": (16_000, {"input_encoding": ONE_DIGIT, "output_encoding": ONE_DIGIT, "schedule": "constant"}, "0.005"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_tiny_model_learns_to_transpose(tmp_path, name):
    examples, changes, tolerance = CASES[name]
    config = replace_fields(
        preset(name),
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
    report = Result.read(run.folder / "result.json").report
    assert (report.num, report.split, report.seed) == (500, "valid", config.train.seed)
    assert report.accuracy["l1"][tolerance] >= 0.9
    assert report.well_formed >= 0.95
    config, model = load_model(run.folder)
    tested = evaluate(model, Problem(config.data), num=500)
    assert (tested.split, tested.seed) == ("test", 0)
    assert tested.accuracy["l1"][tolerance] >= 0.85
