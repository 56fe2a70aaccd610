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
from learnalg.zoo.index import best_model
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
