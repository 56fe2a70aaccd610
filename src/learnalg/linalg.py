"""Trained models as NumPy's functions: the same arguments, the same returns, and a proof of how wrong they are at most.

    >>> from learnalg import linalg
    >>> linalg.eigvalsh(A)                          # as numpy.linalg.eigvalsh: ascending, any leading shape
    >>> linalg.inv(A, details=True).trusted         # is the error proven to be below 5 %?
    >>> linalg.eigh(A, refine=True)                 # the model proposes, a classical iteration makes it exact

Every function takes `model` (the best released one for the size, if not given), `rescale` (inputs are brought to the
scale of the model's training, and answers back), `refine`, `fallback` (NumPy's answer where refining is not certified),
`allow_outside` (a size that the model was not trained for: a warning, not an error) and `details` (a Solution).

An answer that is not proven to be right within 5 % comes with an UntrustedWarning. `refine=True` raises LinAlgError where
nothing can be certified, unless there is a fallback.
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
    newton_schulz_start,
    refine_eigenvalues,
    refine_eigenvectors,
    refine_inverse,
    refine_svd,
)
from learnalg.problems.task import Floats, Task
from learnalg.zoo.catalog import best_model
from learnalg.zoo.model import Model, load

TRUSTED = 0.05  # a proven bound of the relative error (L1) below this


class UntrustedWarning(UserWarning):
    """An answer is not proven to be right."""


class EighResult(NamedTuple):
    eigenvalues: Floats
    eigenvectors: Floats


class SVDResult(NamedTuple):
    U: Floats
    S: Floats
    Vh: Floats


@dataclass(frozen=True)
class Solution:
    """What a model answered for a stack of problems, and what is known of that. np.asarray(solution) is the value."""

    task: str
    model: str
    value: Floats  # (..., rows, cols), as the model writes it
    inputs: Floats  # (num, rows, cols), operands side by side
    definition: Task
    is_refined: bool = False
    is_certified: NDArray[np.bool_] | None = None  # of a refined value
    fell_back: NDArray[np.bool_] | None = None  # NumPy's answers

    @cached_property
    def residual(self) -> Floats:
        """A proven bound of the relative error in the L1 norm, by the criterion of the accuracy tables; inf for none."""
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

# Tasks whose answer a classical iteration makes exact.
REFINED = ("eigenvalues", "eigenvectors", "svd", "inverse", "symmetric_inverse")


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
    value = model.predict(*scaled, task=task, allow_outside=allow_outside)
    if scaling is not None:
        back = np.prod([f**-scaling.power for f in factors], axis=0)[:, None]
        value[:, : 1 if scaling.first_row else None] *= back[..., None]
    solution = Solution(task, model.name, value, np.concatenate(arrays, axis=2), definition)
    if refine:
        solution = _refined(solution, fallback)
    return replace(solution, value=solution.value.reshape(*lead, *solution.value.shape[1:]))


def _stacks(task: str, operands: tuple[ArrayLike, ...]) -> tuple[list[Floats], tuple[int, ...]]:
    """Operands as (num, rows, cols), and the leading shape; NumPy's errors for what is no matrix."""
    arrays = [np.asarray(operand) for operand in operands]
    for array in arrays:
        if array.dtype.kind not in "biuf":
            raise TypeError(f"array type {array.dtype} is not a real number's")
        if array.ndim < 2:
            raise LinAlgError(f"{array.ndim}-dimensional array given. Array must be at least two-dimensional")
    lead = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    flat = [
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
    """What brings the coefficients of each problem to the root mean square of the model's training."""
    amplitude = model.problem.config.amplitude
    sigma = np.sqrt(amplitude[0] * amplitude[-1] / 3) * model.problem.config.sigma_factor
    groups = [[a] for a in arrays] if scaling.apart else [arrays]
    factors = []
    for group in groups:
        square = np.mean([np.square(a).mean(axis=(1, 2)) for a in group], axis=0)
        factors.append(np.where(square > 0, sigma / np.sqrt(np.where(square > 0, square, 1.0)), 1.0))
    return factors
