"""Problems: names, sizes and combinations that cannot be are refused; lengths are those of the longest example."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learnalg.config import DataConfig, RunConfig, replace_fields
from learnalg.problem import Problem, check_lengths


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        # Names.
        ({"task": "determinant"}, "unknown task 'determinant'"),
        ({"task": ""}, "unknown task ''"),
        ({"task": "add+determinant"}, "unknown task 'determinant'"),
        ({"task": "eigenvalues:sort=ascending"}, "unknown option of task 'eigenvalues' 'sort'"),
        ({"ensemble": ("wishart",)}, "unknown ensemble 'wishart'"),
        ({"ensemble": ("wigner", "wishart")}, "unknown ensemble 'wishart'"),
        ({"input_encoding": "p11"}, "unknown encoding 'p11': did you mean 'p10"),
        ({"output_encoding": "positional:base=1"}, "base=1"),
        # Sizes.
        ({"dim": ""}, "dimensions ''"),
        ({"dim": "five"}, "dimensions 'five'"),
        ({"dim": "8-5"}, "dimensions '8-5'"),
        ({"dim": "101"}, "'101'.*100"),
        ({"dim": "60", "task": "add"}, "task add at dim 60: a dimension of 120, more than 100"),
        ({"dim": "50", "task": "svd"}, "task svd at dim 50: a dimension of 101, more than 100"),
        # Combinations.
        ({"dim": "5x4"}, "eigenvalues needs square matrices: dim '5x4'"),
        ({"dim": "5-6x5-6"}, "eigenvalues needs square matrices: dim '5-6x5-6'"),
        ({"dim": "5x4", "task": "inverse"}, "inverse needs square"),
        ({"dim": "5x4", "task": "TE"}, "eigenvalues needs square"),
        ({"dim": "5x4", "task": "transpose", "symmetric": True}, "transpose needs square"),
        ({"task": "matvec", "symmetric": True}, "matvec has operands that cannot be symmetric"),
        ({"dim": "3x4", "task": "transpose", "ensemble": ("positive",)}, "'positive' draws square matrices"),
        ({"task": "matvec", "ensemble": ("wigner", "positive")}, "'positive' draws square matrices"),
        ({"task": "inverse", "triangle": True}, "triangle: task inverse"),
        ({"task": "add", "symmetric": True, "triangle": True}, "triangle: task add"),
        ({"task": "matvec", "triangle": True}, "triangle: task matvec"),
    ],
)
def test_what_cannot_be_is_refused_by_name(fields, complaint):
    with pytest.raises(ValueError, match=complaint):
        Problem(DataConfig(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"task": "TADMEFI"},
        {"task": "transpose+svd"},
        {"dim": "5-8"},
        {"dim": "6x4", "task": "singular_values"},
        {"dim": "1"},
        {"dim": "5x5"},  # square, however it is written
        {"task": "eigenvectors:order=ascending"},
        {"input_encoding": "positional:base=10,digits=4,exponents=-20:20"},
        {"task": "svd", "symmetric": True, "triangle": True},
    ],
)
def test_what_can_be_is_allowed(fields):
    assert Problem(DataConfig(**fields)).lengths[0] > 2


@pytest.mark.parametrize(
    ("task", "dim", "encodings", "lengths"),
    [
        ("eigenvalues", "5", ("fp15", "p1000"), (2 + 25, 2 + 3 * 5 + 1)),
        ("add", "10", ("b1999", "b1999"), (2 + 2 * 200, 2 + 2 * 100 + 1)),
        ("matvec", "4x5", ("p10", "fp15"), (2 + 5 * 24, 2 + 5 + 1)),
        ("inverse", "2-5", ("fp15", "p1000"), (2 + 25, 2 + 3 * 25 + 1)),
        ("transpose", "2-3x4-5", ("fp15", "p10"), (2 + 15, 2 + 5 * 15 + 1)),
        ("svd", "4x2", ("p1000", "fp15"), (2 + 3 * 8, 2 + 7 * 2 + 1)),
        ("TAE", "4", ("fp15", "fp15"), (3 + 32, 3 + 16 + 1)),  # the longest of its tasks, and a task token
    ],
)
def test_lengths_are_those_of_the_longest_example(task, dim, encodings, lengths):
    config = DataConfig(task=task, dim=dim, input_encoding=encodings[0], output_encoding=encodings[1])
    assert Problem(config).lengths == lengths


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"dim": "23"}, "longest input has 531 tokens.*max_positions 512"),
        ({"dim": "10", "input_encoding": "p10", "max_positions": 501}, "longest input has 502 tokens.*positions 501"),
        ({"dim": "13", "task": "transpose", "max_positions": 509}, "longest output has 510 tokens.*positions 509"),
        ({"dim": "22"}, ""),  # 486 tokens
        ({"dim": "13", "task": "transpose", "max_positions": 510}, ""),
    ],
)
def test_sequences_longer_than_the_network_has_positions_for_are_refused(changes: dict[str, Any], complaint: str):
    config = replace_fields(RunConfig(), **changes)
    if not complaint:
        check_lengths(Problem(config.data), config)
        return
    with pytest.raises(ValueError, match=complaint):
        check_lengths(Problem(config.data), config)


def test_joint_training_has_a_task_token():
    names = ("transpose", "add", "inverse")
    for task in ("TAI", "transpose+add+inverse"):
        problem = Problem(DataConfig(task=task))
        assert [tokenizer.task_names for tokenizer in problem.tokenizers] == [names, names]
        assert [problem.find_task(name) for name in names] == [0, 1, 2]
    assert [tokenizer.task_names for tokenizer in Problem(DataConfig()).tokenizers] == [(), ()]


def test_a_task_is_found_by_its_name():
    alone, joint = Problem(DataConfig()), Problem(DataConfig(task="TA"))
    assert alone.find_task() == alone.find_task("eigenvalues") == 0
    for problem, name in ((joint, ""), (joint, "inverse"), (alone, "add")):
        with pytest.raises(ValueError, match=r"which task\? this model knows (transpose, add|eigenvalues)"):
            problem.find_task(name)


@pytest.mark.parametrize(("task", "expected"), [("eigenvalues", [3, 2, 1]), ("eigenvalues:order=ascending", [1, 2, 3])])
def test_task_options_reach_the_task(task, expected):
    ((name, made),) = Problem(DataConfig(task=task)).tasks
    assert name == "eigenvalues"
    np.testing.assert_allclose(made.solve(np.diag([2.0, 3.0, 1.0])[None]).ravel(), expected)


@pytest.mark.parametrize("encoding", ["fp15", "p1000"])
def test_of_a_triangle_the_diagonal_and_what_is_above_is_read(encoding):
    whole = Problem(DataConfig(dim="3", input_encoding=encoding))
    upper = Problem(replace(whole.config, triangle=True))
    tokenizer = whole.tokenizers[0]
    numbers = tokenizer.encoding.encode(np.arange(1.0, 10.0).reshape(1, 9))
    width = tokenizer.width
    kept = [0, 1, *(2 + width * k + w for k in (0, 1, 2, 4, 5, 8) for w in range(width))]
    full, read = whole.read_tokens(numbers, (3, 3)), upper.read_tokens(numbers, (3, 3))
    np.testing.assert_array_equal(read, full[:, kept])
    assert (whole.lengths[0], upper.lengths[0]) == (full.shape[1], read.shape[1])
