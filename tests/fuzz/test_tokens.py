"""A million malformed sequences of tokens: each has its reason, and none raises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.tokens import ENCODINGS, get_encoding
from learnalg.tokens.tokenizer import END, FIRST_DIM, FIRST_NUMBER, FIRST_TASK, OK, PAD, REASONS, Tokenizer

TOKENIZERS = [
    *(Tokenizer(name) for name in ENCODINGS),
    Tokenizer("p1000", ("transpose", "add")),
    Tokenizer("positional:base=2,digits=3,exponents=-20:20"),
    Tokenizer("floating:digits=1,exponents=0:3", ("add", "matvec", "matmul")),
    Tokenizer("balanced:digits=2"),
]
NUM = 1_000_000 // len(TOKENIZERS)
LENGTH = 40


def random_ids(rng, tokenizer, num):
    """Any ids, also such as no vocabulary has."""
    return rng.integers(-3, tokenizer.vocab_size + 3, (num, LENGTH))


def nearly_right_ids(rng, tokenizer, num):
    """Matrices of up to 3x4, each with one to four tokens replaced, and some with an end or padding inside."""
    ids = np.full((num, LENGTH), PAD)
    task = rng.integers(max(1, len(tokenizer.task_names)))
    for rows in np.array_split(np.arange(num), 12):
        m, n = rng.integers(1, 4), rng.integers(1, 5)
        length = min(tokenizer.length((m, n)), LENGTH - 1)
        ids[rows, :length] = tokenizer.encode(rng.uniform(-10, 10, (len(rows), m, n)), int(task))[:, :length]
        ids[rows, length] = END
    each = np.arange(num)
    for _ in range(rng.integers(1, 5)):
        new = np.where(rng.random(num) < 0.2, rng.integers(0, 2, num), rng.integers(0, tokenizer.vocab_size, num))
        ids[each, rng.integers(0, LENGTH, num)] = new
    return ids


def is_matrix(tokenizer, row):
    """The grammar once more, token by token and by the tokens' texts: is it one matrix, an end, then padding?"""
    if any(not 0 <= k < tokenizer.vocab_size for k in row) or END not in row:
        return False
    end = list(row).index(END)
    texts = [tokenizer.tokens[k] for k in row[:end]]
    if set(row[end + 1 :]) - {PAD}:
        return False
    if tokenizer.task_names:
        if not texts or texts[0] not in [f"<{name}>" for name in tokenizer.task_names]:
            return False
        texts = texts[1:]
    if len(texts) < 2 or not all(text.startswith("V") and text[1:].isdigit() for text in texts[:2]):
        return False
    m, n = int(texts[0][1:]), int(texts[1][1:])
    numbers = texts[2:]
    if len(numbers) != m * n * tokenizer.width:
        return False
    known = tokenizer.encoding.tokens
    allowed = [set(known[start:stop]) for start, stop in tokenizer.encoding.slots]
    return all(text in allowed[k % tokenizer.width] for k, text in enumerate(numbers))


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda t: t.encoding_name + "+".join(("", *t.task_names)))
@pytest.mark.parametrize("make", [random_ids, nearly_right_ids])
def test_malformed_sequences_have_a_reason_and_raise_nothing(fuzz, tokenizer, make):
    rng = np.random.default_rng(fuzz.rng("tokens").randrange(2**32))
    for _ in range(fuzz.rounds(1)):
        ids = make(rng, tokenizer, NUM // 2)
        decoded = tokenizer.decode(ids)
        is_ok = decoded.reasons == OK
        assert ((decoded.reasons >= 0) & (decoded.reasons < len(REASONS))).all()
        assert is_ok.any() == (make is nearly_right_ids) and not is_ok.all()
        assert (decoded.shapes >= 1).all() and (decoded.shapes <= 100).all()
        inside = np.arange(decoded.values.shape[1]) < decoded.shapes.prod(axis=1)[:, None]
        assert np.isfinite(decoded.values[is_ok[:, None] & inside]).all()
        assert np.isnan(decoded.values[~inside]).all()
        sample = np.concatenate([np.flatnonzero(is_ok)[:100], np.flatnonzero(~is_ok)[:200]])
        assert [is_matrix(tokenizer, row) for row in ids[sample]] == is_ok[sample].tolist()


@pytest.mark.parametrize("length", [0, 1, 2, 3])
@pytest.mark.parametrize("num", [0, 1, 5])
def test_sequences_too_short_for_a_header(length, num):
    for tokenizer in TOKENIZERS:
        for token in (END, PAD, FIRST_TASK, FIRST_DIM, FIRST_NUMBER):
            assert (tokenizer.decode(np.full((num, length), token)).reasons != OK).all()


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.sampled_from(TOKENIZERS), st.lists(st.integers(-(2**62), 2**62), min_size=3, max_size=20))
def test_ids_of_any_size(tokenizer, ids):
    assert tokenizer.decode(np.array([ids])).reasons[0] != OK
    numbers = np.resize(ids, (5, tokenizer.width))
    values, is_number = tokenizer.encoding.decode(numbers)
    np.testing.assert_array_equal(np.isfinite(values), is_number)


NAME = st.text(alphabet="positionalbaedfg:=,0123456789-.ex _", max_size=40)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.one_of(NAME, NAME.map("floating:".__add__), NAME.map("positional:digits=".__add__), st.text(max_size=10)))
def test_any_name_is_an_encoding_or_refused(name):
    try:
        encoding = get_encoding(name)
    except ValueError as error:
        assert str(error)
    else:
        assert 0 < len(encoding.tokens) <= 300_000
