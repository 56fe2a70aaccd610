"""The installed package works in an empty folder: results and weights travel with it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAME = "eigenvalues-3"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The files that a wheel has, as pyproject.toml says, with the weights of one model."""
    site = tmp_path_factory.mktemp("site")
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]

    def leave(folder, names):
        return [name for name in names if name.endswith(".safetensors") and name != f"{NAME}.safetensors"]

    for package in wheel["packages"]:
        shutil.copytree(ROOT / package, site / Path(package).name, ignore=leave)
    for source, place in wheel["force-include"].items():
        shutil.copytree(ROOT / source, site / place)
    return site


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("list models", "eigenvalues-3 "),
        (f"verify {NAME} --num 20", ": agrees"),
        ("reproduce table-6 --show", "| Tolerance % |"),
        ("reproduce --list", "table-6"),
        ("report", "report/index.html"),
        ("list recipes", NAME),
    ],
)
def test_commands_of_results_work_in_an_empty_folder(installed, tmp_path, line, said):
    command = [sys.executable, "-m", "learnalg", *line.split()]
    environment = os.environ | {"PYTHONPATH": str(installed)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout
    assert line == "report" or not any(tmp_path.iterdir())


def test_a_result_that_is_missing_gets_one_line(installed, tmp_path):
    site = shutil.copytree(installed, tmp_path / "site")
    (site / f"learnalg/results/{NAME}.json").unlink()
    command = [sys.executable, "-m", "learnalg", "verify", NAME]
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 2 and f"{NAME} has no result" in done.stderr and done.stderr.count("\n") == 1


def test_the_licence_is_named_and_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "MIT"
    for name in (*project["license-files"], "CITATION.cff"):
        assert (ROOT / name).is_file()
