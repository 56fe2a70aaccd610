"""The Python of the README and of the manual runs, and prints what its comments say."""

import re
from pathlib import Path

import numpy as np
import pytest

from learnalg.problems import TASKS

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
CODE = {
    page.name: blocks
    for page in PAGES
    if (blocks := re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE))
}


def numbers_in(text):
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", text)]


@pytest.mark.parametrize("page", CODE)
def test_the_python_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch, capsys):
    """One block after the other; a later one may use the names of those before."""
    monkeypatch.chdir(tmp_path)
    known, names = dict(TASKS), {"__name__": "page"}
    try:
        for block in CODE[page]:
            exec(compile(block, page, "exec"), names)
    finally:
        TASKS.clear()
        TASKS.update(known)
    said = re.findall(r"^print\(.*\)  # (.*)$", "\n".join(CODE[page]), re.MULTILINE)
    printed = capsys.readouterr().out
    # Another machine rounds sums in another order, which now and then turns a last digit.
    assert numbers_in(printed) == pytest.approx(numbers_in(" ".join(said)), rel=0.005)


def test_the_prediction_in_the_readme_is_right():
    """Within 1 % of NumPy's answer: the README shows a matrix on which the model is right."""
    said = [
        numbers_in(line)
        for line in re.findall(r"^print\(.*\)  # (.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    ]
    predicted, exact = map(np.array, said)
    assert np.abs(predicted - exact).sum() < 0.01 * np.abs(exact).sum()


def test_the_task_in_the_readme_is_the_example():
    block = next(block for block in CODE["README.md"] if "determinant" in block)
    readme, example = (re.sub(r"\s*#.*", "", text) for text in (block, (ROOT / "examples/determinant.py").read_text()))
    assert readme.strip() in example
