"""No input file gives a traceback, to any command: what is nearly right is taken, or refused in one line."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch

from learnalg.cli import main
from learnalg.config import to_dict
from learnalg.files import load_tensors, save_tensors
from learnalg.recipes import recipes
from learnalg.training import release as releasing

NUM = 6  # of each command and kind of damage, in CI


@pytest.fixture
def told(capsys):
    """told('solve', ...): the exit code. What is refused is said in one line, and nothing raises."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert code in (0, 1, 2), (code, out, err)
        if code == 2:
            lines = [line for line in err.splitlines() if line.startswith("learnalg: error: ")]
            assert len(lines) == 1 and err.rstrip("\n").endswith(lines[0]), err
            assert all(c.isprintable() or c == "\n" for c in err)
        return code

    return call


@pytest.fixture
def here(tmp_path, monkeypatch, tiny_run):
    """An empty folder with a run, and a matrix that its model reads."""
    monkeypatch.chdir(tmp_path)
    np.save("m.npy", np.array([[1.5, -2.0], [3.0, 0.25]]))
    shutil.copytree(tiny_run.folder, "runs/run")
    shutil.copytree(tiny_run.folder, "runs/other")
    return tmp_path


def damaged_model(fuzz, rng, source, path):
    """A file of right tensors with a config that is nearly right, of tensors that are not, or of other bytes."""
    tensors, metadata = load_tensors(source)
    how = rng.randrange(4)
    if how == 0:
        path.write_bytes(fuzz.bytes(rng, source.read_bytes()))
    elif how == 1:
        name = rng.choice(list(tensors))
        other = {"flat": tensors[name].flatten(), "whole": tensors[name].long(), "none": None}[
            rng.choice(("flat", "whole", "none"))
        ]
        tensors = {n: t for n, t in tensors.items() if n != name} | ({} if other is None else {name: other})
        safetensors.torch.save_file(tensors, path, metadata)
    else:
        config = json.dumps(fuzz.json(rng, json.loads(metadata["config"])))
        safetensors.torch.save_file(tensors, path, metadata | {"config": config})


MODEL = {
    "solve": ("solve", "model.safetensors", "m.npy"),
    "evaluate": ("evaluate", "model.safetensors", "--num", "2"),
    "analyse": ("analyse", "model.safetensors", "--num", "4"),
    "hub": ("release", "model.safetensors", "--hub", "hub", "--num", "2", "--replace"),
    "init": ("train", "--init", "model.safetensors", "--examples", "1", "--final-num", "1", "--task", "transpose",
             "--dim", "1", "--quiet", "--out", "new", "--device", "cpu"),
}  # fmt: skip


@pytest.mark.parametrize("command", MODEL)
def test_models(told, here, fuzz, command):
    rng, source = fuzz.rng(f"model {command}"), here / "runs" / "run" / "model.safetensors"
    codes = set()
    for _ in range(fuzz.rounds(NUM)):
        damaged_model(fuzz, rng, source, here / "model.safetensors")
        codes.add(told(*MODEL[command]))
        for made in ("new", "hub"):
            shutil.rmtree(made, ignore_errors=True)
    assert 2 in codes


def damage_run(fuzz, rng, folder):
    """One of its files, or one of the lines of its metrics."""
    name = rng.choice(["config.json", "metrics.jsonl", "provenance.json", "result.json", "model.safetensors"])
    path = folder / name
    if name == "model.safetensors":
        damaged_model(fuzz, rng, path, path)
    elif rng.random() < 0.3:
        path.write_bytes(fuzz.bytes(rng, path.read_bytes()))
    elif name == "metrics.jsonl":
        changed = fuzz.json(rng, [json.loads(line) for line in path.read_text().splitlines()])
        path.write_bytes(b"".join(fuzz.text(v) + b"\n" for v in (changed if isinstance(changed, list) else [changed])))
    else:
        path.write_bytes(fuzz.text(fuzz.json(rng, json.loads(path.read_text()))))


RUN = {
    "resume": ("resume", "runs/run", "--quiet"),
    "replay": ("replay", "runs/run", "3"),
    "evaluate": ("evaluate", "runs/run", "--num", "2"),
    "runs": ("runs", "runs"),
    "runs json": ("runs", "runs", "--json"),
    "compare": ("compare", "runs/run", "runs/other", "--out", "page.html"),
    "release": ("release", "runs/run", "a-name-that-is-free"),
    "hub": ("release", "runs/run", "--hub", "hub", "--num", "2"),
}


