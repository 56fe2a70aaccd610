"""The answers of a model to a stack of problems, and what is known of them without knowing the right ones.

>>> solution = learnalg.load("inverse-5").solve(A)
>>> np.asarray(solution)        # or solution.value
>>> solution.residual           # |P A - I|: a bound of the relative error, proven for this matrix
>>> solution.trusted            # is it proven to be below 5 %?
>>> solution.confidence         # what the model makes of it: the mean probability of its tokens
>>> solution.refined()          # the same problems solved to rounding error, starting from these answers
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnalg.certify.proofs import bound, share
from learnalg.certify.refine import refine
from learnalg.problems.task import Floats, Task

TRUSTED = 0.05  # a proven bound of the relative error (L1) below this
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Leading axes (...) are those of the stack; one problem has none."""

    task: str  # with its options
    definition: Task
    operands: tuple[Floats, ...]  # (..., rows, cols) each, as they were given
    seen: tuple[Floats, ...]  # the same as the model read them: scaled, rounded, and scaled back
    matrix: Floats  # (..., rows, cols), the answer as the model writes it
    value: Any  # the answer in the form that was asked for
    residual: Floats  # (...): a proven bound of the relative error (L1), as accuracies are; inf for none
    well_formed: Bools  # (...): did the model write one matrix of the right shape, of its own accord?
    confidence: Floats  # (...): geometric mean of the probabilities of its tokens
    model: NDArray[np.str_]  # (...): which model answered
    seconds: float
    # Of refined answers, (...):
    steps: Ints | None = None  # of the iteration
    is_certified: Bools | None = None
    certified_residual: Floats | None = None  # relative, in the Frobenius norm
    fell_back: Bools | None = None  # NumPy's answers

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the stack."""
        return self.matrix.shape[:-2]

    @property
    def trusted(self) -> Bools:
        """(...)"""
        return np.asarray(self.residual < TRUSTED)[()]

    @cached_property
    def expected(self) -> Floats:
        """NumPy's answers to the problems as they were given, in the layout of `matrix`; NaN where there is none."""
        inputs = np.concatenate([flat(operand) for operand in self.operands], axis=2)
        has_solution = self.definition.accept(inputs)
        found = np.full(flat(self.matrix).shape, np.nan)
        found[has_solution] = self.definition.solve(inputs[has_solution])
        return found.reshape(self.matrix.shape)

    @cached_property
    def error(self) -> Floats:
        """(...): the relative error (L1) beside NumPy's answers, by the criterion of the accuracy tables; NaN where
        there are none."""
        inputs = np.concatenate([flat(operand) for operand in self.operands], axis=2)
        with np.errstate(over="ignore", invalid="ignore"):
            residual, reference = self.definition.residual(inputs, flat(self.expected), flat(self.matrix))
        found = np.where(np.isnan(flat(self.expected)).any(axis=(1, 2)), np.nan, share(residual, reference))
        return found.reshape(self.shape)[()]

    def __repr__(self) -> str:
        from learnalg.certify.show import text

        return text(self)

    def _repr_html_(self) -> str:
        from learnalg.certify.show import html

        return html(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        if isinstance(self.value, tuple):
            raise TypeError(f"the value is {len(self.value)} arrays, not one: take them from value")
        return np.array(self.value, dtype=dtype) if copy else np.asarray(self.value, dtype=dtype)

    def refined(self, fallback: bool = False) -> Solution:
        """The same problems solved to rounding error, starting from these answers. `is_certified` says where that is
        proven; with `fallback`, NumPy's answer stands where it is not, and `fell_back` says where."""
        operands = tuple(flat(operand) for operand in self.operands)
        matrix, certificate = refine(self.task, operands, flat(self.matrix))
        is_certified = certificate.is_certified
        fell_back = ~is_certified & fallback
        if fell_back.any():
            matrix[fell_back] = self.definition.solve(operands[0][fell_back])
        residual = bound(self.task, self.definition, operands, matrix)
        matrix = matrix.reshape(self.matrix.shape)
        return replace(
            self,
            matrix=matrix,
            value=matrix,
            residual=residual.reshape(self.shape)[()],
            steps=certificate.steps.reshape(self.shape)[()],
            is_certified=is_certified.reshape(self.shape)[()],
            certified_residual=certificate.residual.reshape(self.shape)[()],
            fell_back=fell_back.reshape(self.shape)[()],
        )

    def reshaped(self, lead: tuple[int, ...]) -> Solution:
        """A stack of another shape."""

        def turned(stack: Floats) -> Floats:
            return stack.reshape(*lead, *stack.shape[-2:])

        matrix = turned(self.matrix)
        parts = {name: getattr(self, name).reshape(lead)[()] for name in KNOWN}
        seen, operands = tuple(map(turned, self.seen)), tuple(map(turned, self.operands))
        return replace(self, operands=operands, seen=seen, matrix=matrix, value=matrix, **parts)


KNOWN = ("residual", "well_formed", "confidence", "model")  # of each answer


def flat(stack: Floats) -> Floats:
    """(..., rows, cols) -> (num, rows, cols)."""
    return stack.reshape(int(np.prod(stack.shape[:-2])), *stack.shape[-2:])


def place(index: int, lead: tuple[int, ...]) -> str:
    """Which of a stack, for an error: ' (1, 2)', and nothing of one problem."""
    return f" {tuple(int(k) for k in np.unravel_index(index, lead))}" if lead else ""


def better(solution: Solution, rest: Ints, other: Solution) -> Solution:
    """A stack (num,) in which another model was asked for the problems at `rest`: of each, the answer that is proven to
    be better."""
    is_better = other.residual < solution.residual[rest]
    rows = rest[is_better]

    def joined(mine: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        out = mine.astype(np.result_type(mine, theirs))
        out[rows] = theirs[is_better]
        return out

    matrix = joined(solution.matrix, other.matrix)
    parts: dict[str, Any] = {name: joined(getattr(solution, name), getattr(other, name)) for name in KNOWN}
    seen = tuple(joined(mine, theirs) for mine, theirs in zip(solution.seen, other.seen, strict=True))
    return replace(solution, seen=seen, matrix=matrix, value=matrix, seconds=solution.seconds + other.seconds, **parts)
