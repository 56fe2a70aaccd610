"""Train and resume: every flag reaches the config; what is not said comes from a recipe, a preset or the origin."""

import json
import os
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from learnalg.cli.progress import Lines
from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.recipes import find_recipe, read_recipe
from learnalg.training.run import Run
from learnalg.zoo.load import load_weights

FEW = ["--examples", "1", "--batch-size", "1", "--eval-num", "1", "--final-num", "1", "--threads", "1", "--quiet"]


def test_a_session_of_processes(tmp_path, learnalg_process, small):
    def process(line, *more):
        done = learnalg_process(*line.split(), *more, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    train = "train --task eigenvalues --dim 2 --input-encoding fp15 --output-encoding p1000 --seed 1 --out runs/ev2"
    out = process(train, *small)
    assert "accuracy in %" in out and "640 examples" in out and "validation split, seed 1" in out
    run = Run.open(tmp_path / "runs" / "ev2")
    data, options = run.config.data, run.config.train
    assert (data.task, data.dim, data.input_encoding, data.output_encoding) == ("eigenvalues", "2", "fp15", "p1000")
    assert (options.examples, options.seed) == (640, 1)
    session = json.loads((run.folder / "provenance.json").read_text())[0]
    assert session["command"].startswith(f"learnalg {train}")

    evaluate = "evaluate runs/ev2 --num 100 --seed 7 --ensemble laplace --tolerances 0.05 0.02 0.01 0.005 --json"
    report = json.loads(process(evaluate))
    assert (report["task"], report["num"], report["seed"], report["split"]) == ("eigenvalues", 100, 7, "test")
    assert report["accuracy"].keys() == {"l1", "l2", "linf"}
    for shares in report["accuracy"].values():
        assert shares.keys() == {"0.05", "0.02", "0.01", "0.005"}
        assert all(0 <= share <= 1 for share in shares.values())
    assert report["data"]["ensemble"] == ["laplace"]

    (tmp_path / "matrix.txt").write_text("2 1\n1 2\n")
    done = learnalg_process("solve", "runs/ev2", "matrix.txt", cwd=tmp_path)
    assert done.returncode in (0, 1) and np.loadtxt(done.stdout.splitlines()).shape == (2,)


def test_every_kind_of_flag_reaches_the_config(run, tmp_path, small):
    flags = "--task add --dim 1 --ensemble laplace gaussian --amplitude 1 5 --norm pre --dropout 0.25 --compile "
    flags += (
        "--optimizer adamw:weight_decay=0.1 --schedule inverse-sqrt --warmup-steps 7 --examples 6.4e1 --no-compile "
    )
    flags += "--dim-model 16 32 --heads 2 4 --positions learned grid"
    small = [flag for flag in small if flag != "640"]
    small.remove("--examples")
    code, _, err = run("train", "--preset", "paper", *small, *flags.split(), "--quiet", "--out", "run")
    assert (code, err) == (0, "")
    assert Run.open(tmp_path / "run").config == replace_fields(
        preset("paper-1"),
        encoder_layers=1,
        batch_size=64,
        eval_num=10,
        final_num=20,
        workers=0,
        threads=1,
        device="cpu",
        precision="fp32",
        task="add",
        dim="1",
        ensemble=("laplace", "gaussian"),
        amplitude=(1.0, 5.0),
        norm="pre",
        dropout=0.25,
        optimizer="adamw:weight_decay=0.1",
        schedule="inverse-sqrt",
        warmup_steps=7,
        examples=64,
        dim_model=(16, 32),
        heads=(2, 4),
        positions=("learned", "grid"),
    )


def test_flags_go_before_the_recipe_and_the_recipe_before_its_preset(run, tmp_path, small):
    text = 'preset = "fast-1"\n[data]\ntask = "add"\ndim = "2"\n[optim]\nbeta2 = 0.5\n[train]\nexamples = 9\n'
    (tmp_path / "my.toml").write_text(text)
    assert run("train", "--recipe", "my.toml", *small, "--dim", "1", "--quiet", "--out", "run")[0] == 0
    config = Run.open(tmp_path / "run").config
    assert (config.data.task, config.data.dim, config.train.examples) == ("add", "1", 640)
    assert config.optim.beta2 == 0.5
    assert config.optim.optimizer == preset("fast-1").optim.optimizer


def test_the_stages_of_a_recipe_are_taken(run, tmp_path, small):
    text = 'preset = "fast-2"\n[data]\ntask = "add"\ndim = "2"\n[[stage]]\nexamples = 64\ndim = "1"\n'
    (tmp_path / "my.toml").write_text(text)
    assert run("train", "--recipe", "my.toml", *small, "--quiet", "--out", "run")[0] == 0
    assert Run.open(tmp_path / "run").config.stage == read_recipe(tmp_path / "my.toml").stage != ()


def test_a_recipe_may_be_named(run, tmp_path, small):
    assert run("train", "--recipe", "eigenvalues-3", *small, "--quiet", "--out", "run")[0] == 0
    config = Run.open(tmp_path / "run").config
    assert config.data == read_recipe(find_recipe("eigenvalues-3")).data


def test_a_run_has_a_folder_without_being_told(run, tmp_path, small):
    code, out, _ = run("train", "--task", "transpose", "--dim", "1", *small, "--seed", "3")
    assert code == 0
    assert (tmp_path / "runs" / "transpose-1-seed-3" / "model.safetensors").is_file()
    assert "640 examples: accuracy at 5%: " in out  # progress
    assert "weights in runs/transpose-1-seed-3/model.safetensors" in out


def test_quiet_says_nothing(run, small):
    assert run("train", "--task", "transpose", "--dim", "1", *small, "--quiet", "--out", "run") == (0, "", "")


def test_of_several_processes_the_first_one_speaks(run, small, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    assert run("train", "--task", "transpose", "--dim", "1", *small, "--out", "run") == (0, "", "")


def test_resume_of_a_finished_run_says_so(run, tiny_run, contents):
    before = contents(tiny_run.folder)
    assert run("resume", tiny_run.folder) == (0, f"{tiny_run.folder} has finished already\n", "")
    assert contents(tiny_run.folder) == before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_a_run_and_says_how_to_resume_it(run, tmp_path, monkeypatch, small, number, code):
    (tmp_path / "plugin.py").write_text("")
    with monkeypatch.context() as patch:
        patch.setattr(Lines, "on_log", lambda *_: os.kill(os.getpid(), number))
        flags = ["--task", "transpose", "--dim", "1", *small, "--plugin", "plugin.py", "--out", "run"]
        found, _, err = run("train", *flags, "--examples", "1280")
    assert found == code
    assert err == "stopped at step 10; resume with: learnalg resume run --plugin plugin.py\n"
    assert not (tmp_path / "run/result.json").exists()
    code, out, err = run(*err.partition("learnalg ")[2].split())
    assert (code, err) == (0, "") and "1,280 examples" in out
    assert run("resume", "run", "--examples", "9999")[0] == 2  # it has finished


def test_a_run_is_not_trained_over(run, tiny_run, small, contents):
    before = contents(tiny_run.folder)
    code, _, err = run("train", "--task", "transpose", "--dim", "1", *small, "--out", tiny_run.folder)
    assert code == 2
    assert f"{tiny_run.folder} exists already: choose another --out, or `learnalg resume" in err
    assert contents(tiny_run.folder) == before


# Fine-tuning.


def test_a_run_takes_over_the_network_and_the_encodings_of_its_origin(run, tiny_run, tmp_path):
    code, _, err = run(
        *("train", "--task", "transpose", "--dim", "3", "--init", tiny_run.folder, *FEW, "--out", "run"),
    )
    assert (code, err) == (0, "")
    config = Run.open(tmp_path / "run").config
    assert config.model == tiny_run.config.model and config.data.dim == "3"
    assert config.data.output_encoding == tiny_run.config.data.output_encoding
    assert config.train.init == str(tiny_run.folder)


def test_behind_an_encoder_alone_the_output_may_be_written_otherwise(run, tmp_path):
    flags = ["--task", "transpose", "--dim", "5", "--output-encoding", "p10", "--init", "transpose-5:encoder"]
    code, _, err = run("train", *flags, *FEW, "--out", "run")
    assert (code, err) == (0, "")
    ours, theirs = load_weights(tmp_path / "run")[0], load_weights("transpose-5")[0]
    assert (ours.data.input_encoding, ours.data.output_encoding) == (theirs.data.input_encoding, "p10")
    assert ours.model == theirs.model


def test_a_recipe_says_the_network_itself_and_is_never_passed_over(run, tmp_path):
    """Next to an encoder alone it may have another decoder; weights that do not fit are refused."""
    config = load_weights("transpose-5")[0]
    text = 'preset = "fast-1"\n[data]\ntask = "transpose"\ndim = "5"\ninput_encoding = "{}"\n'
    text += '[model]\nencoder_layers = 1\ndecoder_layers = {}\ndim_model = {}\nheads = {}\n{}\n[train]\ninit = "{}"\n'
    model, encoding = config.model, config.data.input_encoding
    more = "\n".join(f'{name} = "{getattr(model, name)}"' for name in ("input_embedding", "output_embedding"))

    def train(name, layers, init):
        sizes = (list(model.dim_model), list(model.heads))
        (tmp_path / f"{name}.toml").write_text(text.format(encoding, layers, *sizes, more, init))
        return run("train", "--recipe", f"{name}.toml", *FEW, "--out", name)

    assert model.encoder_layers == 1 and model.decoder_layers != 3
    code, _, err = train("all", 3, "transpose-5")
    assert code == 2 and "the weights of transpose-5 do not fit" in err
    code, _, err = train("part", 3, "transpose-5:encoder")
    assert (code, err) == (0, "")
    assert load_weights(tmp_path / "part")[0].model.decoder_layers == 3


@pytest.mark.parametrize("flags", ["--dim-model 48", "--output-encoding p10", "--decoder-layers 3"])
def test_flags_that_do_not_fit_the_origin_are_refused(run, tmp_path, flags):
    few = ["train", "--task", "transpose", "--dim", "5", "--init", "transpose-5", *FEW, "--out", "run"]
    code, _, err = run(*few, *flags.split())
    assert code == 2 and "the weights of transpose-5 do not fit" in err and err.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("flags", "is_said"), [("", True), ("--seed 5", False), ("--batch-size 16", False), ("--dim 3", False)]
)
def test_fine_tuning_says_that_it_sees_the_same_examples(run, tiny_run, flags, is_said):
    config = tiny_run.config
    same = f"--task transpose --dim 1-2 --batch-size {config.train.batch_size} --threads 1 --examples 64 --eval-num 5"
    code, _, err = run(
        *("train", "--init", tiny_run.folder, *same.split(), "--final-num", "5", "--out", "run", *flags.split())
    )
    assert code == 0
    assert ("was trained on these examples (seed" in err) == is_said


# Disks.


def test_a_full_disk_is_one_line(run, tmp_path, monkeypatch, small):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    code, _, err = run("train", "--task", "transpose", "--dim", "1", *small, "--out", "run")
    assert code == 2
    assert err.startswith("learnalg: error: the disk of run is too full") and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_later_is_one_line(run, monkeypatch, small):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = run("train", "--task", "transpose", "--dim", "1", *small, "--out", "run")
    assert code == 2
    assert err == "learnalg: error: [Errno 28] No space left on device: 'run/config.json'\n"


def test_a_model_larger_than_the_machine_is_refused(run):
    code, _, err = run("train", "--dim-model", "400000", "--out", "run")
    assert code == 2 and "GB" in err and not Path("run").exists()
