"""Trained models as NumPy's functions: the same arguments, the same returns, and a proven bound on the error.

    >>> from learnalg import linalg
    >>> linalg.eigvalsh(A)                          # as numpy.linalg.eigvalsh: ascending, any leading shape
    >>> linalg.inv(A, details=True).trusted         # is the error proven to be below 5 %?
    >>> linalg.eigh(A, refine=True)                 # the model proposes, a classical iteration makes it exact

Every function takes `model` (the best released one for the size, if not given), `rescale` (inputs are brought to the
scale of the model's training, and answers are scaled back), `refine`, `fallback` (NumPy's answer where refining is not
certified), `allow_outside` (a size that the model was not trained for: a warning, not an error) and `details` (a
Solution).

An answer whose error is not proven to be below 5 % comes with an UntrustedWarning. `refine=True` raises LinAlgError
where nothing can be certified, unless there is a fallback.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import ArrayLike

from learnalg.certify.refine import (
    Certificate,
    newton_schulz_start,
    refine_eigenvalues,
    refine_eigenvectors,
    refine_inverse,
    refine_svd,
)
from learnalg.certify.solution import TRUSTED, Solution, flat
from learnalg.problems.task import Floats
from learnalg.zoo.catalog import best_model
from learnalg.zoo.model import Model, load


class UntrustedWarning(UserWarning):
    """The error of an answer is not proven to be small."""


class EighResult(NamedTuple):
    eigenvalues: Floats
    eigenvectors: Floats


class SVDResult(NamedTuple):
    U: Floats
    S: Floats
    Vh: Floats


@cache
def _model(name: str) -> Model:
    return load(name)


def solve(
    task: str,
    *operands: ArrayLike,
    model: str | Model = "",
    rescale: bool = True,
    refine: bool = False,
    fallback: bool = False,
    allow_outside: bool = False,
) -> Solution:
    """The answer of a model to a stack of problems of any leading shape, in the model's own layout."""
    arrays, lead = _stacks(task, operands)
    m, n = arrays[0].shape[1:]
    is_symmetric = m == n and bool(np.allclose(arrays[0], arrays[0].swapaxes(1, 2), rtol=1e-6))
    if isinstance(model, str):
        model = _model(model or best_model(task, m, n, is_symmetric, allow_outside))
    stacks = (array.reshape(*lead, *array.shape[1:]) for array in arrays)
    solution = model.solve(*stacks, task=task, rescale=rescale, allow_outside=allow_outside)
    if task in ("eigenvalues", "singular_values"):  # in order, as they are defined
        solution.matrix[:] = -np.sort(-solution.matrix, axis=-2)
    return _refined(solution, fallback) if refine else solution


def _stacks(task: str, operands: tuple[ArrayLike, ...]) -> tuple[list[Floats], tuple[int, ...]]:
    """Operands as (num, rows, cols), and the leading shape; NumPy's errors for what is not a matrix."""
    arrays = [np.asarray(operand) for operand in operands]
    for array in arrays:
        if array.dtype.kind not in "biuf":
            raise TypeError(f"array type {array.dtype} is not of real numbers")
        if array.ndim < 2:
            raise LinAlgError(f"{array.ndim}-dimensional array given. Array must be at least two-dimensional")
    lead = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    flat: list[Floats] = [
        np.broadcast_to(a, (*lead, *a.shape[-2:])).reshape(-1, *a.shape[-2:]).astype(np.float64, copy=True)
        for a in arrays
    ]
    for array in flat:
        wrong = np.flatnonzero(~np.isfinite(array).all(axis=(1, 2)))
        if len(wrong):
            raise LinAlgError(f"matrix {_place(wrong[0], lead)} holds NaN or infinity")
    if task == "inverse":
        singular = np.flatnonzero(np.linalg.slogdet(flat[0])[0] == 0)
        if len(singular):
            raise LinAlgError(f"Singular matrix: {_place(singular[0], lead)}")
    return flat, lead


def _place(index: int, lead: tuple[int, ...]) -> str:
    return str(tuple(int(k) for k in np.unravel_index(index, lead))) if lead else "given"


def _refined(solution: Solution, fallback: bool) -> Solution:
    """The same problems, solved to rounding error and certified, starting from the predictions."""
    if solution.task not in REFINEMENTS:
        raise ValueError(
            f"{solution.task} is not refined: its proof computes it again; tasks: {', '.join(REFINEMENTS)}"
        )
    A, predicted = flat(solution.operands[0]), flat(solution.matrix)
    value, certificate = REFINEMENTS[solution.task](A, predicted)
    is_certified = certificate.is_certified
    fell_back = np.zeros(len(A), dtype=bool)
    if not is_certified.all():
        if not fallback:
            where = int(np.argmin(is_certified))
            raise LinAlgError(
                f"matrix {where} of {len(A)}: nothing can be certified; fallback=True takes NumPy's answer"
            )
        fell_back = ~is_certified
        value[fell_back] = solution.definition.solve(A[fell_back])
    lead = solution.shape
    value = value.reshape(solution.matrix.shape)
    return replace(
        solution,
        matrix=value,
        value=value,
        steps=certificate.steps.reshape(lead),
        is_certified=is_certified.reshape(lead),
        fell_back=fell_back.reshape(lead),
        certified_residual=certificate.residual.reshape(lead),
    )


