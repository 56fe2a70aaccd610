"""The plugins in examples/: the command in the first lines of each trains, shortened, and its model is evaluated."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from learnalg.cli import main
from learnalg.config import DataConfig, ModelConfig
from learnalg.models import MODELS, sides
from learnalg.problem import Problem
from learnalg.problems import TASKS
from learnalg.tokens import ENCODINGS
from learnalg.tokens.tokenizer import PAD
from learnalg.training.optim import OPTIMIZERS, SCHEDULES, Progress

EXAMPLES = Path(__file__).parents[1] / "examples"
PLUGINS = [path for path in sorted(EXAMPLES.glob("*.py")) if path.stem != "demo"]
SHORT = """--encoder-layers 1 --encoder-loops 1 --dim-model 16 --examples 320 --batch-size 32 --eval-num 10
    --final-num 20 --threads 1 --workers 0 --device cpu --precision fp32 --quiet --out run"""


@pytest.fixture
def plugin():
    """plugin('sgd') runs examples/sgd.py. The registries are as before after the test."""
    registries = (TASKS, ENCODINGS, MODELS, OPTIMIZERS, SCHEDULES)
    known = [dict(registry) for registry in registries]

    def run(name):
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield run
    for registry, entries in zip(registries, known, strict=True):
        registry.clear()
        registry.update(entries)


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("path", PLUGINS, ids=lambda path: path.stem)
def test_a_plugin_trains_and_is_evaluated(path, tmp_path, monkeypatch, capsys):
    command = re.search(r"^learnalg train (.*(?:\n    .*)*)", path.read_text(), re.MULTILINE)[1].split()
    assert command[:2] == ["--plugin", f"examples/{path.name}"]
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--plugin", str(path), *command[2:], *SHORT.split()]) == 0
    test = ["evaluate", "run", "--plugin", str(path), "--num", "20", "--json", "--constrained"]
    assert (main(test), capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize("path", PLUGINS, ids=lambda path: path.stem)
def test_a_plugin_is_short_and_shown_in_the_manual(path):
    page = (EXAMPLES.parent / "docs/extending.md").read_text()
    assert path.read_text() in page, "run: make docs"
    assert path.read_text().count("\n") < 80


def test_the_encoding_errs_by_half_a_percent_at_most(plugin):
    encoding = plugin("logarithmic").ENCODINGS["log"]
    values = np.random.default_rng(0).choice([-1, 1], 1000) * np.geomspace(1.01e-3, 9.9e4, 1000)
    decoded, is_number = encoding.decode(encoding.encode(values))
    assert is_number.all() and np.abs(decoded / values - 1).max() < 0.0051
    assert len(set(encoding.tokens)) == len(encoding.tokens) == len(encoding.token_values)
    assert encoding.decode(encoding.encode(np.array([0.0, 1e-9])))[0].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="too large"):
        encoding.encode(np.array(1e6))


def test_the_architecture_steps_as_it_trains_and_ignores_padding(plugin):
    pooled = plugin("pooled").Pooled
    problem = Problem(DataConfig(task="add", dim="2"))
    torch.manual_seed(0)
    config = ModelConfig(dim_model=(16,), positions=("grid",), relations="none", products=0)
    model = pooled(config, *sides(problem)).eval()
    source, target = (torch.randint(20, 200, (3, length)) for length in problem.lengths)
    logits = model(source, target)
    state = model.begin(source, target.shape[1])
    stepped = torch.stack([model.step(tokens, state) for tokens in target.T], dim=1)
    torch.testing.assert_close(stepped, logits, atol=1e-5, rtol=1e-5)
    longer = torch.nn.functional.pad(source, (0, 4), value=PAD)
    torch.testing.assert_close(model(longer, target), logits, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="no attention"):
        pooled(ModelConfig(products=32), *sides(problem))


def test_the_schedule_halves(plugin):
    halving = plugin("halving").halving
    assert [halving(Progress(step, 100, 10, 1e-3), every=20) for step in (10, 29, 30, 50)] == [1, 1, 0.5, 0.25]
