"""What the manual shows of tasks, encodings and ensembles is what they do."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def run_file(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def worked():
    return run_file("worked")


def test_every_page_is_in_the_contents_once():
    conf = run_file("conf")
    listed = [page for pages in conf.CONTENTS.values() for page in pages]
    pages = [page for page in DOCS.rglob("*.md") if page != DOCS / "index.md" and page.parent.name != "decisions"]
    pages.append(DOCS / "decisions/README.md")
    of_docs = [page for page in listed if page.startswith("docs/")]
    names = [str(page.relative_to(DOCS.parent).with_suffix("")) for page in pages]
    assert sorted(of_docs) == sorted(names), "add it to CONTENTS in docs/conf.py"


def test_every_decision_is_in_the_list():
    listed = (DOCS / "decisions/README.md").read_text()
    assert all(f"]({page.name})" in listed for page in (DOCS / "decisions").glob("0*.md"))


@pytest.mark.parametrize("page", ["problems", "encodings", "ensembles"])
def test_worked_examples_are_up_to_date(worked, page):
    text = (DOCS / f"{page}.md").read_text()
    assert worked.MARKS[0] in text
    assert worked.between(text, getattr(worked, page)(), worked.MARKS) == text, "run: make docs"


def test_the_picture_has_every_ensemble(worked):
    drawn = (DOCS / "spectra.svg").read_text()
    assert all(f">{name}</text>" in drawn for name in worked.ENSEMBLES), "run: make docs"
