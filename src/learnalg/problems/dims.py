"""Sizes of matrices: '5' (5x5), '6x4', '5-10' (square, 5x5 to 10x10), '5-10x3-8' (rows and columns apart)."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_DIM = 100  # the vocabulary has one token for each dimension up to this one
Rng = np.random.Generator


@dataclass(frozen=True)
class Dims:
    """The sizes m x n that an example may have."""

    rows: tuple[int, int]
    cols: tuple[int, int]
    square: bool

    @classmethod
    def parse(cls, text: str) -> Dims:
        match = re.fullmatch(r"(\d+)(?:-(\d+))?(?:x(\d+)(?:-(\d+))?)?", text.strip())
        if not match:
            raise ValueError(f"dimensions {text!r}: expected 5, 6x4, 5-10 or 5-10x5-10")
        low, high, low2, high2 = (int(g) if g else None for g in match.groups())
        assert low is not None
        rows = (low, low if high is None else high)
        cols = rows if low2 is None else (low2, low2 if high2 is None else high2)
        dims = cls(rows, cols, square=low2 is None or (rows == cols and rows[0] == rows[1]))
        for smallest, largest in (rows, cols):
            if not 1 <= smallest <= largest <= MAX_DIM:
                raise ValueError(f"dimensions {text!r}: need 1 <= smallest <= largest <= {MAX_DIM}")
        return dims

    @property
    def is_fixed(self) -> bool:
        return self.rows[0] == self.rows[1] and self.cols[0] == self.cols[1]

    def draw(self, rng: Rng, num: int) -> NDArray[np.int64]:
        """(num, 2): rows and columns, all sizes alike."""
        m = rng.integers(self.rows[0], self.rows[1] + 1, size=num)
        n = m if self.square else rng.integers(self.cols[0], self.cols[1] + 1, size=num)
        return np.stack([m, n], axis=1)

    def draw_large(self, rng: Rng) -> NDArray[np.int64]:
        """Rows and columns of a training batch, drawn in proportion to the size: large matrices are harder."""
        if self.is_fixed:
            return np.array([self.rows[0], self.cols[0]])
        m, n = (np.arange(low, high + 1) for low, high in (self.rows, self.cols))
        row = rng.choice(m, p=m / m.sum())
        return np.array([row, row if self.square else rng.choice(n, p=n / n.sum())])

    def admits(self, m: int, n: int) -> bool:
        inside = self.rows[0] <= m <= self.rows[1] and self.cols[0] <= n <= self.cols[1]
        return inside and (m == n or not self.square)
