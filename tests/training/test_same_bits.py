"""A run is a function of its config to the last bit, also with several threads and a large vocabulary.

The gradient of an index, `bias[places]`, adds in no fixed order once there are two threads and some 32,768 numbers to
add: runs of one config then differ. Other tests have one thread and a small vocabulary, and cannot see it.
"""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from learnalg.config import replace_fields, to_dict
from learnalg.config.presets import preset
from learnalg.evaluation.result import Result
from learnalg.problem import Problem
from learnalg.training.checkpoint import load_checkpoint
from learnalg.training.run import Run
from learnalg.zoo.load import RESULT_FILE

# The network that wins, small: loops, products, relations, a triangle to read.
CONFIG = replace_fields(
    preset("fast-2"),
    task="eigenvectors",
    dim="3",
    triangle=True,
    encoder_layers=1,
    dim_model=16,
    heads=2,
    products=4,
    batch_size=8,
    examples=12 * 8,
    warmup_steps=3,
    eval_every=100 * 8,
    eval_num=2,
    final_num=2,
    checkpoint_seconds=0,
    device="cpu",
    precision="fp32",
    threads=2,
)
PROGRAM = """
import json, sys
from pathlib import Path
import torch
from learnalg.config import from_dict
from learnalg.training.loop import resume, train
config, *folders = sys.argv[1:]
for folder in map(Path, folders):
    train(from_dict(json.loads(config)), folder) if config else resume(folder)
assert torch.get_num_threads() == 2
"""


def start(config, *folders):
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    environment["OMP_WAIT_POLICY"] = "PASSIVE"  # two threads on one busy core wait long for each other otherwise
    command = [sys.executable, "-c", PROGRAM, json.dumps(to_dict(config)) if config else "", *map(str, folders)]
    return subprocess.Popen(command, env=environment)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two undisturbed runs, and one that was killed and resumed."""
    folder = tmp_path_factory.mktemp("bits")
    straight = start(CONFIG, folder / "one", folder / "other")
    assert straight.wait(timeout=300) == 0

    process = start(CONFIG, folder / "killed")
    deadline = time.monotonic() + 120
    while not any(int(path.stem) >= 4 for path in (folder / "killed").glob("checkpoints/*.ckpt")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    process.kill()
    assert process.wait(timeout=60) == -signal.SIGKILL
    assert not (folder / "killed" / RESULT_FILE).exists()
    assert start(None, folder / "killed").wait(timeout=300) == 0
    return {name: Run.open(folder / name) for name in ("one", "other", "killed")}


def test_the_run_is_large_enough_to_see_it():
    problem = Problem(CONFIG.data)
    assert (CONFIG.data.input_encoding, CONFIG.data.output_encoding) == ("fp15", "p1000")
    assert problem.tokenizers[1].vocab_size == 1_231
    assert problem.lengths[1] * 1_231 > 32_768
    assert CONFIG.model.encoder_loops > 1 and CONFIG.model.products and CONFIG.model.relations != "none"


@pytest.mark.parametrize("name", ["other", "killed"])
def test_all_bits_are_the_same(runs, name):
    """Of the weights, of the moments of the optimiser, and of the file."""
    (expected, _), (found, _) = (load_checkpoint(run.checkpoints) for run in (runs["one"], runs[name]))
    assert expected.keys() == found.keys()
    assert any(key.startswith("optim.") for key in expected)
    assert [key for key in expected if not torch.equal(expected[key], found[key])] == []
    one, other = (Result.read(run.folder / RESULT_FILE) for run in (runs["one"], runs[name]))
    assert (one.sha256, one.report.loss, one.curve) == (other.sha256, other.report.loss, other.curve)
    assert other.provenance["sessions"] == (2 if name == "killed" else 1)
