"""Transposition: find M^T, n x m. No arithmetic: the coefficients only move."""

from learnalg.problems.task import Task


def transpose() -> Task:
    return Task("M^T", solve=lambda M: M.swapaxes(-1, -2), output_shape=lambda m, n: (n, m))
