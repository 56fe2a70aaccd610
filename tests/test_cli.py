"""The command line: the lines of the README work, every setting is a flag, bad input gets one clear line."""

import dataclasses
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import time
import typing
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from learnalg.cli import COMMANDS, main
from learnalg.config import RunConfig, replace_fields
from learnalg.tokens import ENCODINGS
from learnalg.problems.ensembles import ENSEMBLES
from learnalg.models import MODELS, build, sides
from learnalg.models.embeddings import EMBEDDINGS, POSITIONS
from learnalg.config.presets import PRESETS
from learnalg.training.run import Run, load_weights, save_model
from learnalg.problems import COTRAINING, TASKS

SIZES = "--encoder-layers 1 --dim-model 16 --heads 2 --examples 640 --batch-size 64 --eval-num 10 --final-num 20"
SMALL = [*SIZES.split(), "--threads", "1", "--workers", "0", "--device", "cpu", "--precision", "fp32"]

PARTS = typing.get_type_hints(RunConfig).values()


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """run('list', 'tasks'): exit code, standard output and standard error, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def flags_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z0-9-]+", text))


def names_in(lines):
    return [line.split()[0] for line in lines.splitlines()]


# Help.


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_the_overview_names_every_command(run, arguments):
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    for name, summary in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("list", "--plugin"),
        ("train", "--task --dim --out --init --quiet --preset --config --plugin"),
        ("resume", "--checkpoint --examples --quiet --plugin"),
        (
            "evaluate",
            "--num --seed --tolerances --norms --ensemble --amplitude --dim --beam --constrained --json --save",
        ),
        ("analyse", "--num --seed --tolerance --out --ensemble --amplitude --dim --beam --constrained --json"),
        ("verify", "--num"),
        ("solve", "--task --json --plugin"),
        ("reproduce", "--scale --cells --list --dry-run --show --quiet --plugin"),
        ("report", "--out --scale"),
        ("bench", "--rounds --cases --precision --json"),
        ("encode", "--encoding"),
        ("decode", "--encoding"),
        ("params", "--encoder-layers --input-encoding --output-encoding --json --preset"),
    ],
)
def test_every_command_explains_its_flags(run, command, flags):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert f"usage: learnalg {command}" in out
    assert set(flags.split()) <= flags_in(out)


def test_help_was_tested_for_every_command():
    (marks,) = (m for m in test_every_command_explains_its_flags.pytestmark if m.name == "parametrize")
    assert [case[0] for case in marks.args[1]] == list(COMMANDS)


def test_every_config_field_is_a_flag_of_train_with_its_help(run):
    _, out, _ = run("train", "--help")
    fields = [field.name for part in PARTS for field in dataclasses.fields(part)]
    assert len(fields) > 50
    assert {f"--{name.replace('_', '-')}" for name in fields} <= flags_in(out)
    assert "share of activations dropped in training" in out  # the field's comment


def test_field_names_are_unique_so_that_flags_need_no_prefix():
    fields = [field.name for part in PARTS for field in dataclasses.fields(part)]
    assert len(fields) == len(set(fields))


def test_the_overview_and_the_package_load_neither_torch_nor_tyro():
    code = (
        "import sys, learnalg, learnalg.cli\n"
        "assert learnalg.cli.main(['--help']) == 0\n"
        "print(*{'torch', 'tyro', 'numpy', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


def test_help_comes_within_half_a_second(learnalg_process):
    def seconds():
        started = time.perf_counter()
        assert learnalg_process("--help").returncode == 0
        return time.perf_counter() - started

    assert min(seconds() for _ in range(3)) < 0.5


def test_learnalg_is_an_installed_command():
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="learnalg")
    assert script.load() is main


# Lists, numbers, counts.


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("tasks", [*TASKS, COTRAINING]),
        ("encodings", list(ENCODINGS)),
        ("ensembles", list(ENSEMBLES)),
        ("architectures", list(MODELS)),
        ("embeddings", list(EMBEDDINGS)),
        ("positions", list(POSITIONS)),
        ("presets", list(PRESETS)),
    ],
)
def test_lists_name_all_with_a_summary(run, kind, names):
    code, out, _ = run("list", kind)
    assert code == 0
    assert names_in(out) == names
    assert all(len(line.split()) > 1 for line in out.splitlines())


def test_list_alone_lists_everything(run):
    _, out, _ = run("list")
    assert {"tasks:", "presets:", *TASKS, *ENCODINGS, *ENSEMBLES} <= set(names_in(out))


def test_encode_prints_a_number_a_line(run):
    assert run("encode", "--encoding", "p10", "3.14", "-6.02e23") == (0, "+ 3 1 4 E-2\n- 6 0 2 E21\n", "")


@pytest.mark.parametrize("encoding", [*ENCODINGS, "positional:base=10,digits=4,exponents=-20:20"])
def test_decode_is_the_way_back(run, encoding):
    numbers = ["3.1", "-620", "0", "0.00025"]
    code, out, _ = run("encode", f"--encoding={encoding}", *numbers)
    assert code == 0 and len(out.splitlines()) == 4
    assert run("decode", "--encoding", encoding, *out.split()) == (0, "".join(f"{n}\n" for n in numbers), "")


def test_encode_and_decode_read_standard_input(learnalg_process):
    encoded = learnalg_process("encode", "--encoding", "p1000", input="3.14\n-6.02e23\n")
    assert (encoded.returncode, encoded.stdout) == (0, "+ 314 E-2\n- 602 E21\n")
    decoded = learnalg_process("decode", "--encoding", "p1000", input=encoded.stdout)
    assert (decoded.returncode, decoded.stdout) == (0, "3.14\n-6.02e+23\n")


PARAMS = "--encoder-layers 6 --decoder-layers 1 --dim-model 512 --input-encoding fp15 --output-encoding p1000"


def test_params_counts_the_papers_model(run):
    code, out, _ = run("params", *PARAMS.split())
    assert code == 0
    assert out.splitlines()[-1].split() == ["total", "39,186,127"]
    parts = [int(line.split()[-1].replace(",", "")) for line in out.splitlines()]
    assert sum(parts[:-1]) == parts[-1]


def test_params_as_json(run):
    _, out, _ = run("params", *PARAMS.split(), "--json")
    counts = json.loads(out)
    assert counts["total"] == 39_186_127 == sum(count for part, count in counts.items() if part != "total")


# Train, resume, evaluate, solve.


def test_a_session_of_processes(tmp_path, learnalg_process):
    def process(line, *more):
        done = learnalg_process(*line.split(), *more, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    train = "train --task eigenvalues --dim 2 --input-encoding fp15 --output-encoding p1000 --seed 1 --out runs/ev2"
    out = process(train, *SMALL)
    assert "accuracy in %" in out and "640 examples" in out
    run = Run.open(tmp_path / "runs" / "ev2")
    data, options = run.config.data, run.config.train
    assert (data.task, data.dim, data.input_encoding, data.output_encoding) == ("eigenvalues", "2", "fp15", "p1000")
    assert (options.examples, options.seed) == (640, 1)
    session = json.loads((run.folder / "provenance.json").read_text())[0]
    assert session["command"].startswith(f"learnalg {train}")

    evaluate = "evaluate runs/ev2 --num 100 --seed 7 --ensemble laplace --tolerances 0.05 0.02 0.01 0.005 --json"
    report = json.loads(process(evaluate))
    assert (report["task"], report["num"], report["seed"]) == ("eigenvalues", 100, 7)
    assert 0 <= report["well_formed"] <= 1
    assert report["accuracy"].keys() == {"l1", "l2", "linf"}
    for shares in report["accuracy"].values():
        assert shares.keys() == {"0.05", "0.02", "0.01", "0.005"}
        assert all(0 <= share <= 1 for share in shares.values())
    assert report["data"]["ensemble"] == ["laplace"]

    np.save(tmp_path / "matrix.npy", [[2.0, 1.0], [1.0, 2.0]])
    out = process("solve runs/ev2 matrix.npy")
    assert "NumPy says" in out and re.search(r"error [\d.]+ % \(L1\)", out)


def test_every_kind_of_flag_reaches_the_config(run, tmp_path):
    flags = "--task add --dim 1 --ensemble laplace gaussian --ensemble-weights 1 3 --amplitude 1 5 --no-bias --qk-norm "
    flags += "--norm pre --dropout 0.25 --optimizer adamw --schedule inverse-sqrt --warmup-steps 7 --examples 64"
    code, _, err = run("train", "--preset", "paper", *SMALL, *flags.split(), "--quiet", "--out", "run")
    assert (code, err) == (0, "")
    small = {
        "encoder_layers": 1,
        "dim_model": 16,
        "heads": 2,
        "eval_num": 10,
        "final_num": 20,
        "workers": 0,
        "threads": 1,
    }
    assert Run.open(tmp_path / "run").config == replace_fields(
        PRESETS["paper"],
        **small,
        device="cpu",
        precision="fp32",
        task="add",
        dim="1",
        ensemble=("laplace", "gaussian"),
        ensemble_weights=(1.0, 3.0),
        amplitude=(1.0, 5.0),
        bias=False,
        qk_norm=True,
        norm="pre",
        dropout=0.25,
        optimizer="adamw",
        schedule="inverse-sqrt",
        warmup_steps=7,
        examples=64,
    )


def test_flags_go_before_the_file_and_the_file_before_the_preset(run, tmp_path):
    (tmp_path / "my.toml").write_text('[data]\ntask = "add"\ndim = "2"\n[optim]\nbeta1 = 0.5\n[train]\nexamples = 9\n')
    run("train", "--config", "my.toml", *SMALL, "--dim", "1", "--examples", "64", "--quiet", "--out", "run")
    config = Run.open(tmp_path / "run").config
    assert (config.data.task, config.data.dim, config.train.examples) == ("add", "1", 64)
    assert config.optim.beta1 == 0.5
    assert config.optim.optimizer == PRESETS["fast"].optim.optimizer


def test_a_run_has_a_folder_without_being_told(run, tmp_path):
    code, out, _ = run("train", "--task", "transpose", "--dim", "1", *SMALL, "--seed", "3")
    assert code == 0
    assert (tmp_path / "runs" / "transpose-1-seed-3" / "model.safetensors").is_file()
    assert "640 examples: within 5%: " in out  # progress
    assert "weights in runs/transpose-1-seed-3/model.safetensors" in out


def test_quiet_says_nothing(run):
    assert run("train", "--task", "transpose", "--dim", "1", *SMALL, "--quiet", "--out", "run") == (0, "", "")


def test_resume_of_a_finished_run_says_so(run, tiny_run):
    before = contents(tiny_run.folder)
    assert run("resume", tiny_run.folder) == (0, f"{tiny_run.folder} has finished already\n", "")
    assert contents(tiny_run.folder) == before


def test_evaluate_prints_a_table(run, tiny_run):
    code, out, err = run("evaluate", tiny_run.folder, "--num", "100", "--tolerances", "0.1", "0", "--norms", "l1", "l2")
    assert (code, err) == (0, "")
    for word in (
        "transpose, dim 1-2, iid-uniform",
        "100 examples, seed 0",
        "10 %",
        "exact",
        "l2",
        "95 %",
        "2x2",
        "well-formed",
    ):
        assert word in out
    assert "linf" not in out


def test_evaluate_tests_on_what_the_flags_say(run, tiny_run):
    flags = "--dim 2 --ensemble gaussian laplace --ensemble-weights 1 2 --amplitude 1 5 --sigma-factor 0.5 --noise 0.1"
    _, out, _ = run("evaluate", tiny_run.folder, "--num", "20", "--json", "--spread", "0.3", *flags.split())
    report = json.loads(out)
    assert report["data"] == {
        "dim": "2",
        "ensemble": ["gaussian", "laplace"],
        "amplitude": [1.0, 5.0],
        "sigma_factor": 0.5,
        "spread": 0.3,
        "noise": 0.1,
    }
    assert report["by_dimension"].keys() == {"2x2"}


@pytest.mark.parametrize("flags", [["--constrained"], ["--beam", "3", "--constrained"]])
def test_constrained_decoding_is_always_well_formed(run, tiny_run, flags):
    _, out, _ = run("evaluate", tiny_run.folder, "--num", "50", "--json", "--sigma-factor", "100", *flags)
    assert json.loads(out)["well_formed"] == 1.0


def test_evaluate_may_test_on_what_the_curriculum_could_not_have(run, tiny_config, tmp_path):
    config = tiny_config(easy_share=0.5, easy_ensemble=("positive",))  # these are square
    save_model(tmp_path / "model.safetensors", config, build(config.model, *sides(config.data)))
    code, out, err = run("evaluate", "model.safetensors", "--dim", "1x2", "--num", 5, "--json")
    assert (code, err) == (0, "")
    assert list(json.loads(out)["by_dimension"]) == ["1x2"]


def test_evaluate_saves_what_it_saw_and_nothing_twice(run, tiny_run, tmp_path):
    arguments = ["evaluate", tiny_run.folder, "--num", "30", "--json", "--save", "saved.npz"]
    report = json.loads(run(*arguments)[1])
    with np.load(tmp_path / "saved.npz", allow_pickle=False) as saved:
        assert saved["inputs"].shape == (30, 2, 2)
        assert (saved["error_l1"] < 0.05).mean() == pytest.approx(report["accuracy"]["l1"]["0.05"])
    before = contents(tmp_path)
    assert run(*arguments)[0] == 2
    assert contents(tmp_path) == before


def test_a_place_to_save_that_is_not_there_is_refused_before_the_test(run, tiny_run, monkeypatch):
    monkeypatch.setattr("learnalg.evaluation.evaluate.evaluate", lambda *a, **k: pytest.fail("the test was run first"))
    code, _, err = run("evaluate", tiny_run.folder, "--save", "missing/saved.npz")
    assert code == 2 and "missing" in err and ".part" not in err


def test_solve_reads_arrays_and_text(run, tiny_run, tmp_path):
    np.save(tmp_path / "matrix.npy", [[1.0, -2.0], [3.0, 4.0]])
    (tmp_path / "matrix.csv").write_text("1,-2\n3,4\n")
    (tmp_path / "matrix.txt").write_text("1 -2\n3 4\n")
    answers = [
        json.loads(run("solve", tiny_run.folder, f"matrix.{kind}", "--json")[1]) for kind in ("npy", "csv", "txt")
    ]
    for answer in answers:
        assert answer["task"] == "transpose"
        assert answer["solution"] == [[1.0, 3.0], [-2.0, 4.0]]
        assert answer["prediction"] == answers[0]["prediction"]
    assert np.abs(np.array(answers[0]["prediction"]) - answers[0]["solution"]).sum() / 10 == pytest.approx(
        answers[0]["error"]
    )


# What is refused.

REFUSED = {
    "nonsense": "unknown command 'nonsense'",
    "list nonsense": "unknown list 'nonsense'",
    "train --task nonsense": "unknown task 'nonsense'",
    "train --task cotraining": "cotraining needs two or more",
    "train --task cotraining --subset TX": "TX",
    "train --task-options order=sideways": "sideways",
    "train --task-options nonsense=1": "has no option 'nonsense'",
    "train --ensemble nonsense": "unknown ensemble nonsense",
    "train --ensemble uniform --ensemble-weights 1 2": "ensemble weights",
    "train --input-encoding nonsense": "unknown encoding 'nonsense'",
    "train --output-encoding positional:base=1": "base=1",
    "train --architecture nonsense": "unknown architecture 'nonsense'",
    "train --positions nonsense": "unknown positions 'nonsense'",
    "train --input-embedding nonsense": "unknown input embedding 'nonsense'",
    "train --preset nonsense": "unknown preset 'nonsense'",
    "train --optimizer sgd": "'sgd'",
    "train --device tpu": "unknown device 'tpu'",
    "train --nonsense 3": "--nonsense",
    "train --dim 0": "dimensions '0'",
    "train --dim 7-5": "dimensions '7-5'",
    "train --dim 5y": "dimensions '5y'",
    "train --dim 101": "dimensions '101'",
    "train --task inverse --dim 3x4": "needs square matrices: dim '3x4'",
    "train --task svd --dim 60": "a dimension of 121",
    "train --ensemble positive --task svd --dim 2x3": "'positive' draws square matrices",
    "train --heads 3": "3 heads do not divide 128",
    "train --decoder-dim 30": "do not divide 30",
    "train --dim 12 --input-encoding p10": "more than max_positions 512",
    "train --dim 5 --max-positions 16": "more than max_positions 16",
    "train --batch-size 0": "batch_size 0",
    "train --examples many": "'many'",
    "train --learning-rate 0": "learning_rate 0",
    "train --learning-rate nan": "learning_rate nan",
    "train --dropout 1": "dropout 1",
    "train --stop-accuracy 2": "stop_accuracy 2",
    "train --easy-share 2": "easy_share 2",
    "train --easy-share 0.5": "easy_dim, easy_ensemble or easy_spread",
    "train --easy-share 0.5 --easy-dim 30": "more than max_positions 512",
    "train --repeated-share -1": "repeated_share -1",
    "train --pool 0": "pool 0",
    "train --number-loss -1": "number_loss -1",
    "train --output-embedding number --no-tied": "output embedding 'number'",
    "train --amplitude 1e12": "too large for fp15",
    "train --amplitude 1e12 --no-prior-bias": "too large for fp15",
    "train --init missing": "missing",
    "train --config missing.toml": "missing.toml",
    "train --config words.txt": "words.txt",
    "train --plugin missing.py": "missing.py",
    "train --dim": "--dim",
    "train --out words.txt": "words.txt exists already",
    "train --out full": "full exists already",
    "resume": "required",
    "resume missing": "missing is not a run's folder",
    "resume words.txt": "words.txt is not a run's folder",
    "resume full": "full is not a run's folder",
    "resume RUN --nonsense": "--nonsense",
    "resume RUN --examples 500": "has finished: go on from its weights with --init",
    "evaluate missing": "missing",
    "evaluate full": "full/model.safetensors",
    "evaluate words.txt": "words.txt is no safetensors file",
    "evaluate RUN --num 0": "num 0",
    "evaluate RUN --tolerances -1": "tolerances",
    "evaluate RUN --norms l3": "unknown norm l3",
    "evaluate RUN --beam 0": "beam width 0",
    "evaluate RUN --ensemble nonsense": "unknown ensemble nonsense",
    "evaluate RUN --dim 2x": "dimensions '2x'",
    "evaluate RUN --dim 30": "more than max_positions 512",
    "evaluate RUN --amplitude 1e12": "too large for fp15",
    "evaluate RUN --save words.txt": "words.txt exists already",
    "analyse missing": "missing",
    "analyse RUN --num 0": "num 0",
    "analyse RUN --tolerance 0": "tolerance 0",
    "analyse RUN --ensemble nonsense": "unknown ensemble nonsense",
    "analyse RUN --out full": "full exists already",
    "analyse RUN --out words.txt": "words.txt exists already",
    "solve missing two.npy": "missing",
    "solve RUN": "takes 1 matrices, not 0",
    "solve RUN missing.npy": "missing.npy: no such file",
    "solve RUN full": "full: no such file",
    "solve RUN words.txt": "words.txt holds no matrix",
    "solve RUN empty.txt": "empty.txt holds no matrix",
    "solve RUN ragged.csv": "ragged.csv holds no matrix",
    "solve RUN words.npy": "words.npy holds no matrix",
    "solve RUN empty.npy": "empty.npy holds no matrix",
    "solve RUN object.npy": "object.npy holds no matrix",
    "solve RUN zip.npy": "zip.npy holds no matrix",
    "solve RUN archive.npy": "archive.npy holds no matrix",
    "solve RUN complex.npy": "real numbers",
    "solve RUN three.npy": "3x3 matrix, but this model was trained on dim 1-2",
    "solve RUN vector.npy": "shape (2,)",
    "solve RUN nan.npy": "NaN",
    "solve RUN huge.npy": "too large for fp15",
    "solve RUN batch.npy": "one problem at a time",
    "solve RUN two.npy two.npy": "takes 1 matrices, not 2",
    "solve RUN two.npy --task add": "transpose",
    "encode --encoding nonsense 3": "unknown encoding 'nonsense'",
    "encode three": "'three'",
    "encode --nonsense 3": "--nonsense",
    "encode --encoding p10 1e300": "too large",
    "decode --encoding p10 + 3": "a number has 5",
    "decode --encoding p10 + 3 1 X E2": "'X' is no word",
    "decode --encoding p10 + + + + +": "is not a number",
    "params --heads 7": "7 heads do not divide 512",
    "params --input-encoding nonsense": "unknown encoding 'nonsense'",
}


@pytest.fixture
def crowded(tmp_path):
    """A folder with files that are no matrices, and things that must not be touched."""
    (tmp_path / "words.txt").write_text("no numbers\nhere\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    (tmp_path / "words.npy").write_text("no numbers here")
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "zip.npy").write_bytes(b"PK\x03\x04 and no archive")
    np.savez(tmp_path / "archive.npz", a=np.eye(2))
    (tmp_path / "archive.npz").rename(tmp_path / "archive.npy")
    np.save(tmp_path / "object.npy", np.array([[None]]), allow_pickle=True)
    arrays = {
        "complex": [[1j]],
        "two": np.eye(2),
        "three": np.eye(3),
        "vector": [1.0, 2.0],
        "nan": [[np.nan]],
        "huge": [[1e12]],
        "batch": np.ones((2, 1, 1)),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    return tmp_path


@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")  # a warning is a line too
@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_gets_one_line_and_leaves_nothing_behind(run, tiny_run, crowded, line):
    before = contents(crowded), contents(tiny_run.folder)
    small = ["--final-num", "1", "--examples", "1"] if line.startswith("train") and "--examples" not in line else []
    code, out, err = run(*line.replace("RUN", str(tiny_run.folder)).split(), *small)
    assert (code, out) == (2, "")
    assert err.startswith("learnalg: error: ") and err.endswith("\n") and err.count("\n") == 1
    assert REFUSED[line] in err
    assert (contents(crowded), contents(tiny_run.folder)) == before


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])  # tyro draws its errors in either
def test_bad_input_in_a_process(tmp_path, learnalg_process, encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = learnalg_process("train", "--heads", "3", "--out", "run", cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"learnalg: error: encoder: 3 heads do not divide 128 dimensions .*\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_names_in_errors_are_not_broken(run):
    long = "a-name-longer-than-a-terminal-is-wide-" * 4 + "end"
    assert long in run("train", "--task", long)[2]


def test_a_run_is_not_trained_over(run, tiny_run):
    before = contents(tiny_run.folder)
    code, _, err = run("train", "--task", "transpose", "--dim", "1", *SMALL, "--out", tiny_run.folder)
    assert code == 2
    assert f"{tiny_run.folder} exists already: choose another --out, or `learnalg resume" in err
    assert contents(tiny_run.folder) == before


def test_a_full_disk_is_one_line(run, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    code, _, err = run("train", "--task", "transpose", "--dim", "1", *SMALL, "--out", "run")
    assert code == 2
    assert err.startswith("learnalg: error: the disk of run is too full") and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_later_is_one_line(run, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = run("train", "--task", "transpose", "--dim", "1", *SMALL, "--out", "run")
    assert code == 2
    assert err == "learnalg: error: [Errno 28] No space left on device\n"


def test_a_keyboard_interrupt_is_130(run, monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("learnalg.cli.commands.run_list", interrupted)
    assert run("list") == (130, "", "")


def test_a_reader_that_leaves_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "learnalg", "list", "tasks"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_config_says_the_network_of_what_it_starts_from_or_is_refused(tmp_path, capsys):
    """A network in the file is never passed over: it must be the origin's, or, next to its encoder alone, is taken."""
    text = '[data]\ntask = "transpose"\ndim = "5"\n[model]\n{}\n[train]\nexamples = 1\nbatch_size = 1\neval_num = 1\n'
    rest = "final_num = 1\nthreads = 1\n"
    (tmp_path / "same.toml").write_text(text.format("encoder_layers = 1") + rest)
    (tmp_path / "other.toml").write_text(text.format("decoder_layers = 3") + rest)
    (tmp_path / "new.toml").write_text(text.format("decoder_layers = 3") + rest + 'init_part = "encoder"\n')

    def train(name):
        out = tmp_path / name
        code = main(["train", "--config", f"{out}.toml", "--init", "transpose-5", "--out", str(out), "--quiet"])
        return code, out

    code, out = train("same")
    assert code == 0 and load_weights(out)[0].model == load_weights(Path("transpose-5"))[0].model
    code, out = train("other")
    assert code == 2 and not out.exists() and "decoder_layers = 3 where transpose-5" in capsys.readouterr().err
    code, out = train("new")
    assert code == 0 and load_weights(out)[0].model.decoder_layers == 3
    assert load_weights(out)[0].model.encoder_layers == load_weights(Path("transpose-5"))[0].model.encoder_layers


def test_next_to_an_encoder_alone_numbers_may_be_written_otherwise(tmp_path):
    flags = ["--task", "transpose", "--dim", "5", "--output-encoding", "p10", "--examples", "1", "--batch-size", "1"]
    config = tmp_path / "part.toml"
    config.write_text('[data]\noutput_encoding = "p10"\n[train]\ninit_part = "encoder"\n')
    train = ["train", "--config", str(config), "--init", "transpose-5", "--out", str(tmp_path / "run"), "--quiet"]
    assert main([*train, *flags, "--eval-num", "1", "--final-num", "1", "--threads", "1"]) == 0
    data, before = load_weights(tmp_path / "run")[0].data, load_weights(Path("transpose-5"))[0].data
    assert (data.input_encoding, data.output_encoding) == (before.input_encoding, "p10")
