"""Batches of matrices to token ids, and back with every reason for which a sequence is not a matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.problems.dims import MAX_DIM
from learnalg.tokens import ENCODINGS
from learnalg.tokens import tokenizer as constants
from learnalg.tokens.tokenizer import END, FIRST_DIM, FIRST_NUMBER, FIRST_TASK, MAX_TASKS, OK, PAD, REASONS, Tokenizer

NAMES = ("p10", "p1000", "b1999", "fp15", "positional:base=2,digits=3,exponents=-20:20")
TASK_NAMES = ("transpose", "add", "inverse")

every_encoding = pytest.mark.parametrize("name", NAMES)
with_and_without_tasks = pytest.mark.parametrize("task_names", [(), TASK_NAMES], ids=["alone", "joint"])


def random_matrices(num: int, m: int, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.uniform(-10, 10, (num, m, n)) * 10.0 ** rng.integers(-3, 4, (num, m, n))


def ended(ids: np.ndarray, *behind: int) -> np.ndarray:
    """The sequences with an end token, and then what stands behind it."""
    return np.concatenate([ids, np.tile([END, *behind], (len(ids), 1))], axis=1)


def text_of(tokenizer: Tokenizer, ids: np.ndarray) -> str:
    return " ".join(tokenizer.tokens[k] for k in ids)


@every_encoding
@with_and_without_tasks
@pytest.mark.parametrize(("shape", "num_pads"), [((1, 1), 1), ((5, 5), 0), ((3, 8), 7)])
def test_round_trip(name, task_names, shape, num_pads):
    tokenizer = Tokenizer(name, task_names)
    task = len(task_names) // 2
    ids = tokenizer.encode(random_matrices(20, *shape), task)
    decoded = tokenizer.decode(ended(ids, *[PAD] * num_pads))
    assert (decoded.reasons == OK).all()
    assert (decoded.tasks == task).all()
    assert (decoded.shapes == shape).all()
    matrices = decoded.matrices(np.arange(20), shape)
    np.testing.assert_allclose(matrices, random_matrices(20, *shape), rtol=0.005)
    np.testing.assert_array_equal(tokenizer.encode(matrices, task), ids)
    assert np.isnan(decoded.values[:, shape[0] * shape[1] :]).all()


def test_a_batch_of_several_shapes_and_tasks():
    tokenizer = Tokenizer("p1000", TASK_NAMES)
    shapes = [(2, 3), (3, 2), (1, 1), (4, 1)]
    rows = [ended(tokenizer.encode(random_matrices(1, *shape), k % 3))[0] for k, shape in enumerate(shapes)]
    ids = np.full((len(rows), max(map(len, rows)) + 2), PAD)
    for k, row in enumerate(rows):
        ids[k, : len(row)] = row
    decoded = tokenizer.decode(ids)
    assert (decoded.reasons == OK).all()
    assert decoded.tasks.tolist() == [0, 1, 2, 0]
    assert decoded.shapes.tolist() == [list(shape) for shape in shapes]
    for k, shape in enumerate(shapes):
        np.testing.assert_allclose(decoded.matrices(np.array([k]), shape), random_matrices(1, *shape), rtol=0.005)


def test_coefficients_stand_row_by_row_behind_the_dimensions():
    tokenizer = Tokenizer("p1000")
    (ids,) = tokenizer.encode(np.array([[[3.14, -6.02e23, 1.0], [0.0, -0.5, 20.0]]]))
    assert text_of(tokenizer, ids) == "V2 V3 + 314 E-2 - 602 E21 + 100 E-2 + 0 E0 - 500 E-3 + 200 E-1"


def test_a_task_token_stands_first():
    tokenizer = Tokenizer("fp15", TASK_NAMES)
    (ids,) = tokenizer.encode(np.array([[[3.14], [0.0]]]), task=1)
    assert text_of(tokenizer, ids) == "<add> V2 V1 FP314/-2 FP0/0"


def test_frame_puts_local_ids_behind_a_header():
    tokenizer = Tokenizer("b1999", TASK_NAMES)
    matrices = random_matrices(7, 3, 2)
    numbers = tokenizer.encoding.encode(matrices.reshape(7, 6))
    np.testing.assert_array_equal(tokenizer.frame(numbers, (3, 2), 2), tokenizer.encode(matrices, 2))
    np.testing.assert_array_equal(tokenizer.encode(matrices, 2)[:, 3:], numbers.reshape(7, -1) + FIRST_NUMBER)


@every_encoding
@with_and_without_tasks
def test_the_vocabulary_begins_alike_for_every_encoding(name, task_names):
    tokens = Tokenizer(name, task_names).tokens
    assert (END, PAD, FIRST_TASK, MAX_TASKS, FIRST_DIM, FIRST_NUMBER) == (0, 1, 2, 16, 18, 118)
    assert tokens[:2] == ("<s>", "<pad>")
    assert tokens[FIRST_TASK : FIRST_TASK + len(task_names)] == tuple(f"<{task}>" for task in task_names)
    assert tokens[FIRST_DIM:FIRST_NUMBER] == tuple(f"V{k}" for k in range(1, MAX_DIM + 1))
    encoding_tokens = Tokenizer(name).encoding.tokens
    assert tokens[FIRST_NUMBER : FIRST_NUMBER + len(encoding_tokens)] == encoding_tokens
    assert all(token.startswith("<reserved") for token in tokens[FIRST_NUMBER + len(encoding_tokens) :])
    assert len(set(tokens)) == len(tokens)


@with_and_without_tasks
def test_tasks_do_not_change_the_size_of_the_vocabulary(task_names):
    assert Tokenizer("p1000", task_names).vocab_size == Tokenizer("p1000").vocab_size


def test_a_general_form_has_no_reserved_tokens():
    tokenizer = Tokenizer("balanced:digits=2")
    assert tokenizer.vocab_size == FIRST_NUMBER + 199 + 201


@pytest.mark.parametrize(
    ("name", "width", "shape", "length"),
    [
        ("p10", 5, (20, 20), 2002),  # the paper, section 2.1
        ("fp15", 1, (20, 20), 402),
        ("p1000", 3, (15, 30), 1352),  # section 3.2: two 15x15 matrices side by side
        ("p10", 5, (15, 30), 2252),
        ("b1999", 2, (1, 1), 4),
    ],
)
def test_lengths_are_those_of_the_paper(name, width, shape, length):
    alone, joint = Tokenizer(name), Tokenizer(name, TASK_NAMES)
    assert (alone.width, joint.width) == (width, width)
    assert (alone.header, joint.header) == (2, 3)
    assert (alone.length(shape), joint.length(shape)) == (length, length + 1)
    assert alone.encode(np.ones((2, *shape))).shape == (2, length)
    assert joint.encode(np.ones((2, *shape))).shape == (2, length + 1)


@every_encoding
def test_token_values_are_the_encodings_and_nan_elsewhere(name):
    tokenizer = Tokenizer(name)
    values, stop = tokenizer.token_values, FIRST_NUMBER + len(tokenizer.encoding.tokens)
    assert values.shape == (tokenizer.vocab_size,)
    np.testing.assert_array_equal(values[FIRST_NUMBER:stop], tokenizer.encoding.token_values)
    assert np.isnan(values[:FIRST_NUMBER]).all() and np.isnan(values[stop:]).all()


@every_encoding
def test_each_token_lies_in_its_ordered_range(name):
    tokenizer = Tokenizer(name)
    start, stop = tokenizer.ordered.T
    ids = np.arange(tokenizer.vocab_size)
    assert ((start <= ids) & (ids < stop)).all()
    for low, high in tokenizer.encoding.ordered:
        assert (start[FIRST_NUMBER + low : FIRST_NUMBER + high] == FIRST_NUMBER + low).all()
        assert (stop[FIRST_NUMBER + low : FIRST_NUMBER + high] == FIRST_NUMBER + high).all()
    assert (stop - start > 1).sum() == sum(high - low for low, high in tokenizer.encoding.ordered)


def sequence(tokenizer: Tokenizer, pattern: str) -> np.ndarray:
    """One sequence. T: a task, if there are any; V2: a dimension; N, X: a number, a broken one; half: N but its end."""
    number = (tokenizer.encoding.encode(np.array(-2.5)) + FIRST_NUMBER).tolist()
    broken = [*number[:-1], FIRST_NUMBER + tokenizer.encoding.slots[-1].stop]
    parts = {
        "end": [END],
        "pad": [PAD],
        "N": number,
        "X": broken,
        "half": number[:-1],
        "T": [FIRST_TASK + 1] if tokenizer.task_names else [],
        "spare": [FIRST_TASK + len(TASK_NAMES)],
        "beyond": [10**6],
        "negative": [-1],
        **{f"V{k}": [FIRST_DIM + k - 1] for k in (1, 2, 3, 100)},
    }
    ids = np.array([k for part in pattern.split() for k in parts[part]])
    return ids[None, :]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("T V1 V2 N N end", "ok"),
        ("T V2 V1 N N end pad pad", "ok"),
        ("T V1 V2 N N", "no end"),
        ("T V1 V2 N N pad pad", "no end"),
        ("pad", "no end"),
        ("T V2 N N end", "no dimensions"),
        ("T N N N N end", "no dimensions"),
        ("T V1 end", "no dimensions"),
        ("T end", "no dimensions"),
        ("T end V1 V1 N", "no dimensions"),
        ("T V1 pad N end", "no dimensions"),
        ("T V1 negative N end", "no dimensions"),
        ("T V1 V2 end", "too short"),
        ("T V1 V2 N end", "too short"),
        ("T V1 V2 N end N", "too short"),
        ("T V100 V100 N end", "too short"),
        ("T V2 V2 N N X end", "too short"),
        ("T V1 V2 N N N end", "too long"),
        ("T V1 V2 N N pad end", "too long"),
        ("T V1 V2 N N end end", "too long"),
        ("T V1 V2 N N end pad N", "too long"),
        ("T V1 V2 N N end V1", "too long"),
        ("T V1 V2 N X end pad X", "too long"),
        ("T V1 V2 N X end", "not a number"),
        ("T V1 V2 X N end pad", "not a number"),
        ("T V1 V2 N half pad end", "not a number"),
        ("T V1 V2 N half V3 end", "not a number"),
        ("T V1 V2 N half beyond end", "not a number"),
        ("T V1 V2 N half negative end", "not a number"),
    ],
)
@with_and_without_tasks
def test_the_reason_is_the_first_that_applies(task_names, pattern, reason):
    tokenizers = [Tokenizer(name, task_names) for name in NAMES]
    found = {t.encoding_name: REASONS[t.decode(sequence(t, pattern)).reasons[0]] for t in tokenizers}
    assert found == dict.fromkeys(NAMES, reason)


@pytest.mark.parametrize("pattern", ["spare V1 V1 N end", "V1 V1 N end", "pad V1 V1 N end", "N N N N end", "end"])
@every_encoding
def test_a_wrong_task_token_is_found(name, pattern):
    tokenizer = Tokenizer(name, TASK_NAMES)
    (found,) = tokenizer.decode(sequence(tokenizer, pattern)).reasons
    assert REASONS[found] == "wrong task token"


def test_a_task_token_where_none_belongs_is_no_dimension():
    tokenizer = Tokenizer("p1000")
    (found,) = tokenizer.decode(sequence(tokenizer, "spare V1 V1 N end")).reasons
    assert REASONS[found] == "no dimensions"


@every_encoding
def test_numbers_beyond_the_matrix_are_not_among_its_values(name):
    tokenizer = Tokenizer(name)
    (values,) = tokenizer.decode(sequence(tokenizer, "V1 V2 N N N end")).values
    assert values[:2].tolist() == [-2.5, -2.5] and np.isnan(values[2:]).all()


@pytest.mark.parametrize("value", [1e12, -1e12])
def test_a_number_too_large_for_fp15_is_not_a_number(value):
    tokenizer = Tokenizer("fp15")
    decoded = tokenizer.decode(ended(tokenizer.encode(np.array([[[1.0, value]], [[1.0, 2.0]]]))))
    assert [REASONS[k] for k in decoded.reasons] == ["not a number", "ok"]


@pytest.mark.parametrize("name", ["p1000", "b1999", "fp15"])
def test_a_reserved_token_is_not_a_number(name):
    tokenizer = Tokenizer(name)
    ids = sequence(tokenizer, "V1 V1 N end")
    ids[0, -2] = tokenizer.tokens.index("<reserved-0>")
    assert REASONS[tokenizer.decode(ids).reasons[0]] == "not a number"


def test_every_reason_has_its_constant():
    names = ("OK", "NO_END", "WRONG_TASK", "NO_DIMENSIONS", "TOO_SHORT", "TOO_LONG", "NOT_A_NUMBER")
    assert [getattr(constants, name) for name in names] == list(range(len(REASONS)))


@every_encoding
@with_and_without_tasks
def test_one_changed_token_changes_one_coefficient_or_is_noticed(name, task_names):
    tokenizer = Tokenizer(name, task_names)
    shape = (2, 3)
    (row,) = ended(tokenizer.encode(random_matrices(1, *shape)), PAD, PAD)
    original = tokenizer.decode(row[None])
    step = max(1, tokenizer.vocab_size // 300)
    others = np.unique([*range(-2, FIRST_NUMBER + 20), *range(FIRST_NUMBER, tokenizer.vocab_size + 2, step)])
    body_stop = tokenizer.length(shape)
    for place in range(len(row)):
        ids = np.tile(row, (len(others), 1))
        ids[:, place] = others
        decoded = tokenizer.decode(ids[others != row[place]])
        ok = decoded.reasons == OK
        assert (decoded.shapes[ok] == shape).all()
        differs = decoded.values[ok, :6] != original.values[:, :6]
        if place == 0 and task_names:
            assert ok.sum() == len(task_names) - 1
            assert (decoded.tasks[ok] != original.tasks).all() and not differs.any()
        elif place < tokenizer.header or place >= body_stop:
            assert not ok.any()
        else:
            assert ok.any() and not ok.all()
            assert not np.delete(differs, (place - tokenizer.header) // tokenizer.width, axis=1).any()


@st.composite
def almost_matrices(draw, tokenizer: Tokenizer) -> np.ndarray:
    """A batch of random tokens that begins as matrices do, with a few tokens changed at random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m, n = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    columns = [rng.integers(slot.start, slot.stop, (5, m * n)) for slot in tokenizer.encoding.slots]
    ids = tokenizer.frame(np.stack(columns, axis=-1), (m, n))
    ids = ended(ids, *[PAD] * draw(st.integers(0, 3)))
    if draw(st.booleans()):
        ids[:, -1] = rng.choice([END, PAD], 5)
    for _ in range(draw(st.integers(0, 2))):
        row, place = rng.integers(5), rng.integers(ids.shape[1])
        ids[row, place] = rng.integers(-3, draw(st.sampled_from([4, FIRST_NUMBER, tokenizer.vocab_size + 3])))
    return ids


