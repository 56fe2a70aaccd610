"""B1999 and its kin: sign and mantissa in one token, a digit of balanced base 2 (10^digits - 1) + 1; then the exponent.

B1999:   3.14 -> 314 E-2        -6.02e23 -> -602 E21
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from learnalg.tokens.decimal import Decimal, to_decimal, to_float
from learnalg.tokens.encoding import (
    Bools,
    Floats,
    Ints,
    Slot,
    check_general_form,
    check_size,
    exponent_tokens,
    in_slots,
    refuse_overflow,
)


@dataclass(frozen=True)
class Balanced:
    digits: int = 3
    exponents: tuple[int, int] = (-100, 100)

    def __post_init__(self) -> None:
        check_general_form(self.digits, self.exponents)
        check_size(2 * self._largest + 1 + self.exponents[1] - self.exponents[0] + 1)

    @cached_property
    def _largest(self) -> int:
        return 10**self.digits - 1

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        mantissas = (str(m) for m in range(-self._largest, self._largest + 1))
        return (*mantissas, *exponent_tokens(self.exponents))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        end = 2 * self._largest + 1
        return (Slot(0, end), Slot(end, len(self.tokens)))

    @cached_property
    def token_values(self) -> Floats:
        mantissas = np.arange(-self._largest, self._largest + 1) * (10.0 / 10**self.digits)
        exponents = np.arange(self.exponents[0], self.exponents[1] + 1) + self.digits - 1.0
        return np.concatenate([mantissas, exponents])

    @cached_property
    def ordered(self) -> tuple[Slot, ...]:
        return (self.slots[0],)

    @cached_property
    def written(self) -> tuple[Slot, ...]:
        """Without -99 to 99, mantissas of too few digits."""
        num = 9 * 10 ** (self.digits - 1)
        return (Slot(0, num), Slot(self.slots[0].stop - num, self.slots[0].stop))

    def encode(self, values: Floats) -> Ints:
        number = to_decimal(values, self.digits, self.exponents[0])
        refuse_overflow(f"B{len(range(-self._largest, self._largest + 1))}", values, number.exponent, self.exponents[1])
        signed = np.where(number.negative, -number.mantissa, number.mantissa)
        return np.stack([signed + self._largest, number.exponent + (self.slots[1].start - self.exponents[0])], axis=-1)

    def decode(self, ids: Ints) -> tuple[Floats, Bools]:
        valid = in_slots(ids, self.slots)
        signed = np.where(valid, ids[..., 0] - self._largest, 0)
        exponent = np.where(valid, ids[..., 1] - (self.slots[1].start - self.exponents[0]), 0)
        values = to_float(Decimal(signed < 0, np.abs(signed), exponent))
        return np.where(valid, values, np.nan), valid
