"""Trained models as NumPy's functions: the same arguments, the same returns, and a proven bound on the error.

    >>> from learnalg import linalg
    >>> linalg.eigvalsh(A)                          # as numpy.linalg.eigvalsh: ascending, any leading shape
    >>> linalg.inv(A, details=True).trusted         # is the error proven to be below 5 %?
    >>> linalg.eigh(A, refine=True)                 # the model proposes, a classical iteration makes it exact

Keywords of every function, all optional:

model          a released model, a run, or a loaded Model. Otherwise the most accurate released model for the size
               answers; what is not trusted is asked of the others for that size, and the best proven answer stays
rescale        matrices are brought to the scale of the training, and answers scaled back (True)
refine         a classical iteration makes answers exact and certifies them; LinAlgError where it cannot (False)
fallback       with refine: NumPy's answer where nothing can be certified, with a FallbackWarning (False)
allow_outside  a size, values or a spectrum that no model was trained for give a warning, not an error (False)
details        returns a Solution: it flags what is not trusted or not certified, and nothing warns or raises (False)

An answer whose error is not proven to be below 5 % comes with an UntrustedWarning. It is refused where values or
spectrum are unlike those of the training as well (zoo/domain.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import ArrayLike, NDArray

from learnalg.certify.proofs import bound
from learnalg.certify.solution import TRUSTED, Solution, better, flat, place
from learnalg.naming import unknown
from learnalg.problems.task import Floats
from learnalg.zoo.catalog import models_for
from learnalg.zoo.domain import outside
from learnalg.zoo.model import Model, load
from learnalg.zoo.operands import is_symmetric


class UntrustedWarning(UserWarning):
    """The error of an answer is not proven to be small."""


class FallbackWarning(UserWarning):
    """Answers are NumPy's."""


class EighResult(NamedTuple):
    eigenvalues: Floats
    eigenvectors: Floats


class SVDResult(NamedTuple):
    U: Floats
    S: Floats
    Vh: Floats


class Keywords(TypedDict, total=False):
    model: str | Path | Model
    rescale: bool
    refine: bool
    fallback: bool
    allow_outside: bool
    details: bool


def transpose(a: ArrayLike, **keywords: Unpack[Keywords]) -> Any:
    """As numpy.matrix_transpose."""
    return _answer("transpose", [_real(a)], lambda matrix: matrix, keywords)


def add(a: ArrayLike, b: ArrayLike, **keywords: Unpack[Keywords]) -> Any:
    """As numpy.add, of matrices."""
    return _answer("add", [_real(x) for x in np.broadcast_arrays(a, b)], lambda matrix: matrix, keywords)


def matmul(a: ArrayLike, b: ArrayLike, **keywords: Unpack[Keywords]) -> Any:
    """As numpy.matmul. Models write M^T N, as the paper's."""
    left, right = _real(a, least=1), _real(b, least=1)
    if left.ndim == right.ndim == 1:
        raise LinAlgError("two vectors given: models multiply matrices with matrices or with vectors")
    if right.ndim == 1:
        return matvec(left, right, **keywords)
    if left.ndim == 1:
        return matvec(right.swapaxes(-1, -2), left, **keywords)
    _check_inner(left, right, right.shape[-2])
    return _answer("matmul", [left.swapaxes(-1, -2), right], lambda matrix: matrix, keywords)


def matvec(a: ArrayLike, x: ArrayLike, **keywords: Unpack[Keywords]) -> Any:
    """As numpy.matvec: (..., m, n) times (..., n). Models write M^T V, as the paper's."""
    left, right = _real(a), _real(x, least=1)
    _check_inner(left, right, right.shape[-1])
    return _answer("matvec", [left.swapaxes(-1, -2), right[..., None]], lambda matrix: matrix[..., 0], keywords)


def inv(a: ArrayLike, **keywords: Unpack[Keywords]) -> Any:
    """As numpy.linalg.inv: LinAlgError for a singular matrix."""
    matrices = _square(a)
    check_regular(matrices)
    return _answer("inverse", [matrices], lambda matrix: matrix, keywords)


def check_regular(matrices: Floats) -> None:
    """Refuses singular matrices; what is not square is no business of this."""
    if matrices.shape[-1] != matrices.shape[-2]:
        return
    with np.errstate(invalid="ignore"):
        singular = np.linalg.slogdet(_to_unit(matrices))[0] == 0
    if singular.any():
        raise LinAlgError(f"Singular matrix{place(np.flatnonzero(singular)[0], singular.shape)}")


