"""FP15 and its kin: a number is one token, FPm/e for m 10^e.

    FP15:   3.14 -> FP314/-2        0 -> FP0/0        1e12 -> FPNaN        -1e12 -> FP-NaN

FP15 has a sign, a mantissa from 100 to 999 (10 bits) and 16 exponents (4 bits), -8 to 7: 15 bits, numbers from 1e-6
to 9.99e9. The paper's text has 17 exponents, but its parameter table leaves room for 16 only (decision 002).
A number too large for it is written as FPNaN or FP-NaN, by its sign; these tokens do not decode to a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from learnalg.tokens.decimal import Decimal, to_decimal, to_float
from learnalg.tokens.encoding import Bools, Floats, Ints, Slot, check_general_form, check_size, in_slots


@dataclass(frozen=True)
class FloatingPoint:
    digits: int = 3
    exponents: tuple[int, int] = (-8, 7)

    def __post_init__(self) -> None:
        check_general_form(self.digits, self.exponents)
        check_size(1 + 2 * self._block * self._num_exponents + 2)

    @cached_property
    def _smallest(self) -> int:
        return int(10 ** (self.digits - 1))

    @cached_property
    def _block(self) -> int:
        """Mantissas of one sign: local id = 1 + (2 (e - lowest) + negative) block + (m - smallest)."""
        return 9 * self._smallest

    @cached_property
    def _num_exponents(self) -> int:
        return self.exponents[1] - self.exponents[0] + 1

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        mantissas = range(self._smallest, 10 * self._smallest)
        numbers = (
            f"FP{sign}{m}/{e}"
            for e in range(self.exponents[0], self.exponents[1] + 1)
            for sign in ("", "-")
            for m in mantissas
        )
        return ("FP0/0", *numbers, "FPNaN", "FP-NaN")

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        return (Slot(0, 1 + 2 * self._block * self._num_exponents),)  # FPNaN and FP-NaN are not numbers

    @cached_property
    def token_values(self) -> Floats:
        k = np.arange(self.slots[0].stop - 1)
        block, m = np.divmod(k, self._block)
        number = Decimal(block % 2 == 1, m + self._smallest, block // 2 + self.exponents[0])
        return np.concatenate([[0.0], to_float(number), [np.nan, np.nan]])

    @cached_property
    def ordered(self) -> tuple[Slot, ...]:
        starts = 1 + np.arange(2 * self._num_exponents) * self._block
        return tuple(Slot(int(start), int(start) + self._block) for start in starts)

    @cached_property
    def written(self) -> tuple[Slot, ...]:
        return self.ordered

    def encode(self, values: Floats) -> Ints:
        lowest, highest = self.exponents
        number = to_decimal(values, self.digits, lowest)
        block = 2 * (number.exponent - lowest) + number.negative
        ids = 1 + block * self._block + number.mantissa - self._smallest
        ids = np.where(number.mantissa == 0, 0, ids)
        overflow = self.slots[0].stop + number.negative
        ids = np.where(number.exponent > highest, overflow, ids)
        return np.asarray(ids)[..., None]

    def decode(self, ids: Ints) -> tuple[Floats, Bools]:
        valid = in_slots(ids, self.slots)
        return np.where(valid, self.token_values[np.where(valid, ids[..., 0], 0)], np.nan), valid
