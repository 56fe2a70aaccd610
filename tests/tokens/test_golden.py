"""Golden tables: the paper's own examples (table 1, appendix A), and the numbers at which rounding goes wrong."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from learnalg.tokens import ENCODINGS, get_encoding
from learnalg.tokens.tokenizer import Tokenizer

WIDE_FP = "floating:digits=3,exponents=-20:25"  # the FP15 of the paper's table, which holds 6.02e23
THREE_DIGITS = ("p10", "p1000", "b1999", "fp15")
E_TO_THE_PI = math.exp(math.pi)


def written(name: str, value: float) -> str:
    encoding = get_encoding(name)
    return " ".join(encoding.tokens[k] for k in encoding.encode(np.array(value)))


def read(name: str, text: str) -> tuple[float, bool]:
    encoding = get_encoding(name)
    value, valid = encoding.decode(np.array([encoding.tokens.index(token) for token in text.split()]))
    return float(value), bool(valid)


@pytest.mark.parametrize(
    ("name", "value", "tokens"),
    [
        ("p10", 3.14, "+ 3 1 4 E-2"),
        ("p1000", 3.14, "+ 314 E-2"),
        ("b1999", 3.14, "314 E-2"),
        ("fp15", 3.14, "FP314/-2"),
        ("p10", -6.02e23, "- 6 0 2 E21"),
        ("p1000", -6.02e23, "- 602 E21"),
        ("b1999", -6.02e23, "-602 E21"),
        (WIDE_FP, -6.02e23, "FP-602/21"),
        ("p10", E_TO_THE_PI, "+ 2 3 1 E-1"),
        ("p1000", E_TO_THE_PI, "+ 231 E-1"),
        ("p10", -0.5, "- 5 0 0 E-3"),
        ("p1000", -0.5, "- 500 E-3"),
        ("p1000", 0.0, "+ 0 E0"),
    ],
)
def test_the_papers_examples(name, value, tokens):
    assert written(name, value) == tokens
    decoded, valid = read(name, tokens)
    assert valid and decoded == float(f"{value:.2e}")


def test_fp15_with_its_16_exponents_cannot_hold_the_papers_second_example():
    assert written("fp15", -6.02e23) == "FP-NaN"
    assert "FP-602/21" not in ENCODINGS["fp15"].tokens


# Value; its sign, mantissa and exponent in three digits.
ROUNDING = [
    (0.0, "+", 0, 0),
    (-0.0, "+", 0, 0),
    (1.0, "+", 100, -2),
    (-1.0, "-", 100, -2),
    (9.99, "+", 999, -2),
    (9.994, "+", 999, -2),
    (9.996, "+", 100, -1),  # rounding carries into a new digit
    (-9.996, "-", 100, -1),
    (999.4, "+", 999, 0),
    (999.6, "+", 100, 1),
    (999.5, "+", 100, 1),
    (0.9996, "+", 100, -2),
    (1000.0, "+", 100, 1),
    (999.9999999999999, "+", 100, 1),  # its log10 is 3 to double precision
    (0.001, "+", 100, -5),
    (100.5, "+", 100, 0),  # exact ties go to the even neighbour, as in Python
    (101.5, "+", 102, 0),
    (-100.5, "-", 100, 0),
    (-101.5, "-", 102, 0),
    (1.125, "+", 112, -2),
    (1.375, "+", 138, -2),
    (99.95, "+", 100, 0),
    (123456.0, "+", 123, 3),
    (1e-6, "+", 100, -8),  # the smallest number of fp15
    (9.996e-7, "+", 100, -8),  # rounds up to it
    (-9.99e9, "-", 999, 7),  # the largest number of fp15
    (9.994e9, "+", 999, 7),
]


@pytest.mark.parametrize(("value", "sign", "m", "e"), ROUNDING)
def test_rounding_to_three_digits(value, sign, m, e):
    minus = sign.strip("+")
    digits = " ".join(f"{m:03d}")
    assert written("p10", value) == f"{sign} {digits} E{e}"
    assert written("p1000", value) == f"{sign} {m} E{e}"
    assert written("b1999", value) == f"{minus}{m} E{e}"
    assert written("fp15", value) == f"FP{minus}{m}/{e}"


@pytest.mark.parametrize(
    ("name", "value", "tokens"),
    [
        ("p100", 3.14, "+ 31 E-1"),
        ("p100", 9.96, "+ 10 E0"),
        ("p100", -0.5, "- 50 E-2"),
        ("p10000", math.pi, "+ 3142 E-3"),
        ("p10000", 9.99996, "+ 1000 E-2"),
        ("p10000", -0.5, "- 5000 E-4"),
        ("p10000", 0.0, "+ 0 E0"),
        ("positional:base=2", 3.14, "+ 0 1 0 0 1 1 1 0 1 0 E-2"),  # 314 in binary
        ("positional:base=2", 9.99, "+ 1 1 1 1 1 0 0 1 1 1 E-2"),
        ("positional:base=32,digits=3", -3.14, "- 9 26 E-2"),
        ("balanced:digits=2", -3.14, "-31 E-1"),
        ("balanced:digits=1,exponents=-2:2", 0.025, "2 E-2"),
        ("floating:digits=2,exponents=-5:5", 3.14, "FP31/-1"),
        ("floating:digits=1,exponents=-2:2", -949.0, "FP-9/2"),
        ("floating:digits=1,exponents=-2:2", 950.1, "FPNaN"),
    ],
)
def test_other_bases_and_precisions(name, value, tokens):
    assert written(name, value) == tokens


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        (1e-98, "+ 100 E-100"),
        (9.996e-99, "+ 100 E-100"),
        (9.99e-99, "+ 0 E0"),
        (1e-101, "+ 0 E0"),
        (-1e-101, "+ 0 E0"),
        (5e-324, "+ 0 E0"),
        (9.99e102, "+ 999 E100"),
        (-9.994e102, "- 999 E100"),
    ],
)
def test_ends_of_the_range_of_p1000(value, tokens):
    assert written("p1000", value) == tokens


@pytest.mark.parametrize(
    ("name", "value", "size"),
    [
        ("p10", 9.996e102, "1e+103"),
        ("p10", -1e103, "1e+103"),
        ("p100", 9.96e101, "9.96e+101"),
        ("p1000", 9.996e102, "1e+103"),
        ("p10000", -1e104, "1e+104"),
        ("b1999", 1e120, "1e+120"),
        ("positional:base=2,digits=3,exponents=-20:0", 1000.0, "1e+03"),
    ],
)
def test_a_number_too_large_is_refused_by_its_size(name, value, size):
    with pytest.raises(ValueError, match=re.escape(f"{size} is too large")):
        written(name, value)


@pytest.mark.parametrize(
    ("value", "token"),
    [(9.996e9, "FPNaN"), (1e10, "FPNaN"), (1e150, "FPNaN"), (-9.996e9, "FP-NaN"), (-1e150, "FP-NaN")],
)
def test_fp15_writes_numbers_too_large_as_nan_by_their_sign(value, token):
    assert written("fp15", value) == token
    decoded, valid = read("fp15", token)
    assert math.isnan(decoded) and not valid


@pytest.mark.parametrize("value", [9.99e-7, -1e-7, 1e-101])
def test_fp15_writes_numbers_too_small_as_zero(value):
    assert written("fp15", value) == "FP0/0"


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_refused(name, value):
    with pytest.raises(ValueError, match="NaN and infinity"):
        written(name, value)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("p10", "+ 0 0 7 E0", 7.0),  # a mantissa with leading zeros is still a number
        ("p10", "- 0 0 0 E5", 0.0),
        ("p1000", "- 0 E-100", 0.0),
        ("b1999", "-7 E2", -700.0),
        ("b1999", "0 E100", 0.0),
        ("positional:base=2", "+ 1 1 1 1 1 1 1 1 1 1 E0", 1023.0),
    ],
)
def test_numbers_that_are_never_written_can_be_read(name, text, value):
    assert read(name, text) == (value, True)
    assert np.signbit(read(name, text)[0]) == (value < 0)  # there is one zero


def random_numbers(num: int, low: float, high: float) -> np.ndarray:
    rng = np.random.default_rng(2)
    return 10 ** rng.uniform(low, high, num) * rng.choice([-1.0, 1.0], num)


@pytest.mark.parametrize("name", THREE_DIGITS)
def test_agrees_with_pythons_formatting_to_three_digits(name):
    values = random_numbers(20_000, *((-5.9, 9.9) if name == "fp15" else (-97, 102)))
    decoded, _ = ENCODINGS[name].decode(ENCODINGS[name].encode(values))
    expected = [float(f"{x:.2e}") for x in values.tolist()]
    # Half a unit is 5e-4 of the value or more; powers of ten beyond 10^22 cost a bit or two.
    np.testing.assert_allclose(decoded, expected, rtol=1e-15)


def test_tokens_agree_with_pythons_formatting():
    values = random_numbers(20_000, -97, 102)
    encoding = ENCODINGS["p1000"]
    for value, ids in zip(values.tolist(), encoding.encode(values).tolist(), strict=True):
        digits, exponent = f"{abs(value):.2e}".split("e")
        expected = ["-" if value < 0 else "+", digits.replace(".", ""), f"E{int(exponent) - 2}"]
        assert [encoding.tokens[k] for k in ids] == expected


@pytest.mark.parametrize(("name", "places"), [("p100", 1), ("p10000", 3)])
def test_agrees_with_pythons_formatting_to_two_and_four_digits(name, places):
    values = random_numbers(5_000, -90, 90)
    decoded, _ = ENCODINGS[name].decode(ENCODINGS[name].encode(values))
    np.testing.assert_allclose(decoded, [float(f"{x:.{places}e}") for x in values.tolist()], rtol=1e-15)


def test_numbers_of_three_digits_decode_to_the_nearest_double():
    texts = [f"{sign}{m}e{e}" for sign in ("", "-") for m in range(100, 1000, 7) for e in range(-22, 20)]
    values = np.array([float(text) for text in texts])
    for name in ("p10", "p1000", "b1999", WIDE_FP):
        decoded, _ = get_encoding(name).decode(get_encoding(name).encode(values))
        inside = np.abs(values) >= 1e-18  # the smallest of the last one
        np.testing.assert_array_equal(decoded[inside], values[inside])


@pytest.mark.parametrize(
    ("name", "width", "size"),
    [("p10", 5, 331), ("p1000", 3, 1231), ("b1999", 2, 2322), ("fp15", 1, 29121)],
)
def test_tokens_per_coefficient_and_size_of_vocabulary(name, width, size):
    assert len(ENCODINGS[name].slots) == width
    assert Tokenizer(name).vocab_size == size


@pytest.mark.parametrize(
    ("name", "num_tokens"),
    [
        ("p10", 2 + 10 + 201),  # 213 in appendix A too, although it counts 202 exponents
        ("p1000", 1104),
        ("b1999", 1999 + 201),
        ("fp15", 1 + 2 * 900 * 16 + 2),
        ("positional:base=2", 2 + 2 + 201),
    ],
)
def test_number_of_tokens(name, num_tokens):
    assert len(get_encoding(name).tokens) == num_tokens


@pytest.mark.parametrize(
    ("base", "places"), [(2, 10), (3, 7), (10, 3), (31, 3), (32, 2), (999, 2), (1000, 1), (5000, 1)]
)
def test_a_base_needs_the_papers_number_of_digits(base, places):
    assert len(get_encoding(f"positional:base={base}").slots) == places + 2
