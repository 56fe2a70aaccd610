"""The answers of a model to a stack of problems, and what is known of them without knowing the right ones.

>>> solution = learnalg.load("inverse-5").solve(A)
>>> np.asarray(solution)        # or solution.value
>>> solution.residual           # |A P - I|: a bound of the relative error, proven for this matrix
>>> solution.trusted            # is it well-formed, finite, and proven to be below 5 %?
>>> solution.confidence         # what the model makes of it: the mean probability of its tokens
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnalg.certify.proofs import bound
from learnalg.problems.task import Floats, Task

TRUSTED = 0.05  # a proven bound of the relative error (L1) below this
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Solution:
    """Leading axes (...) are those of the stack; one problem has none."""

    task: str  # with its options
    model: str
    definition: Task
    operands: tuple[Floats, ...]  # (..., rows, cols) each, as they were given
    seen: tuple[Floats, ...]  # the same as the model read them: scaled, rounded, and scaled back
    matrix: Floats  # (..., rows, cols), the answer as the model writes it
    value: Any  # the answer in the form that was asked for
    well_formed: Bools  # (...): did the model write one matrix of the right shape, of its own accord?
    confidence: Floats  # (...): geometric mean of the probabilities of its tokens
    seconds: float
    # Of refined answers, (...):
    steps: NDArray[np.int64] | None = None  # of the iteration
    is_certified: Bools | None = None
    certified_residual: Floats | None = None  # relative, in the Frobenius norm
    fell_back: Bools | None = None  # NumPy's answers

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the stack."""
        return self.matrix.shape[:-2]

    @cached_property
    def residual(self) -> Floats:
        """(...): a proven bound of the relative error (L1), by the criterion of the accuracy tables; inf for none."""
        operands = tuple(flat(operand) for operand in self.operands)
        found = bound(self.task, self.definition, operands, flat(self.matrix))
        return found.reshape(self.shape)[()]

    @property
    def trusted(self) -> Bools:
        """(...)"""
        return np.asarray(self.well_formed & (self.residual < TRUSTED))[()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        if isinstance(self.value, tuple):
            raise TypeError(f"the value is {len(self.value)} arrays, not one: take them from value")
        return np.array(self.value, dtype=dtype) if copy else np.asarray(self.value, dtype=dtype)


def flat(stack: Floats) -> Floats:
    """(..., rows, cols) -> (num, rows, cols)."""
    return stack.reshape(int(np.prod(stack.shape[:-2])), *stack.shape[-2:])
