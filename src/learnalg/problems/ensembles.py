"""Ensembles of random matrices by name (paper, sections 2.2 and 5): each draws a whole batch of m x n matrices.

    >>> ENSEMBLES["laplace"](np.random.default_rng(0), num=1000, m=5, n=5, symmetric=True).shape
    (1000, 5, 5)

Three families share that signature. `iid-*` draws independent coefficients; symmetric, these are the paper's Wigner
matrices. Others prescribe a spectrum: eigenvalues drawn from a law, eigenvectors uniform on the sphere. For matrices
that are not symmetric the law is that of the singular values, up to sign. Both have coefficients of standard deviation
1 on average: all laws have the second moment that a Wigner matrix has, max(m, n). `near-*` draws cases that are rare
among independent coefficients and hard to learn from few examples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnalg.naming import find

Floats = NDArray[np.floating]
Rng = np.random.Generator

# Laws: (rng, shape) -> numbers with second moment 1. Centred, unless the name says otherwise.


def _uniform(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), shape)


def _gaussian(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.standard_normal(shape)


def _laplace(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.laplace(0, 1 / np.sqrt(2), shape)


def _abs_laplace(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return np.abs(_laplace(rng, shape))


def _bounded(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Absolute values uniform in [1, 3] before scaling: condition numbers of at most 3."""
    return rng.uniform(1, 3, shape) * rng.choice([-1.0, 1.0], shape) / np.sqrt(13 / 3)


def _log_uniform(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Absolute values log-uniform over a factor of 100: E[x^2] = (1 - 10^-4) / (2 ln 100) before scaling."""
    values = 10 ** rng.uniform(-2, 0, shape) * rng.choice([-1.0, 1.0], shape)
    return values / np.sqrt((1 - 1e-4) / (2 * np.log(100)))


def mirror(x: Floats) -> Floats:
    """Copies the upper triangle of each square matrix onto the lower one."""
    upper = np.triu(np.ones(x.shape[-2:], dtype=bool))
    return np.where(upper, x, x.swapaxes(-1, -2))


def _gaussian_wigner(rng: Rng, num: int, n: int) -> Floats:
    """Symmetric gaussian matrices (GOE): rotation-invariant, coefficients of second moment 1 on average."""
    x = rng.standard_normal((num, n, n))
    goe = (x + x.swapaxes(-1, -2)) / np.sqrt(2)  # variance 1 off the diagonal, 2 on it
    return goe * np.sqrt(n / (n + 1))


def _orthogonal(rng: Rng, num: int, n: int) -> Floats:
    """Uniform (Haar) orthogonal matrices: QR of a gaussian matrix, with the signs of R's diagonal taken out."""
    q, r = np.linalg.qr(rng.standard_normal((num, n, n)))
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None, :]


# Kinds: (rng, num, m, n, symmetric) -> (num, m, n) with coefficients of second moment 1.
Kind = Callable[[Rng, int, int, int, bool], Floats]
Law = Callable[[Rng, tuple[int, ...]], Floats]


