"""Numbers that are not finite: the run ends before a file has one, and says which step to replay."""

import json
import math
import random
import re

import pytest

import learnalg.training.step
from learnalg.cli import main
from learnalg.files import load_tensors, parse_json
from learnalg.training.run import Run

NUM_STEPS = 6


def assert_all_files_are_finite(folder):
    for path in [*folder.rglob("*.ckpt"), *folder.rglob("*.safetensors")]:
        assert all(tensor.isfinite().all() for tensor in load_tensors(path)[0].values()), path
    for line in (folder / "metrics.jsonl").read_bytes().splitlines() if (folder / "metrics.jsonl").exists() else ():
        parse_json(line)
    for path in folder.rglob("*.json"):
        parse_json(path.read_bytes())


def spoil(patch, where, step, rng):
    """The loss, the gradient or the weights of a step become what a fault of the arithmetic makes of them."""
    value, compute = rng.choice([math.nan, math.inf, -math.inf]), learnalg.training.step.compute_gradient

    def spoilt(state, batch):
        total, num = compute(state, batch)
        if state.step + 1 != step:
            return total, num
        weights = rng.choice([p for p in state.model.parameters() if p.grad is not None])
        place = rng.randrange(weights.numel())
        if where == "gradient":
            weights.grad.view(-1)[place] = value
        if where == "weights":
            weights.data.view(-1)[place] = value
        return (value if where == "loss" else total), num

    patch.setattr(learnalg.training.step, "compute_gradient", spoilt)


@pytest.mark.parametrize("where", ["loss", "gradient", "weights"])
def test_no_file_ever_has_one(tiny_config, tmp_path, times, record, monkeypatch, capsys, where):
    num, rng, at_last = times(2, 30), random.Random(where), 0
    for number in range(num):
        step = NUM_STEPS if number == 0 else rng.randint(1, NUM_STEPS)  # the last one too
        seed, at_last = rng.randint(1, 1000), at_last + (step == NUM_STEPS)
        config = tiny_config(examples=NUM_STEPS * 64, eval_num=2, final_num=2, checkpoint_seconds=0, seed=seed)
        folder = Run.create(tmp_path / str(number), config).folder
        with monkeypatch.context() as patch:
            spoil(patch, where, step, rng)
            assert main(["resume", str(folder), "--quiet"]) == 2
            said = capsys.readouterr().err
            good = f"{step - 1:08d}.ckpt"
            assert re.fullmatch(
                rf"learnalg: error: step {step} \(batch {step - 1}, seed {seed}\): .*; "
                rf"the last good checkpoint is {good}. `learnalg replay {folder} {step}` shows more; .*\n",
                said,
            ), said
            assert ("--skip-nonfinite" in said) == (where != "weights")
            assert_all_files_are_finite(folder)
            assert main(["replay", str(folder), str(step)]) == 0
            shown = capsys.readouterr().out
            assert f"batch {step - 1}, seed {seed}" in shown and "not finite: " in shown
            if where != "weights":
                assert main(["resume", str(folder), "--quiet", "--skip-nonfinite"]) == 0
        if where == "weights":
            assert main(["resume", str(folder), "--quiet"]) == 0
        assert_all_files_are_finite(folder)
        skipped = [
            json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines() if "skipped" in line
        ]
        assert [line["step"] for line in skipped] == ([] if where == "weights" else [step])
        capsys.readouterr()
    record(
        f"NaN or an infinity in the {where} of a random step",
        num,
        f"one line with step, batch, seed and last good checkpoint; no file has it ({at_last} times at the last step); "
        f"replayed, and {'resumed' if where == 'weights' else 'resumed with --skip-nonfinite'}",
    )
