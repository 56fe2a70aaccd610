"""How right can answers in three digits be? Exact solutions, with errors of some size, rounded and checked.

    python benchmarks/rounding.py

20,000 uniform 5x5 matrices; inverses with relative errors, eigenvectors with absolute errors of each coefficient.
"""

from __future__ import annotations

import numpy as np

from learnalg.encodings import get_encoding
from learnalg.tasks import TASKS

TOLERANCES = (0.05, 0.02, 0.01, 0.005)


def main() -> None:
    rng = np.random.default_rng(0)
    encoding = get_encoding("b1999")

    def rounded(values: np.ndarray) -> np.ndarray:
        return encoding.decode(encoding.encode(values.ravel()))[0].reshape(values.shape)

    M = rounded(rng.uniform(-10, 10, (20_000, 5, 5)))
    symmetric = np.triu(M) + np.triu(M, 1).swapaxes(1, 2)
    for name, seen, errors in (("inverse", M, (0, 0.003, 0.005)), ("eigenvectors", symmetric, (0, 0.001, 0.002))):
        task = TASKS[name]()
        solution = task.solve(seen)
        for error in errors:
            noise = error * rng.standard_normal(solution.shape)
            if name == "eigenvectors":
                noise[:, 0] = 0  # the eigenvalues
            wrong = rounded(solution * (1 + noise) if name == "inverse" else solution + noise)
            missed, whole = task.residual(seen, solution, wrong)
            share = np.abs(missed).sum((1, 2)) / np.abs(whole).sum((1, 2))
            print(f"{name}, errors of {error:g}:", " / ".join(f"{100 * (share < t).mean():.1f}" for t in TOLERANCES))


if __name__ == "__main__":
    main()
