"""Lessons: batch i is a function of the config, and easier and repeated examples come as often as they should."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learnalg.config import CurriculumConfig, DataConfig, RunConfig, replace_fields
from learnalg.mixing import Lessons
from learnalg.data import Batch, Stream, belongs, prefetch
from learnalg.tokens.tokenizer import FIRST_DIM, OK, PAD

SIZE = 16
EASIER = {"easy_share": 1.0, "easy_dim": "1-2"}
REPEATED = {"repeated_share": 0.25, "pool": 5}
ALL = EASIER | REPEATED | {"easy_share": 0.5, "easy_until": 0.5, "easy_ensemble": ("laplace",), "dim": "1-3"}


def make(steps: int = 10, **changes: Any) -> Lessons:
    """Transposes 3x3 matrices, `steps` batches of 16."""
    fields: dict[str, Any] = {"task": "transpose", "dim": "3", "batch_size": SIZE} | changes
    return Lessons(replace_fields(RunConfig(), examples=steps * fields["batch_size"], **fields))


def assert_same(a: Batch, b: Batch) -> None:
    np.testing.assert_array_equal(a.sources, b.sources)
    np.testing.assert_array_equal(a.targets, b.targets)
    assert [(g.task, g.dims) for g in a.groups] == [(g.task, g.dims) for g in b.groups]
    for one, other in zip(a.groups, b.groups, strict=True):
        np.testing.assert_array_equal(one.inputs, other.inputs)
        np.testing.assert_array_equal(one.solutions, other.solutions)


def is_same(a: Batch, b: Batch) -> bool:
    return np.array_equal(a.sources, b.sources) and np.array_equal(a.targets, b.targets)


def plain(lessons: Lessons, index: int, **changes: Any) -> Batch:
    """Batch i of the stream alone."""
    data, train = replace(lessons.problem, **changes), lessons.train
    return Stream(data, train.seed, "train", train.batch_size).batch(index)


def sizes(batch: Batch) -> set[tuple[int, int]]:
    return {(m, n) for m, n in (batch.sources[:, :2] - FIRST_DIM + 1).tolist()}


def pairs(batch: Batch) -> list[tuple[bytes, bytes]]:
    """Source and target of each example, without padding."""
    return [(s[s != PAD].tobytes(), t[t != PAD].tobytes()) for s, t in zip(batch.sources, batch.targets, strict=True)]


JOINT = {"task": "cotraining", "subset": ("TA",), "dim": "2-3"}


@pytest.mark.parametrize("changes", [{}, {"dim": "1-4"}, {"dim": "1-2x3-4"}, JOINT, {"seed": 7, "pool": 3}])
def test_without_a_curriculum_it_is_the_plain_stream(changes):
    lessons = make(**changes)
    for index in (0, 1, 7, 1_000):
        assert_same(lessons.batch(index), plain(lessons, index))


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
        lessons = make(30, easy_share=0.5, easy_dim="1-2", repeated_share=1.0, pool=50, seed=seed)
        pool = {pair: k for k, pair in enumerate(pairs(lessons.pool))}
        batches = [lessons.batch(index) for index in range(30)]
        return [pool[pairs(b)[0]] if sizes(b) == {(3, 3)} else sizes(b) for b in batches]

    assert choices(1) == choices(1) != choices(2)


# Easier examples.


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_easier_batches_have_their_share_and_end_when_they_should(share):
    steps = 1_000
    lessons = make(steps, easy_share=share, easy_dim="1", easy_until=0.6, batch_size=1)
    is_easy = np.array([sizes(lessons.batch(index)) == {(1, 1)} for index in range(steps)])
    deviation = np.sqrt(600 * share * (1 - share))
    assert abs(is_easy[:600].sum() - 600 * share) < 5 * deviation
    assert abs(is_easy[:300].sum() - 300 * share) < 5 * deviation  # all along, not first the one and then the other
    assert not is_easy[600:].any()


@pytest.mark.parametrize(("until", "num"), [(0.0, 0), (0.25, 3), (0.5, 5), (1.0, 10)])
def test_with_a_share_of_one_all_batches_are_easier_until_then(until, num):
    lessons = make(**EASIER, easy_until=until)
    for index in range(10):
        if index < num:
            assert sizes(lessons.batch(index)) <= {(1, 1), (2, 2)}
        else:
            assert_same(lessons.batch(index), plain(lessons, index))


@pytest.mark.parametrize(
    ("dim", "allowed"),
    [
        ("2", {(2, 2)}),
        ("1-3", {(1, 1), (2, 2), (3, 3)}),
        ("4-5", {(4, 4), (5, 5)}),  # easier need not be smaller
        ("1-2x3-4", {(1, 3), (1, 4), (2, 3), (2, 4)}),
        ("1-2x1-2", {(1, 1), (1, 2), (2, 1), (2, 2)}),
    ],
)
def test_an_easier_batch_has_one_size_and_no_padding(dim, allowed):
    lessons = make(50, easy_share=1.0, easy_dim=dim)
    seen = set()
    for index in range(50):
        batch = lessons.batch(index)
        ((m, n),) = sizes(batch)
        assert (batch.sources != PAD).all() and (batch.targets != PAD).all()
        assert_same(batch, plain(lessons, index, dim=f"{m}x{n}"))
        seen.add((m, n))
    assert seen == allowed


def test_easier_examples_are_of_the_training_split():
    lessons = make(**EASIER)
    for index in range(5):
        (group,) = lessons.batch(index).groups
        assert belongs(group.inputs, "train").all()


# The weights are those of the problem's own mixture.
WEIGHTED = {"ensemble": ("iid-uniform", "laplace"), "ensemble_weights": (1.0, 2.0)}


@pytest.mark.parametrize(
    ("changes", "easy", "early", "late"),
    [
        ({"ensemble": ("iid-uniform",)}, {"easy_ensemble": ("positive",)}, True, False),
        ({"ensemble": ("positive",)}, {"easy_ensemble": ("iid-uniform",)}, False, True),
        ({"ensemble": ("positive",)}, {"easy_dim": "2"}, True, True),
        (WEIGHTED, {"easy_ensemble": ("positive",)}, True, False),
    ],
)
def test_easier_matrices_are_of_their_ensemble(changes, easy, early, late):
    """`positive` draws symmetric matrices, and the others none."""
    lessons = make(easy_share=1.0, easy_until=0.5, **changes, **easy)
    for index, expected in ((0, early), (4, early), (5, late), (9, late)):
        (group,) = lessons.batch(index).groups
        is_symmetric = (group.inputs == group.inputs.swapaxes(1, 2)).all(axis=(1, 2))
        assert is_symmetric.all() if expected else not is_symmetric.any()


def test_no_curriculum_has_the_problem_itself_as_its_easier_one():
    data = DataConfig(ensemble=("wigner", "laplace"), ensemble_weights=(1.0, 3.0), dim="3-4")
    assert CurriculumConfig().easier(data) == data
    assert CurriculumConfig(easy_share=0.5, easy_dim="2").easier(data) == replace(data, dim="2")


# Repeated examples.


@pytest.mark.parametrize(("share", "num"), [(0.02, 0), (0.1, 2), (0.25, 4), (1.0, 16)])
def test_so_many_come_from_the_pool_and_all_others_from_the_stream(share, num):
    lessons = make(repeated_share=share, pool=5)
    pool = set(pairs(lessons.pool))
    for index in range(4):
        batch = lessons.batch(index)
        assert len(batch) == SIZE
        found, fresh = pairs(batch), pairs(plain(lessons, index))
        assert set(found[:num]) <= pool
        assert found[num:] == fresh[num:]
        assert not set(fresh) & pool


@pytest.mark.parametrize("num", [1, 5, 300])
def test_the_pool_is_fixed_and_has_its_size(num):
    lessons = make(repeated_share=0.5, pool=num)
    assert len(set(pairs(lessons.pool))) == len(lessons.pool) == num
    lessons.batch(3)
    longer = make(500, repeated_share=0.25, pool=num)  # depends on the problem, the seed and its size alone
    assert_same(lessons.pool, longer.pool)
    assert not set(pairs(lessons.pool)) & set(pairs(make(repeated_share=0.5, pool=num, seed=2).pool))


def test_the_pool_is_of_the_training_split():
    for group in make(repeated_share=0.5, pool=300, dim="1-3").pool.groups:
        assert belongs(group.inputs, "train").all()


def test_all_of_the_pool_comes_again_and_again():
    lessons = make(100, **REPEATED)
    drawn = [pair for index in range(100) for pair in pairs(lessons.batch(index))[:4]]
    counts = [drawn.count(pair) for pair in pairs(lessons.pool)]
    assert sum(counts) == 400
    assert all(abs(count - 80) < 5 * 8 for count in counts)  # five standard deviations


def test_rows_of_different_lengths_are_padded():
    lessons = make(20, dim="1-4", repeated_share=0.5, pool=3, batch_size=2)
    source, target = lessons.problem.tokenizers
    pool, wider = pairs(lessons.pool), set()
    for index in range(20):
        batch, fresh = lessons.batch(index), plain(lessons, index)
        first, second = pairs(batch)
        assert first in pool and second == pairs(fresh)[1]
        assert (target.decode(batch.targets).reasons == OK).all()  # nothing but padding behind the end
        lengths = [source.length((m, n)) for m, n in (batch.sources[:, :2] - FIRST_DIM + 1).tolist()]
        for row, length in zip(batch.sources, lengths, strict=True):
            assert (row[length:] == PAD).all() and (row[:length] != PAD).all()
        wider.add(np.sign(lessons.pool.sources.shape[1] - fresh.sources.shape[1]))
    assert wider >= {0, 1}


def test_easier_batches_hold_no_repeated_examples():
    lessons = make(20, easy_share=0.5, easy_dim="2", **REPEATED)
    pool, kinds = set(pairs(lessons.pool)), []
    for index in range(20):
        batch = lessons.batch(index)
        kinds.append(sizes(batch) == {(2, 2)})
        assert len(pool.intersection(pairs(batch)[:4])) == 0 if kinds[-1] else set(pairs(batch)[:4]) <= pool
    assert set(kinds) == {True, False}


def test_easier_sizes_grow_from_the_smallest_to_the_largest():
    lessons = make(steps=20, dim="5", easy_share=1.0, easy_until=0.45, easy_dim="2-4", easy_grows=True)
    found = [sizes(lessons.batch(i)) for i in range(20)]
    assert found == [{(n, n)} for n in [2] * 3 + [3] * 3 + [4] * 3 + [5] * 11]


def test_growing_sizes_leave_a_share_to_the_problem_itself():
    lessons = make(steps=200, easy_share=0.5, easy_dim="1-2", easy_grows=True)
    found = [next(iter(sizes(lessons.batch(i))))[0] for i in range(200)]
    assert set(found[:100]) == {1, 3} and set(found[100:]) == {2, 3}
    assert 70 < found.count(3) < 130


def test_rows_and_columns_grow_each_along_its_own_range():
    lessons = make(steps=4, dim="6x3", easy_share=1.0, easy_dim="2-5x2-3", easy_grows=True)
    assert [sizes(lessons.batch(i)) for i in range(4)] == [{(2, 2)}, {(3, 2)}, {(4, 3)}, {(5, 3)}]


def conditions(batch: Batch) -> Any:
    return np.linalg.cond(np.concatenate([group.inputs for group in batch.groups]))


def test_singular_values_spread_as_the_run_goes_on():
    fields: dict[str, Any] = {"task": "inverse", "batch_size": 200, "easy_share": 1.0, "easy_spread": 0.1}
    lessons = make(steps=10, easy_until=0.8, easy_grows=True, **fields)
    medians = [np.median(conditions(lessons.batch(k))) for k in range(10)]
    assert medians[:8] == sorted(medians[:8]) and medians[0] < 1.5 < 3 < medians[7]
    assert all(is_same(lessons.batch(k), plain(lessons, k)) for k in (8, 9))
    stays = make(steps=10, easy_until=0.8, **fields)
    assert max(np.median(conditions(stays.batch(k))) for k in range(8)) < 1.5


def test_spread_and_sizes_grow_together():
    fields: dict[str, Any] = {"easy_share": 1.0, "easy_dim": "2-3", "easy_spread": 0.1, "easy_grows": True}
    lessons = make(steps=10, task="inverse", batch_size=200, **fields)
    assert [next(iter(sizes(lessons.batch(k)))) for k in range(10)] == [(2, 2)] * 5 + [(3, 3)] * 5
    assert np.median(conditions(lessons.batch(0))) < np.median(conditions(lessons.batch(4)))


def test_a_problem_of_well_conditioned_matrices_has_better_ones_still():
    lessons = make(task="inverse", batch_size=200, spread=0.5, easy_share=1.0, easy_until=0.5, easy_spread=0.1)
    assert lessons.easier.spread == 0.05
    assert np.median(conditions(lessons.batch(0))) < 1.2 < np.median(conditions(lessons.batch(9)))
