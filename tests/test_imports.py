"""Imports point one way (decision 001): read from the source, without running it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import learnalg
from learnalg.problems import TASKS

SOURCE = Path(learnalg.__file__).parent
ORDER = (
    *("naming", "files", "problems", "splits", "tokens", "config", "recipes", "problem", "pairs", "data", "processes"),
    *("models", "evaluation", "certify", "zoo", "training", "linalg", "launch", "sweep", "serve", "reproduction"),
    "cli",
)
WITHOUT_TORCH = ORDER[: ORDER.index("data") + 1]
# Of the modules behind these, what answers without a model.
ALSO_WITHOUT_TORCH = ("learnalg.evaluation.result", "learnalg.zoo.index", "learnalg.zoo.catalog", "learnalg.zoo.cards")
ALSO_WITHOUT_TORCH += ("learnalg.certify.solution", "learnalg.certify.refine")
FILES = sorted(SOURCE.rglob("*.py"))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))


def imported_modules(source, path):
    """What a file at `path` (inside the package) imports of the package, as 'problems' or 'problems.eigen'; also
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
    """'data' for data.py, 'problems' for problems/eigen.py, '__init__' and '__main__' for themselves."""
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
        f"learnalg.{module} has no place yet: add it to ORDER in tests/test_imports.py, after all that it imports"
    )


@every_file
def test_imports_point_to_earlier_modules_only(path):
    inside = path.relative_to(SOURCE)
    if module_of(inside) in (*ORDER, "__init__", "__main__"):  # others fail above, with what to do
        wrong = violations(path.read_text(), inside)
        assert not wrong, f"{inside} imports {', '.join(wrong)}; the order is {', '.join(ORDER)}"


def imported_by(package):
    """Which modules the files of a package import of others, by file."""
    files = [path.relative_to(SOURCE) for path in FILES if module_of(path.relative_to(SOURCE)) == package]
    assert files
    return {
        file.stem: {name.partition(".")[0] for name in imported_modules((SOURCE / file).read_text(), file)} - {package}
        for file in files
    }


def test_models_know_no_task_and_no_encoding():
    """`sides` tells them what a problem's tokens stand for; `weights` builds a model for a saved config."""
    for file, imported in imported_by("models").items():
        if file not in ("sides", "weights"):
            assert not imported & {"problems", "tokens", "problem"}, f"models/{file}.py imports a task or an encoding"


def test_config_knows_names_only():
    for file, imported in imported_by("config").items():
        assert imported <= {"naming"}, f"config/{file}.py imports {imported}"


def strings_in(path):
    """String constants of a file, without docstrings."""
    tree = ast.parse(path.read_text())
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    blocks = [node.body[0] for node in ast.walk(tree) if isinstance(node, kinds) and node.body]
    docstrings = {id(block.value) for block in blocks if isinstance(block, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [node.value for node in constants if id(node) not in docstrings]


@every_file
def test_only_the_reproduction_names_tables_and_released_models(path):
    if module_of(path.relative_to(SOURCE)) == "reproduction":
        return
    # A model of all sizes has the name of its task, such as eigenvalues, which everybody may say.
    released = "|".join({model.stem for model in (SOURCE / "zoo").glob("*.safetensors")} - set(TASKS))
    named = re.compile(rf"(?<![\w-])({released}|(table|figure)-\d+)(?![\w-])")
    examples = re.compile("such as [\\w-]+")
    found = [text for text in strings_in(path) if named.search(examples.sub("", text))]
    assert not found


@pytest.mark.parametrize(
    ("path", "source", "wrong"),
    [
        ("data.py", "from learnalg.config import DataConfig", []),
        ("data.py", "import numpy as np\nfrom collections import deque", []),
        ("data.py", "from learnalg import __version__", []),
        ("problems/eigen.py", "from learnalg.problems.task import Task\nfrom .task import choice", []),
        ("problems/eigen.py", "from ..naming import find", []),
        ("__main__.py", "from learnalg.cli import main", []),
        ("data.py", "from learnalg.training.loop import train", ["training.loop"]),
        ("data.py", "import learnalg.training.loop as t", ["training.loop"]),
        ("data.py", "from learnalg import training, config", ["training"]),
        ("data.py", "def f():\n    from learnalg.models.layers import Attention", ["models.layers"]),
        ("data.py", "import learnalg", [""]),
        ("data.py", "from .training import loop", ["training"]),
        ("data.py", "from . import training", ["training"]),
        ("problems/eigen.py", "from ..tokens import ENCODINGS", ["tokens"]),
        ("problems/eigen.py", "from .. import data", ["data"]),
        ("training/loop.py", "from learnalg.cli import main", ["cli"]),
        ("linalg.py", "from learnalg.reproduction.tables import EXPERIMENTS", ["reproduction.tables"]),
        ("training/loop.py", "from learnalg.utils import norm", ["utils"]),
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
    modules += ALSO_WITHOUT_TORCH
    code = f"import importlib, sys\nfor m in {modules}: importlib.import_module(m)\nprint('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("False", "")
