"""Scientific notation with a fixed number of significant digits (paper, appendix A), on whole arrays.

    x = s . m . 10^e,  m an integer of exactly `digits` digits:  3.14 -> (+, 314, -2),  9.996 -> (+, 100, -1)

Zero, of either sign, is (+, 0, 0). Numbers too small for the lowest exponent become zero. NaN and infinity
are refused: a training set that holds one is broken. The encoding decides about numbers that are too large.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

# 10.0 ** k is not always the double nearest to 10^k; the literals are.
_LOWEST_POWER = -330
POWERS = np.array([float(f"1e{k}") for k in range(_LOWEST_POWER, 309)])


def power_of_ten(k: Ints) -> Floats:
    return POWERS[k - _LOWEST_POWER]


class Decimal(NamedTuple):
    negative: NDArray[np.bool_]
    mantissa: Ints
    exponent: Ints


def to_decimal(values: Floats, digits: int, lowest: int) -> Decimal:
    """Rounds to the nearest; `lowest` is the smallest exponent e that can be written."""
    values = np.asarray(values, dtype=np.float64)
    size = np.abs(np.atleast_1d(values))
    if not np.isfinite(size).all():
        raise ValueError("NaN and infinity cannot be encoded")
    smallest = float(f"1e{lowest + digits - 1}")
    is_zero = size < smallest * (1 - 0.5 * 10.0**-digits)  # below this even rounding up does not reach it
    size = np.where(is_zero, smallest, size)
    exponent = np.floor(np.log10(size)).astype(np.int64) - (digits - 1)
    mantissa = np.rint(_scaled(size, exponent)).astype(np.int64)
    # log10 may be off by one unit at a power of ten, and rounding may carry into a new digit.
    off = (mantissa >= 10**digits) | (mantissa < 10 ** (digits - 1))
    if off.any():  # few are
        exponent[off] += np.where(mantissa[off] >= 10**digits, 1, -1)
        mantissa[off] = np.rint(_scaled(size[off], exponent[off])).astype(np.int64)
    is_zero |= exponent < lowest
    mantissa[is_zero] = exponent[is_zero] = 0
    negative = (values < 0) & ~is_zero.reshape(values.shape)
    return Decimal(negative, mantissa.reshape(values.shape), exponent.reshape(values.shape))


def to_float(number: Decimal) -> Floats:
    """One rounding only: a division by an exact power of ten, or a product with one."""
    shift = power_of_ten(np.abs(number.exponent))
    size = np.where(number.exponent < 0, number.mantissa / shift, number.mantissa * shift)
    return np.where(number.negative & (number.mantissa != 0), -size, size)


def _scaled(size: Floats, exponent: Ints) -> Floats:
    """size / 10^exponent."""
    return size * power_of_ten(np.maximum(-exponent, 0)) / power_of_ten(np.maximum(exponent, 0))
