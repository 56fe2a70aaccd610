"""Random matrices: their dimensions, and mixtures of ensembles with an amplitude (paper, sections 2.2 and 5).

A batch of m x n matrices whose coefficients have a given standard deviation:

    >>> rng = np.random.default_rng(0)
    >>> Ensemble(("laplace",)).draw(rng, num=1000, m=5, n=5, symmetric=True).matrices.shape
    (1000, 5, 5)

That standard deviation is the same in every ensemble that has a law of its own, which is what the paper's
sigma_test / sigma_train compares.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from learnalg.ensembles import ENSEMBLES, Floats, Rng, mirror

MAX_DIM = 100  # the vocabulary has one token for each dimension up to this one


@dataclass(frozen=True)
class Dims:
    """Which m x n an example may have: '5' (5x5), '6x4', '5-10' (square), '5-10x3-8' (rows and columns apart)."""

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
        """(num, 2): rows and columns, uniform over what is allowed."""
        m = rng.integers(self.rows[0], self.rows[1] + 1, size=num)
        n = m if self.square else rng.integers(self.cols[0], self.cols[1] + 1, size=num)
        return np.stack([m, n], axis=1)

    def draw_large(self, rng: Rng) -> NDArray[np.int64]:
        """Rows and columns of a batch. Their probabilities are proportional to the size: large matrices are harder."""
        if self.is_fixed:
            return np.array([self.rows[0], self.cols[0]])
        m, n = (np.arange(low, high + 1) for low, high in (self.rows, self.cols))
        row = rng.choice(m, p=m / m.sum())
        return np.array([row, row if self.square else rng.choice(n, p=n / n.sum())])

    def at(self, share: float) -> tuple[int, int]:
        """The size at that share of the way from the smallest to the largest, in [0, 1); all have equal parts of it."""
        m, n = (low + int(share * (high - low + 1)) for low, high in (self.rows, self.cols))
        return m, n

    def admits(self, m: int, n: int) -> bool:
        inside = self.rows[0] <= m <= self.rows[1] and self.cols[0] <= n <= self.cols[1]
        return inside and (m == n or not self.square)


@dataclass(frozen=True)
class Draw:
    matrices: Floats  # (num, m, n)
    sigma: Floats  # (num,): standard deviation of each matrix's coefficients


@dataclass(frozen=True)
class Ensemble:
    """A weighted mixture of named ensembles with amplitude A (sigma = A / sqrt 3) fixed or uniform in a range."""

    names: tuple[str, ...] = ("iid-uniform",)
    weights: tuple[float, ...] = ()  # equal when empty
    amplitude: tuple[float, float] = (10.0, 10.0)
    factor: float = 1.0  # the paper's sigma_test / sigma_train
    spread: float = 1.0  # power to which singular values are raised; 0: all are the same

    def __post_init__(self) -> None:
        unknown = [name for name in self.names if name not in ENSEMBLES]
        if unknown or not self.names:
            raise ValueError(f"unknown ensemble {', '.join(unknown) or '(none)'}; known: {', '.join(ENSEMBLES)}")
        positive_weights = all(0 < weight < np.inf for weight in self.weights)
        if self.weights and (len(self.weights) != len(self.names) or not positive_weights):
            raise ValueError(f"ensemble weights {self.weights}: need one positive number for each of {self.names}")
        low, high = self.amplitude
        if not 0 < low <= high < np.inf:
            raise ValueError(f"amplitude {self.amplitude}: need 0 < lowest <= highest, finite")
        if not 0 < self.factor < np.inf:
            raise ValueError(f"sigma factor {self.factor}: must be positive and finite")
        if not 0 <= self.spread <= 1:
            raise ValueError(f"spread {self.spread}: a power from 0 to 1")

    def draw(self, rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Draw:
        if symmetric and m != n:
            raise ValueError(f"a symmetric matrix is square, not {m}x{n}")
        low, high = self.amplitude
        amplitude = rng.uniform(low, high, num) if high > low else np.full(num, low)
        sigma = amplitude * (self.factor / np.sqrt(3))
        unit = self._draw_unit(rng, num, m, n, symmetric)
        if self.spread < 1:
            unit = narrow(unit, self.spread)
            unit = mirror(unit) if symmetric else unit  # rounding must not break the symmetry
        return Draw(unit * sigma[:, None, None], sigma)

    def _draw_unit(self, rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
        """With coefficients of second moment 1."""
        if len(self.names) == 1:
            return ENSEMBLES[self.names[0]](rng, num, m, n, symmetric)
        weights = np.array(self.weights or (1.0,) * len(self.names))
        which = rng.choice(len(self.names), size=num, p=weights / weights.sum())
        unit = np.empty((num, m, n))
        for k, name in enumerate(self.names):
            chosen = which == k
            unit[chosen] = ENSEMBLES[name](rng, int(chosen.sum()), m, n, symmetric)
        return unit


def narrow(matrices: Floats, spread: float) -> Floats:
    """Singular values raised to a power, all else as it was: vectors, signs of eigenvalues, Frobenius norm. At power 0
    a square matrix is a multiple of an orthogonal one; condition numbers grow from there to those of the draw."""
    left, values, right = np.linalg.svd(matrices, full_matrices=False)
    narrower = values**spread
    norms, after = (np.linalg.norm(x, axis=-1, keepdims=True) for x in (values, narrower))
    return np.asarray((left * (narrower * norms / after)[:, None, :]) @ right)


def read_matrix(path: Path) -> Floats:
    """A matrix from a .npy file, or from text with commas or blanks between the numbers of a row."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    try:
        if path.suffix == ".npy":
            array = np.load(path, allow_pickle=False)
            if not isinstance(array, np.ndarray):
                raise ValueError("it is an archive of several arrays")
            return array
        text = path.read_text()
        if not text.strip():
            raise ValueError("it is empty")
        return np.loadtxt(text.replace(",", " ").splitlines(), ndmin=2)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} holds no matrix: {str(error).splitlines()[0]}") from None