def eigvalsh(a: ArrayLike, UPLO: str = "L", **keywords: Unpack[Keywords]) -> Any:
    """As numpy.linalg.eigvalsh: ascending, of the lower triangle, or the upper one (UPLO="U")."""
    return _answer("eigenvalues", [_mirrored(a, UPLO)], lambda matrix: matrix[..., ::-1, 0], keywords)


def eigh(a: ArrayLike, UPLO: str = "L", **keywords: Unpack[Keywords]) -> Any:
    """As numpy.linalg.eigh: eigenvalues ascending, eigenvectors as columns."""

    def form(matrix: Floats) -> EighResult:
        return EighResult(matrix[..., 0, ::-1], matrix[..., 1:, ::-1])

    return _answer("eigenvectors", [_mirrored(a, UPLO)], form, keywords)


def svdvals(x: ArrayLike, **keywords: Unpack[Keywords]) -> Any:
    """As numpy.linalg.svdvals: descending."""
    return _answer("singular_values", [_real(x)], lambda matrix: matrix[..., 0], keywords)


def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    **keywords: Unpack[Keywords],
) -> Any:
    """As numpy.linalg.svd; hermitian=True reads the lower triangle. Of rectangular matrices, models write the reduced
    form only: full_matrices=False."""
    matrices = _mirrored(a, "L") if hermitian else _real(a)
    if not compute_uv:
        return svdvals(matrices, **keywords)
    m, n = matrices.shape[-2:]
    if full_matrices and m != n:
        raise ValueError(f"full_matrices=True: of a {m}x{n} matrix, models write the reduced form only")

    def form(matrix: Floats) -> SVDResult:
        return SVDResult(matrix[..., 1 : 1 + m, :], matrix[..., 0, :], matrix[..., 1 + m :, :].swapaxes(-1, -2))

    return _answer("svd", [matrices], form, keywords)


def _answer(task: str, operands: list[Floats], form: Callable[[Floats], Any], keywords: Keywords) -> Any:
    """The answer in NumPy's form; a Solution with details."""
    for name in keywords:
        if name not in Keywords.__annotations__:
            raise TypeError(str(unknown("keyword", name, Keywords.__annotations__)))
    refine, fallback = keywords.get("refine", False), keywords.get("fallback", False)
    if fallback and not refine:
        raise ValueError("fallback=True has no effect without refine=True")
    model, rescale = keywords.get("model", ""), keywords.get("rescale", True)
    allow_outside = keywords.get("allow_outside", False)
    solution = solve(task, *operands, model=model, rescale=rescale, allow_outside=allow_outside)
    if refine:
        solution = solution.refined(fallback)
    is_single = all(operand.dtype == np.float32 for operand in operands)
    solution = replace(solution, value=form(solution.matrix.astype(np.float32) if is_single else solution.matrix))
    if keywords.get("details"):
        return solution
    if refine:
        fell_back = np.asarray(solution.fell_back)
        left_over = np.flatnonzero(~np.asarray(solution.is_certified) & ~fell_back)
        if len(left_over):
            raise LinAlgError(
                f"{len(left_over)} of {solution.residual.size} answers cannot be certified: matrix"
                f"{place(left_over[0], solution.shape)}; fallback=True takes NumPy's answers, details=True flags them"
            )
        if fell_back.any():
            first = place(np.flatnonzero(fell_back)[0], solution.shape)
            message = f"{fell_back.sum()} of {fell_back.size} answers are NumPy's, the first that of matrix{first}"
            warnings.warn(message, FallbackWarning, stacklevel=3)
    elif not np.all(solution.trusted):
        if not allow_outside:
            _check_inside(solution, _asked(task, operands, model), rescale)
        bad, names = int(np.sum(~solution.trusted)), ", ".join(np.unique(np.asarray(solution.model)[~solution.trusted]))
        warnings.warn(
            f"{bad} of {solution.trusted.size} answers ({names}) have no proof of an error below {100 * TRUSTED:g} %",
            UntrustedWarning,
            stacklevel=3,
        )
    return solution.value


def solve(
    task: str,
    *operands: ArrayLike,
    model: str | Path | Model = "",
    rescale: bool = True,
    allow_outside: bool = False,
) -> Solution:
    """A task by its name, its answers in the model's own layout; eigenvalues and singular values in order."""
    lead = np.broadcast_shapes(*(np.shape(operand)[:-2] for operand in operands))
    arrays = [flat(np.broadcast_to(operand, (*lead, *np.shape(operand)[-2:]))) for operand in operands]
    for array in arrays:
        wrong = np.flatnonzero(~np.isfinite(array).all(axis=(1, 2)))
        if len(wrong):
            raise LinAlgError(f"matrix{place(wrong[0], lead)} holds NaN or infinity")
    models = _asked(task, arrays, model, allow_outside)
    how: dict[str, Any] = {"task": task, "rescale": rescale, "allow_outside": allow_outside}
    found = _in_order(_loaded(models[0]).solve(*arrays, **how))
    for name in models[1:]:
        rest = np.flatnonzero(~found.trusted)
        if len(rest):
            found = better(found, rest, _in_order(_loaded(name).solve(*(array[rest] for array in arrays), **how)))
    return found.reshaped(lead)