@pytest.mark.parametrize("command", RUN)
def test_runs(told, here, fuzz, tiny_run, command, monkeypatch):
    monkeypatch.setattr(releasing.release, "__defaults__", ("", "", (), here / "zoo", here / "zoo", releasing.ignore))
    monkeypatch.setattr(releasing, "TEST_NUM", 4)
    rng = fuzz.rng(f"run {command}")
    for _ in range(fuzz.rounds(NUM)):
        damage_run(fuzz, rng, here / "runs" / "run")
        if command == "resume":
            Path("runs/run/result.json").unlink(missing_ok=True)
        told(*RUN[command])
        for made in ("runs/run", "hub", "page.html"):
            shutil.rmtree(made, ignore_errors=True)
            Path(made).unlink(missing_ok=True)
        shutil.copytree(tiny_run.folder, "runs/run")


MOMENTS = ("optim.x", "optim.0.0", "optim.0.99.step", "optim.7.0.step", "model.x")


@pytest.mark.parametrize("what", ["metadata", "tensors"])
@pytest.mark.parametrize("command", ["resume", "replay"])
def test_checkpoints(told, here, fuzz, tiny_run, command, what):
    """Right checksums beside metadata, moments or weights that are not. A resumed run ends at once, a replayed one
    takes its first step."""
    rng, folder = fuzz.rng(f"checkpoints {command} {what}"), here / "runs" / "run"
    (folder / "result.json").unlink()
    path = sorted((folder / "checkpoints").glob("*.ckpt"))[-1]
    tensors, metadata = load_tensors(path)
    if command == "replay":
        path, metadata = path.with_name("00000000.ckpt"), metadata | {"step": "0"}
    codes = set()
    for _ in range(fuzz.rounds(2 * NUM)):
        changed, said = dict(tensors), dict(metadata)
        if what == "tensors":
            name = rng.choice(list(changed))
            tensor = changed[name]
            kinds = (tensor.flatten()[:1].clone(), tensor.long(), tensor * float("nan"), tensor.new_full((3, 9), 1e30))
            changed[name] = rng.choice(kinds)
            if rng.random() < 0.3:
                changed[rng.choice(MOMENTS)] = changed.pop(name)
        else:
            name = rng.choice([name for name in said if name != "step"])
            said[name] = rng.choice(("", "{", "[" * 2000, json.dumps(fuzz.json(rng, json.loads(said[name])))))
        save_tensors(path, changed, said)
        more = (
            ["--quiet", "--despite", "config", "version", "processes"] if command == "resume" else ["1", "--num", "1"]
        )
        codes.add(told(command, folder, *more))
        (folder / "result.json").unlink(missing_ok=True)
    assert 2 in codes


def test_recipes(told, here, fuzz):
    rng = fuzz.rng("recipes")
    for _ in range(fuzz.rounds(NUM)):
        text = rng.choice([path.read_bytes() for path in recipes().values()])
        (here / "r.toml").write_bytes(fuzz.bytes(rng, text))
        assert told("train", "--recipe", "r.toml", "--dim", "4000", "--out", "new") == 2


def test_matrices(told, here, fuzz):
    rng = fuzz.rng("matrices")
    content = (here / "m.npy").read_bytes()
    for name, known in {"a.npy": content, "a.csv": b"1.5,-2\n3,0.25\n", "a.txt": b"1 2\n3 4\n"}.items():
        for _ in range(fuzz.rounds(NUM)):
            (here / name).write_bytes(fuzz.bytes(rng, known))
            told("solve", "runs/run", name)


def test_results_of_released_models(told, here, fuzz, monkeypatch):
    """`verify` takes a result by its file."""
    from learnalg.files import results_folder

    rng, known = fuzz.rng("verify"), json.loads((results_folder() / "transpose-5.json").read_text())
    for _ in range(fuzz.rounds(NUM)):
        (here / "transpose-5.json").write_bytes(fuzz.text(fuzz.json(rng, known)))
        told("verify", "transpose-5.json", "--num", "2")


def test_plugins(told, here, fuzz):
    """A plugin is a program of the user's own: its errors are its own, in one line all the same."""
    for text in ("1/0", "def", "import nothing_of_this_name", "raise SystemError('x')", "\x00"):
        (here / "plugin.py").write_text(text)
        assert told("list", "tasks", "--plugin", "plugin.py") == 2


def test_what_an_error_quotes_is_shown_in_one_short_line(told, here, tiny_run, capsys):
    config = to_dict(tiny_run.config)
    config["data"]["task"] = "\x1b[2J\x07\nlearnalg: error: no\ud800" + "x" * 10**6
    (here / "runs" / "run" / "config.json").write_bytes(json.dumps(config).encode())
    (here / "runs" / "run" / "result.json").unlink()
    assert main(["resume", "runs/run"]) == 2
    err = capsys.readouterr().err
    assert len(err) < 5_000 and err.count("\n") == 1 and "\x1b" not in err and "\\x1b[2J" in err


def test_a_folder_a_pipe_and_a_device_are_no_files(told, here):
    os.mkfifo("pipe.npy")
    for name in ("runs", "pipe.npy", "/dev/zero", "/dev/null"):
        for command in (("solve", "runs/run", name), ("solve", name, "m.npy"), ("train", "--recipe", name)):
            assert told(*command) == 2, command
