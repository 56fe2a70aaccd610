"""Every reader of a file gets what is nearly right: it takes it, or refuses it by a named error."""

import json
import shutil
import struct
import tomllib

import numpy as np
import pytest
import safetensors.torch
import torch

from learnalg.cli.matrices import read_matrices
from learnalg.config.presets import PRESETS
from learnalg.evaluation.result import Result
from learnalg.files import CONTENT, load_tensors, results_folder, save_tensors
from learnalg.models.weights import build_model, read_model
from learnalg.pairs import Block, read_pairs, write_pairs
from learnalg.problem import Problem, check_lengths
from learnalg.recipes import read_recipe, recipes
from learnalg.serve.runs import Runs
from learnalg.training.checkpoint import load_checkpoint
from learnalg.training.run import Run
from learnalg.zoo.index import ZOO
from learnalg.zoo.lawt import read_lawt

NUM = 60  # of each kind, in CI


@pytest.fixture
def attempts(fuzz, refuses, tmp_path, request):
    """attempts(make, read): reads what `make(rng)` gives many times; some are refused, and some may not be."""

    def go(make, read, num=NUM):
        rng = fuzz.rng(request.node.name)
        refused = sum(refuses(read, make(rng)) for _ in range(fuzz.rounds(num)))
        assert refused > 0

    return go


@pytest.mark.parametrize("how", ["json", "bytes"])
def test_results(attempts, fuzz, tmp_path, how):
    path, content = tmp_path / "result.json", (results_folder() / "laplace-5.json").read_bytes()

    def make(rng):
        path.write_bytes(fuzz.bytes(rng, content) if how == "bytes" else fuzz.text(fuzz.json(rng, json.loads(content))))
        return path

    attempts(make, Result.read)


@pytest.fixture
def copied(tiny_run, tmp_path):
    return shutil.copytree(tiny_run.folder, tmp_path / "runs" / "run")


def read_run(folder):
    """All that reads a run's folder, but for its tensors."""
    run = Run.open(folder)
    check_lengths(Problem(run.config.data), run.config)
    run.curve(), run.spent(), run.sessions()
    run.forget_metrics_after(20)


@pytest.mark.parametrize("how", ["json", "bytes"])
@pytest.mark.parametrize("name", ["config.json", "metrics.jsonl", "provenance.json"])
def test_runs(attempts, fuzz, copied, name, how):
    path = copied / name
    content = path.read_bytes()
    values = [json.loads(line) for line in content.splitlines()] if name == "metrics.jsonl" else json.loads(content)

    def make(rng):
        if how == "bytes":
            path.write_bytes(fuzz.bytes(rng, content))
            return copied
        changed = fuzz.json(rng, values)
        lines = changed if name == "metrics.jsonl" and isinstance(changed, list) else [changed]
        path.write_bytes(b"".join(fuzz.text(line) + b"\n" for line in lines))
        return copied

    def read(folder):
        for run in Runs(folder.parent).find().values():  # what the page shows: damage is shown, not raised
            _ = run.result, run.state, run.share, run.evaluation, run.by_size(), run.accuracy("0.05"), run.sessions
        read_run(folder)

    attempts(make, read)


TOML = (
    *("true", "-1", "0", "1e400", "9" * 4000, "9" * 5000, '""', "[]", "{}", "[1, 2]", "nan", "inf", "1979-05-27"),
    *("07:32:00", '"x"', '["a", 1]', "0x" + "f" * 400, "[" * 500 + "]" * 500, "1.5", "'''\n'''", "{a = {a = 1}}"),
)


@pytest.mark.parametrize("how", ["values", "bytes"])
def test_recipes(attempts, fuzz, tmp_path, how):
    path, known = tmp_path / "recipe.toml", [path.read_text() for path in recipes().values()]

    def make(rng):
        text = rng.choice(known)
        if how == "bytes":
            path.write_bytes(fuzz.bytes(rng, text.encode()))
            return path
        lines = text.splitlines()
        at = rng.choice([k for k, line in enumerate(lines) if "=" in line])
        lines[at] = f"{lines[at].partition('=')[0]}= {rng.choice(TOML)}"
        path.write_text("\n".join(lines))
        return path

    attempts(make, read_recipe)
    assert {tomllib.loads(text)["preset"] for text in known} <= PRESETS.keys()


