"""Is a matrix outside of what a model was trained on, in its values or in its spectrum?

    >>> outside(model.problem, "eigenvalues", (np.eye(5)[None],))
    array(['spectrum'])

A spectrum is described by three traces, without being computed: those of A, of A A^T A and of (A A^T)^2, over powers of
the Frobenius norm; values by that norm. What is beyond the range of 2,000 matrices of the training, widened by a fifth,
is outside. These are few numbers: a matrix that is not outside may still be unlike all in the training.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from learnalg.certify.scaling import to_unit
from learnalg.problem import Problem
from learnalg.problems.task import Floats
from learnalg.tokens.encoding import Ints

DRAWS = 2_000
MARGIN = 0.1  # on both sides, of the range of the draws: of 20,000 matrices of the training, 0 to 6 are outside
ROUNDING = 1e-9  # vectors have one singular value, whose spread is 1


def describe(A: Floats, exponents: Ints) -> Floats:
    """(num, m, n) at unit scale, and their powers of two (num,) -> (num, 4): the logarithm of the norm and the traces;
    of rectangular matrices the last one only."""
    norm, gram = np.sqrt(np.square(A).sum(axis=(1, 2))), A @ A.swapaxes(1, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [np.log2(norm) + exponents]
        if A.shape[1] == A.shape[2]:
            found += [np.trace(A, axis1=1, axis2=2) / norm, (gram * A).sum(axis=(1, 2)) / norm**3]
        return np.stack([*found, np.square(gram).sum(axis=(1, 2)) / norm**4], axis=1)


@cache
def _ranges(problem: Problem, task: int, m: int, n: int) -> list[tuple[Floats, Floats]]:
    """Of each operand, the lowest and the highest numbers in the training."""
    rng, definition = np.random.default_rng(0), problem.tasks[task][1]
    symmetric = definition.symmetric or problem.config.symmetric
    ranges = []
    for shape in definition.operands(m, n):
        matrices = problem.ensemble.draw(rng, DRAWS, *shape, symmetric).matrices
        found = describe(matrices, np.zeros(DRAWS, dtype=np.int64))
        margin = MARGIN * np.ptp(found, axis=0) + ROUNDING
        ranges.append((found.min(axis=0) - margin, found.max(axis=0) + margin))
    return ranges


def outside(problem: Problem, task: str, operands: tuple[Floats, ...], rescale: bool = True) -> NDArray[np.str_]:
    """(num, rows, cols) each -> (num,): 'values', 'spectrum', or '' for what is not outside. Values are outside only
    where they are not rescaled."""
    unit, exponents = to_unit(task, operands)
    is_value, is_spectrum = np.ones((2, len(unit[0])), dtype=bool)
    ranges = _ranges(problem, problem.find_task(task.partition(":")[0]), *operands[0].shape[1:])
    for k, (low, high) in enumerate(ranges):
        found = describe(unit[k], exponents[:, k])
        is_inside = (found >= low) & (found <= high)
        is_value &= is_inside[:, 0]
        is_spectrum &= is_inside[:, 1:].all(axis=1)
    return np.select([~(is_value | rescale), ~is_spectrum], ["values", "spectrum"], "")
