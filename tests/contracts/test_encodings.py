"""What every encoding must do, whatever its tokens: each entry of ENCODINGS, and a few general forms."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.tokens import ENCODINGS, Encoding, get_encoding

GENERAL_FORMS = (
    "positional:base=2,digits=3,exponents=-20:20",
    "positional:base=7,digits=1,exponents=-3:0",
    "positional:base=1000,digits=2",
    "positional:base=100,digits=6,exponents=-200:140",
    "balanced:digits=2",
    "floating:digits=2,exponents=-5:5",
    "floating:digits=1,exponents=0:3",
)
SHAPES = ((), (1,), (3,), (0,), (2, 3, 4))

every_encoding = pytest.mark.parametrize("name", (*ENCODINGS, *GENERAL_FORMS))
thoroughly = settings(deadline=None, max_examples=40)


def smallest(encoding: Encoding) -> float:
    return float(f"1e{encoding.exponents[0] + encoding.digits - 1}")


def largest(encoding: Encoding) -> float:
    return float(f"{10**encoding.digits - 1}e{encoding.exponents[1]}")


def in_range(encoding: Encoding) -> st.SearchStrategy[float]:
    """Zero and numbers that can be written, from all decades alike or from anywhere."""
    low, high = smallest(encoding), largest(encoding)
    decades = st.integers(round(np.log10(low)), round(np.log10(high)) - 1)
    evenly = st.builds(lambda m, k: float(f"{m!r}e{k}"), st.floats(1, 9), decades)
    sizes = st.one_of(evenly, st.floats(low, high), st.just(0.0))
    return st.builds(lambda size, sign: sign * size, sizes, st.sampled_from([1.0, -1.0]))


def random_numbers(encoding: Encoding, num: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    low, high = np.log10([smallest(encoding), largest(encoding)])
    size = np.clip(10 ** rng.uniform(low, high, num), smallest(encoding), largest(encoding))
    return np.where(rng.random(num) < 0.5, -size, size)


def half_unit(value: float, digits: int) -> float:
    """Half a unit in the last of that many significant digits, and a little for the arithmetic of doubles."""
    return 0.5 * float(f"1e{Decimal(value).adjusted() - digits + 1}") * (1 + 1e-8) if value else 0.0


@every_encoding
@thoroughly
@given(data=st.data())
def test_round_trip_is_within_half_a_unit(name, data):
    encoding = get_encoding(name)
    value = data.draw(in_range(encoding))
    decoded, valid = encoding.decode(encoding.encode(np.array(value)))
    assert valid
    assert abs(decoded - value) <= half_unit(value, encoding.digits)


@every_encoding
def test_round_trip_of_many_numbers_is_within_half_a_unit(name):
    encoding = get_encoding(name)
    values = random_numbers(encoding, 10_000)
    decoded, valid = encoding.decode(encoding.encode(values))
    assert valid.all()
    bounds = np.array([half_unit(value, encoding.digits) for value in values.tolist()])
    np.testing.assert_array_less(np.abs(decoded - values), bounds)


@every_encoding
@thoroughly
@given(data=st.data())
def test_a_decoded_number_is_encoded_as_before(name, data):
    encoding = get_encoding(name)
    ids = encoding.encode(np.array(data.draw(in_range(encoding))))
    np.testing.assert_array_equal(encoding.encode(encoding.decode(ids)[0]), ids)


@every_encoding
def test_many_decoded_numbers_are_encoded_as_before(name):
    encoding = get_encoding(name)
    ids = encoding.encode(random_numbers(encoding, 100_000))
    np.testing.assert_array_equal(encoding.encode(encoding.decode(ids)[0]), ids)


@every_encoding
def test_order_and_sign_survive(name):
    encoding = get_encoding(name)
    values = np.sort(random_numbers(encoding, 10_000))
    decoded, _ = encoding.decode(encoding.encode(values))
    assert (np.diff(decoded) >= 0).all()
    np.testing.assert_array_equal(np.sign(decoded), np.sign(values))
    np.testing.assert_array_equal(encoding.decode(encoding.encode(-values))[0], -decoded)


@every_encoding
def test_numbers_too_small_become_zero(name):
    encoding = get_encoding(name)
    zero = encoding.encode(np.array(0.0))
    for value in (-0.0, 0.5 * smallest(encoding), -0.5 * smallest(encoding), 5e-324):
        np.testing.assert_array_equal(encoding.encode(np.array(value)), zero)
    decoded, valid = encoding.decode(zero)
    assert valid and decoded == 0 and not np.signbit(decoded)


@every_encoding
def test_smallest_and_largest_number_are_exact(name):
    encoding = get_encoding(name)
    ends = np.array([smallest(encoding), -smallest(encoding), largest(encoding), -largest(encoding)])
    np.testing.assert_allclose(encoding.decode(encoding.encode(ends))[0], ends, rtol=1e-15)


@every_encoding
def test_a_number_too_large_is_refused_or_no_number(name):
    encoding = get_encoding(name)
    for value in (10 * largest(encoding), -10 * largest(encoding)):
        try:
            ids = encoding.encode(np.array([1.0, value]))
        except ValueError as error:
            assert f"{abs(value):.3g}" in str(error)
        else:
            assert encoding.decode(ids)[1].tolist() == [True, False]


@every_encoding
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused(name, value):
    with pytest.raises(ValueError, match="NaN and infinity"):
        get_encoding(name).encode(np.array([1.0, value]))


def test_a_very_large_number_overflows_no_double():
    encoding = get_encoding("positional:base=10,exponents=-200:200")
    with np.errstate(over="raise"):
        assert encoding.decode(encoding.encode(np.array(3.14e200)))[1]


@every_encoding
def test_tokens_are_unique(name):
    tokens = get_encoding(name).tokens
    assert len(set(tokens)) == len(tokens)


@every_encoding
def test_slots_lie_inside_the_vocabulary(name):
    encoding = get_encoding(name)
    assert all(0 <= start < stop <= len(encoding.tokens) for start, stop in encoding.slots)


@every_encoding
def test_encoded_ids_lie_in_their_slots(name):
    encoding = get_encoding(name)
    ids = encoding.encode(random_numbers(encoding, 10_000))
    for place, slot in enumerate(encoding.slots):
        assert slot.start <= ids[:, place].min() and ids[:, place].max() < slot.stop


@every_encoding
def test_every_id_of_a_slot_is_valid_beside_valid_ones(name):
    encoding = get_encoding(name)
    for place, slot in enumerate(encoding.slots):
        ids = np.tile(encoding.encode(np.array(1.0)), (slot.stop - slot.start, 1))
        ids[:, place] = np.arange(slot.start, slot.stop)
        values, valid = encoding.decode(ids)
        assert valid.all() and np.isfinite(values).all()


@every_encoding
def test_an_id_outside_its_slot_is_refused_and_spoils_no_neighbour(name):
    encoding = get_encoding(name)
    good = encoding.encode(np.array(1.0))
    for place, slot in enumerate(encoding.slots):
        outside = [-1_000_000, -1, slot.start - 1, slot.stop, len(encoding.tokens), len(encoding.tokens) + 1_000_000]
        ids = np.tile(good, (2 * len(outside), 1))
        ids[::2, place] = outside
        values, valid = encoding.decode(ids)
        assert not valid[::2].any() and np.isnan(values[::2]).all()
        assert valid[1::2].all() and (values[1::2] == 1).all()


@every_encoding
@pytest.mark.parametrize("shape", SHAPES)
def test_any_shape_is_encoded_element_by_element(name, shape):
    encoding = get_encoding(name)
    values = random_numbers(encoding, int(np.prod(shape))).reshape(shape)
    ids = encoding.encode(values)
    assert ids.shape == (*shape, len(encoding.slots))
    assert ids.dtype == np.int64
    decoded, valid = encoding.decode(ids)
    assert decoded.shape == valid.shape == shape
    for index in np.ndindex(shape):
        np.testing.assert_array_equal(ids[index], encoding.encode(values[index]))
        assert decoded[index] == encoding.decode(ids[index])[0]


@every_encoding
def test_neither_encode_nor_decode_changes_its_argument(name):
    encoding = get_encoding(name)
    values = random_numbers(encoding, 100)
    kept_values = values.copy()
    ids = encoding.encode(values)
    kept_ids = ids.copy()
    encoding.decode(ids)
    np.testing.assert_array_equal(values, kept_values)
    np.testing.assert_array_equal(ids, kept_ids)


@every_encoding
def test_each_token_has_a_value_of_its_own_place(name):
    encoding = get_encoding(name)
    values = encoding.token_values
    assert values.shape == (len(encoding.tokens),)
    for slot in encoding.slots:
        inside = values[slot.start : slot.stop]
        assert np.isfinite(inside).all()
        assert len(np.unique(inside)) == len(inside)


@every_encoding
def test_ordered_ranges_are_monotonic_and_apart(name):
    encoding = get_encoding(name)
    seen = np.zeros(len(encoding.tokens), dtype=int)
    for start, stop in encoding.ordered:
        assert 0 <= start < stop <= len(encoding.tokens)
        steps = np.diff(encoding.token_values[start:stop])
        assert (steps > 0).all() or (steps < 0).all()
        seen[start:stop] += 1
    assert seen.max() == 1


@every_encoding
def test_written_tokens_are_those_of_the_ordered_ones_that_numbers_have(name):
    encoding = get_encoding(name)
    is_ordered, is_written = (np.zeros(len(encoding.tokens), dtype=bool) for _ in range(2))
    for start, stop in encoding.ordered:
        is_ordered[start:stop] = True
    for start, stop in encoding.written:
        assert is_ordered[start:stop].all()
        is_written[start:stop] = True
    rng = np.random.default_rng(0)
    values = rng.choice([-1, 1], 100_000) * 10 ** rng.uniform(-1, 0.9, 100_000)
    found = np.bincount(encoding.encode(values).ravel(), minlength=len(encoding.tokens)) > 0
    assert not (found & is_ordered & ~is_written).any()
    if len(encoding.slots) > 1 and is_written.sum() < 2_000:  # these numbers have all mantissas
        assert (found & is_written).sum() > 0.98 * is_written.sum()


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("p11", "p11"),
        ("", "unknown encoding ''"),
        ("P10", "P10"),
        ("p10:digits=2", "p10:digits=2"),
        ("positionl", "did you mean 'positional'"),
        ("positional:base=1", "base=1"),
        ("positional:base=10,digits=7", "digits=7"),
        ("balanced:digits=0", "digits=0"),
        ("balanced:digits=two", "digits=two: expected a whole number"),
        ("balanced:exponents=1:5", "exponents=1:5"),
        ("balanced:exponents=-5:-1", "exponents=-5:-1"),
        ("balanced:exponents=-201:0", "exponents=-201:0"),
        ("floating:exponents=5", "floating.*exponents=5: expected LOWEST:HIGHEST"),
        ("floating:base=10", "base"),
    ],
)
def test_a_name_that_means_no_encoding_is_refused(name, complaint):
    with pytest.raises(ValueError, match=complaint):
        get_encoding(name)


def test_a_general_form_with_the_defaults_is_the_named_encoding():
    assert get_encoding("positional") == ENCODINGS["p10"]
    assert get_encoding("balanced") == ENCODINGS["b1999"]
    assert get_encoding("floating:digits=3,exponents=-8:7") == ENCODINGS["fp15"]
    assert get_encoding("positional:base=10000,digits=4") == ENCODINGS["p10000"]