def rewritten(content, change):
    """A file of tensors with another header."""
    end = 8 + struct.unpack("<Q", content[:8])[0]
    header = change(content[8:end])
    return struct.pack("<Q", len(header)) + header + content[end:]


def without_checksum(header):
    values = json.loads(header)
    values["__metadata__"].pop(CONTENT)
    return values


@pytest.mark.parametrize("how", ["bytes", "header", "json"])
def test_models(attempts, fuzz, tiny_run, tmp_path, how):
    path, content = tmp_path / "model.safetensors", (tiny_run.folder / "model.safetensors").read_bytes()

    def make(rng):
        if how == "bytes":
            changed = fuzz.bytes(rng, content)
        elif how == "header":
            changed = rewritten(content, lambda header: fuzz.bytes(rng, header))
        else:
            changed = rewritten(content, lambda header: fuzz.text(fuzz.json(rng, without_checksum(header))))
        path.write_bytes(changed)
        return path

    attempts(make, lambda path: build_model(*read_model(path), "it"))


@pytest.mark.parametrize("version", ["learnalg-1", "learnalg-2"])
def test_configs_of_models(attempts, fuzz, tiny_run, tmp_path, version):
    """Right tensors beside a config that is nearly right, of this version and of the one before."""
    path = tmp_path / "model.safetensors"
    source = ZOO / "transpose-5.safetensors" if version == "learnalg-1" else tiny_run.folder / "model.safetensors"
    tensors, metadata = load_tensors(source)
    assert metadata["format"] == version
    config = json.loads(metadata["config"])

    def make(rng):
        changed = json.dumps(fuzz.json(rng, config))
        safetensors.torch.save_file(tensors, path, {"format": version, "config": changed})
        return path

    attempts(make, lambda path: build_model(*read_model(path), "it"))


def as_text(value):
    """What can stand in a file of tensors."""
    return str(value)[:4000].encode("utf-8", "replace").decode()


@pytest.mark.parametrize("how", ["bytes", "metadata"])
def test_checkpoints(attempts, fuzz, copied, how):
    path = sorted((copied / "checkpoints").glob("*.ckpt"))[-1]
    content, (tensors, metadata) = path.read_bytes(), load_tensors(path)

    def make(rng):
        if how == "bytes":
            path.write_bytes(fuzz.bytes(rng, content))
        else:
            said = fuzz.json(rng, metadata)
            said = {key: as_text(value) for key, value in said.items()} if isinstance(said, dict) else {}
            save_tensors(path, tensors, said)
        return copied / "checkpoints"

    attempts(make, load_checkpoint, num=20)


SHAPES = (
    *("(1000000000000,)", "(2, 3, -1)", "(99999999999999999999, 3)", "()", "(0, 5)", "2", "(True, 2)", "(2.0, 3)"),
    *("(1,) * 10", "('a',)", "(-1,)", "(3, -2)", "(2**70,)", "(4294967296, 4294967296)", "(2, 3)"),
)
KINDS = (
    *("O", "<f2", "S1000000000", "V8", "<M8[s]", "U3", "<f16", ">f8", "garbage", "<c16", "|b1", "S0", "V0"),
    *("(1000000,)f8", "[('a','<f8')]"),
)
HEADERS = (
    *(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}" for shape in SHAPES),
    *(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': (2, 3), }}" for kind in KINDS),
    *("{" * 400, "(" * 9000, "-" * 9000 + "1", "1+" * 4500 + "1", "{}", "[1]", "9" * 9000, "'a'\x00"),
    "__import__('os')",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 3), }",
    "{'descr': '<f8', 'fortran_order': 3, 'shape': (2, 3), }",
)


