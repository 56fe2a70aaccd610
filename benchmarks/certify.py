"""Refined answers: how many are certified, is any of these wrong, and what does the prediction save?

    python benchmarks/certify.py                       # 10,000 problems of each model's test split
    python benchmarks/certify.py inverse-5 --num 500

The model proposes, a classical iteration continues from there, and its certificate bounds the error. The same iteration
from its standard start gives the steps to compare with: Newton-Schulz from A^T / (|A|_1 |A|_inf), Jacobi rotations from
the identity. Where a model writes values alone, an inverse iteration finds vectors first, and counts as one step.

Each certified answer is compared with one in extended precision (64 bits of mantissa), which NumPy's answer leads to:
by Newton's iteration for inverses, by Rayleigh quotients for eigenvalues and singular values, whose errors are the
squares of the vectors'. Vectors are judged by their residual in that precision. Counts go to results/refined/NAME.json.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import learnalg
from learnalg.certify.refine import (
    REFINEMENTS,
    frobenius,
    newton_schulz_start,
    refine,
    refine_eigenvectors,
    refine_inverse,
    refine_svd,
)
from learnalg.data import fixed_set
from learnalg.files import checksum
from learnalg.problems.task import Floats
from learnalg.training.run import provenance
from learnalg.zoo.index import find_model
from learnalg.zoo.model import Model
from learnalg.zoo.verdict import Refined, refined_file

STANDARD = {
    "inverse": lambda A: refine_inverse(A, newton_schulz_start(A))[1],
    "eigenvalues": lambda A: refine_eigenvectors(A)[2],
    "eigenvectors": lambda A: refine_eigenvectors(A)[2],
    "singular_values": lambda A: refine_svd(A)[3],
    "svd": lambda A: refine_svd(A)[3],
}
Long = np.longdouble


def quotients(left: Floats, A: Floats, right: Floats) -> Floats:
    """(num, n): u^T A v / |u| |v| of each pair of columns, in extended precision."""
    left, right = left.astype(Long), right.astype(Long)
    lengths = np.sqrt(np.square(left).sum(axis=1) * np.square(right).sum(axis=1))
    return (left * (A.astype(Long) @ right)).sum(axis=1) / lengths


def true_error(task: str, A: Floats, found: Floats) -> Floats:
    """Relative, in the Frobenius norm; of vectors, the residual and the lack of orthogonality as well."""
    exact, norm = A.astype(Long), frobenius(A.astype(Long))
    if task == "inverse":
        X = np.linalg.inv(A).astype(Long)
        for _ in range(4):
            X = X @ (2 * np.eye(A.shape[1]) - exact @ X)
        return np.asarray(frobenius(found - X) / frobenius(X), dtype=float)
    values = found[:, 0] if task in ("eigenvectors", "svd") else found[:, :, 0]
    if task in ("eigenvalues", "eigenvectors"):
        left = right = np.linalg.eigh(A)[1][:, :, ::-1]
        vectors = [found[:, 1:], found[:, 1:]] if task == "eigenvectors" else []
    else:
        left, _, right = np.linalg.svd(A, full_matrices=False)
        right, m = right.swapaxes(1, 2), A.shape[1]
        vectors = [found[:, 1 : 1 + m], found[:, 1 + m :]] if task == "svd" else []
    error = np.sqrt(np.square(values - quotients(left, A, right)).sum(axis=1))
    whole = [(vectors[0].astype(Long) * values[:, None]) @ vectors[1].swapaxes(1, 2)] if vectors else []
    parts = [error / norm, *(frobenius(W - exact) / norm for W in whole)]
    parts += [frobenius(H.astype(Long).swapaxes(1, 2) @ H - np.eye(H.shape[2])) for H in vectors]
    return np.asarray(np.max(parts, axis=0), dtype=float)


def measure(model: Model, num: int, seed: int) -> Refined:
    name, task = model.name, model.problem.tasks[0][0]
    certified = exact = wrong = 0
    steps, standard, worst = [], [], 0.0
    for batch in fixed_set(model.problem, num, seed):
        for group in batch.groups:
            A = group.inputs
            predicted = model.solve(A).matrix
            found, certificate = refine(task, (A,), predicted)
            error = true_error(task, A, found)
            ok = certificate.is_certified
            certified += int(ok.sum())
            exact += int((ok & (certificate.residual <= 1e-12)).sum())
            wrong += int((ok & (error > certificate.error)).sum())
            worst = max(worst, float(error[ok].max(initial=0.0)))
            steps.append(certificate.steps)
            standard.append(STANDARD[task](A).steps)
    mean, mean_standard = (float(np.concatenate(each).mean()) for each in (steps, standard))
    sha256 = checksum(find_model(name))
    return Refined(name, sha256, task, num, certified, exact, wrong, worst, mean, mean_standard, seed, provenance())


def main() -> None:
    if np.finfo(Long).eps > 1e-18:
        raise SystemExit("this machine has no extended precision: certified answers cannot be checked")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="released models; all if not given")
    parser.add_argument("--num", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a folder in place of results/refined")
    arguments = parser.parse_args()
    row = "{:<18}{:>12}{:>12}{:>7}{:>13}{:>7}{:>10}".format
    print(row("", "certified %", "<= 1e-12 %", "wrong", "worst error", "steps", "standard"))
    for name in arguments.models or learnalg.released():
        model = learnalg.load(name)
        if model.problem.tasks[0][0] not in REFINEMENTS:
            continue  # products are computed again: there is nothing to refine
        found = measure(model, arguments.num, arguments.seed)
        found.write(arguments.out / f"{name}.json" if arguments.out else refined_file(name))
        shares = [f"{100 * part / found.num:.2f}" for part in (found.certified, found.exact)]
        steps = f"{found.steps:.1f}", f"{found.standard_steps:.1f}"
        print(row(name, *shares, found.wrong, f"{found.worst_error:.1e}", *steps), flush=True)


if __name__ == "__main__":
    main()