@pytest.mark.parametrize("name", ENCODINGS)
@with_and_without_tasks
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_what_decodes_can_be_written_and_read_again(name, task_names, data):
    tokenizer = Tokenizer(name, task_names)
    decoded = tokenizer.decode(data.draw(almost_matrices(tokenizer)))
    smallest = float(f"1e{tokenizer.encoding.exponents[0] + tokenizer.encoding.digits - 1}")
    for k in np.flatnonzero(decoded.reasons == OK):
        shape = tuple(decoded.shapes[k])
        matrix = decoded.matrices(np.array([k]), shape)
        matrix[np.abs(matrix) < smallest] = 0  # 0 1 2 E-100 can be read, but is written as zero
        again = tokenizer.decode(ended(tokenizer.encode(matrix, int(decoded.tasks[k]))))
        assert again.reasons == OK and again.tasks == decoded.tasks[k]
        np.testing.assert_allclose(again.matrices(np.array([0]), shape), matrix, rtol=1e-15)


@every_encoding
@with_and_without_tasks
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_rows_do_not_influence_each_other(name, task_names, data):
    tokenizer = Tokenizer(name, task_names)
    ids = data.draw(almost_matrices(tokenizer))
    together = tokenizer.decode(ids)
    for k in range(len(ids)):
        alone = tokenizer.decode(ids[k : k + 1])
        assert alone.reasons[0] == together.reasons[k]
        assert alone.tasks[0] == together.tasks[k]
        np.testing.assert_array_equal(alone.shapes[0], together.shapes[k])
        np.testing.assert_array_equal(alone.values[0], together.values[k])


