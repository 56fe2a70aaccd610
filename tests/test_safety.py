"""Mistakes and accidents: what must be refused, and what must not be lost."""

import json

import pytest

from learnalg.cli import main
from learnalg.training.run import Run
from learnalg.training.loop import train


def test_a_loss_that_is_not_finite_ends_the_run_with_its_checkpoint(tiny_config, tmp_path):
    config = tiny_config(learning_rate=1e30, optimizer="adam", clip=0.0, schedule="constant", checkpoint_seconds=1e9)
    with pytest.raises(ValueError, match="the loss at step"):
        train(config, tmp_path / "run")
    assert [path.name for path in (tmp_path / "run/checkpoints").glob("*.ckpt")] == ["00000000.ckpt"]
    assert not (tmp_path / "run/result.json").exists()


def test_a_run_in_training_is_locked(tiny_run):
    run = Run.open(tiny_run.folder)
    with run.locked():
        run.save_config()  # a file that is replaced takes no lock with it
        with pytest.raises(ValueError, match="another process"), run.locked():
            pass
    with run.locked():  # free again
        pass


def test_splits_that_cannot_be_drawn_are_refused_before_there_is_a_folder(tiny_config, tmp_path):
    encoding = "positional:base=10,digits=1,exponents=0:0"  # 1x1: 19 numbers, too few for every split
    config = tiny_config(task="transpose", dim="1", input_encoding=encoding, amplitude=(1.0,))
    with pytest.raises(ValueError, match="too few exist"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_retraining_takes_over_the_network_of_its_origin(tiny_run, tmp_path):
    flags = "--examples 64 --batch-size 64 --eval-num 5 --final-num 5 --threads 1 --workers 0 --device cpu --quiet"
    out = str(tmp_path / "run")
    assert (
        main(
            ["train", "--task", "transpose", "--dim", "3", "--init", str(tiny_run.folder), *flags.split(), "--out", out]
        )
        == 0
    )
    config = Run.open(tmp_path / "run").config
    assert config.model == tiny_run.config.model and config.data.dim == "3"


@pytest.mark.parametrize(
    ("flags", "is_said"), [("", True), ("--seed 5", False), ("--batch-size 16", False), ("--dim 3", False)]
)
def test_retraining_says_that_it_sees_the_same_examples(tiny_run, tmp_path, capsys, flags, is_said):
    base = ["train", "--config", str(tiny_run.folder / "config.json"), "--init", str(tiny_run.folder)]
    few = ["--examples", "64", "--eval-num", "5", "--final-num", "5", "--out", str(tmp_path / "run")]
    assert main([*base, *few, *flags.split()]) == 0
    assert ("has learned from these examples (seed" in capsys.readouterr().err) == is_said


def test_the_factor_of_an_evaluation_multiplies_that_of_the_training(tiny_run, capsys):
    assert (
        main(["evaluate", str(tiny_run.folder), "--num", "5", "--sigma-factor", "0.5", "--noise", "0.1", "--json"]) == 0
    )
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["sigma_factor"], data["noise"]) == (0.5, 0.1)
    assert main(["evaluate", str(tiny_run.folder), "--num", "5", "--noise", "-0.5"]) == 2
    assert main(["evaluate", str(tiny_run.folder), "--num", "5", "--sigma-factor", "0"]) == 2


def test_a_plugin_that_is_no_python_is_refused_in_one_line(tmp_path, capsys):
    (tmp_path / "broken.py").write_text("def (:\n")
    assert main(["list", "tasks", "--plugin", str(tmp_path / "broken.py")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_model_larger_than_the_machine_is_refused(tmp_path, capsys):
    assert main(["train", "--dim-model", "400000", "--out", str(tmp_path / "run")]) == 2
    assert "GB" in capsys.readouterr().err and not (tmp_path / "run").exists()
