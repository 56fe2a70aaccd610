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
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import ArrayLike, NDArray

from learnalg.certify.proofs import PROOFS
from learnalg.certify.refine import (
    Certificate,
    newton_schulz_start,
    refine_eigenvalues,
    refine_eigenvectors,
    refine_inverse,
    refine_svd,
)
from learnalg.problems.task import Floats, Task
from learnalg.zoo.catalog import best_model
from learnalg.zoo.model import Model, load

BOUNDED = ("iid-uniform", "wigner", "near-ties", "near-zeros", "near-singular")  # ensembles with coefficients up to A
NEAR = 0.7  # of the scale of the training, a matrix stays as it is
TRUSTED = 0.05  # a proven bound of the relative error (L1) below this


class UntrustedWarning(UserWarning):
    """The error of an answer is not proven to be small."""


class EighResult(NamedTuple):
    eigenvalues: Floats
    eigenvectors: Floats


class SVDResult(NamedTuple):
    U: Floats
    S: Floats
    Vh: Floats


@dataclass(frozen=True)
class Solution:
    """The answers of a model to a stack of problems, and what is known of them. np.asarray(solution) is the value."""

    task: str
    model: str
    value: Floats  # (..., rows, cols), as the model writes it
    inputs: Floats  # (num, rows, cols), operands side by side
    definition: Task
    steps: NDArray[np.int64] | None = None  # of the iteration that refined it
    is_certified: NDArray[np.bool_] | None = None  # of a refined value
    certified_residual: Floats | None = None  # of a refined value, relative, in the Frobenius norm
    fell_back: NDArray[np.bool_] | None = None  # NumPy's answers

    @cached_property
    def residual(self) -> Floats:
        """A proven bound of the relative error (L1), by the criterion of the accuracy tables; inf for none."""
        flat = self.value.reshape(len(self.inputs), *self.value.shape[-2:])
        return PROOFS[self.task](self.definition, self.inputs, flat).reshape(self.value.shape[:-2])

    @property
    def trusted(self) -> NDArray[np.bool_]:
        return np.asarray(self.residual < TRUSTED)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.asarray(self.value, dtype=dtype)


# How an answer scales when the operands are multiplied by c: one power for each operand, and which rows scale.
@dataclass(frozen=True)
class Scaling:
    power: int  # of c, for the answer
    first_row: bool = False  # only the first row scales: vectors do not
    apart: bool = False  # operands are scaled apart


SCALINGS = {
    "transpose": Scaling(1),
    "add": Scaling(1),
    "matvec": Scaling(1, apart=True),
    "matmul": Scaling(1, apart=True),
    "eigenvalues": Scaling(1),
    "singular_values": Scaling(1),
    "eigenvectors": Scaling(1, first_row=True),
    "svd": Scaling(1, first_row=True),
    "inverse": Scaling(-1),
    "symmetric_inverse": Scaling(-1),
}


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
    if allow_outside and not model.problem.dims.admits(m, n):
        warnings.warn(f"{model.name} was trained on dim {model.problem.config.dim}, not {m}x{n}", stacklevel=3)
    definition = dict(model.problem.tasks)[task]
    scaling = SCALINGS.get(task)
    factors = _factors(arrays, scaling, model) if rescale and scaling is not None else [np.ones(len(arrays[0]))]
    scaled = [a * factors[min(k, len(factors) - 1)][:, None, None] for k, a in enumerate(arrays)]
    value = model.solve(*scaled, task=task, allow_outside=allow_outside)
    if scaling is not None:
        back = np.prod([f**-scaling.power for f in factors], axis=0)[:, None]
        value[:, : 1 if scaling.first_row else None] *= back[..., None]
    solution = Solution(task, model.name, value, np.concatenate(arrays, axis=2), definition)
    if task in ("eigenvalues", "singular_values"):  # in order, as they are defined
        solution.value[:] = -np.sort(-solution.value, axis=1)
    if refine:
        solution = _refined(solution, fallback)
    return replace(solution, value=solution.value.reshape(*lead, *solution.value.shape[1:]))


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


def _factors(arrays: list[Floats], scaling: Scaling, model: Model) -> list[Floats]:
    """What brings the coefficients of each problem into the range of the model's training; 1 where they are there."""
    config = model.problem.config
    low, high = (amplitude * config.sigma_factor for amplitude in (config.amplitude[0], config.amplitude[-1]))
    is_bounded = all(name in BOUNDED for name in config.ensemble)
    groups = [[a] for a in arrays] if scaling.apart else [arrays]
    factors = []
    for group in groups:
        size = np.sqrt(np.mean([np.square(a).mean(axis=(1, 2)) for a in group], axis=0)) * np.sqrt(3)
        largest = np.max([np.abs(a).max(axis=(1, 2)) for a in group], axis=0)
        is_inside = (NEAR * low <= size) & (size * NEAR <= high) & ((largest <= high) | (not is_bounded))
        middle = np.sqrt(low * high)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.minimum(middle / size, high / largest if is_bounded else np.inf)
        factors.append(np.where(is_inside | (size == 0), 1.0, factor))
    return factors


def _refined(solution: Solution, fallback: bool) -> Solution:
    """The same problems, solved to rounding error and certified, starting from the predictions."""
    if solution.task not in REFINEMENTS:
        raise ValueError(
            f"{solution.task} is not refined: its proof computes it again; tasks: {', '.join(REFINEMENTS)}"
        )
    A, predicted = solution.inputs, solution.value
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
    return replace(
        solution,
        value=value,
        steps=certificate.steps,
        is_certified=is_certified,
        fell_back=fell_back,
        certified_residual=certificate.residual,
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
