"""How many eigenvalues of a symmetric matrix are below x, without computing any.

    >>> T = tridiagonal(A)                      # once for each matrix
    >>> count_below(*T, x)                      # for any number of x

By Sylvester's law of inertia these are the negative pivots of A - x I. Householder reflections make A tridiagonal
first: then a count is one pass over n pivots. Whatever x, it is right for a matrix that differs from A by rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnalg.problems.task import Floats

Ints = NDArray[np.int64]
SMALLEST = 1e-290  # pivots are kept away from zero by this, which changes no count by more than rounding does


def tridiagonal(A: Floats) -> tuple[Floats, Floats]:
    """(num, n, n) symmetric -> the diagonals (num, n) and the squares beside them (num, n - 1) of tridiagonal matrices
    with the same eigenvalues."""
    num, n = A.shape[:2]
    B = A.astype(np.float64)
    beside = np.zeros((num, max(0, n - 1)))
    for k in range(n - 1):
        x = B[:, k + 1 :, k].copy()
        norm = np.sqrt(np.square(x).sum(axis=1))
        beside[:, k] = norm
        x[:, 0] += np.where(x[:, 0] < 0, -norm, norm)  # the reflection I - f x x^T takes column k to its first entry
        square = np.square(x).sum(axis=1)
        f = np.divide(2, square, out=np.zeros(num), where=square > 0)[:, None]
        C = B[:, k + 1 :, k + 1 :]
        p = f * np.einsum("bij,bj->bi", C, x)
        w = p - (f / 2 * (p * x).sum(axis=1, keepdims=True)) * x
        C -= x[:, :, None] * w[:, None, :] + w[:, :, None] * x[:, None, :]
    return np.diagonal(B, axis1=1, axis2=2).copy(), np.square(beside)


def count_below(diagonal: Floats, squares: Floats, x: Floats) -> Ints:
    """(num, n), (num, n - 1) and (num, k) -> (num, k): how many eigenvalues are below each x."""
    count, pivot = np.zeros(x.shape, dtype=np.int64), np.ones(x.shape)
    beside = np.concatenate([np.zeros((len(diagonal), 1)), squares], axis=1)
    for k in range(diagonal.shape[1]):
        pivot = diagonal[:, k, None] - x - beside[:, k, None] / pivot
        pivot = np.where(np.abs(pivot) < SMALLEST, -SMALLEST, pivot)
        count += pivot < 0
    return count
