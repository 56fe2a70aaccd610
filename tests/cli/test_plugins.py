"""A task of one's own, in a file: it goes all the way, and its mistakes get one line."""

import json

import numpy as np
import pytest

from learnalg.problems import TASKS

DETERMINANT = """
import numpy as np
from learnalg.problems import TASKS, Task

TASKS["determinant"] = lambda: Task(
    "the determinant",
    solve=lambda M: np.linalg.det(M)[:, None, None],
    output_shape=lambda m, n: (1, 1),
    square=True,
)
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "determinant.py").write_text(DETERMINANT)
    known = dict(TASKS)
    yield "determinant.py"
    TASKS.clear()
    TASKS.update(known)


def test_a_task_of_ones_own_goes_all_the_way(plugin, run, tmp_path, small):
    train = ["train", "--plugin", plugin, "--task", "determinant", "--dim", "2", *small, "--quiet", "--out", "det2"]
    assert run(*train) == (0, "", "")

    code, out, _ = run("evaluate", "det2", "--plugin", plugin, "--num", "50", "--json", "--constrained")
    report = json.loads(out)
    assert (report["task"], report["num"], report["well_formed"]) == ("determinant", 50, 1.0)
    assert report["by_task"].keys() == {"determinant"}

    np.save(tmp_path / "matrix.npy", [[1.0, 2.0], [3.0, 5.0]])
    code, out, _ = run("solve", "--plugin", plugin, "det2", "matrix.npy", "--json")
    answer = json.loads(out)
    assert code == (0 if answer["trusted"] else 1) and np.shape(answer["answer"]) == (1, 1)
    assert answer["expected"] == [[pytest.approx(-1.0)]]

    assert "determinant         the determinant\n" in run("list", "--plugin", plugin, "tasks")[1]

    del TASKS["determinant"]  # as in a new process
    for command in (["evaluate", "det2"], ["solve", "det2", "matrix.npy"]):
        code, _, err = run(*command)
        assert code == 2 and "unknown task 'determinant'" in err and "--plugin FILE" in err
        assert err.count("\n") == 1


def test_several_plugins_may_be_given(plugin, run, tmp_path):
    (tmp_path / "other.py").write_text(DETERMINANT.replace('"determinant"', '"other"'))
    code, out, _ = run("list", "tasks", "--plugin", plugin, "--plugin=other.py")
    assert code == 0 and {"determinant", "other"} <= {line.split()[0] for line in out.splitlines()}


LOADING = {
    "def (:": "line 1: SyntaxError: invalid syntax",
    "import nothing_of_that_name": "line 1: ModuleNotFoundError: No module named 'nothing_of_that_name'",
    "x = 1\nTASKS['a'] = 1": "line 2: NameError: name 'TASKS' is not defined",
    "raise RuntimeError('two\\nlines')": "line 1: RuntimeError: two lines",
    "1 / 0": "line 1: ZeroDivisionError: division by zero",
}


@pytest.mark.parametrize("text", LOADING)
def test_a_plugin_that_cannot_be_loaded_is_one_line(plugin, run, tmp_path, text):
    (tmp_path / "broken.py").write_text(text + "\n")
    code, _, err = run("list", "tasks", "--plugin", "broken.py")
    assert code == 2 and err.startswith("learnalg: error: plugin broken.py, ") and err.count("\n") == 1
    assert LOADING[text] in err


RUNNING = {
    "solve=lambda M: M[:, 99]": "plugin determinant.py, line 7: IndexError",
    "solve=lambda M: np.linalg.dat(M)": "plugin determinant.py, line 7: AttributeError",
    # What solve answers contradicts output_shape: such a run learned nothing.
    "solve=lambda M: np.linalg.det(M)[:, None]": "task determinant: solve gives the shape (4, 1) for 4 matrices "
    "of 2x2, and output_shape says (4, 1, 1)",
    "solve=lambda M: M": "task determinant: solve gives the shape (4, 2, 2) for 4 matrices of 2x2, "
    "and output_shape says (4, 1, 1)",
}


@pytest.mark.parametrize("solve", RUNNING)
def test_a_task_that_is_wrong_is_refused_before_it_is_trained(plugin, run, tmp_path, small, solve):
    text = DETERMINANT.replace("solve=lambda M: np.linalg.det(M)[:, None, None]", solve)
    (tmp_path / plugin).write_text(text)
    code, _, err = run("train", "--plugin", plugin, "--task", "determinant", "--dim", "2", *small, "--out", "run")
    assert code == 2 and RUNNING[solve] in err and err.count("\n") == 1
    assert not (tmp_path / "run").exists()
