"""What cannot be trained is refused before there is a folder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from learnalg.problem import Problem
from learnalg.problems import TASKS
from learnalg.training import preflight
from learnalg.training.loop import train
from learnalg.training.preflight import check_before_start, check_task


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("dim", ["1-3", "2x3"])
def test_every_task_solves_to_the_shape_that_it_says(tiny_config, name, dim):
    task = TASKS[name]()
    if (task.square or task.symmetric) and "x" in dim:
        pytest.skip("square matrices only")
    check_task(Problem(tiny_config(task=name, dim=dim).data), name, task)


@pytest.mark.parametrize(
    ("solve", "found"),
    [
        (lambda M: M[:, :, :1], r"\(4, 2, 1\) for 4 matrices of 2x2"),
        (lambda M: M[0], r"\(2, 2\) for 4 matrices of 2x2"),
        (lambda M: M if M.shape[1] == 2 else M[:, :-1], r"\(4, 2, 3\) for 4 matrices of 3x3"),  # of the largest only
        (lambda M: M if M.shape[1] == 3 else np.linalg.det(M), r"\(4,\) for 4 matrices of 2x2"),  # of the smallest
    ],
)
def test_a_task_that_solves_to_another_shape_is_refused_with_both(tmp_path, tiny_config, monkeypatch, solve, found):
    wrong = replace(TASKS["transpose"](), solve=solve)
    monkeypatch.setitem(TASKS, "wrong", lambda: wrong)
    with pytest.raises(ValueError, match=rf"task wrong: solve gives the shape {found}, and output_shape says \(4, "):
        train(tiny_config(task="wrong", dim="2-3"), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"task": "nothing"}, "unknown task 'nothing'"),
        ({"output_encoding": "p999x"}, "unknown encoding 'p999x'"),
        ({"architecture": "transfomer"}, "unknown architecture 'transfomer': did you mean 'transformer'"),
        ({"schedule": "linear:cooldown=2"}, "cooldown 2"),
        ({"optimizer": "muon:learning_rate=-1"}, "learning_rate -1"),
        ({"max_positions": 5}, "the longest .* has .* tokens, more than max_positions 5"),
        ({"mix_share": 0.5, "mix_dim": "30"}, "the longest .* tokens, more than max_positions"),
        ({"dim_model": 2**24, "heads": 2}, "this model needs .* GB, and the machine has"),
        ({"amplitude": (1e30,)}, "too large for fp15"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_there_is_a_folder(tmp_path, tiny_config, changes, complaint):
    with pytest.raises(ValueError, match=complaint) as refusal:
        train(tiny_config(**changes), tmp_path / "run")
    assert "\n" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_all_that_training_draws_is_checked(tmp_path, tiny_config, monkeypatch):
    """Also the tasks and sizes of what is mixed in."""
    checked = []
    monkeypatch.setattr(preflight, "check_task", lambda problem, name, task: checked.append((problem.config.dim, name)))
    check_before_start(tiny_config(task="transpose+add", mix_share=0.5, mix_dim="3"), tmp_path)
    assert checked == [("1-2", "transpose"), ("1-2", "add"), ("3", "transpose"), ("3", "add")]
