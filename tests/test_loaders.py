"""Nothing unpickles, evaluates or fetches code: read from the source, without running it. A plugin is the stated
exception: a program of the user's own, named by a flag."""

import ast
import re
from pathlib import Path

import pytest

import learnalg

SOURCE = Path(learnalg.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
names = [str(path.relative_to(SOURCE)) for path in FILES]

# Modules that turn bytes into objects or code, or that ask another machine.
FORBIDDEN = re.compile(
    r"(c?[pP]ickle|pickletools|marshal|shelve|dbm|dill|cloudpickle|joblib|jsonpickle|yaml|code|codeop|runpy|imp"
    r"|urllib\.(request|error|robotparser)|http\.(client|server)|xmlrpc|ftplib|smtplib|telnetlib|requests|httpx|aiohttp"
    r"|huggingface_hub|torch\.(hub|package|jit|load)|xml)(\.|$)"
)
ALLOWED = {"zoo/lawt.py": {"pickle", "pickletools"}}  # to look at what a pickle names; torch's safe loader reads it
TALKING = {"socket": {"serve/server.py", "launch/worker.py"}, "subprocess": None}  # this machine's own; None: launch
CALLED = {"eval", "exec", "compile", "__import__", "execfile", "breakpoint"}  # of Python itself
RUNS_CODE = {"exec_module", "spec_from_file_location", "run_path", "run_module", "load_module"}
UNSAFE = {  # loaders -> the argument that makes them safe, and its value
    "torch.load": ("weights_only", True),
    "np.load": ("allow_pickle", False),
    "np.lib.format.read_array": ("allow_pickle", False),
}


def name_of(node):
    """'np.lib.format.read_array' for a chain of attributes."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def is_own_module(argument):
    """A constant or the beginning of an f-string that says learnalg."""
    if isinstance(argument, ast.JoinedStr):
        argument = argument.values[0]
    return isinstance(argument, ast.Constant) and str(argument.value).startswith("learnalg.")


# Modules by a name that is not in the source: a job's function, which must be of this package; an extra that is asked
# for by a flag.
BY_NAME = {"launch/worker.py", "launch/engine.py", "training/loggers.py"}


def faults(source, path):
    """What this source does that nothing here may do."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None)
            asked = [alias.name for alias in node.names]
            asked = [f"{module}.{name}" for name in asked] if module else asked
            for name in asked:
                top = name.partition(".")[0]
                if FORBIDDEN.match(name) and top not in ALLOWED.get(path, ()):
                    yield f"imports {name}"
                if top in TALKING and path not in (TALKING[top] or {path if in_launch(path) else "training/run.py"}):
                    yield f"imports {name}"
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        last = name.rpartition(".")[2]
        given = {word.arg: getattr(word.value, "value", None) for word in node.keywords}
        if name in CALLED:
            yield f"calls {name}"
        if last in RUNS_CODE and path != "cli/plugins.py":
            yield f"calls {name}"
        if last == "import_module" and path not in BY_NAME and not is_own_module(node.args[0]):
            yield f"imports by name: {ast.unparse(node)}"
        if name.startswith("pickle.") or (last in ("loads", "load", "Unpickler") and "pickle" in name.lower()):
            yield f"calls {name}"
        if last in ("load_state_dict_from_url", "read_pickle", "hf_hub_download", "snapshot_download", "urlopen"):
            yield f"calls {name}"
        for unsafe, (argument, value) in UNSAFE.items():
            if name == unsafe and given.get(argument) is not value:
                yield f"calls {name} without {argument}={value}"
        if given.get("shell"):
            yield f"calls {name} with a shell"
        if last == "Environment" and not given.get("autoescape"):
            yield f"calls {name} without autoescape=True"


def in_launch(path):
    return path.startswith("launch/")


@pytest.mark.parametrize("path", FILES, ids=names)
def test_nothing_unpickles_evaluates_or_fetches(path):
    assert list(faults(path.read_text(), path.relative_to(SOURCE).as_posix())) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("data.py", "import pickle"),
        ("data.py", "from pickle import loads"),
        ("data.py", "def f():\n    import marshal"),
        ("data.py", "import urllib.request"),
        ("data.py", "from urllib import request"),
        ("data.py", "from huggingface_hub import hf_hub_download"),
        ("data.py", "import torch.hub"),
        ("data.py", "from torch import load"),
        ("data.py", "import subprocess"),
        ("serve/app.py", "import socket"),
        ("zoo/lawt.py", "pickle.load(file)"),
        ("zoo/lawt.py", "import marshal"),
        ("data.py", "eval(text)"),
        ("data.py", "exec(text)"),
        ("data.py", "compile(text, '', 'exec')"),
        ("data.py", "__import__(name)"),
        ("data.py", "import_module(name)"),
        ("data.py", "importlib.import_module(f'{name}.x')"),
        ("data.py", "spec.loader.exec_module(module)"),
        ("data.py", "torch.load(path)"),
        ("data.py", "torch.load(path, weights_only=False)"),
        ("data.py", "np.load(path)"),
        ("data.py", "np.load(path, allow_pickle=True)"),
        ("data.py", "np.lib.format.read_array(file)"),
        ("launch/worker.py", "subprocess.run(line, shell=True)"),
        ("serve/app.py", "jinja2.Environment(loader=loader)"),
    ],
)
def test_the_reader_sees_every_form(path, source):
    assert list(faults(source, path))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("data.py", "model.eval()"),
        ("data.py", "torch.compile(model)"),
        ("data.py", "re.compile(text)"),
        ("data.py", "torch.load(path, weights_only=True)"),
        ("data.py", "import_module(f'learnalg.cli.{name}')"),
        ("cli/plugins.py", "spec.loader.exec_module(module)"),
        ("serve/site.py", "from urllib.parse import parse_qsl"),
        ("zoo/lawt.py", "import pickle"),
    ],
)
def test_the_reader_takes_nothing_for_what_it_is_not(path, source):
    assert list(faults(source, path)) == []


def test_pages_put_in_as_it_is_only_what_is_escaped_already():
    """`safe` in a template, and HTML that a script of ours writes."""
    found = [
        (path.name, line.strip())
        for path in SOURCE.rglob("*.html")
        for line in path.read_text().splitlines()
        if re.search(r"\|\s*safe|autoescape|Markup", line)
    ]
    assert found == [("paper.html", "{{ report | safe }}")]  # the report's page, which escapes (test_escapes.py)
    for path in SOURCE.rglob("static/page.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", path.read_text()
        )
