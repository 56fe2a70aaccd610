"""The pairs of a file in a run: shapes and scale come from the file, splits share no input, a pass sees each once."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from learnalg.config import DataConfig, RunConfig, StageConfig, replace_fields
from learnalg.data import SPLITS, Stream, TrainingData, belongs, fixed_set
from learnalg.pairs.given import given, with_file
from learnalg.problem import Problem, elsewhere
from learnalg.problems import parse_tasks

RNG = np.random.default_rng(5)


@pytest.fixture
def write(tmp_path):
    """write(pairs): the config of a file with these inputs and outputs."""

    def to(pairs, task="pairs", **fields):
        path = tmp_path / "pairs.jsonl"
        key = "inputs" if np.ndim(pairs[0][0]) == 0 else "input"
        lines = [json.dumps({key: list(i) if key == "inputs" else i.tolist(), "output": o.tolist()}) for i, o in pairs]
        path.write_text("\n".join(lines) + "\n")
        return DataConfig(task=task, data=str(path), **fields)

    return to


def squares(num, *sizes, scale=1.0):
    matrices = [scale * RNG.normal(size=(n, n)).round(2) for n in RNG.choice(sizes, num)]
    return [(M, np.array([[np.trace(M)]])) for M in matrices]


def inputs(batches):
    return [matrix.tobytes() for batch in batches for group in batch.groups for matrix in group.inputs]


def test_a_file_says_shapes_sizes_and_scale(write):
    config = with_file(write(squares(300, 2, 3, scale=0.01)))
    assert (config.task, config.dim) == ("pairs:output=1x1", "2-3")
    assert len(config.file[1]) == 64 and config.file[0].endswith("pairs.jsonl")
    assert 0 < config.amplitude[0] < 0.02 < config.amplitude[1] < 0.1
    assert with_file(config) == config
    assert Problem(config).lengths == (2 + 9, 2 + 3 + 1)
    assert parse_tasks(config.task, has_file=True)[0][1].output_shape(3, 3) == (1, 1)


@pytest.mark.parametrize(
    ("shapes", "name"),
    [
        ([((2, 2), (2, 2))], "pairs"),
        ([((2, 3), (3, 2))], "pairs:output=nxm"),
        ([((2, 2), (4, 4))], "pairs:output=4x4"),
        ([((2, 2), (2, 1)), ((3, 3), (3, 1))], "pairs:output=mx1"),
        ([((2, 3), (3, 2)), ((4, 1), (1, 4))], "pairs:output=nxm"),
    ],
)
def test_the_shapes_of_a_file_are_options_of_its_task(write, shapes, name):
    assert with_file(write([(np.ones(a), np.ones(b)) for a, b in shapes])).task == name


def test_sizes_that_follow_no_rule_are_refused(write):
    with pytest.raises(ValueError, match="the rows of the output must be m, n or a fixed number"):
        with_file(write([(np.ones((n, n)), np.ones((n * n, 1))) for n in (2, 3)]))


def test_splits_share_no_input_whatever_the_seed(write):
    config = with_file(write(squares(600, 1, 2)))
    problem, found = Problem(config), given(config)
    assert sum(found.num(split) for split in SPLITS) == 600
    seen = {}
    for k, split in enumerate(("valid", "test")):
        batches = list(fixed_set(problem, 10_000, seed=k, split=split))
        assert sum(map(len, batches)) == found.num(split)
        assert all(belongs(group.inputs, split).all() for batch in batches for group in batch.groups)
        seen[split] = set(inputs(batches))
        again = list(fixed_set(problem, 10, seed=k, split=split))
        assert set(inputs(again)) <= seen[split] and sum(map(len, again)) == 10
    stream = Stream(problem, 3, "train", 16)
    seen["train"] = set(inputs(stream.batch(index) for index in range(80)))
    assert not seen["train"] & seen["valid"] and not seen["train"] & seen["test"]


def test_a_pass_sees_each_pair_once_and_a_batch_has_one_size(write):
    config = with_file(write(squares(500, 1, 2, 3)))
    found = given(config)
    sizes = [len(part.splits["train"]) for part in found.parts]
    num = sum(-(-size // 16) for size in sizes)
    data = TrainingData(replace_fields(RunConfig(data=config), batch_size=16, examples=2 * num * 16))
    passes = [[data.batch(index) for index in range(k * num, (k + 1) * num)] for k in range(2)]
    for batches in passes:
        assert all(len(batch) == 16 and len(batch.groups) == 1 for batch in batches)
        counts = Counter(inputs(batches))
        assert len(counts) == len(set(inputs(batches))) and sum(counts.values()) == num * 16
        rows = {matrix.tobytes() for part in found.parts for matrix in part.inputs[part.splits["train"]]}
        assert len(counts) == len(rows)
        assert sum(counts.values()) - sum(sizes) < 16 * len(sizes)  # those that fill up last batches
    assert inputs(passes[0]) != inputs(passes[1])
    fresh = TrainingData(replace_fields(RunConfig(data=config), batch_size=16, examples=2 * num * 16))
    for index in (num + 3, 2, num + 3):  # whatever was asked before
        np.testing.assert_array_equal(fresh.batch(index).sources, [*passes[0], *passes[1]][index].sources)
    other = TrainingData(replace_fields(RunConfig(data=config), batch_size=16, examples=16, seed=2))
    assert inputs([other.batch(0)]) != inputs(passes[0][:1])


def test_a_solution_is_that_of_the_file(write):
    config = with_file(write(squares(300, 2)))
    (group,) = Stream(Problem(config), 1, "train", 50).batch(0).groups
    np.testing.assert_allclose(group.solutions[:, 0, 0], np.trace(group.inputs, axis1=1, axis2=2), rtol=1e-9)


ONE = [(np.ones((2, 2)), np.ones((2, 2)))]


@pytest.mark.parametrize(
    ("fields", "pairs", "complaint"),
    [
        ({"task": "add"}, ONE, "line 1: matrices of 2x2 and 2x2, where task add has 2x2 and 2x2 and 2x2"),
        ({"task": "transpose+add"}, ONE, "line 1: task '': this run has transpose, add"),
        ({"task": "transpose", "dim": "3"}, ONE, "line 1: a 2x2 matrix, where dim is 3"),
        ({"task": "inverse"}, [(np.eye(2), np.eye(2)), *ONE], "line 2: task inverse has no solution"),
        ({"task": "symmetric_inverse"}, [(np.array([[1.0, 2.0], [0.0, 1.0]]), np.eye(2))], "line 1: .*not symmetric"),
        ({}, [*ONE, (np.full((2, 2), 1e200), np.ones((2, 2)))], "line 2: a coefficient is too large for fp15"),
        ({}, [*ONE, (np.ones((2, 2)), np.full((2, 2), 1e200))], "line 2: 1e\\+200 is too large for base 1000"),
        ({}, ONE, "none of its 1 pairs belongs to the split 'valid'|none of its 1 pairs belongs to the split 't"),
    ],
)
def test_pairs_that_cannot_be_trained_on_are_named(write, fields, pairs, complaint):
    with pytest.raises(ValueError, match=complaint):
        given(with_file(write(pairs, **fields)))


def test_a_file_that_has_changed_is_refused(write, tmp_path):
    config = with_file(write(squares(300, 2)))
    (tmp_path / "pairs.jsonl").write_text((tmp_path / "pairs.jsonl").read_text() + "\n")
    with pytest.raises(ValueError, match=r"pairs.jsonl has changed: its SHA-256 is another one"):
        given(config)
    (tmp_path / "pairs.jsonl").unlink()
    with pytest.raises(ValueError, match="no such file, and the pairs in it are needed"):
        given(config)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"ensemble": ("laplace",)}, "ensemble"),
        ({"noise": 0.1}, "noise"),
        ({"symmetric": True}, "symmetric"),
        ({"rounded": False}, "rounded"),
        ({"sigma_factor": 2.0}, "sigma_factor"),
        ({"mix_share": 0.5, "mix_dim": "2"}, "mix_share"),
        ({"repeated_share": 0.5}, "repeated_share"),
        ({"stage": (StageConfig(10, dim="2"),)}, "stage"),
    ],
)
def test_a_field_that_draws_has_no_effect_and_is_refused(changes, name):
    with pytest.raises(ValueError, match=f"{name}: has no effect on the pairs of a file"):
        replace_fields(RunConfig(), data="pairs.jsonl", **changes)


def test_other_matrices_are_drawn_for_a_task_that_is_known(write):
    pairs = [(M, M.T) for M, _ in squares(300, 2)]
    known = RunConfig(data=with_file(write(pairs, task="transpose")))
    assert elsewhere(known, ensemble="laplace").config.data == ""
    unknown = replace(known, data=replace(known.data, task="pairs"))
    assert elsewhere(unknown).config == unknown.data
    with pytest.raises(ValueError, match="nothing else can be drawn"):
        elsewhere(unknown, ensemble="laplace")
