"""What an encoding is: a fixed number of tokens for each number, each from its own range.

    >>> from learnalg.tokens import get_encoding
    >>> p1000 = get_encoding("p1000")
    >>> [p1000.tokens[k] for k in p1000.encode(np.array(3.14))]
    ['+', '314', 'E-2']

Token ids here are local, 0 to len(tokens) - 1; the tokenizer moves them after its special tokens.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Slot(NamedTuple):
    """The tokens that may stand at one place of a number: local ids from start to stop - 1."""

    start: int
    stop: int


class Encoding(Protocol):
    @property
    def tokens(self) -> tuple[str, ...]: ...

    @property
    def slots(self) -> tuple[Slot, ...]:
        """One slot for each token of a number."""

    @property
    def token_values(self) -> Floats:
        """What each token alone stands for, as a number of moderate size; NaN for none. Embeddings use it."""

    @property
    def ordered(self) -> tuple[Slot, ...]:
        """Ranges of tokens in which neighbours mean neighbouring numbers (mantissas)."""

    @property
    def written(self) -> tuple[Slot, ...]:
        """The same, without tokens that no number is written with. Soft targets stay within."""

    def encode(self, values: Floats) -> Ints:
        """(...,) -> (..., len(slots)). A value too large raises ValueError or has a token of its own."""

    def decode(self, ids: Ints) -> tuple[Floats, Bools]:
        """(..., len(slots)) -> values, and whether each is a number; values that are not are NaN."""


def in_slots(ids: Ints, slots: tuple[Slot, ...]) -> Bools:
    inside = np.ones(ids.shape[:-1], dtype=bool)
    for place, (start, stop) in enumerate(slots):  # faster than .all(axis=-1) over so short an axis
        inside &= (ids[..., place] >= start) & (ids[..., place] < stop)
    return inside


MOST_TOKENS = 300_000  # of an encoding: five digits with a sign in one token, or FP numbers of four and 16 exponents


def check_general_form(digits: int, exponents: tuple[int, int]) -> None:
    if not 1 <= digits <= 6:
        raise ValueError(f"digits={digits}: an encoding has 1 to 6 significant digits")
    lowest, highest = exponents
    if not -200 <= lowest <= 0 <= highest <= 200:
        raise ValueError(f"exponents={lowest}:{highest}: need -200 <= lowest <= 0 <= highest <= 200")


def check_size(num: int) -> None:
    """Before anything is made of that many tokens: the name may come from a stranger's file."""
    if num > MOST_TOKENS:
        raise ValueError(f"an encoding of {num:,} tokens: at most {MOST_TOKENS:,}; take fewer digits or exponents")


def exponent_tokens(exponents: tuple[int, int]) -> tuple[str, ...]:
    return tuple(f"E{e}" for e in range(exponents[0], exponents[1] + 1))


def refuse_overflow(name: str, values: Floats, exponent: Ints, highest: int) -> None:
    if (exponent > highest).any():
        worst = np.abs(values).max()
        raise ValueError(f"{worst:.3g} is too large for {name}, whose exponents end at {highest}")
