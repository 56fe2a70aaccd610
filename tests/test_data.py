"""The stream: a batch is a function of (seed, split, index), its tokens say its matrices, splits share no input."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest

from learnalg.config import DataConfig
from learnalg.data import SPLITS, TEST_CHUNK, Batch, Stream, belongs, fixed_set, prefetch, shard
from learnalg.problem import Problem
from learnalg.problems import LETTERS, TASKS
from learnalg.tokens.tokenizer import END, FIRST_TASK, OK, PAD, Tokenizer

ONE_DIGIT = "positional:base=10,digits=1,exponents=-3:3"


def problem_of(**fields: Any) -> Problem:
    return Problem(DataConfig(**fields))


JOINT = problem_of(task="TADMEFI", dim="2-3")
every_task = pytest.mark.parametrize("task", TASKS)


def assert_same(a: Batch, b: Batch) -> None:
    np.testing.assert_array_equal(a.sources, b.sources)
    np.testing.assert_array_equal(a.targets, b.targets)
    assert [(g.task, g.dims) for g in a.groups] == [(g.task, g.dims) for g in b.groups]
    for one, other in zip(a.groups, b.groups, strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.inputs, other.inputs)
        np.testing.assert_array_equal(one.solutions, other.solutions)


def inputs_of(problem: Problem, split: str, num: int, seed: int = 1) -> np.ndarray:
    (group,) = Stream(problem, seed, split, num).batch(0).groups
    return group.inputs


def as_bytes(matrices: np.ndarray) -> set[bytes]:
    return {matrix.tobytes() for matrix in matrices}


def decode(tokenizer: Tokenizer, ids: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    decoded = tokenizer.decode(ids)
    assert (decoded.reasons == OK).all()
    assert (decoded.shapes == shape).all()
    return decoded.matrices(np.arange(len(ids)), shape)


def half_units(values: np.ndarray, digits: int) -> np.ndarray:
    """Half a unit in the last of that many digits, and a little for the arithmetic of doubles."""
    sizes = np.where(values == 0, 1, np.abs(values))
    return 0.5 * 10 ** (np.floor(np.log10(sizes)) - digits + 1) * (1 + 1e-9)


def check_batch(problem: Problem, batch: Batch) -> None:
    """The tokens say what the groups say."""
    source, target = problem.tokenizers
    assert sorted(np.concatenate([group.rows for group in batch.groups]).tolist()) == list(range(len(batch)))
    for group in batch.groups:
        task = problem.tasks[group.task][1]
        shape, num = task.input_shape(*group.dims), len(group.rows)
        length = source.length(shape)
        assert group.inputs.shape == (num, *shape)
        ids = np.pad(batch.sources[group.rows, :length], ((0, 0), (0, 1)), constant_values=END)
        np.testing.assert_array_equal(decode(source, ids, shape), group.inputs)
        assert (batch.sources[group.rows, length:] == PAD).all()

        shape = task.output_shape(*group.dims)
        assert group.solutions.shape == (num, *shape)
        decoded = decode(target, batch.targets[group.rows], shape)
        assert (np.abs(decoded - group.solutions) <= half_units(group.solutions, target.encoding.digits)).all()
        assert (batch.targets[group.rows, target.length(shape)] == END).all()


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize(("start", "stop"), [(0, 9), (4, 6), (3, 3)])
def test_batches_do_not_depend_on_workers_or_start(workers, start, stop):
    found = list(prefetch(Stream(JOINT, 1, "train", 16), start, stop, workers))
    assert len(found) == stop - start
    for index, batch in enumerate(found, start):
        assert_same(batch, Stream(JOINT, 1, "train", 16).batch(index))


def test_a_batch_does_not_depend_on_those_drawn_before():
    stream = Stream(JOINT, 1, "train", 16)
    first = stream.batch(3)
    stream.batch(0)
    assert_same(stream.batch(3), first)


def test_seed_split_and_index_each_make_other_batches():
    problem = problem_of(task="transpose", dim="2")
    keys = [(seed, split, index) for seed in (0, 1, 2) for split in SPLITS for index in (0, 1, 5)]
    drawn = [Stream(problem, seed, split, 8).batch(index).sources.tobytes() for seed, split, index in keys]
    assert len(set(drawn)) == len(keys)


def test_splits_draw_their_dimensions_apart():
    problem = problem_of(task="transpose", dim="1-9")
    dims = {Stream(problem, 1, split, 30).batch(0).sources[:, :2].tobytes() for split in SPLITS}
    assert len(dims) == len(SPLITS)


@pytest.mark.parametrize("workers", [0, 1])
def test_prefetch_can_be_left_early(workers):
    batches = prefetch(Stream(problem_of(task="add", dim="2"), 1, "train", 4), 0, 10**9, workers)
    assert len(list(islice(batches, 3))) == 3
    batches.close()


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_in_a_worker_reaches_the_reader(workers):
    stream = Stream(problem_of(task="add", dim="2", amplitude=(1e12,)), 1, "train", 4)
    with pytest.raises(ValueError, match="too large for fp15"):
        next(prefetch(stream, 0, 5, workers))


@every_task
@pytest.mark.parametrize("split", SPLITS)
def test_tokens_say_inputs_and_solutions(task, split):
    problem = problem_of(task=task, dim="3")
    batch = Stream(problem, 1, split, 32).batch(0)
    assert len(batch) == 32
    check_batch(problem, batch)
    assert (batch.sources.shape[1], batch.targets.shape[1]) == problem.lengths


@pytest.mark.parametrize(("source", "target"), [("p10", "b1999"), ("p1000", "fp15"), ("p10000", "p100")])
def test_tokens_say_inputs_and_solutions_in_every_encoding(source, target):
    problem = problem_of(task="matmul", dim="2-4", input_encoding=source, output_encoding=target)
    check_batch(problem, Stream(problem, 1, "train", 32).batch(0))


@every_task
def test_solutions_are_those_of_the_matrix_seen(task):
    problem = problem_of(task=task, dim="4")
    (group,) = Stream(problem, 1, "train", 32).batch(0).groups
    np.testing.assert_array_equal(group.solutions, TASKS[task]().solve(group.inputs))


def test_joint_validation_has_every_task_and_its_token_on_both_sides():
    batch = Stream(JOINT, 1, "valid", 200).batch(0)
    check_batch(JOINT, batch)
    assert [name for name, _ in JOINT.tasks] == list(LETTERS.values())
    assert {group.task for group in batch.groups} == set(range(len(LETTERS)))
    assert {group.dims for group in batch.groups} == {(2, 2), (3, 3)}
    for group in batch.groups:
        assert (batch.sources[group.rows, 0] == FIRST_TASK + group.task).all()
        assert (batch.targets[group.rows, 0] == FIRST_TASK + group.task).all()


def test_joint_validation_draws_all_tasks_alike():
    batch = Stream(JOINT, 1, "valid", 7_000).batch(0)
    counts = np.bincount(batch.sources[:, 0] - FIRST_TASK)
    assert len(counts) == 7 and np.abs(counts - 1_000).max() < 150  # five standard deviations


def test_a_training_batch_has_one_task_one_size_and_no_padding():
    stream = Stream(JOINT, 1, "train", 4)
    kinds = Counter()
    for index in range(700):
        batch = stream.batch(index)
        (group,) = batch.groups
        assert (batch.sources != PAD).all() and (batch.targets != PAD).all()
        kinds[group.task, group.dims] += 1
    # All tasks alike; sizes in proportion to the size.
    expected = {(task, (n, n)): 100 * n / 5 for task in range(7) for n in (2, 3)}
    assert kinds.keys() == expected.keys()
    assert all(abs(kinds[kind] - num) < 5 * np.sqrt(num) for kind, num in expected.items())


DIMS = [
    ("3", {(3, 3)}),
    ("3x2", {(3, 2)}),
    ("2-4", {(2, 2), (3, 3), (4, 4)}),
    ("1-2x3-4", {(1, 3), (1, 4), (2, 3), (2, 4)}),
    ("2-3x2-3", {(2, 2), (2, 3), (3, 2), (3, 3)}),
]


@pytest.mark.parametrize(("dim", "allowed"), DIMS)
def test_dimensions_are_all_those_allowed(dim, allowed):
    problem = problem_of(task="transpose", dim=dim)
    batch = Stream(problem, 1, "test", 100).batch(0)
    check_batch(problem, batch)
    assert {group.dims for group in batch.groups} == allowed
    train = Stream(problem, 1, "train", 1)
    assert {group.dims for index in range(60) for group in train.batch(index).groups} == allowed


@pytest.mark.parametrize("task", [name for name in TASKS if name != "matvec"])  # a vector cannot be symmetric
def test_symmetric_tasks_and_the_symmetric_option_draw_symmetric_matrices(task):
    asked = not TASKS[task]().symmetric
    inputs = inputs_of(problem_of(task=task, dim="3", symmetric=asked), "train", 20)
    for part in np.split(inputs, inputs.shape[2] // 3, axis=2):
        np.testing.assert_array_equal(part, part.swapaxes(1, 2))
    if asked:
        plain = inputs_of(problem_of(task=task, dim="3"), "train", 20)[:, :, :3]
        assert (plain != plain.swapaxes(1, 2)).any()


@pytest.mark.parametrize("noise", [0.02, 0.1])
@pytest.mark.parametrize("amplitude", [10.0, 100.0])
def test_noise_has_its_standard_deviation_and_spares_the_solution(noise, amplitude):
    problem = problem_of(task="add", dim="5", noise=noise, amplitude=(amplitude,), input_encoding="p10000")
    (group,) = Stream(problem, 1, "train", 1_000).batch(0).groups
    sigma = noise * amplitude / np.sqrt(3)
    left = group.inputs[:, :, :5] + group.inputs[:, :, 5:] - group.solutions
    assert left.std() == pytest.approx(np.sqrt(2) * sigma, rel=0.03)  # 25,000 coefficients: six standard deviations
    assert left.mean() == pytest.approx(0, abs=0.05 * sigma)


def test_the_matrix_without_noise_is_rounded_as_the_model_would_see_it():
    problem = problem_of(task="transpose", dim="4", noise=0.1)
    (group,) = Stream(problem, 1, "train", 500).batch(0).groups
    clean = group.solutions.swapaxes(1, 2)
    encoding = problem.tokenizers[0].encoding
    np.testing.assert_array_equal(encoding.decode(encoding.encode(clean))[0], clean)
    assert np.abs(clean).max() <= 10
    assert (group.inputs - clean).std() == pytest.approx(0.1 * 10 / np.sqrt(3), rel=0.05)


@pytest.mark.parametrize("triangle", [False, True])
def test_a_matrix_may_be_solved_before_it_is_rounded(triangle):
    fields = {"task": "eigenvalues", "dim": "3", "input_encoding": "p100", "triangle": triangle}
    first, then = (Stream(problem_of(rounded=r, **fields), 1, "train", 200).batch(0) for r in (True, False))
    np.testing.assert_array_equal(first.sources, then.sources)  # the model reads the same
    np.testing.assert_allclose(
        first.groups[0].solutions[:, :, 0], -np.sort(-np.linalg.eigvalsh(first.groups[0].inputs))
    )
    difference = np.abs(first.groups[0].solutions - then.groups[0].solutions)
    assert 0 < np.median(difference) < 0.2  # two digits of numbers up to 10 are off by up to 0.05


def test_noise_follows_the_amplitude_of_each_matrix():
    problem = problem_of(task="transpose", dim="5", noise=0.1, amplitude=(1.0, 100.0))
    (group,) = Stream(problem, 1, "train", 2_000).batch(0).groups
    clean = group.solutions.swapaxes(1, 2)
    ratio = (group.inputs - clean).std(axis=(1, 2)) / clean.std(axis=(1, 2))
    small = clean.std(axis=(1, 2)) < np.median(clean.std(axis=(1, 2)))
    assert np.median(ratio[small]) == pytest.approx(0.1, rel=0.1)
    assert np.median(ratio[~small]) == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("num", [1, 30, TEST_CHUNK, TEST_CHUNK + 300])
def test_the_first_of_a_fixed_set_are_always_the_same(num):
    problem = problem_of(task="transpose", dim="1-2")
    batches = list(fixed_set(problem, num, seed=3))
    assert [len(batch) for batch in batches] == [TEST_CHUNK] * (num // TEST_CHUNK) + [num % TEST_CHUNK] * (
        num % TEST_CHUNK > 0
    )
    whole = fixed_set(problem, 2 * TEST_CHUNK, seed=3)
    for batch, longer in zip(batches, whole, strict=False):
        check_batch(problem, batch)
        assert_same(batch, shard(longer, 0, len(batch)))


def test_a_fixed_set_is_of_the_split_asked_for():
    problem = problem_of(task="transpose", dim="2")
    for split in SPLITS:
        (batch,) = fixed_set(problem, 50, seed=3, split=split)
        assert belongs(batch.groups[0].inputs, split).all()
    (default,) = fixed_set(problem, 50, seed=3)
    assert belongs(default.groups[0].inputs, "test").all()


@pytest.mark.parametrize(("dim", "noise"), [("1", 0.0), ("2", 0.0), ("2", 0.2)])
def test_splits_share_no_input(dim, noise):
    problem = problem_of(task="transpose", dim=dim, input_encoding=ONE_DIGIT, noise=noise)
    seen = [as_bytes(inputs_of(problem, split, 5_000, seed)) for seed, split in enumerate(SPLITS)]
    for k in range(3):
        assert not seen[k] & seen[k - 1]
    # The inputs are few enough to meet: two draws from one split do share some.
    assert seen[0] & as_bytes(inputs_of(problem, "train", 5_000, seed=7))


def test_splits_of_different_tasks_share_no_input():
    transpose, inverse = (problem_of(task=t, dim="1", input_encoding=ONE_DIGIT) for t in ("transpose", "inverse"))
    assert not as_bytes(inputs_of(transpose, "train", 2_000)) & as_bytes(inputs_of(inverse, "test", 2_000))


@pytest.mark.parametrize("shape", [(40_000, 1, 1), (20_000, 5, 5)])
def test_shares_of_the_splits(shape):
    encoding = problem_of().tokenizers[0].encoding
    drawn = np.random.default_rng(1).uniform(-10, 10, shape) if shape[1] > 1 else np.linspace(0.1, 999, shape[0])
    seen = np.unique(encoding.decode(encoding.encode(drawn))[0].reshape(len(drawn), -1), axis=0).reshape(-1, *shape[1:])
    shares = np.array([belongs(seen, split) for split in ("test", "valid", "train")])
    assert (shares.sum(axis=0) == 1).all()
    expected = np.array([1, 1, 14]) / 16
    deviation = np.sqrt(expected * (1 - expected) / len(seen))
    assert (np.abs(shares.mean(axis=1) - expected) < 5 * deviation).all()


def test_a_split_depends_on_the_matrix_alone():
    seen = np.random.default_rng(1).integers(-3, 4, (500, 2, 2)).astype(float)
    together = belongs(seen, "test")
    assert 0 < together.sum() < 500
    np.testing.assert_array_equal(np.concatenate([belongs(seen[k : k + 1], "test") for k in range(500)]), together)
    np.testing.assert_array_equal(belongs(np.where(seen == 0, -0.0, seen), "test"), together)
    np.testing.assert_array_equal(belongs(np.asfortranarray(seen), "test"), together)


def test_swapping_coefficients_may_change_the_split():
    seen = np.random.default_rng(1).uniform(-3, 4, (500, 2, 2))
    assert (belongs(seen, "test") != belongs(seen.swapaxes(1, 2), "test")).any()


def are_singular(matrices: np.ndarray) -> np.ndarray:
    left, right = matrices[:, 0, 0] * matrices[:, 1, 1], matrices[:, 0, 1] * matrices[:, 1, 0]
    return np.abs(left - right) <= 1e-9 * (np.abs(left) + np.abs(right))


@pytest.mark.parametrize("task", ["inverse", "symmetric_inverse"])
def test_no_singular_matrix_is_to_be_inverted(task):
    problem = problem_of(task=task, dim="2", input_encoding=ONE_DIGIT)
    (group,) = Stream(problem, 1, "train", 3_000).batch(0).groups
    assert not are_singular(group.inputs).any()
    assert np.isfinite(group.solutions).all()
    # Rounding to one digit does make singular matrices, and other tasks see them.
    others = inputs_of(problem_of(task="transpose", dim="2", input_encoding=ONE_DIGIT), "train", 3_000)
    assert are_singular(others).any()


@pytest.mark.parametrize(
    ("encoding", "amplitude", "complaint"),
    [("fp15", 1e11, "too large for fp15"), ("p10", 1e105, "too large"), (ONE_DIGIT, 1e5, "too large")],
)
def test_an_amplitude_too_large_for_the_encoding_is_refused(encoding, amplitude, complaint):
    problem = problem_of(task="transpose", dim="2", input_encoding=encoding, amplitude=(amplitude,))
    with pytest.raises(ValueError, match=complaint):
        Stream(problem, 1, "train", 16).batch(0)


def test_too_few_problems_for_a_split_are_refused():
    # One digit and no exponent: in [-0.4, 0.4] every number is zero.
    problem = problem_of(
        task="transpose", dim="1", amplitude=(0.4,), input_encoding="positional:base=10,digits=1,exponents=0:0"
    )
    empty = next(split for split in SPLITS if not belongs(np.zeros((1, 1, 1)), split)[0])
    with pytest.raises(ValueError, match=f"could not draw 1x1 problems for the split '{empty}'"):
        Stream(problem, 1, empty, 4).batch(0)


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="dev"):
        Stream(problem_of(), 1, "dev", 16)


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_shards_are_the_batch_in_pieces(parts):
    batch = Stream(JOINT, 1, "valid", 60).batch(0)
    size = 60 // parts
    pieces = [shard(batch, start, start + size) for start in range(0, 60, size)]
    for piece in pieces:
        assert len(piece) == size
        check_batch(JOINT, piece)
        assert all(len(group.rows) for group in piece.groups)
    np.testing.assert_array_equal(np.concatenate([piece.sources for piece in pieces]), batch.sources)
    np.testing.assert_array_equal(np.concatenate([piece.targets for piece in pieces]), batch.targets)