@every_encoding
@with_and_without_tasks
@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**32), num=st.integers(0, 50), length=st.integers(0, 40), high=st.sampled_from([3, 130, 10**5])
)
def test_random_ids_never_crash(name, task_names, seed, num, length, high):
    tokenizer = Tokenizer(name, task_names)
    ids = np.random.default_rng(seed).integers(-2, high, (num, length))
    decoded = tokenizer.decode(ids)
    assert decoded.reasons.shape == decoded.tasks.shape == (num,)
    assert decoded.shapes.shape == (num, 2)
    assert len(decoded.values) == num
    assert ((decoded.tasks >= 0) & (decoded.tasks < max(1, len(task_names)))).all()


def test_decode_does_not_change_its_argument():
    tokenizer = Tokenizer("p10")
    ids = ended(tokenizer.encode(random_matrices(3, 2, 2)), PAD)
    kept = ids.copy()
    tokenizer.decode(ids)
    np.testing.assert_array_equal(ids, kept)


def test_an_unknown_encoding_is_refused():
    with pytest.raises(ValueError, match="p11"):
        Tokenizer("p11")


def test_more_tasks_than_task_tokens_are_refused():
    Tokenizer("p10", tuple(f"task{k}" for k in range(MAX_TASKS)))
    with pytest.raises(ValueError, match="17 tasks"):
        Tokenizer("p10", tuple(f"task{k}" for k in range(MAX_TASKS + 1)))


@pytest.mark.parametrize("shape", [(1, MAX_DIM), (MAX_DIM, 1)])
def test_the_largest_dimension_has_a_token(shape):
    tokenizer = Tokenizer("fp15")
    decoded = tokenizer.decode(ended(tokenizer.encode(random_matrices(1, *shape))))
    assert decoded.reasons == OK and tuple(decoded.shapes[0]) == shape


@pytest.mark.parametrize("shape", [(1, MAX_DIM + 1), (MAX_DIM + 1, 1)])
def test_a_dimension_without_a_token_is_refused(shape):
    with pytest.raises(ValueError, match=str(MAX_DIM + 1)):
        Tokenizer("fp15").encode(np.ones((1, *shape)))


@pytest.mark.parametrize("task", [-1, len(TASK_NAMES)])
def test_a_task_without_a_token_is_refused(task):
    with pytest.raises(ValueError, match=str(task)):
        Tokenizer("fp15", TASK_NAMES).encode(np.ones((1, 1, 1)), task)
