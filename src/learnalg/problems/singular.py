"""Singular values and the singular value decomposition of m x n matrices, k = min(m, n).

`singular_values` has a k x 1 solution, largest first. The paper's text asks for the eigenvalues of M^T M, their
squares (`of=gram`); singular values are what it then discusses, and the default. `svd` has an (m+n+1) x k solution:
singular values, then U (m x k), then V (n x k), so that M = U S V^T and S = U^T M V.

A pair of singular vectors is known up to a common sign: as for eigenvectors, the first coefficient of each
column of U that is not zero is made positive (`sign=lapack` leaves LAPACK's choice).
"""

import numpy as np

from learnalg.problems.eigen import SIGNS, leading_signs
from learnalg.problems.task import Floats, Task, choice, diagonal


def singular_values(of: str = "matrix") -> Task:
    power = 2 if choice("of", of, ("matrix", "gram")) == "gram" else 1
    return Task(
        "singular values",
        solve=lambda M: np.linalg.svd(M, compute_uv=False)[:, :, None] ** power,
        output_shape=lambda m, n: (min(m, n), 1),
    )


def svd(sign: str = "canonical") -> Task:
    canonical = choice("sign", sign, SIGNS) == "canonical"

    def solve(M: Floats) -> Floats:
        U, S, Vt = np.linalg.svd(M, full_matrices=False)
        V = Vt.swapaxes(-1, -2)
        if canonical:
            signs = leading_signs(U)
            U, V = U * signs, V * signs
        return np.concatenate([S[:, None, :], U, V], axis=1)

    return Task(
        "singular value decomposition, (m+n+1) x min(m, n)",
        solve=solve,
        output_shape=lambda m, n: (m + n + 1, min(m, n)),
        residual=_residual,
    )


def _residual(seen: Floats, solution: Floats, predicted: Floats) -> tuple[Floats, Floats]:
    """U^T M V - S beside S."""
    m = seen.shape[1]
    S, U, V = diagonal(predicted[:, 0]), predicted[:, 1 : m + 1], predicted[:, m + 1 :]
    return U.swapaxes(-1, -2) @ seen @ V - S, S
