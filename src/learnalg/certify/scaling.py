"""How the answer of a problem scales with its matrices.

    >>> unit, exponents = to_unit("inverse", (A,))      # the largest coefficient of each matrix is in [1/2, 1)
    >>> X = from_unit("inverse", inverse_of_unit, exponents)

All of the paper's problems are homogeneous: eigenvalues of 2^k A are 2^k times those of A, its inverse is 2^-k times. A
power of two changes no digit, so what is proven at unit scale is proven, and squares neither overflow nor vanish.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnalg.problems.task import Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Scaling:
    """What the answer is multiplied by when the operands are multiplied by c: c to this power."""

    power: int = 1
    first_row: bool = False  # the first row alone: vectors do not scale
    apart: bool = False  # each operand has its own c; otherwise they share it


SCALINGS = {
    "transpose": Scaling(),
    "add": Scaling(),
    "matvec": Scaling(apart=True),
    "matmul": Scaling(apart=True),
    "eigenvalues": Scaling(),
    "singular_values": Scaling(),
    "singular_values:of=gram": Scaling(2),
    "eigenvectors": Scaling(first_row=True),
    "svd": Scaling(first_row=True),
    "inverse": Scaling(-1),
    "symmetric_inverse": Scaling(-1),
}


def scaling_of(task: str) -> Scaling | None:
    """Of a task by its name, with or without options; None where it is not known to be homogeneous."""
    return SCALINGS.get(task) or SCALINGS.get(task.partition(":")[0])


def to_unit(task: str, operands: tuple[Floats, ...]) -> tuple[tuple[Floats, ...], Ints]:
    """(num, rows, cols) each -> the same with coefficients below 1, and the powers of two that they have lost, (num,
    operands). Problems that are not known to be homogeneous stay as they are."""
    scaling = scaling_of(task)
    if scaling is None:
        return operands, np.zeros((len(operands[0]), len(operands)), dtype=np.int64)
    largest = np.stack([np.abs(operand).max(axis=(1, 2), initial=0.0) for operand in operands], axis=1)
    if not scaling.apart:
        largest[:] = largest.max(axis=1, keepdims=True)
    exponents = np.frexp(largest)[1].astype(np.int64)
    return scaled(operands, -exponents), exponents


def scaled(operands: tuple[Floats, ...], exponents: Ints) -> tuple[Floats, ...]:
    """Operands times powers of two, (num, operands)."""
    return tuple(np.ldexp(operand, exponents[:, k, None, None]) for k, operand in enumerate(operands))


def from_unit(task: str, answers: Floats, exponents: Ints) -> Floats:
    """Answers of unit problems -> answers of the problems; with the exponents negative, back. What no double can hold
    becomes infinite or zero, as in NumPy."""
    scaling = scaling_of(task)
    if scaling is None:
        return answers
    total = scaling.power * (exponents.sum(axis=1) if scaling.apart else exponents[:, 0])
    out = answers.copy()
    part = out[:, :1] if scaling.first_row else out
    with np.errstate(over="ignore", under="ignore"):
        part[:] = np.ldexp(part, total[:, None, None])
    return out


def multiplied(task: str, answers: Floats, factors: Floats) -> Floats:
    """Answers where the operands are multiplied by these factors of moderate size, (num, operands)."""
    scaling = scaling_of(task)
    if scaling is None:
        return answers
    total = (factors.prod(axis=1) if scaling.apart else factors[:, 0]) ** float(scaling.power)
    out = answers.copy()
    part = out[:, :1] if scaling.first_row else out
    part *= total[:, None, None]
    return out
