"""Eigenvalues and eigenvectors of symmetric matrices.

`eigenvalues` has an n x 1 solution, largest first. `eigenvectors` has an (n+1) x n solution: the eigenvalues in the
first row, below them H, whose columns are the eigenvectors in the same order, so that M = H D H^T. The paper writes
both Q M Q^T (section 2) and Q^T M Q (appendix B); with eigenvectors as columns it is H^T M H = D.

Each eigenvector is known up to its sign only, and LAPACK's choice is arbitrary. By default the first
coefficient that is not zero is made positive; `sign=lapack` leaves what LAPACK returned. The paper sorts
eigenvalues in descending order, its published code in ascending order (`order=ascending`).
"""

import numpy as np

from learnalg.problems.task import Floats, Task, choice, diagonal

ORDERS = ("descending", "ascending")
SIGNS = ("canonical", "lapack")


def leading_signs(vectors: Floats) -> Floats:
    """(num, n, k) -> (num, 1, k): the sign of each column's first coefficient that does not round to zero."""
    first = np.argmax(np.abs(vectors) > 1e-9, axis=1)[:, None, :]
    return np.where(np.take_along_axis(vectors, first, axis=1) < 0, -1.0, 1.0)


def eigenvalues(order: str = "descending") -> Task:
    step = -1 if choice("order", order, ORDERS) == "descending" else 1
    return Task(
        "eigenvalues of a symmetric matrix",
        solve=lambda M: np.linalg.eigvalsh(M)[:, ::step, None],
        output_shape=lambda m, n: (n, 1),
        symmetric=True,
    )


def eigenvectors(order: str = "descending", sign: str = "canonical") -> Task:
    step = -1 if choice("order", order, ORDERS) == "descending" else 1
    canonical = choice("sign", sign, SIGNS) == "canonical"

    def solve(M: Floats) -> Floats:
        values, vectors = np.linalg.eigh(M)
        values, vectors = values[:, ::step], vectors[:, :, ::step]
        if canonical:
            vectors = vectors * leading_signs(vectors)
        return np.concatenate([values[:, None, :], vectors], axis=1)

    return Task(
        "eigenvalues and eigenvectors of a symmetric matrix, (n+1) x n",
        solve=solve,
        output_shape=lambda m, n: (n + 1, n),
        residual=_residual,
        symmetric=True,
    )


def _residual(seen: Floats, solution: Floats, predicted: Floats) -> tuple[Floats, Floats]:
    """H^T M H - D beside D: does H diagonalise M into D?"""
    D, H = diagonal(predicted[:, 0]), predicted[:, 1:]
    return H.swapaxes(-1, -2) @ seen @ H - D, D