_models_for = cache(models_for)


def _asked(
    task: str, operands: list[Floats], model: str | Path | Model, allow_outside: bool = False
) -> list[str] | list[str | Path | Model]:
    """The models that are asked, one after the other."""
    if model:
        return [model]
    symmetric = all(is_symmetric(operand).all() for operand in operands)
    return _models_for(task, *operands[0].shape[-2:], symmetric, allow_outside)


def _check_inside(solution: Solution, models: Sequence[str | Path | Model], rescale: bool) -> None:
    """Refuses an answer without a proof to a problem that no model was trained for."""
    rest = np.flatnonzero(~solution.trusted)
    operands = tuple(flat(operand)[rest] for operand in solution.operands)
    why = [outside(_loaded(model).problem, solution.task, operands, rescale) for model in models]
    left_over = np.flatnonzero((np.stack(why) != "").all(axis=0))
    if len(left_over):
        first = left_over[0]
        names = ", ".join(_loaded(model).name or "the given model" for model in models)
        where = f"the {why[0][first]} of matrix{place(rest[first], solution.shape)}"
        raise ValueError(
            f"no model was trained for {where} ({names}), and the answer has no proof of an error below "
            f"{100 * TRUSTED:g} %; allow_outside=True returns it with a warning"
        )


def _loaded(model: str | Path | Model) -> Model:
    return model if isinstance(model, Model) else _load(str(model))


@cache
def _load(name: str) -> Model:
    return load(name)


def _in_order(solution: Solution) -> Solution:
    """Largest first, as the problems are defined: sorted values are nearer to the right ones."""
    if solution.task not in ("eigenvalues", "singular_values"):
        return solution
    matrix = -np.sort(-solution.matrix, axis=-2)
    rows = np.flatnonzero((matrix != solution.matrix).any(axis=(1, 2)))
    if not len(rows):
        return solution
    residual = solution.residual.copy()
    residual[rows] = bound(
        solution.task, solution.definition, tuple(operand[rows] for operand in solution.operands), matrix[rows]
    )
    return replace(solution, matrix=matrix, value=matrix, residual=residual)


def _real(a: ArrayLike, least: int = 2) -> Floats:
    """An array of floats; NumPy's errors for what is not a stack of matrices of real numbers."""
    array = np.asarray(a)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8 or array.dtype == np.float16:
        raise TypeError(
            f"array type {array.dtype} is unsupported: models read real numbers of single or double precision"
        )
    if array.ndim < least:
        kinds = {1: "one", 2: "two"}
        raise LinAlgError(f"{array.ndim}-dimensional array given. Array must be at least {kinds[least]}-dimensional")
    return array if array.dtype == np.float32 else array.astype(np.float64)


def _square(a: ArrayLike) -> Floats:
    array = _real(a)
    if array.shape[-1] != array.shape[-2]:
        raise LinAlgError(f"Last 2 dimensions of the array must be square, not {array.shape[-2]}x{array.shape[-1]}")
    return array


def _mirrored(a: ArrayLike, UPLO: str) -> Floats:
    """One triangle is read, the other one is its mirror image."""
    if UPLO.upper() not in ("L", "U"):
        raise ValueError(f"UPLO={UPLO!r}: must be 'L' or 'U'")
    array = _square(a)
    inside: NDArray[np.bool_] = np.tri(array.shape[-1], dtype=bool)
    return np.where(inside if UPLO.upper() == "L" else inside.T, array, array.swapaxes(-1, -2))


def _to_unit(matrices: Floats) -> Floats:
    """The largest coefficient below 1: determinants do not vanish for being small."""
    largest = np.abs(matrices).max(axis=(-2, -1), keepdims=True, initial=0.0)
    return np.ldexp(matrices.astype(np.float64), -np.frexp(largest)[1])


def _check_inner(left: Floats, right: Floats, inner: int) -> None:
    if left.shape[-1] != inner:
        raise ValueError(f"shapes {left.shape} and {right.shape} do not go together: {left.shape[-1]} is not {inner}")
