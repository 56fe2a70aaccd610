"""P10, P1000 and all base-N positional encodings: a sign, the mantissa's digits in base N, an exponent.

P10:   3.14 -> + 3 1 4 E-2        P1000:   3.14 -> + 314 E-2        base 2: ten digits
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
class Positional:
    base: int = 10
    digits: int = 3
    exponents: tuple[int, int] = (-100, 100)

    def __post_init__(self) -> None:
        check_general_form(self.digits, self.exponents)
        if not 2 <= self.base <= 10**6:
            raise ValueError(f"base={self.base}: must be between 2 and 1000000")
        check_size(2 + self._num_digit_tokens + self.exponents[1] - self.exponents[0] + 1)

    @cached_property
    def num_places(self) -> int:
        """Digits of the largest mantissa in this base: the smallest k with base^k >= 10^digits."""
        k = 1
        while self.base**k < 10**self.digits:
            k += 1
        return k

    @cached_property
    def _smallest(self) -> int:
        """The smallest mantissa but zero when one digit holds it all: tokens below it would never be used,
        and without them P1000 has the 1104 tokens that the paper counts."""
        return 10 ** (self.digits - 1) if self.num_places == 1 else 1

    @cached_property
    def _num_digit_tokens(self) -> int:
        return 10**self.digits - self._smallest + 1 if self.num_places == 1 else self.base

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        first = self._smallest
        digits = ("0", *(str(d) for d in range(first, first + self._num_digit_tokens - 1)))
        return ("+", "-", *digits, *exponent_tokens(self.exponents))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        end = 2 + self._num_digit_tokens
        return (Slot(0, 2), *[Slot(2, end)] * self.num_places, Slot(end, len(self.tokens)))

    @cached_property
    def token_values(self) -> Floats:
        first = self._smallest
        digits = np.concatenate([[0], np.arange(first, first + self._num_digit_tokens - 1)])
        scale = 10.0 / 10**self.digits if self.num_places == 1 else 10.0 / self.base
        exponents = np.arange(self.exponents[0], self.exponents[1] + 1) + self.digits - 1
        return np.concatenate([[1.0, -1.0], digits * scale, exponents])

    @cached_property
    def ordered(self) -> tuple[Slot, ...]:
        return (Slot(3, self.slots[1].stop),) if self.num_places == 1 else (self.slots[1],)

    @cached_property
    def written(self) -> tuple[Slot, ...]:
        return self.ordered

    def encode(self, values: Floats) -> Ints:
        number = to_decimal(values, self.digits, self.exponents[0])
        refuse_overflow(f"base {self.base}", values, number.exponent, self.exponents[1])
        ids = np.empty((*number.mantissa.shape, self.num_places + 2), dtype=np.int64)
        ids[..., 0] = number.negative
        if self.num_places == 1:
            ids[..., 1] = 2 + np.maximum(number.mantissa - (self._smallest - 1), 0)
        else:
            rest = number.mantissa
            for place in range(self.num_places, 0, -1):
                rest, digit = np.divmod(rest, self.base)
                ids[..., place] = 2 + digit
        ids[..., -1] = number.exponent + (self.slots[-1].start - self.exponents[0])
        return ids

    def decode(self, ids: Ints) -> tuple[Floats, Bools]:
        valid = in_slots(ids, self.slots)
        ids = np.where(valid[..., None], ids, [slot.start for slot in self.slots])
        digits = ids[..., 1:-1] - 2
        if self.num_places == 1:
            mantissa = digits[..., 0] + (self._smallest - 1) * (digits[..., 0] > 0)
        else:
            mantissa = digits @ self.base ** np.arange(self.num_places - 1, -1, -1)
        exponent = ids[..., -1] - (self.slots[-1].start - self.exponents[0])
        values = to_float(Decimal(ids[..., 0] == 1, mantissa, exponent))
        return np.where(valid, values, np.nan), valid
