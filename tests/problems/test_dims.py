"""Sizes of matrices: how they are written, and how often each is drawn."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.problems.dims import MAX_DIM, Dims

quick = settings(max_examples=60, deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("text", "rows", "cols", "square", "is_fixed"),
    [
        ("5", (5, 5), (5, 5), True, True),
        ("1", (1, 1), (1, 1), True, True),
        (str(MAX_DIM), (MAX_DIM, MAX_DIM), (MAX_DIM, MAX_DIM), True, True),
        (" 5 ", (5, 5), (5, 5), True, True),
        ("5x5", (5, 5), (5, 5), True, True),
        ("6x4", (6, 6), (4, 4), False, True),
        ("5-10", (5, 10), (5, 10), True, False),
        ("5-5", (5, 5), (5, 5), True, True),
        ("5-10x5-10", (5, 10), (5, 10), False, False),
        ("5-10x3-8", (5, 10), (3, 8), False, False),
        ("5-10x3", (5, 10), (3, 3), False, False),
        ("3x5-10", (3, 3), (5, 10), False, False),
    ],
)
def test_dims_are_read(text, rows, cols, square, is_fixed):
    dims = Dims.parse(text)
    assert (dims.rows, dims.cols, dims.square, dims.is_fixed) == (rows, cols, square, is_fixed)


WRONG_DIMS = ["", "x", "5x", "x5", "5-", "-5", "5-10x", "5x4x3", "5-6-7", "five", "5.0", "5 x 4", "5,4"]
OUT_OF_RANGE = ["0", "0x5", "5x0", "0-5", "10-5", "5x10-5", str(MAX_DIM + 1), f"5-{MAX_DIM + 1}", f"5x{MAX_DIM + 1}"]
END_AT_ZERO = ["5-0", "5x4-0"]


@pytest.mark.parametrize("text", WRONG_DIMS + OUT_OF_RANGE + END_AT_ZERO)
def test_wrong_dims_are_refused_by_name(text):
    with pytest.raises(ValueError, match=r"dimensions") as error:
        Dims.parse(text)
    assert repr(text) in str(error.value)


def test_square_dims_are_drawn_uniformly_and_stay_square():
    drawn = Dims.parse("5-10").draw(np.random.default_rng(0), 6_000)
    assert (drawn[:, 0] == drawn[:, 1]).all()
    counts = Counter(drawn[:, 0].tolist())
    assert sorted(counts) == [5, 6, 7, 8, 9, 10]
    assert all(abs(count - 1_000) < 130 for count in counts.values())  # 4.5 standard deviations


def test_rectangular_dims_are_drawn_uniformly_over_all_pairs():
    drawn = Dims.parse("2-4x5-6").draw(np.random.default_rng(0), 6_000)
    counts = Counter(map(tuple, drawn.tolist()))
    assert sorted(counts) == [(m, n) for m in (2, 3, 4) for n in (5, 6)]
    assert all(abs(count - 1_000) < 130 for count in counts.values())


@quick
@given(ends=st.lists(st.integers(1, MAX_DIM), min_size=4, max_size=4), square=st.booleans())
def test_dims_admit_what_they_draw_and_nothing_beyond(ends, square):
    (a, b), (c, d) = sorted(ends[:2]), sorted(ends[2:])
    dims = Dims.parse(f"{a}-{b}" if square else f"{a}-{b}x{c}-{d}")
    assert all(dims.admits(m, n) for m, n in dims.draw(np.random.default_rng(0), 20).tolist())
    assert not dims.admits(a - 1, dims.cols[0])
    assert not dims.admits(a, dims.cols[1] + 1)
    if square and a < b:
        assert not dims.admits(a, b)


@pytest.mark.parametrize(
    ("text", "sizes", "weights"),
    [
        ("4x2", [(4, 2)], [1]),
        ("2-4", [(2, 2), (3, 3), (4, 4)], [2, 3, 4]),
        ("1-2x3-4", [(1, 3), (1, 4), (2, 3), (2, 4)], [3, 4, 6, 8]),
    ],
)
def test_sizes_of_training_batches_are_drawn_in_proportion_to_the_size(text, sizes, weights):
    dims, rng = Dims.parse(text), np.random.default_rng(0)
    counts = Counter(tuple(dims.draw_large(rng).tolist()) for _ in range(4_000))
    assert sorted(counts) == sizes
    expected = np.array(weights) / sum(weights) * 4_000
    assert (np.abs([counts[size] for size in sizes] - expected) <= 5 * np.sqrt(expected)).all()
