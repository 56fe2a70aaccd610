"""Inversion: find P with P M = M P = Id; general matrices and symmetric ones.

Rounding to three digits can make a matrix singular. Such a draw is refused and drawn again: its volume (|det|)
is compared with that of a box of the same edges (the product of its rows' norms).

The paper writes |P M - Id| < t |Id| = t; in the entrywise L1 norm |Id| is n, and n is what we use.
"""

import numpy as np
from numpy.typing import NDArray

from learnalg.problems.task import Floats, Task, eye_like


def _accept(M: Floats) -> NDArray[np.bool_]:
    with np.errstate(divide="ignore"):  # log 0: a row of zeros
        log_box = np.log(np.linalg.norm(M, axis=-1)).sum(axis=-1)
    # A random matrix fills about e^(-n/2) of its box.
    return np.linalg.slogdet(M).logabsdet > np.log(1e-10) - M.shape[-1] / 2 + log_box


def _residual(seen: Floats, solution: Floats, predicted: Floats) -> tuple[Floats, Floats]:
    identity = eye_like(seen)
    return predicted @ seen - identity, identity


def _solve(M: Floats) -> Floats:
    return np.linalg.inv(M)


def inverse() -> Task:
    return Task("M^-1", solve=_solve, residual=_residual, accept=_accept, square=True)


def symmetric_inverse() -> Task:
    return Task("M^-1 of a symmetric matrix", solve=_solve, residual=_residual, accept=_accept, symmetric=True)