def iid(law: Law) -> Kind:
    def draw(rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
        x = law(rng, (num, m, n))
        return mirror(x) if symmetric else x

    return draw


def spectrum(law: Law) -> Kind:
    def draw(rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
        k = min(m, n)
        values = law(rng, (num, k)) * np.sqrt(max(m, n))
        left = _orthogonal(rng, num, m)[:, :, :k]
        right = left if symmetric else _orthogonal(rng, num, n)[:, :, :k]
        x = (left * values[:, None, :]) @ right.swapaxes(-1, -2)
        return mirror(x) if symmetric else x  # rounding must not break the symmetry

    return draw


def positive(rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
    """|M|: a gaussian Wigner matrix with the absolute values of its eigenvalues."""
    if m != n:
        raise ValueError(f"ensemble 'positive' draws square matrices, not {m}x{n}")
    values, vectors = np.linalg.eigh(_gaussian_wigner(rng, num, n))
    return mirror((vectors * np.abs(values)[:, None, :]) @ vectors.swapaxes(-1, -2))


def marchenko_pastur(rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
    """X X^T for gaussian square X: covariance matrices; E[lambda^2] = p (2p + 1) before scaling."""
    if m != n:
        raise ValueError(f"ensemble 'marchenko-pastur' draws square matrices, not {m}x{n}")
    x = rng.standard_normal((num, n, n))
    return mirror(x @ x.swapaxes(-1, -2)) / np.sqrt(2 * n + 1)


def near_ties(rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
    """Uniform matrices with two close singular values: a random pair of neighbours is moved to 0.1 to 10 % below and
    above its root mean square. In a symmetric matrix their eigenvalues get opposite signs, as in close pairs that occur
    by chance: eigenvalues of one sign repel each other."""
    x = iid(_uniform)(rng, num, m, n, symmetric)
    if min(m, n) < 2:
        return x
    left, values, right = np.linalg.svd(x, full_matrices=False)
    each, first = np.arange(num), rng.integers(min(m, n) - 1, size=num)
    level = np.sqrt((values[each, first] ** 2 + values[each, first + 1] ** 2) / 2)
    gap = 10 ** rng.uniform(-3, -1, num)
    values[each, first], values[each, first + 1] = level * (1 + gap), level * (1 - gap)
    if symmetric:
        signs = np.sign(np.einsum("bik,bki->bk", left, right))
        right[each, first + 1] *= -(signs[each, first] * signs[each, first + 1])[:, None]
    made = (left * values[:, None, :]) @ right
    return mirror(made) if symmetric else made


def near_zeros(rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
    """Uniform matrices, rotated so that the first coefficient of one left singular vector, or eigenvector, is between
    1e-4 and 0.03 in absolute value. The rotation mixes two rows; in a symmetric matrix, two columns as well."""
    x = iid(_uniform)(rng, num, m, n, symmetric)
    if min(m, n) < 2:
        return x
    vectors = np.linalg.svd(x, full_matrices=False)[0]
    each, which, other = np.arange(num), rng.integers(min(m, n), size=num), rng.integers(1, m, size=num)
    a, b = vectors[each, 0, which], vectors[each, other, which]
    wanted = 10 ** rng.uniform(-4, -1.5, num) * rng.choice([-1.0, 1.0], num)
    # cos(t) a + sin(t) b is the length of (a, b) times the cosine of t less its angle.
    t = np.arctan2(b, a) + np.arccos(np.clip(wanted / np.maximum(np.hypot(a, b), 1e-9), -1, 1))
    turn = np.broadcast_to(np.eye(m), (num, m, m)).copy()
    turn[each, 0, 0], turn[each, 0, other] = np.cos(t), np.sin(t)
    turn[each, other, 0], turn[each, other, other] = -np.sin(t), np.cos(t)
    return mirror(turn @ x @ turn.swapaxes(1, 2)) if symmetric else turn @ x


def near_singular(rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
    """Uniform matrices whose smallest singular value is divided by up to ten."""
    x = iid(_uniform)(rng, num, m, n, symmetric)
    if min(m, n) < 2:
        return x
    left, values, right = np.linalg.svd(x, full_matrices=False)
    values[:, -1] *= 10 ** rng.uniform(-1, 0, num)
    made = (left * values[:, None, :]) @ right
    return mirror(made) if symmetric else made


def symmetric_uniform(rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
    """Uniform matrices that are symmetric even if the task does not ask for it; rectangles as they are."""
    return iid(_uniform)(rng, num, m, n, symmetric or m == n)


ENSEMBLES: dict[str, Kind] = {
    "iid-uniform": iid(_uniform),
    "iid-gaussian": iid(_gaussian),
    "iid-laplace": iid(_laplace),
    "wigner": iid(_uniform),
    "positive": positive,
    "uniform": spectrum(_uniform),
    "gaussian": spectrum(_gaussian),
    "laplace": spectrum(_laplace),
    "abs-laplace": spectrum(_abs_laplace),
    "marchenko-pastur": marchenko_pastur,
    "well-conditioned": spectrum(_bounded),
    "log-uniform": spectrum(_log_uniform),
    "near-ties": near_ties,
    "near-zeros": near_zeros,
    "near-singular": near_singular,
    "symmetric": symmetric_uniform,
}

SQUARE_ENSEMBLES = ("positive", "marchenko-pastur")  # these draw no rectangular matrices

ENSEMBLE_SUMMARIES: dict[str, str] = {
    "iid-uniform": "independent coefficients, uniform in [-A, A] (the default)",
    "iid-gaussian": "independent gaussian coefficients of the same standard deviation",
    "iid-laplace": "independent Laplace coefficients of the same standard deviation",
    "wigner": "the paper's name for iid-uniform on symmetric matrices",
    "positive": "positive eigenvalues: the absolute values of a Wigner spectrum",
    "uniform": "eigenvalues (or singular values) uniform, eigenvectors uniform on the sphere",
    "gaussian": "eigenvalues gaussian, eigenvectors uniform on the sphere",
    "laplace": "eigenvalues Laplace, eigenvectors uniform on the sphere",
    "abs-laplace": "eigenvalues |Laplace|, all positive",
    "marchenko-pastur": "covariance matrices X X^T of gaussian X",
    "well-conditioned": "absolute eigenvalues (or singular values) uniform in [a, 3a]: condition numbers up to 3",
    "log-uniform": "absolute eigenvalues (or singular values) log-uniform in [a, 100a]: condition numbers up to 100",
    "near-ties": "iid-uniform with two close singular values, whose order is hard to predict",
    "near-zeros": "iid-uniform with the first coefficient of a singular vector near zero: its sign is hard to predict",
    "near-singular": "iid-uniform with the smallest singular value divided by up to ten",
    "symmetric": "iid-uniform, and symmetric where square: for problems that read any matrix",
}


@dataclass(frozen=True)
class Draw:
    matrices: Floats  # (num, m, n)
    sigma: Floats  # (num,): standard deviation of each matrix's coefficients


@dataclass(frozen=True)
class Mixture:
    """Ensembles in equal parts, with amplitude A (sigma = A / sqrt 3) fixed or uniform in a range.

    >>> Mixture(("laplace",)).draw(np.random.default_rng(0), num=1000, m=5, n=5, symmetric=True).matrices.shape
    (1000, 5, 5)
    """

    names: tuple[str, ...] = ("iid-uniform",)
    amplitude: tuple[float, float] = (10.0, 10.0)
    factor: float = 1.0  # the paper's sigma_test / sigma_train

    def __post_init__(self) -> None:
        for name in self.names:
            find("ensemble", name, ENSEMBLES)

    def draw(self, rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Draw:
        if symmetric and m != n:
            raise ValueError(f"a symmetric matrix is square, not {m}x{n}")
        low, high = self.amplitude
        amplitude = rng.uniform(low, high, num) if high > low else np.full(num, low)
        sigma = amplitude * (self.factor / np.sqrt(3))
        return Draw(self._draw_unit(rng, num, m, n, symmetric) * sigma[:, None, None], sigma)

    def _draw_unit(self, rng: Rng, num: int, m: int, n: int, symmetric: bool) -> Floats:
        """With coefficients of second moment 1."""
        if len(self.names) == 1:
            return ENSEMBLES[self.names[0]](rng, num, m, n, symmetric)
        which = rng.choice(len(self.names), size=num, p=np.full(len(self.names), 1 / len(self.names)))
        unit = np.empty((num, m, n))
        for k, name in enumerate(self.names):
            chosen = which == k
            unit[chosen] = ENSEMBLES[name](rng, int(chosen.sum()), m, n, symmetric)
        return unit
