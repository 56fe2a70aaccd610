"""From a prediction to a certified answer: classical iterations that start from the prediction, and their proofs.

    >>> X, certificate = refine_inverse(A, predicted)
    >>> certificate.error.max(), certificate.is_certified.all()

Everything works on stacks of shape (num, n, n), in double precision. What is certified is certified by a residual that
bounds the error, whatever the prediction was:

inverse       Newton-Schulz, X <- X (2 I - A X). Where |I - A X| = r < 1 in some norm, A is invertible and
              |A^-1 - X| <= |X| r / (1 - r).
eigenvectors  cyclic Jacobi rotations of H^T A H, for H the nearest orthogonal matrix to the predicted vectors. Where V
              is orthogonal, each eigenvalue of A is within |A V - V D| of one of D, in order.
SVD           one-sided Jacobi rotations of A V, for V the predicted right vectors.
values alone  vectors by inverse iteration from the predicted values, and the same rotations.

Newton-Schulz converges only from a close start: elsewhere it begins again from the standard start. Jacobi converges
from any start: a good one saves sweeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnalg.certify.scaling import from_unit, to_unit

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]

MOST_STEPS = 80  # of Newton-Schulz: from the standard start it takes about 2 log2 of the condition number
MOST_SWEEPS = 20
CERTIFIED = 1e-8  # an answer is certified where its error is proven to be below this, relative to its norm
SHIFT = 1e-6  # of inverse iteration, relative to the norm
_ROUNDING = np.finfo(float).eps


@dataclass(frozen=True)
class Certificate:
    """What is proven about each answer of a stack."""

    residual: Floats  # relative, as the problem defines it
    error: Floats  # a bound of the relative error in the Frobenius norm, infinite where nothing is proven
    steps: NDArray[np.int64]  # iterations that it took; Jacobi counts sweeps

    @property
    def is_certified(self) -> Bools:
        return self.error <= CERTIFIED


def frobenius(x: Floats) -> Floats:
    return np.sqrt(np.square(x).sum(axis=(-2, -1)))


def _share(part: Floats, whole: Floats) -> Floats:
    """part / whole, where 0 / 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(part > 0, part / whole, 0.0)


def newton_schulz_start(A: Floats) -> Floats:
    """The standard start, A^T / (|A|_1 |A|_inf), from which the iteration converges for every invertible matrix."""
    columns, rows = np.abs(A).sum(-2).max(-1), np.abs(A).sum(-1).max(-1)
    return A.swapaxes(-1, -2) / (columns * rows)[:, None, None]


def refine_inverse(A: Floats, start: Floats, most_steps: int = MOST_STEPS) -> tuple[Floats, Certificate]:
    """Steps until the residual no longer shrinks, each matrix by itself."""
    eye = np.eye(A.shape[-1])
    X = np.where(np.isfinite(start), start, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        residual = frobenius(eye - A @ X)
        steps = np.zeros(len(A), dtype=np.int64)
        active = np.flatnonzero(residual < np.sqrt(A.shape[-1]))  # a spectral norm below 1 may be among these
        for _ in range(most_steps):
            if not len(active):
                break
            new = X[active] @ (2 * eye - A[active] @ X[active])
            after = frobenius(eye - A[active] @ new)
            is_better = after < residual[active]
            better = active[is_better]
            X[better], residual[better] = new[is_better], after[is_better]
            steps[better] += 1
            active = better
        # The residual itself is rounded: n products of terms of size |A| |X|.
        rounding = _ROUNDING * (A.shape[-1] + 2) * frobenius(A) * frobenius(X)
        proven = residual + rounding
        error = np.where(
            proven < 1, proven * (1 + proven) / (1 - proven), np.inf
        )  # relative to |A^-1| >= |X| / (1 + r)
    return X, Certificate(residual, error, steps)


def nearest_orthogonal(H: Floats) -> Floats:
    """Orthogonal matrices, near to H where H is nearly orthogonal: QR with the signs of R's diagonal taken out."""
    q, r = np.linalg.qr(np.where(np.isfinite(H), H, 0.0))
    return q * np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)[:, None, :]


