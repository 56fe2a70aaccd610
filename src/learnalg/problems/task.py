"""What a task is: a problem with a known solution and a test of correctness.

A task is data, not a class to inherit from. Everything works on whole batches: `solve` maps (num, rows, cols)
to (num, rows', cols'). The smallest task needs two fields:

    >>> trace = Task("the trace", solve=lambda M: np.trace(M, axis1=1, axis2=2)[:, None, None],
    ...              output_shape=lambda m, n: (1, 1), square=True)

A prediction P is correct within tolerance t when |residual| < t |reference|, for the residual and reference
that the task defines; by default P - O and O, for O the solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Shape = tuple[int, int]
Residual = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]


def one_operand(m: int, n: int) -> tuple[Shape, ...]:
    return ((m, n),)


def same_shape(m: int, n: int) -> Shape:
    return (m, n)


def difference(seen: Floats, solution: Floats, predicted: Floats) -> tuple[Floats, Floats]:
    """The residual of problems with one right answer: distance to it."""
    return predicted - solution, solution


def accept_all(inputs: Floats) -> NDArray[np.bool_]:
    return np.ones(len(inputs), dtype=bool)


@dataclass(frozen=True)
class Task:
    summary: str
    solve: Callable[[Floats], Floats]
    operands: Callable[[int, int], tuple[Shape, ...]] = one_operand  # drawn apart, set side by side
    output_shape: Callable[[int, int], Shape] = same_shape
    residual: Residual = difference  # (matrix seen, solution, prediction) -> (residual, reference)
    accept: Callable[[Floats], NDArray[np.bool_]] = accept_all  # problems with a solution; others are redrawn
    square: bool = False
    symmetric: bool = False

    def input_shape(self, m: int, n: int) -> Shape:
        shapes = self.operands(m, n)
        return shapes[0][0], sum(cols for _, cols in shapes)

    def operand_columns(self, max_cols: int) -> NDArray[np.int64]:
        """(max_cols + 1, max_cols, 2): of column k in an input of c columns, the operand and its column there. Columns
        of a width that no problem has belong to one operand."""
        places = np.zeros((max_cols + 1, max_cols, 2), dtype=np.int64)
        places[..., 1] = np.arange(max_cols)
        for n in range(1, max_cols + 1):
            widths = [cols for _, cols in self.operands(n, n)]
            total, first = sum(widths), np.cumsum([0, *widths[:-1]], dtype=np.int64)
            if total <= max_cols:
                operand = np.repeat(np.arange(len(widths)), widths)
                places[total, :total, 0] = operand
                places[total, :total, 1] -= first[operand]
        return places


def eye_like(matrices: Floats) -> Floats:
    """The identity, once for each matrix: (num, k, k) for (num, ., k)."""
    k = matrices.shape[-1]
    return np.broadcast_to(np.eye(k), (len(matrices), k, k))


def diagonal(values: Floats) -> Floats:
    """(num, k) -> (num, k, k) diagonal matrices."""
    return values[:, :, None] * np.eye(values.shape[1])


def choice(option: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"task option {option}={value}: must be one of {', '.join(allowed)}")
    return value
