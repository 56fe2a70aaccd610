"""Bounds on the error of an answer, proven without knowing the right one.

    >>> bound("eigenvalues", task, (A,), predicted) < 0.05  # relative, in the L1 norm, as accuracies are

Sums, products and transposes are computed again. Inverses, eigenvectors and singular vectors are judged by their own
residual, as in the paper: |P A - I|, |H^T A H - D|, |U^T A V - S|, vectors by their orthogonality too. Eigenvalues and
singular values are counted: by Sylvester's law of inertia, the negative pivots of A - x I are the eigenvalues below x.
So a predicted eigenvalue is within t of the true one if few enough are below x - t and enough below x + t.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from learnalg.certify.scaling import from_unit, to_unit
from learnalg.certify.spectrum import count_below, tridiagonal
from learnalg.problems.task import Floats, Task, eye_like

Ints = NDArray[np.int64]

# Distances that are tried for each eigenvalue, as shares of the mean absolute one: each 8 % below the one before.
DISTANCES = 2.0 ** (-np.arange(128) / 8)
FEW = 100  # values whose distances are all tried at once


def eigenvalue_bound(A: Floats, predicted: Floats) -> Floats:
    """(num, n, n), (num, n) -> a bound of sum |predicted - true| / sum |true|, largest first; infinite where nothing is
    proven."""
    n = A.shape[-1]
    return _counted_bound(A, predicted, below_of=np.arange(n)[::-1])


def singular_value_bound(A: Floats, predicted: Floats) -> Floats:
    """The same for singular values: the largest eigenvalues of [[0, A], [A^T, 0]]."""
    num, m, n = A.shape
    whole = np.zeros((num, m + n, m + n))
    whole[:, :m, m:], whole[:, m:, :m] = A, A.swapaxes(1, 2)
    # A singular value is not negative: nothing has to be counted below zero.
    return _counted_bound(whole, predicted, below_of=m + n - 1 - np.arange(min(m, n)), lowest=0.0)


def _counted_bound(A: Floats, values: Floats, below_of: Ints, lowest: float = -np.inf) -> Floats:
    """`below_of` eigenvalues of A are below the one that each value stands for, and none is below `lowest`. The
    smallest distance that is proven is looked for from the largest on: by halves, or all at once of few values."""
    scale, T = np.abs(values).mean(axis=1)[:, None, None], tridiagonal(A)
    num, width = values.shape

    def are_near(t: Floats) -> NDArray[np.bool_]:
        """(num, values, distances)"""
        x = values[:, None, :, None] + np.stack([t, -t], axis=1)
        counts = count_below(*T, x.reshape(num, 2 * width * t.shape[2])).reshape(x.shape)
        is_not_above = counts[:, 0] > below_of[:, None]
        return is_not_above & ((counts[:, 1] <= below_of[:, None]) | (x[:, 1] <= lowest))

    parts = len(DISTANCES) if values.size <= FEW else 2
    best, step = np.zeros((num, width, 1), dtype=np.int64), len(DISTANCES)
    while step > 1:
        step //= parts
        tried = are_near(scale * DISTANCES[best + step * np.arange(1, parts)])
        best += step * np.logical_and.accumulate(tried, axis=2).sum(axis=2, keepdims=True)
    known = np.isfinite(scale) & (best > 0)
    if not known.all():
        known |= np.isfinite(scale) & (best == 0) & are_near(scale * DISTANCES[:1])
    bound = np.where(known, scale * DISTANCES[best], np.inf).sum(axis=(1, 2))
    whole = np.abs(values).sum(axis=1) - bound
    with np.errstate(divide="ignore", invalid="ignore"):
        proven = np.where((whole > 0) & np.isfinite(bound), bound / whole, np.inf)
    # Of a matrix of zeros all are zero.
    return np.where((A == 0).all(axis=(1, 2)) & (values == 0).all(axis=1), 0.0, proven)


def _l1(x: Floats) -> Floats:
    return np.abs(x).sum(axis=(1, 2))


def share(part: Floats, whole: Floats) -> Floats:
    """part / whole in the L1 norm; of zero, zero is right and all else is infinitely wrong."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        a, b = _l1(part), _l1(whole)
        share = np.where(b > 0, a / b, np.where(a == 0, 0.0, np.inf))
    return np.where(np.isnan(share), np.inf, share)


def _by_residual(task: Task, inputs: Floats, predicted: Floats) -> Floats:
    """By the task's own criterion, which for these tasks does not look at the solution."""
    with np.errstate(over="ignore", invalid="ignore"):
        return share(*task.residual(inputs, predicted, predicted))


def _by_solving(task: Task, inputs: Floats, predicted: Floats) -> Floats:
    """For problems that cost less than a proof, and for tasks of which nothing else is known."""
    has_solution = task.accept(inputs)
    proven = np.full(len(inputs), np.inf)
    inputs, predicted = inputs[has_solution], predicted[has_solution]
    with np.errstate(over="ignore", invalid="ignore"):
        proven[has_solution] = share(*task.residual(inputs, task.solve(inputs), predicted))
    return proven


def _orthogonal(columns: Floats) -> Floats:
    """How far from orthonormal the columns are: |H^T H - I| / |I|."""
    with np.errstate(over="ignore", invalid="ignore"):
        gram, eye = columns.swapaxes(1, 2) @ columns, eye_like(columns)
        return share(gram - eye, eye)


def _eigenvectors(task: Task, inputs: Floats, predicted: Floats) -> Floats:
    return np.maximum(_by_residual(task, inputs, predicted), _orthogonal(predicted[:, 1:]))


def _svd(task: Task, inputs: Floats, predicted: Floats) -> Floats:
    m = inputs.shape[1]
    skew = np.maximum(_orthogonal(predicted[:, 1 : 1 + m]), _orthogonal(predicted[:, 1 + m :]))
    return np.maximum(_by_residual(task, inputs, predicted), skew)


Proof = Callable[[Task, Floats, Floats], Floats]
PROOFS: dict[str, Proof] = {
    "transpose": _by_solving,
    "add": _by_solving,
    "matvec": _by_solving,
    "matmul": _by_solving,
    "eigenvalues": lambda task, inputs, predicted: eigenvalue_bound(inputs, predicted[:, :, 0]),
    "singular_values": lambda task, inputs, predicted: singular_value_bound(inputs, predicted[:, :, 0]),
    "eigenvectors": _eigenvectors,
    "svd": _svd,
    "inverse": _by_residual,
    "symmetric_inverse": _by_residual,
}
FOR_ALL_OPTIONS = ("eigenvectors", "svd")  # order and signs change nothing in these proofs
PORTION = 2**21  # coefficients that are looked at at once


def bound(name: str, task: Task, operands: tuple[Floats, ...], predicted: Floats) -> Floats:
    """(num, rows, cols) each -> (num,): the proof of a task by its name, at unit scale."""
    base = name.partition(":")[0]
    proof = PROOFS.get(base if base in FOR_ALL_OPTIONS else name, _by_solving)
    unit, exponents = to_unit(name, operands)
    inputs, predicted = np.concatenate(unit, axis=2), from_unit(name, predicted, -exponents)
    size = max(1, PORTION // sum(inputs.shape[1:]) ** 2)
    rows = [slice(k, k + size) for k in range(0, max(1, len(inputs)), size)]
    return np.concatenate([proof(task, inputs[part], predicted[part]) for part in rows])