def test_headers_of_arrays(attempts, fuzz, tmp_path):
    path = tmp_path / "a.npy"

    def make(rng):
        version, header = rng.choice((1, 2, 3)), rng.choice(HEADERS).encode() + b"\n"
        size = struct.pack("<H" if version == 1 else "<I", len(header))
        path.write_bytes(b"\x93NUMPY" + bytes((version, 0)) + size + header + bytes(48))
        return str(path)

    attempts(make, read_matrices, num=300)


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.csv", "a.txt"])
@pytest.mark.filterwarnings("ignore:Reading:UserWarning", "ignore:invalid escape:DeprecationWarning")
def test_matrices(attempts, fuzz, tmp_path, name):
    path, matrix = tmp_path / name, np.arange(6.0).reshape(2, 3) / 7
    if name.endswith("npz"):
        np.savez_compressed(path, a=matrix, b=matrix)
    elif name.endswith("npy"):
        np.save(path, matrix)
    else:
        path.write_text("1,2,3\n4,5e3,-6\n\n1,2,3\n4,5,6\n")
    content = path.read_bytes()

    def make(rng):
        path.write_bytes(fuzz.bytes(rng, content))
        return str(path)

    attempts(make, read_matrices, num=2 * NUM)


PAIRS = [
    {"input": [[1.5, 2], [3, 4]], "output": [[1.5, 3], [2, 4]]},
    {"input": [[5, 6.25], [7, 8]], "output": [[5, 7], [6.25, 8]], "task": "transpose"},
    {"inputs": [[[1, 2]], [[3, 4]]], "output": [[4, 6]], "task": "add"},
]


@pytest.mark.parametrize("how", ["json", "bytes"])
def test_pairs_as_text(attempts, fuzz, tmp_path, how):
    path = tmp_path / "pairs.jsonl"

    def make(rng):
        rows = fuzz.json(rng, PAIRS) if how == "json" else PAIRS
        content = b"".join(fuzz.text(row) + b"\n" for row in (rows if isinstance(rows, list) else [rows]))
        path.write_bytes(fuzz.bytes(rng, content) if how == "bytes" else content)
        return path

    attempts(make, read_pairs)


def test_pairs_as_parquet(attempts, fuzz, tmp_path):
    pytest.importorskip("pyarrow")
    path, rng = tmp_path / "pairs.parquet", np.random.default_rng(0)
    matrices = rng.integers(-9, 9, (5, 2, 2)) / 4
    write_pairs(path, {}, [[Block("", (matrices,), matrices.swapaxes(1, 2), np.arange(5))]])
    content = path.read_bytes()

    def make(rng):
        path.write_bytes(fuzz.bytes(rng, content))
        return path

    attempts(make, read_pairs)


def test_more_numbers_than_are_read(tmp_path, monkeypatch):
    """What is packed is counted before it is unpacked."""
    pytest.importorskip("pyarrow")
    path, zeros = tmp_path / "pairs.parquet", np.zeros((1000, 10, 10))
    write_pairs(path, {}, [[Block("", (zeros,), zeros, np.arange(1000))]])
    assert path.stat().st_size < 100_000 and read_pairs(path)
    monkeypatch.setattr("learnalg.pairs.parquet.MOST_NUMBERS", 150_000)
    with pytest.raises(ValueError, match=r"pairs.parquet has 200,000 numbers: at most 150,000"):
        read_pairs(path)


def test_checkpoints_of_the_published_code(attempts, fuzz, tmp_path):
    path, content = tmp_path / "a.pth", next(ZOO.parents[2].glob("tests/zoo/lawt/*.pth"), None)
    if content is None:
        content = tmp_path / "made.pth"
        torch.save({"params": {}, "encoder": {"a": torch.ones(2)}, "decoder": {}}, content)
    known = content.read_bytes()

    def make(rng):
        path.write_bytes(fuzz.bytes(rng, known))
        return path

    attempts(make, read_lawt)