def _inverse(A: Floats, predicted: Floats) -> tuple[Floats, Certificate]:
    """Where the prediction is too far off to converge, the standard start serves."""
    X, certificate = refine_inverse(A, predicted)
    rest = np.flatnonzero(~certificate.is_certified)
    if len(rest):
        again, other = refine_inverse(A[rest], newton_schulz_start(A[rest]))
        X[rest], certificate.residual[rest], certificate.error[rest] = again, other.residual, other.error
        certificate.steps[rest] += other.steps
    return X, certificate


def _eigenvalues(A: Floats, predicted: Floats) -> tuple[Floats, Certificate]:
    values, certificate = refine_eigenvalues(A, predicted[:, :, 0])
    return values[:, :, None], certificate


def _eigenvectors(A: Floats, predicted: Floats) -> tuple[Floats, Certificate]:
    values, H, certificate = refine_eigenvectors(A, predicted[:, 1:])
    return np.concatenate([values[:, None], H], axis=1), certificate


def _svd(A: Floats, predicted: Floats) -> tuple[Floats, Certificate]:
    m, n = A.shape[1:]
    start = predicted[:, 1 + m :] if m >= n else predicted[:, 1 : 1 + m]
    U, S, V, certificate = refine_svd(A, start)
    return np.concatenate([S[:, None], U, V], axis=1), certificate


# Tasks whose answer a classical iteration makes exact.
REFINEMENTS: dict[str, Callable[[Floats, Floats], tuple[Floats, Certificate]]] = {
    "eigenvalues": _eigenvalues,
    "eigenvectors": _eigenvectors,
    "svd": _svd,
    "inverse": _inverse,
    "symmetric_inverse": _inverse,
}


def _answer(task: str, operands: tuple[ArrayLike, ...], how: dict[str, Any]) -> Solution:
    """A solution; without details, a warning where it is not proven."""
    details = how.pop("details", False)
    solution = solve(task, *operands, **how)
    if not details and solution.is_certified is None and not solution.trusted.all():
        num, bad = solution.trusted.size, int((~solution.trusted).sum())
        warnings.warn(
            f"{bad} of {num} answers of {solution.model} have no proof of an error below {100 * TRUSTED:g} %",
            UntrustedWarning,
            stacklevel=3,
        )
    return solution


def transpose(a: ArrayLike, **how: Any) -> Any:
    """As numpy.matrix_transpose."""
    solution = _answer("transpose", (a,), how.copy())
    return solution if how.get("details") else solution.value


def add(a: ArrayLike, b: ArrayLike, **how: Any) -> Any:
    """As numpy.add, of matrices."""
    solution = _answer("add", (a, b), how.copy())
    return solution if how.get("details") else solution.value


def matmul(a: ArrayLike, b: ArrayLike, **how: Any) -> Any:
    """As numpy.matmul, of matrices. Models write M^T N, as the paper's."""
    solution = _answer("matmul", (np.swapaxes(a, -1, -2), b), how.copy())
    return solution if how.get("details") else solution.value


def matvec(a: ArrayLike, x: ArrayLike, **how: Any) -> Any:
    """As numpy.matvec: (..., m, n) times (..., n). Models write M^T V, as the paper's."""
    solution = _answer("matvec", (np.swapaxes(a, -1, -2), np.asarray(x)[..., None]), how.copy())
    return solution if how.get("details") else solution.value[..., 0]


def inv(a: ArrayLike, **how: Any) -> Any:
    """As numpy.linalg.inv."""
    solution = _answer("inverse", (a,), how.copy())
    return solution if how.get("details") else solution.value


def eigvalsh(a: ArrayLike, **how: Any) -> Any:
    """As numpy.linalg.eigvalsh: ascending."""
    solution = _answer("eigenvalues", (a,), how.copy())
    return solution if how.get("details") else np.sort(solution.value[..., 0], axis=-1)


def eigh(a: ArrayLike, **how: Any) -> Any:
    """As numpy.linalg.eigh: eigenvalues ascending, eigenvectors as columns."""
    solution = _answer("eigenvectors", (a,), how.copy())
    value = solution.value[..., ::-1]
    return solution if how.get("details") else EighResult(value[..., 0, :], value[..., 1:, :])


def svdvals(x: ArrayLike, **how: Any) -> Any:
    """As numpy.linalg.svdvals: descending."""
    solution = _answer("singular_values", (x,), how.copy())
    return solution if how.get("details") else solution.value[..., 0]


def svd(a: ArrayLike, full_matrices: bool = False, **how: Any) -> Any:
    """As numpy.linalg.svd with full_matrices=False, the only form that models write."""
    if full_matrices:
        raise ValueError("full_matrices=True: models write the reduced form only")
    solution = _answer("svd", (a,), how.copy())
    m, value = np.asarray(a).shape[-2], solution.value
    parts = SVDResult(value[..., 1 : 1 + m, :], value[..., 0, :], value[..., 1 + m :, :].swapaxes(-1, -2))
    return solution if how.get("details") else parts
