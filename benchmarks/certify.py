"""What proofs and refinement do for released models: trusted, right, certified, and steps saved.

    python benchmarks/certify.py --num 10000

For each problem: the accuracy at 5 % tolerance, the share of predictions that is proven accurate, the share of the
accurate ones that is proven (recall), how many proven ones are wrong (there must be none), the share that a refinement
certifies without NumPy, the share of these with a residual of at most 1e-12, and its steps beside those of a standard
start.
"""

from __future__ import annotations

import argparse

import numpy as np

from learnalg import linalg
from learnalg.certify.refine import REFINEMENTS, newton_schulz_start, refine_eigenvectors, refine_inverse, refine_svd
from learnalg.problems import TASKS
from learnalg.problems.ensembles import Mixture
from learnalg.problems.task import Floats

CASES = {  # problem, size, ensemble of the matrices
    "eigenvalues 5x5": ("eigenvalues", 5, "iid-uniform"),
    "eigenvalues 5x5, gaussian spectrum": ("eigenvalues", 5, "gaussian"),
    "eigenvalues 5x5, positive": ("eigenvalues", 5, "positive"),
    "eigenvalues 5x5, covariance": ("eigenvalues", 5, "marchenko-pastur"),
    "eigenvectors 5x5": ("eigenvectors", 5, "iid-uniform"),
    "singular values 4x4": ("singular_values", 4, "iid-uniform"),
    "SVD 4x4": ("svd", 4, "iid-uniform"),
    "inverse 5x5": ("inverse", 5, "iid-uniform"),
}
STANDARD = {
    "inverse": lambda A: refine_inverse(A, newton_schulz_start(A))[1],
    "eigenvectors": lambda A: refine_eigenvectors(A)[2],
    "svd": lambda A: refine_svd(A)[3],
}


def is_right(task: str, A: Floats, value: Floats) -> np.ndarray:
    """Accurate at 5 % tolerance, by the criterion of the accuracy tables."""
    definition = TASKS[task]()
    solution = definition.solve(A)
    residual, reference = definition.residual(A, solution, value)
    return np.asarray(np.abs(residual).sum((1, 2)) < 0.05 * np.abs(reference).sum((1, 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num", type=int, default=1_000)
    num = parser.parse_args().num
    row = "{:<36}{:>8}{:>9}{:>9}{:>7}{:>13}{:>12}{:>8}{:>10}".format
    print(row("", "acc. %", "proven %", "recall %", "wrong", "certified %", "<= 1e-12 %", "steps", "standard"))
    for name, (task, n, ensemble) in CASES.items():
        symmetric = task != "inverse"
        A = Mixture((ensemble,)).draw(np.random.default_rng(5), num, n, n, symmetric).matrices
        solution = linalg.solve(task, A)
        right, trusted = is_right(task, A, solution.matrix), solution.trusted
        recall = f"{100 * trusted[right].mean():.2f}" if right.any() else "none"
        shares = [f"{100 * right.mean():.2f}", f"{100 * trusted.mean():.2f}", recall]
        refined = ["", "", "", ""]
        if task in REFINEMENTS:
            certified = solution.refined(fallback=True)
            exact = certified.is_certified & (certified.certified_residual <= 1e-12)
            shares_text = [f"{100 * share.mean():.2f}" for share in (certified.is_certified, exact)]
            refined = [*shares_text, f"{certified.steps.mean():.1f}"]
            refined.append(f"{STANDARD[task](A).steps.mean():.1f}" if task in STANDARD else "")
        print(row(name, *shares, int((trusted & ~right).sum()), *refined), flush=True)


if __name__ == "__main__":
    main()
