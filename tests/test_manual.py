"""What the manual shows of tasks, encodings and ensembles is what they do."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def worked():
    spec = importlib.util.spec_from_file_location("worked", DOCS / "worked.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["problems", "encodings", "ensembles"])
def test_worked_examples_are_up_to_date(worked, page):
    text = (DOCS / f"{page}.md").read_text()
    assert worked.MARKS[0] in text
    assert worked.between(text, getattr(worked, page)(), worked.MARKS) == text, "run: make docs"


def test_the_picture_has_every_ensemble(worked):
    drawn = (DOCS / "spectra.svg").read_text()
    assert all(f">{name}</text>" in drawn for name in worked.ENSEMBLES), "run: make docs"
