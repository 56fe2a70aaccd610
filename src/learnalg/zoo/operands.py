"""What enters a model: operands of the right shape, at the scale of its training.

>>> arrays, lead, dims = check_operands(problem, 0, (A,))     # (num, m, n) each
>>> unit, exponents = to_unit("eigenvalues", arrays)
>>> factors = training_factors("eigenvalues", unit, exponents, problem.config)
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnalg.certify.scaling import scaling_of
from learnalg.certify.solution import place
from learnalg.config import DataConfig
from learnalg.problem import Problem
from learnalg.problems.task import Floats
from learnalg.tokens.encoding import Ints

BOUNDED = ("iid-uniform", "wigner", "near-ties", "near-zeros", "near-singular")  # ensembles with coefficients up to A
SPREAD = 1.5  # k coefficients have the scale of their ensemble to within this over the root of k, with few exceptions


class OutsideWarning(UserWarning):
    """A model is asked for a size that it was not trained for."""


def check_operands(
    problem: Problem, index: int, operands: tuple[ArrayLike, ...], allow_outside: bool = False
) -> tuple[tuple[Floats, ...], tuple[int, ...], tuple[int, int]]:
    """The operands as (num, rows, cols) each, the leading shape of the stack, and the problem's m x n."""
    name, task = problem.tasks[index]
    expected = task.operands(1, 1)
    if len(operands) != len(expected):
        raise ValueError(f"task {name} takes {len(expected)} matrices, not {len(operands)}")
    arrays: list[Floats] = []
    for k, operand in enumerate(operands):
        array = np.asarray(operand)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"expected a matrix of real numbers, got {array.dtype}")
        array = array.astype(np.float64)
        if k and array.ndim == arrays[0].ndim - 1:
            array = array[..., None]  # a vector is a column
        arrays.append(array)
    first = arrays[0]
    if first.ndim < 2 or 0 in first.shape[-2:]:
        raise ValueError(f"expected an m x n matrix or a stack of them, got the shape {first.shape}")
    m, n = first.shape[-2:]
    shapes = tuple((*first.shape[:-2], *shape) for shape in task.operands(m, n))
    if tuple(a.shape for a in arrays) != shapes:
        wanted, got = " and ".join(map(str, shapes)), " and ".join(str(a.shape) for a in arrays)
        raise ValueError(f"task {name} takes matrices of the shapes {wanted}, not {got}")
    lead = first.shape[:-2]
    infinite = _first_without([np.isfinite(a).all(axis=(-2, -1)) for a in arrays])
    if infinite is not None:
        raise ValueError(f"the matrix{place(infinite, lead)} holds NaN or infinity")
    if not problem.dims.admits(m, n):
        outside = f"a {m}x{n} matrix, but this model was trained on dim {problem.config.dim}"
        if not allow_outside:
            raise ValueError(outside)
        warnings.warn(outside, OutsideWarning, stacklevel=3)
    # Symmetric by the task, or because the model has seen no others: up to rounding.
    needs_symmetry = task.symmetric or problem.config.symmetric or problem.config.triangle
    skew = _first_without([is_symmetric(a) for a in arrays]) if needs_symmetry else None
    if skew is not None:
        which = f"matrix{place(skew, lead)}" if lead else "this one"
        raise ValueError(f"this model of {name} was trained on symmetric matrices only, and {which} is not symmetric")
    stacks = tuple(a.reshape(int(np.prod(lead)), *a.shape[-2:]) for a in arrays)
    return stacks, lead, (m, n)


def _first_without(parts: list[Any]) -> int | None:
    """The first problem of a stack that a property does not hold for, of one operand or another."""
    wrong = np.flatnonzero(~np.logical_and.reduce(parts))
    return int(wrong[0]) if len(wrong) else None


def is_symmetric(stack: Floats) -> np.ndarray:
    """(..., m, n) -> (...): up to rounding, whatever the scale."""
    if stack.shape[-1] != stack.shape[-2]:
        return np.zeros(stack.shape[:-2], dtype=bool)
    largest = np.abs(stack).max(axis=(-2, -1), keepdims=True, initial=0.0)
    difference = np.abs(stack / 2 - stack.swapaxes(-1, -2) / 2)
    return np.asarray((difference <= 1e-6 * largest).all(axis=(-2, -1)))


def training_factors(task: str, unit: tuple[Floats, ...], exponents: Ints, config: DataConfig) -> Floats:
    """(num, operands): what brings operands from unit scale into the range of the training. What was there before, with
    its power of two, comes back as it was."""
    scaling = scaling_of(task)
    if scaling is None:
        return np.ones(exponents.shape)
    low, high = (amplitude * config.sigma_factor for amplitude in (config.amplitude[0], config.amplitude[-1]))
    is_bounded = all(name in BOUNDED for name in config.ensemble)
    squares = np.stack([np.square(a).mean(axis=(1, 2)) for a in unit], axis=1)
    largest = np.stack([np.abs(a).max(axis=(1, 2)) for a in unit], axis=1)
    if not scaling.apart:
        squares[:], largest[:] = squares.mean(axis=1, keepdims=True), largest.max(axis=1, keepdims=True)
    spread = SPREAD / np.sqrt(min(a.shape[1] * a.shape[2] for a in unit))
    size = np.sqrt(3 * squares)  # A, of coefficients uniform in [-A, A]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        given, given_largest = np.ldexp(size, exponents), np.ldexp(largest, exponents)
        is_inside = (given >= low * (1 - spread)) & (given <= high * (1 + spread))
        is_inside &= (given_largest <= high) | (not is_bounded)
        factor = np.minimum(np.sqrt(low * high) / size, high / largest if is_bounded else np.inf)
        back = np.ldexp(1.0, exponents)
    return np.where(is_inside, back, np.where(size == 0, 1.0, factor))
