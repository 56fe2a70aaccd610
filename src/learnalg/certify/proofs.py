"""Bounds on the error of an answer, proven without knowing the right one.

    >>> bound = PROOFS["eigenvalues"](task, inputs, predicted)  # relative, in the L1 norm, as accuracies are
    >>> trusted = bound < 0.05

Sums, products and transposes are computed again. Inverses, eigenvectors and singular vectors are judged by their own
residual, as in the paper: |A P - I|, |H^T A H - D|, |U^T A V - S|. Eigenvalues and singular
values are counted: by Sylvester's law of inertia, the negative pivots of A - x I are the eigenvalues below x. So a
predicted eigenvalue is within t of the true one if few enough are below x - t and enough below x + t.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from learnalg.problems.task import Floats, Task

# Distances that are tried for each eigenvalue, as shares of the mean absolute eigenvalue.
SHARES = 0.3 * 2.0 ** -np.arange(0, 8, 0.5)
GROWTH = 1e10  # pivots that make entries grow so much have lost all digits


def count_below(A: Floats, x: Floats) -> NDArray[np.int64]:
    """(..., n, n) symmetric and (...) -> how many eigenvalues are below x; -1 where rounding makes it uncertain."""
    n = A.shape[-1]
    B = (A - x[..., None, None] * np.eye(n)).reshape(-1, n, n)
    num, each = len(B), np.arange(len(B))
    limit = GROWTH * np.abs(B).max(axis=(1, 2), initial=1e-300)
    negative, is_certain = np.zeros(num, dtype=np.int64), np.ones(num, dtype=bool)
    for k in range(n):
        # The largest diagonal entry that is left comes first.
        pivot = k + np.abs(np.diagonal(B, axis1=1, axis2=2)[:, k:]).argmax(axis=1)
        for swap in (0, 1):
            C = B if swap else B.swapaxes(1, 2)
            C[each, k], C[each, pivot] = C[each, pivot].copy(), C[each, k].copy()
        d = B[:, k, k].copy()
        negative += d < 0
        is_certain &= (np.abs(d) > 0) | (k == n - 1)  # the last one is zero where x is an eigenvalue
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            column = B[:, k + 1 :, k]
            B[:, k + 1 :, k + 1 :] -= column[:, :, None] * (column / d[:, None])[:, None, :]
            is_certain &= np.abs(B[:, k + 1 :, k + 1 :]).max(axis=(1, 2), initial=0.0) < limit
    return np.where(is_certain, negative, -1).reshape(x.shape)


def eigenvalue_bound(A: Floats, predicted: Floats) -> Floats:
    """(num, n, n), (num, n) -> a bound of sum |predicted - true| / sum |true|; infinite where nothing is proven."""
    values = -np.sort(-predicted, axis=1)
    n = values.shape[1]
    scale = np.abs(values).mean(axis=1)
    t = scale[:, None, None] * SHARES[None, :, None]  # (num, shares, 1)
    below_of = np.arange(n)[::-1]  # eigenvalues below the k-th largest
    above = count_below(A[:, None, None], values[:, None, :] + t)
    below = count_below(A[:, None, None], values[:, None, :] - t)
    is_near = (above >= below_of + 1) & (below >= 0) & (below <= below_of)
    bound = np.where(is_near, t, np.inf).min(axis=1).sum(axis=1)
    whole = np.abs(values).sum(axis=1) - bound
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((whole > 0) & np.isfinite(bound), bound / whole, np.inf)


def singular_value_bound(A: Floats, predicted: Floats) -> Floats:
    """The same for singular values: the largest eigenvalues of [[0, A], [A^T, 0]]."""
    num, m, n = A.shape
    k, both = min(m, n), m + n
    whole = np.zeros((num, both, both))
    whole[:, :m, m:], whole[:, m:, :m] = A, A.swapaxes(1, 2)
    values = -np.sort(-predicted, axis=1)
    scale = np.abs(values).mean(axis=1)
    t = scale[:, None, None] * SHARES[None, :, None]
    below_of = both - 1 - np.arange(k)
    above = count_below(whole[:, None, None], values[:, None, :] + t)
    below = count_below(whole[:, None, None], values[:, None, :] - t)
    # A singular value is not negative: nothing has to be counted below zero.
    is_near = (above >= below_of + 1) & (((below >= 0) & (below <= below_of)) | (values[:, None, :] <= t))
    bound = np.where(is_near, t, np.inf).min(axis=1).sum(axis=1)
    total = np.abs(values).sum(axis=1) - bound
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((total > 0) & np.isfinite(bound), bound / total, np.inf)


def _l1(x: Floats) -> Floats:
    return np.abs(x).sum(axis=(1, 2))


def _by_residual(task: Task, inputs: Floats, predicted: Floats) -> Floats:
    """By the task's own criterion, which for these tasks does not look at the solution."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        residual, reference = task.residual(inputs, predicted, predicted)
        return np.where(_l1(reference) > 0, _l1(residual) / _l1(reference), np.inf)


def _by_solving(task: Task, inputs: Floats, predicted: Floats) -> Floats:
    """For problems that cost less than a proof."""
    solution = task.solve(inputs)
    whole = _l1(solution)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, _l1(predicted - solution) / whole, np.where(_l1(predicted) > 0, np.inf, 0.0))


Proof = Callable[[Task, Floats, Floats], Floats]
PROOFS: dict[str, Proof] = {
    "transpose": _by_solving,
    "add": _by_solving,
    "matvec": _by_solving,
    "matmul": _by_solving,
    "eigenvalues": lambda task, inputs, predicted: eigenvalue_bound(inputs, predicted[:, :, 0]),
    "singular_values": lambda task, inputs, predicted: singular_value_bound(inputs, predicted[:, :, 0]),
    "eigenvectors": _by_residual,
    "svd": _by_residual,
    "inverse": _by_residual,
    "symmetric_inverse": _by_residual,
}
