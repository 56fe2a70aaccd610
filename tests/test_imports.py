"""Imports point down the way of the data only (design: layout), read from the source and not by running it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import learnalg

SOURCE = Path(learnalg.__file__).parent
ORDER = (
    *(
        "checks",
        "ensembles",
        "matrices",
        "tasks",
        "encodings",
        "tokenizer",
        "config",
        "presets",
        "recipes",
        "data",
        "curriculum",
    ),
    *("models", "decode", "loss", "optim", "budget", "checkpoint", "runs", "judge", "evaluate"),
    *("paper", "predictor", "measurements", "analysis", "flops", "processes"),
    *(
        "preflight",
        "progress",
        "step",
        "train",
        "bench",
        "api",
        "computed",
        "reproduce",
        "tables",
        "report",
        "zoo",
        "commands",
        "cli",
    ),
)
WITHOUT_TORCH = ORDER[: ORDER.index("data") + 1]
FILES = sorted(SOURCE.rglob("*.py"))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))


def imported_modules(source, path):
    """What a file at `path` (inside the package) imports of the package, as 'tasks' or 'tasks.eigen'; also
    inside functions and under TYPE_CHECKING."""
    package = ["learnalg", *Path(path).parent.parts]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            # `from learnalg import data` names a module; `from learnalg.data import Stream` need not.
            names = [f"learnalg.{alias.name}" for alias in node.names] if module == "learnalg" else [module]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            if top == "learnalg" and not rest.startswith("__"):  # __version__ and the like are no modules
                yield rest


def module_of(path):
    """'matrices' for matrices.py, 'tasks' for tasks/eigen.py, '__init__' and '__main__' for themselves."""
    return Path(path).parts[0].removesuffix(".py")


def violations(source, path):
    importer = module_of(path)
    if importer == "__main__":
        allowed = {"cli"}
    elif importer == "__init__":
        allowed = set(ORDER) - {"cli"}
    else:
        # Its own package counts as one module; a module alone does not import itself.
        allowed = {*ORDER[: ORDER.index(importer)], *([importer] if len(Path(path).parts) > 1 else [])}
    return [name for name in imported_modules(source, path) if name.partition(".")[0] not in allowed]


@every_file
def test_every_module_has_its_place_in_the_order(path):
    module = module_of(path.relative_to(SOURCE))
    assert module in (*ORDER, "__init__", "__main__"), (
        f"learnalg.{module} has no place yet: add it to ORDER in tests/test_imports.py, behind all that it imports"
    )


@every_file
def test_imports_point_to_earlier_modules_only(path):
    inside = path.relative_to(SOURCE)
    if module_of(inside) in (*ORDER, "__init__", "__main__"):  # others fail above, with what to do
        wrong = violations(path.read_text(), inside)
        assert not wrong, f"{inside} imports {', '.join(wrong)}; the order is {', '.join(ORDER)}"


def test_models_know_no_task_and_no_encoding():
    models = [path for path in FILES if module_of(path.relative_to(SOURCE)) == "models"]
    assert models
    for path in models:
        inside = path.relative_to(SOURCE)
        known = {name.partition(".")[0] for name in imported_modules(path.read_text(), inside)}
        assert not known & {"tasks", "encodings"}, f"{inside} imports a task or an encoding"


@pytest.mark.parametrize(
    ("path", "source", "wrong"),
    [
        ("data.py", "from learnalg.config import DataConfig", []),
        ("data.py", "import numpy as np\nfrom collections import deque", []),
        ("data.py", "from learnalg import __version__", []),
        ("tasks/eigen.py", "from learnalg.problems.task import Task\nfrom .task import choice", []),
        ("tasks/eigen.py", "from ..matrices import Dims", []),
        ("__main__.py", "from learnalg.cli import main", []),
        ("data.py", "from learnalg.training.loop import train", ["train"]),
        ("data.py", "import learnalg.training.loop as t", ["train"]),
        ("data.py", "from learnalg import train, config", ["train"]),
        ("data.py", "def f():\n    from learnalg.models.layers import Attention", ["models.layers"]),
        ("data.py", "import learnalg", [""]),
        ("data.py", "from .train import train", ["train"]),
        ("data.py", "from . import train", ["train"]),
        ("tasks/eigen.py", "from ..encodings import ENCODINGS", ["encodings"]),
        ("tasks/eigen.py", "from .. import data", ["data"]),
        ("train.py", "from learnalg.cli import main", ["cli"]),
        ("train.py", "from learnalg.utils import norm", ["utils"]),
        ("__init__.py", "from learnalg.cli import main", ["cli"]),
    ],
)
def test_the_reader_of_imports_sees_every_form(path, source, wrong):
    assert violations(source, path) == wrong


def test_the_data_side_runs_without_torch():
    modules = [
        ".".join(["learnalg", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
        for path in FILES
        if module_of(path.relative_to(SOURCE)) in WITHOUT_TORCH
    ]
    assert "learnalg.problems.eigen" in modules
    code = f"import importlib, sys\nfor m in {modules}: importlib.import_module(m)\nprint('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("False", "")
