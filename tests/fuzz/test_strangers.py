"""A file from a stranger costs little, whatever it asks for: docs/files.md states the limits."""

import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch

from learnalg.config import replace_fields
from learnalg.files import MOST_TEXT, load_tensors
from learnalg.models import build, sides
from learnalg.models.weights import save_model
from learnalg.problem import Problem
from learnalg.recipes import recipes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")

REFUSED = 200, 10  # megabytes and seconds that a refused file may take
TAKEN = 1_000, 60  # and one that is taken, of this size
HUGE = "floating:digits=6,exponents=-200:200"  # 722 million tokens


@pytest.fixture(scope="module")
def measure():
    """measure(folder, 'solve', ...): exit code, standard error, megabytes, seconds."""
    command = [sys.executable, str(Path(__file__).with_name("measuring.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def ask(folder, *arguments):
            process.stdin.write(json.dumps([str(folder), [str(argument) for argument in arguments]]) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


@pytest.fixture
def refused(measure, tmp_path):
    """refused('damaged', 'solve', ...): it is refused in one line with this text, and has cost little."""

    def check(complaint, *arguments):
        code, said, megabytes, seconds = measure(tmp_path, *arguments)
        assert code == 2, (code, said)
        assert complaint in said and said.count("\n") == 1 and len(said) < 3_000
        assert megabytes < REFUSED[0] and seconds < REFUSED[1], (megabytes, seconds)

    return check


@pytest.fixture
def model(tmp_path, tiny_run):
    """model(**fields): small weights beside a config that asks for more."""
    tensors, metadata = load_tensors(tiny_run.folder / "model.safetensors")
    np.save(tmp_path / "m.npy", np.eye(2))

    def make(**fields):
        config = json.loads(metadata["config"])
        for name, value in fields.items():
            table = next(table for table in config if name in config[table])
            config[table][name] = value
        path = tmp_path / "model.safetensors"
        safetensors.torch.save_file(tensors, path, metadata | {"config": json.dumps(config)})
        return path

    return make


@pytest.mark.parametrize("command", ["encode", "decode"])
def test_an_encoding_of_millions_of_tokens(refused, command):
    refused("an encoding of 721,800,003 tokens: at most 300,000", command, "--encoding", HUGE, "1")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"input_encoding": HUGE}, "an encoding of 721,800,003 tokens"),
        ({"output_encoding": HUGE}, "an encoding of 721,800,003 tokens"),
        ({"output_encoding": "balanced:digits=6"}, "an encoding of 2,000,200 tokens"),
        ({"max_positions": 10**9}, "max_positions 1000000000: at most 65,536"),
        ({"encoder_loops": 10**9}, "encoder_loops 1000000000: at most 100"),
        ({"decoder_loops": 101}, "decoder_loops 101: at most 100"),
        ({"encoder_layers": 10**9}, "more layers than there are tensors"),
        ({"dim_model": [2**24]}, "its config asks for more than there are"),
        ({"ffn_factor": 10**9}, "its config asks for more than there are"),
        ({"products": 10**9}, "its config asks for more than there are"),
        ({"heads": [256], "dim_model": [256]}, "256 heads: at most 128"),
        ({"ensemble": ["wigner"] * 10**6}, "1,000,000 ensembles at once: at most 100"),
        ({"task": "+".join(["transpose"] * 10**5)}, "100,000 tasks at once: at most 16"),
        ({"dim": "100", "max_positions": 2**16}, "attention over 30,003 tokens takes 13 GB an example, more than 8"),
        ({"amplitude": [10**400]}, "must be a tuple, each item a finite number"),
        ({"seed": 10**400}, "must be a whole number"),
        ({"dim": "9" * 10_000}, "4300"),
        ({"sigma_factor": 1e300}, "too large"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_config_in_a_small_file_of_weights(refused, model, fields, complaint):
    refused(complaint, "evaluate", model(**fields), "--num", 2)


def test_recipes(refused, tmp_path):
    text = recipes()["add-5"].read_text()
    for line, complaint in {
        f'input_encoding = "{HUGE}"': "an encoding of 721,800,003 tokens",
        "amplitude = " + "[" * 2000 + "]" * 2000: "recursion",
        "noise = 0x" + "f" * 100_000: "4300 digits",
    }.items():
        (tmp_path / "r.toml").write_text(text.replace("[data]", f"[data]\n{line}"))
        refused(complaint, "train", "--recipe", "r.toml", "--out", "new")


def sparse(path, size, start=b""):
    """A large file that takes no disk."""
    path.write_bytes(start)
    with path.open("r+b") as file:
        file.truncate(size)


@pytest.mark.parametrize(
    ("name", "size", "arguments"),
    [
        ("m.txt", 2**30, ("solve", "run", "m.txt")),
        ("m.npy", 2**33, ("solve", "run", "m.npy")),
        ("r.toml", 2**30, ("train", "--recipe", "r.toml")),
        ("run/config.json", 2**30, ("resume", "run")),
        ("run/result.json", 2**30, ("compare", "run", "eigenvalues-3")),
        ("run/metrics.jsonl", 2**33, ("compare", "run", "eigenvalues-3")),
        ("run/provenance.json", 2**30, ("resume", "run")),
        ("p.jsonl", 2**33, ("train", "--data", "p.jsonl")),
    ],
)
def test_large_files(refused, tmp_path, tiny_run, name, size, arguments):
    (tmp_path / "run").mkdir()
    for path in tiny_run.folder.iterdir():
        if path.is_file() and not (path.name == "result.json" and "provenance" in name):
            (tmp_path / "run" / path.name).write_bytes(path.read_bytes())
    sparse(tmp_path / name, size)
    refused("", *arguments)


def test_headers_that_lie(refused, tmp_path, tiny_run):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(64))
    refused("header says", "solve", tiny_run.folder, "a.npy")
    with zipfile.ZipFile(tmp_path / "b.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(3):
            archive.writestr(f"a{k}.npy", bytes(2**20))
    content = (tmp_path / "b.npz").read_bytes()
    (tmp_path / "b.npz").write_bytes(content.replace(struct.pack("<I", 2**20), struct.pack("<I", 2**30)))
    refused("more than 1 GB", "solve", tiny_run.folder, "b.npz")
    np.save(tmp_path / "m.npy", np.eye(2))
    for size in (MOST_TEXT + 1, 2**40, 2**63 + 1):
        sparse(tmp_path / "m.safetensors", 2**27, struct.pack("<Q", size))
        refused("header", "solve", "m.safetensors", "m.npy")


def test_json_in_json(refused, tmp_path, tiny_run):
    for text in ("[" * 10**6, '{"a":' * 10**6, "[" * 10**6 + "]" * 10**6):
        (tmp_path / "config.json").write_text(text)
        refused("damaged", "resume", ".")


@pytest.mark.parametrize(
    "fields",
    [
        {"input_encoding": "floating:digits=4,exponents=-8:7"},
        {"output_encoding": "floating:digits=4,exponents=-8:7", "output_bias": "token"},
        {"max_positions": 2**16},
        {"encoder_loops": 100, "decoder_loops": 100},
        {"ensemble": ("wigner", "laplace") * 50},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_the_most_that_is_taken(measure, tiny_config, tmp_path, fields):
    """A file that asks for as much as is allowed."""
    config = replace_fields(tiny_config(), **fields)
    save_model(tmp_path / "m.safetensors", config, build(config.model, *sides(Problem(config.data))))
    code, said, megabytes, seconds = measure(tmp_path, "evaluate", "m.safetensors", "--num", 2)
    assert code == 0, said
    assert megabytes < TAKEN[0] and seconds < TAKEN[1], (megabytes, seconds)