def _rotation(app: Floats, aqq: Floats, apq: Floats) -> tuple[Floats, Floats]:
    """Cosine and sine of the rotation that makes [[app, apq], [apq, aqq]] diagonal; none where it is already."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        tau = (aqq - app) / (2 * apq)
        t = np.where(tau >= 0, 1.0, -1.0) / (np.abs(tau) + np.sqrt(1 + tau * tau))
    t = np.where((apq == 0) | ~np.isfinite(t), 0.0, t)
    c = 1 / np.sqrt(1 + t * t)
    return c, t * c


def _rotate(x: Floats, p: int, q: int, c: Floats, s: Floats) -> None:
    """Columns p and q of each matrix, in place."""
    left, right = x[:, :, p].copy(), x[:, :, q].copy()
    x[:, :, p] = c[:, None] * left - s[:, None] * right
    x[:, :, q] = s[:, None] * left + c[:, None] * right


def _off_diagonal(B: Floats) -> Floats:
    return frobenius(B * (1 - np.eye(B.shape[-1])))


def refine_eigenvectors(
    A: Floats, start: Floats | None = None, most_sweeps: int = MOST_SWEEPS
) -> tuple[Floats, Floats, Certificate]:
    """Eigenvalues, largest first, and vectors as columns of symmetric A; `start` is the predicted H, or none."""
    num, n = A.shape[:2]
    V = np.broadcast_to(np.eye(n), A.shape).copy() if start is None else nearest_orthogonal(start)
    norm = frobenius(A)
    steps = np.zeros(num, dtype=np.int64)
    active = np.arange(num)
    for _ in range(most_sweeps):
        B = V[active].swapaxes(-1, -2) @ A[active] @ V[active]
        is_left = _off_diagonal(B) > 4 * _ROUNDING * n * norm[active]
        active = active[is_left]
        if not len(active):
            break
        B, W = B[is_left], V[active]
        for p in range(n - 1):
            for q in range(p + 1, n):
                c, s = _rotation(B[:, p, p], B[:, q, q], B[:, p, q])
                _rotate(B, p, q, c, s)
                _rotate(B.swapaxes(-1, -2), p, q, c, s)
                _rotate(W, p, q, c, s)
        V[active] = W
        steps[active] += 1
    values = np.einsum("bij,bij->bj", V, A @ V)
    order = np.argsort(-values, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    V = np.take_along_axis(V, order[:, None, :], axis=2)
    residual = frobenius(A @ V - V * values[:, None, :])
    skew = frobenius(V.swapaxes(-1, -2) @ V - np.eye(n))
    # Kahan: n approximate eigenvalues in order are within |A V - V D| / sigma_min(V) of the true ones.
    proven = (residual + 8 * _ROUNDING * n * norm) / np.sqrt(np.maximum(1 - skew, 0.1)) + skew * norm
    error = np.where(skew < 0.5, _share(proven, norm), np.inf)
    return values, V, Certificate(_share(residual, norm), error, steps)


def vectors_of_values(A: Floats, values: Floats) -> Floats:
    """(num, n, n) symmetric, (num, n) -> vectors as columns, by inverse iteration from each value v, two rounds at
    once: (A - v I)^-2. A small shift keeps that of a value that is exact invertible."""
    num, n = A.shape[:2]
    eye = np.eye(n)
    norm = np.where(frobenius(A) > 0, frobenius(A), 1.0)[:, None, None, None]
    values = np.where(np.isfinite(values), values, 0.0)
    B = (A[:, None] - values[:, :, None, None] * eye) / norm  # (num, value, n, n)
    right = np.random.default_rng(0).standard_normal((n, 1))  # orthogonal to no vector
    found = np.linalg.solve(B @ B + SHIFT**2 * eye, np.broadcast_to(right, (num, n, n, 1)))[..., 0]
    return (found / frobenius(found[..., None])[..., None]).swapaxes(1, 2)


def refine_svd(
    A: Floats, start: Floats | None = None, most_sweeps: int = MOST_SWEEPS
) -> tuple[Floats, Floats, Floats, Certificate]:
    """U (m x k), singular values, largest first, and V (n x k) of m x n matrices. `start` is the predicted V, of wide
    matrices the predicted U: the square one of the two."""
    if A.shape[1] < A.shape[2]:
        right, values, left, certificate = refine_svd(A.swapaxes(-1, -2), start, most_sweeps)
        return left, values, right, certificate
    num, n = len(A), A.shape[2]
    V: Floats = np.broadcast_to(np.eye(n), (num, n, n)).copy() if start is None else nearest_orthogonal(start)
    norm, steps, active = frobenius(A), np.zeros(num, dtype=np.int64), np.arange(num)
    B: Floats = A @ V
    for _ in range(most_sweeps):
        # Columns that are nothing but rounding beside the matrix have no direction left to rotate.
        gram = B[active].swapaxes(-1, -2) @ B[active]
        lengths = np.sqrt(np.diagonal(gram, axis1=-2, axis2=-1))
        allowed = (
            4 * _ROUNDING * n * lengths[:, :, None] * lengths[:, None, :]
            + np.square(1e-15 * norm[active])[:, None, None]
        )
        is_left = ((np.abs(gram) > allowed) & ~np.eye(n, dtype=bool)).any(axis=(1, 2))
        active = active[is_left]
        if not len(active):
            break
        C, W = B[active], V[active]
        for p in range(n - 1):
            for q in range(p + 1, n):
                app, aqq = np.square(C[:, :, p]).sum(1), np.square(C[:, :, q]).sum(1)
                c, s = _rotation(app, aqq, (C[:, :, p] * C[:, :, q]).sum(1))
                _rotate(C, p, q, c, s)
                _rotate(W, p, q, c, s)
        B[active], V[active] = C, W
        steps[active] += 1
    values = np.sqrt(np.square(B).sum(axis=1))
    order = np.argsort(-values, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    B, V = (np.take_along_axis(x, order[:, None, :], axis=2) for x in (B, V))
    U = nearest_orthogonal(B)  # B's columns are orthogonal; QR also finds vectors for those that are zero
    residual = frobenius(U * values[:, None, :] @ V.swapaxes(-1, -2) - A)
    skew = np.maximum(frobenius(U.swapaxes(-1, -2) @ U - np.eye(n)), frobenius(V.swapaxes(-1, -2) @ V - np.eye(n)))
    proven = residual + skew * norm + 8 * _ROUNDING * n * norm
    error = np.where(skew < 0.5, _share(proven, norm), np.inf)
    return U, values, V, Certificate(_share(residual, norm), error, steps)


def _inverse(A: Floats, predicted: Floats) -> tuple[Floats, Certificate]:
    """Where the prediction is too far off to converge, the standard start serves."""
    X, certificate = refine_inverse(A, predicted)
    rest = np.flatnonzero(~certificate.is_certified)
    if len(rest):
        again, other = refine_inverse(A[rest], newton_schulz_start(A[rest]))
        certificate.steps[rest] += other.steps
        is_better = other.error < certificate.error[rest]
        better = rest[is_better]
        X[better], certificate.residual[better] = again[is_better], other.residual[is_better]
        certificate.error[better] = other.error[is_better]
    return X, certificate


def _eigenvectors(A: Floats, predicted: Floats) -> tuple[Floats, Certificate]:
    values, H, certificate = refine_eigenvectors(A, predicted[:, 1:])
    return np.concatenate([values[:, None], H], axis=1), certificate


def _eigenvalues(A: Floats, predicted: Floats) -> tuple[Floats, Certificate]:
    values, _, certificate = refine_eigenvectors(A, vectors_of_values(A, predicted[:, :, 0]))
    certificate.steps[:] += 1  # the inverse iteration
    return values[:, :, None], certificate


def _svd(A: Floats, predicted: Floats) -> tuple[Floats, Certificate]:
    m, n = A.shape[1:]
    start = predicted[:, 1 + m :] if m >= n else predicted[:, 1 : 1 + m]
    U, S, V, certificate = refine_svd(A, start)
    return np.concatenate([S[:, None], U, V], axis=1), certificate


def _singular_values(A: Floats, predicted: Floats) -> tuple[Floats, Certificate]:
    gram = A.swapaxes(1, 2) @ A if A.shape[1] >= A.shape[2] else A @ A.swapaxes(1, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        start = vectors_of_values(gram, np.square(predicted[:, :, 0]))
    _, S, _, certificate = refine_svd(A, start)
    certificate.steps[:] += 1
    return S[:, :, None], certificate


# (matrices, answers as the model writes them) -> refined answers
REFINEMENTS: dict[str, Callable[[Floats, Floats], tuple[Floats, Certificate]]] = {
    "eigenvalues": _eigenvalues,
    "eigenvectors": _eigenvectors,
    "singular_values": _singular_values,
    "svd": _svd,
    "inverse": _inverse,
    "symmetric_inverse": _inverse,
}


def refine(task: str, operands: tuple[Floats, ...], predicted: Floats) -> tuple[Floats, Certificate]:
    """(num, rows, cols) each: the problems of a task by its name, at unit scale."""
    if task not in REFINEMENTS:
        raise ValueError(f"no refinement for {task}; there is one for: {', '.join(REFINEMENTS)}")
    unit, exponents = to_unit(task, operands)
    answers, certificate = REFINEMENTS[task](unit[0], from_unit(task, predicted, -exponents))
    scaled = from_unit(task, answers, exponents)
    # What no double can hold at the given scale is not certified.
    lost = frobenius(from_unit(task, scaled, -exponents) - answers)
    certificate.error[:] = np.where(np.isfinite(lost), certificate.error + _share(lost, frobenius(answers)), np.inf)
    return scaled, certificate
