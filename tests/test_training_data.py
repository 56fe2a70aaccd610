"""What a run trains on: batch i is a function of config and i; stages, further and repeated examples come as said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learnalg.config import RunConfig, StageConfig, replace_fields
from learnalg.data import Batch, Stream, TrainingData, belongs, fixed_set, prefetch, stage_ends
from learnalg.problem import Problem
from learnalg.tokens.tokenizer import FIRST_DIM, PAD

SIZE = 16
KIND = (0, 3, 3)  # the first task, 3x3
SMALLER = {"mix_share": 1.0, "mix_dim": "1-2"}
REPEATED = {"repeated_share": 0.25, "pool": 5}
STAGES = (StageConfig(2 * SIZE, dim="1"), StageConfig(3 * SIZE, dim="2", ensemble=("positive",)))
ALL = REPEATED | {"mix_share": 0.5, "mix_until": 0.8, "mix_dim": "1-2", "mix_ensemble": ("laplace",), "stage": STAGES}


def config_of(steps: int = 10, **changes: Any) -> RunConfig:
    """Transposes 3x3 matrices, `steps` batches of 16."""
    fields: dict[str, Any] = {"task": "transpose", "dim": "3", "batch_size": SIZE} | changes
    return replace_fields(RunConfig(), examples=steps * fields["batch_size"], **fields)


def make(steps: int = 10, **changes: Any) -> TrainingData:
    return TrainingData(config_of(steps, **changes))


def assert_same(a: Batch, b: Batch) -> None:
    np.testing.assert_array_equal(a.sources, b.sources)
    np.testing.assert_array_equal(a.targets, b.targets)
    assert [(g.task, g.dims) for g in a.groups] == [(g.task, g.dims) for g in b.groups]
    for one, other in zip(a.groups, b.groups, strict=True):
        np.testing.assert_array_equal(one.inputs, other.inputs)
        np.testing.assert_array_equal(one.solutions, other.solutions)


def is_same(a: Batch, b: Batch) -> bool:
    return np.array_equal(a.sources, b.sources) and np.array_equal(a.targets, b.targets)


def plain(data: TrainingData, index: int, **changes: Any) -> Batch:
    """Batch i of the stream alone."""
    problem = Problem(replace(data.stream.problem.config, **changes))
    return Stream(problem, data.train.seed, "train", data.train.batch_size).batch(index)


def size(batch: Batch) -> tuple[int, int]:
    """A training batch has one."""
    ((m, n),) = {(m, n) for m, n in (batch.sources[:, :2] - FIRST_DIM + 1).tolist()}
    return m, n


def pairs(batch: Batch) -> list[tuple[bytes, bytes]]:
    """Source and target of each example, without padding."""
    return [(s[s != PAD].tobytes(), t[t != PAD].tobytes()) for s, t in zip(batch.sources, batch.targets, strict=True)]


def is_symmetric(batch: Batch) -> np.ndarray:
    (group,) = batch.groups
    return (group.inputs == group.inputs.swapaxes(1, 2)).all(axis=(1, 2))


@pytest.mark.parametrize("changes", [{}, {"dim": "1-4"}, {"dim": "1-2x3-4"}, {"task": "TA", "dim": "2-3", "seed": 7}])
def test_with_nothing_mixed_in_it_is_the_plain_stream(changes):
    data = make(**changes)
    for index in (0, 1, 7, 1_000):
        assert_same(data.batch(index), plain(data, index))


@pytest.mark.parametrize("workers", [0, 3])
def test_a_batch_depends_on_the_config_and_its_index_only(workers):
    backwards = make(**ALL)
    expected = [backwards.batch(index) for index in reversed(range(10))][::-1]
    for start in (0, 6):
        for batch, other in zip(prefetch(make(**ALL), start, 10, workers), expected[start:], strict=True):
            assert_same(batch, other)
    others = make(**ALL, seed=2)
    assert not any(is_same(others.batch(index), expected[index]) for index in range(10))


def test_another_seed_chooses_other_batches_sizes_and_rows_of_the_pool():
    def choices(seed: int) -> list[Any]:
        data = make(30, mix_share=0.5, mix_dim="1-2", repeated_share=1.0, pool=50, seed=seed)
        pool = {pair: k for k, pair in enumerate(pairs(data.pool(KIND)))}
        batches = [data.batch(index) for index in range(30)]
        return [pool[pairs(b)[0]] if size(b) == (3, 3) else size(b) for b in batches]

    assert choices(1) == choices(1) != choices(2)


def test_validation_and_test_are_of_the_problem_alone():
    config = config_of(**ALL)
    for split in ("valid", "test"):
        (batch,) = fixed_set(Problem(config.data), 50, seed=1, split=split)
        assert {group.dims for group in batch.groups} == {(3, 3)}
        assert not is_symmetric(batch).any()


@pytest.mark.parametrize("changes", [ALL, SMALLER, REPEATED | {"dim": "1-4"}])
def test_all_examples_are_of_the_training_split(changes):
    data = make(**changes)
    batches = [data.batch(index) for index in range(10)] + ([data.pool((0, 2, 2))] if "pool" in changes else [])
    groups = [group for batch in batches for group in batch.groups]
    assert groups and all(belongs(group.inputs, "train").all() for group in groups)


# Stages.


def test_a_stage_ends_where_its_examples_are_used_up():
    data = make(stage=STAGES)
    batches = [data.batch(index) for index in range(10)]
    assert [size(batch) for batch in batches] == [(1, 1)] * 2 + [(2, 2)] * 3 + [(3, 3)] * 5
    assert all(is_symmetric(batch).all() for batch in batches[:5])  # `positive` draws symmetric matrices
    assert not any(is_symmetric(batch).any() for batch in batches[5:])
    assert_same(batches[1], plain(data, 1, dim="1"))
    assert_same(batches[4], plain(data, 4, dim="2", ensemble=("positive",)))
    assert_same(batches[5], plain(data, 5))


@pytest.mark.parametrize(
    ("examples", "ends"), [((32, 48), [2, 5]), ((31, 49), [2, 5]), ((20, 20), [1, 2]), ((7, 1), [0, 0]), ((), [])]
)
def test_stages_end_at_the_nearest_step(examples, ends):
    assert stage_ends(config_of(stage=tuple(StageConfig(num, dim="1") for num in examples))) == ends


def test_a_stage_has_the_problems_own_matrices_where_it_names_no_others():
    data = make(stage=(StageConfig(SIZE, rate=0.5),))
    assert_same(data.batch(0), plain(data, 0))


def test_nothing_is_mixed_into_a_stage():
    data = make(**SMALLER, stage=(StageConfig(SIZE, dim="4"),))
    assert size(data.batch(0)) == (4, 4)
    assert size(data.batch(1)) in ((1, 1), (2, 2))


def test_a_model_must_read_and_write_all_problems_of_a_run():
    assert {problem.config.dim for problem in make(**ALL).problems} == {"3", "1-2", "1", "2"}
    assert len(make().problems) == 1


# Further examples.


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_further_batches_have_their_share_and_end_when_they_should(share):
    steps = 1_000
    data = make(steps, mix_share=share, mix_dim="1", mix_until=0.6, batch_size=1)
    is_further = np.array([size(data.batch(index)) == (1, 1) for index in range(steps)])
    deviation = np.sqrt(600 * share * (1 - share))
    assert abs(is_further[:600].sum() - 600 * share) < 5 * deviation
    assert abs(is_further[:300].sum() - 300 * share) < 5 * deviation  # all along, not in one block
    assert not is_further[600:].any()


@pytest.mark.parametrize(("until", "num"), [(0.0, 0), (0.25, 3), (0.5, 5), (1.0, 10)])
def test_with_a_share_of_one_all_batches_are_further_ones_until_then(until, num):
    data = make(**SMALLER, mix_until=until)
    for index in range(10):
        if index < num:
            assert size(data.batch(index)) in ((1, 1), (2, 2))
        else:
            assert_same(data.batch(index), plain(data, index))


@pytest.mark.parametrize(
    ("dim", "allowed"),
    [
        ("2", {(2, 2)}),
        ("4-5", {(4, 4), (5, 5)}),  # they need not be smaller
        ("1-2x3-4", {(1, 3), (1, 4), (2, 3), (2, 4)}),
    ],
)
def test_a_further_batch_has_one_size_and_no_padding(dim, allowed):
    data = make(50, mix_share=1.0, mix_dim=dim)
    batches = [data.batch(index) for index in range(50)]
    assert all((batch.sources != PAD).all() and (batch.targets != PAD).all() for batch in batches)
    assert {size(batch) for batch in batches} == allowed


@pytest.mark.parametrize(
    ("ensemble", "mixed", "early", "late"),
    [
        (("iid-uniform",), {"mix_ensemble": ("positive",)}, True, False),
        (("positive",), {"mix_ensemble": ("iid-uniform",)}, False, True),
        (("positive",), {"mix_dim": "2"}, True, True),
    ],
)
def test_further_matrices_are_of_their_ensemble(ensemble, mixed, early, late):
    """`positive` draws symmetric matrices, and the others none."""
    data = make(mix_share=1.0, mix_until=0.5, ensemble=ensemble, **mixed)
    for index, expected in ((0, early), (4, early), (5, late), (9, late)):
        found = is_symmetric(data.batch(index))
        assert found.all() if expected else not found.any()


# Repeated examples.


@pytest.mark.parametrize(("share", "num"), [(0.02, 0), (0.1, 2), (0.25, 4), (1.0, 16)])
def test_so_many_come_from_the_pool_and_all_others_from_the_stream(share, num):
    data = make(repeated_share=share, pool=5)
    pool = set(pairs(data.pool(KIND)))
    for index in range(4):
        batch = data.batch(index)
        assert len(batch) == SIZE
        found, fresh = pairs(batch), pairs(plain(data, index))
        assert set(found[:num]) <= pool
        assert found[num:] == fresh[num:]
        assert not set(fresh) & pool


@pytest.mark.parametrize("num", [1, 5, 300])
def test_the_pool_is_fixed_and_has_its_size(num):
    data = make(repeated_share=0.5, pool=num)
    assert len(set(pairs(data.pool(KIND)))) == len(data.pool(KIND)) == num
    data.batch(3)
    longer = make(500, repeated_share=0.25, pool=num)  # depends on the problem, the seed and its size alone
    assert_same(data.pool(KIND), longer.pool(KIND))
    assert not set(pairs(data.pool(KIND))) & set(pairs(make(repeated_share=0.5, pool=num, seed=2).pool(KIND)))


def test_all_of_the_pool_comes_again_and_again():
    data = make(100, **REPEATED)
    drawn = [pair for index in range(100) for pair in pairs(data.batch(index))[:4]]
    counts = [drawn.count(pair) for pair in pairs(data.pool(KIND))]
    assert sum(counts) == 400
    assert all(abs(count - 80) < 5 * 8 for count in counts)  # five standard deviations


def test_repeated_examples_have_the_task_and_the_size_of_their_batch():
    data = make(20, task="TA", dim="2-3", repeated_share=0.5, pool=3, batch_size=4)
    seen = set()
    for index in range(20):
        batch, fresh = data.batch(index), plain(data, index)
        (group,) = fresh.groups
        kind = (group.task, *group.dims)
        assert set(pairs(batch)[:2]) <= set(pairs(data.pool(kind))) and pairs(batch)[2:] == pairs(fresh)[2:]
        assert (batch.sources != PAD).all() and (batch.targets != PAD).all()
        seen.add(kind)
    assert seen == {(task, n, n) for task in (0, 1) for n in (2, 3)}


def test_further_batches_hold_no_repeated_examples():
    data = make(20, mix_share=0.5, mix_dim="2", **REPEATED)
    pool, kinds = set(pairs(data.pool(KIND))), []
    for index in range(20):
        batch = data.batch(index)
        kinds.append(size(batch) == (2, 2))
        assert len(pool.intersection(pairs(batch)[:4])) == 0 if kinds[-1] else set(pairs(batch)[:4]) <= pool
    assert set(kinds) == {True, False}
