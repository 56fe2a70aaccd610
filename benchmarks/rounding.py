"""How accurate can answers in three digits be, or in four? Exact solutions, with errors added, rounded and checked.

    python benchmarks/rounding.py

20,000 uniform 5x5 matrices; inverses with relative errors, eigenvectors with absolute errors of each coefficient.
"""

from __future__ import annotations

import numpy as np

from learnalg.problems import TASKS
from learnalg.tokens import get_encoding

TOLERANCES = (0.05, 0.02, 0.01, 0.005)
ERRORS = {"inverse": (0, 0.0005, 0.001, 0.003, 0.005), "eigenvectors": (0, 0.001, 0.002)}


def rounded(values: np.ndarray, encoding_name: str) -> np.ndarray:
    encoding = get_encoding(encoding_name)
    return encoding.decode(encoding.encode(values.ravel()))[0].reshape(values.shape)


def main() -> None:
    rng = np.random.default_rng(0)
    M = rounded(rng.uniform(-10, 10, (20_000, 5, 5)), "fp15")
    symmetric = np.triu(M) + np.triu(M, 1).swapaxes(1, 2)
    for name, seen in (("inverse", M), ("eigenvectors", symmetric)):
        task = TASKS[name]()
        solution = task.solve(seen)
        for error in ERRORS[name]:
            noise = error * rng.standard_normal(solution.shape)
            if name == "eigenvectors":
                noise[:, 0] = 0  # the eigenvalues
            wrong = solution * (1 + noise) if name == "inverse" else solution + noise
            for encoding_name in ("p1000", "p10000"):
                missed, whole = task.residual(seen, solution, rounded(wrong, encoding_name))
                share = np.abs(missed).sum((1, 2)) / np.abs(whole).sum((1, 2))
                accuracy = " / ".join(f"{100 * (share < t).mean():.1f}" for t in TOLERANCES)
                print(f"{name} in {encoding_name.upper()}, errors of {error:g}: {accuracy}")


if __name__ == "__main__":
    main()
