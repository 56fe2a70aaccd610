"""Help and lists: every command, every field and every name is shown, and soon."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import time

import pytest

from learnalg.cli import COMMANDS, main
from learnalg.cli.train import FIRST
from learnalg.config import field_names
from learnalg.config.presets import PRESETS
from learnalg.models import MODELS
from learnalg.models.embeddings import EMBEDDINGS, POSITIONS
from learnalg.problems import TASKS
from learnalg.problems.ensembles import ENSEMBLES
from learnalg.recipes import recipes
from learnalg.tokens import ENCODINGS
from learnalg.training.optim import OPTIMIZERS, SCHEDULES
from learnalg.zoo.index import released


def flags_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z0-9-]+", text))


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_the_overview_names_every_command(run, arguments):
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    for name, summary in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", out, re.MULTILINE)


FLAGS = {
    "list": "--plugin",
    "train": "--task --dim --out --init --quiet --preset --recipe --plugin",
    "resume": "--checkpoint --examples --despite --skip-nonfinite --quiet --plugin",
    "replay": "--num --plugin",
    "sweep": "--vary --trials --jobs --launch --by --tolerance --no-prune --show --out --task --plugin",
    "runs": "--json",
    "compare": "--tolerance --out",
    "evaluate": "--num --seed --tolerances --norms --ensemble --amplitude --dim --beam --constrained --json --save",
    "analyse": "--num --seed --tolerance --out --ensemble --amplitude --dim --beam --constrained --json",
    "verify": "--num",
    "solve": "--task --json --out --refine --fallback --no-rescale --allow-outside --plugin",
    "export": "--num --seed --split --recipe --task --dim --ensemble --input-encoding --plugin",
    "reproduce": "--scale --list --dry-run --show --quiet --launch --jobs --job-threads --plugin",
    "serve": "--runs --port --scale",
    "report": "--out --scale",
    "docs": "",
    "release": "--note",
    "bench": "--rounds --cases --precision --json",
    "encode": "--encoding",
    "decode": "--encoding",
    "work": "--plugin",
    "params": "--encoder-layers --input-encoding --output-encoding --json --preset",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_its_flags(run, command):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert f"usage: learnalg {command}" in out
    assert set(FLAGS[command].split()) <= flags_in(out)


def test_every_config_field_is_a_flag_of_train_with_its_help(run):
    _, out, _ = run("train", "--help")
    # A switch that is on has a flag to put it off.
    shown = {flag.removeprefix("--no-").removeprefix("--") for flag in flags_in(out)}
    assert {name.replace("_", "-") for name in field_names()} <= shown
    assert "share of activations dropped in training" in out  # the field's comment
    assert "--stage" not in flags_in(out)  # recipes have these


def test_train_shows_first_what_people_use_first(run):
    _, out, _ = run("train", "--help")
    shown = [flag.removeprefix("--").replace("-", "_") for flag in re.findall(r"^  (--[a-z-]+)", out, re.MULTILINE)]
    assert tuple(shown[: len(FIRST)]) == FIRST and len(FIRST) <= 14
    assert sorted(shown) == sorted(set(shown))


@pytest.mark.parametrize(("flags", "layers"), [("--preset paper", "[6]"), ("--recipe eigenvalues-3", "[3]")])
def test_help_of_train_shows_the_values_of_a_preset_or_a_recipe(run, flags, layers):
    _, out, _ = run("train", *flags.split(), "--help")
    assert re.search(rf"--encoder-layers N +layers of the encoder {re.escape(layers)}", out)


def test_field_names_are_unique_so_that_flags_need_no_prefix():
    assert len(field_names()) == len(set(field_names())) <= 60


def test_the_overview_and_the_package_load_neither_torch_nor_numpy():
    code = (
        "import sys, learnalg, learnalg.cli\n"
        "assert learnalg.cli.main(['--help']) == 0\n"
        "print(*{'torch', 'numpy', 'rich', 'argparse'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize(
    ("line", "absent"),
    [
        ("list tasks", "torch"),
        ("list models", "torch"),
        ("runs .", "torch"),
        ("compare eigenvalues-3 eigenvalues-5", "matplotlib"),
        ("list recipes", "torch"),
        ("encode 3", "torch"),
        ("train --help", "torch"),
        ("reproduce table-6 --show", "torch"),
        ("reproduce --list", "torch"),
        ("list", "torch"),
        ("list architectures schedules", "torch._dynamo"),
        ("solve eigenvalues-3 three.npy", "torch._dynamo"),
    ],
)
def test_commands_load_no_more_than_they_need(crowded, line, absent):
    """torch takes a second to load, torch._dynamo another one."""
    code = f"import sys; from learnalg.cli import main; print(main({line.split()}), {absent!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=crowded)
    assert done.stdout.splitlines()[-1] == "0 False"


def test_help_comes_within_half_a_second(learnalg_process):
    def seconds():
        started = time.perf_counter()
        assert learnalg_process("--help").returncode == 0
        return time.perf_counter() - started

    assert min(seconds() for _ in range(3)) < 0.5


def test_learnalg_is_an_installed_command():
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="learnalg")
    assert script.load() is main


LISTS = {
    "tasks": [*TASKS, "transpose+add"],
    "encodings": ENCODINGS,
    "ensembles": ENSEMBLES,
    "architectures": MODELS,
    "embeddings": EMBEDDINGS,
    "positions": POSITIONS,
    "optimizers": OPTIMIZERS,
    "schedules": SCHEDULES,
    "presets": PRESETS,
    "recipes": recipes(),
    "models": released(),
}


@pytest.mark.parametrize("kind", LISTS)
def test_lists_name_all_with_a_summary(run, kind):
    code, out, _ = run("list", kind)
    assert code == 0
    head = ["model"] if kind == "models" else []
    assert [line.split()[0] for line in out.splitlines()] == [*head, *LISTS[kind]]
    assert all(len(line.split()) > 1 for line in out.splitlines())


@pytest.mark.parametrize("kind", ["architectures", "embeddings", "positions", "optimizers", "schedules"])
def test_a_summary_from_a_docstring_is_a_whole_sentence(run, kind):
    assert all(line.endswith(".") for line in run("list", kind)[1].splitlines())


def test_the_zoo_is_another_name_of_the_released_models(run):
    assert run("list", "zoo")[1] == run("list", "models")[1]


def test_list_alone_lists_or_names_every_kind(run):
    _, out, _ = run("list")
    assert set(LISTS) <= set(re.findall(r"[a-z]+", out))
    assert set(re.findall(r"^([a-z]+):$", out, re.MULTILINE)) == {
        *("tasks", "encodings", "ensembles", "presets", "recipes", "models")
    }


def test_list_sets_long_names_apart(run, monkeypatch):
    name = "a-name-that-is-longer-than-the-column"
    monkeypatch.setitem(TASKS, name, TASKS["add"])
    _, out, _ = run("list", "tasks")
    assert f"{name}  M + N\n" in out


@pytest.mark.parametrize("line", [[], ["--help"], ["list", "tasks"], ["train", "--help"]])
def test_a_reader_that_leaves_is_no_error(line):
    reader, writer = os.pipe()
    os.close(reader)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "learnalg", *line]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_bench_measures_a_case(run):
    code, out, _ = run("bench", "--rounds", "1", "--cases", "fast: add", "--json")
    (speed,) = json.loads(out)["speeds"]
    assert code == 0 and speed["name"].startswith("fast: add")
    assert all(speed[name] > 0 for name in ("data", "training", "decoding", "flops", "share", "gain"))


def test_a_keyboard_interrupt_is_130(run, monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("learnalg.cli.list.run", interrupted)
    assert run("list") == (130, "", "")
