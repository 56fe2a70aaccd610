"""Can a verdict be believed? Precision and recall of `Solution.trusted`, in distribution and out of it.

    python benchmarks/verdict.py                       # all released models: 1,000 matrices in distribution
    python benchmarks/verdict.py eigenvalues-5 --num 200

In distribution are the first matrices of the model's own test split. Out of distribution are the eleven test sets of
the paper's table 12 and six families of well-known matrices: covariance, Hilbert, Toeplitz, graph Laplacian,
rank-deficient and sparse ones, a quarter as many of each. All are rescaled, as is the default. Problems without a
solution (inverses of singular matrices) are left out. An answer is right if its error is below 5 % by the criterion of
the accuracy tables. Each model's counts go to results/verdicts/NAME.json, and from there to its card.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import learnalg
from learnalg.certify.solution import TRUSTED
from learnalg.data import fixed_set
from learnalg.evaluation.predictor import auc
from learnalg.files import checksum
from learnalg.problem import Problem
from learnalg.problems.ensembles import mirror
from learnalg.problems.task import Floats
from learnalg.reproduction.tables.out_of_distribution import TESTS
from learnalg.training.run import provenance
from learnalg.zoo.index import find_model
from learnalg.zoo.model import Model
from learnalg.zoo.verdict import Counts, Verdict, verdict_file

Rng = np.random.Generator


def covariance(rng: Rng, num: int, n: int) -> Floats:
    """Of 10 n samples."""
    x = rng.standard_normal((num, n, 10 * n))
    x -= x.mean(axis=2, keepdims=True)
    return x @ x.swapaxes(1, 2) / (10 * n - 1)


def hilbert(rng: Rng, num: int, n: int) -> Floats:
    """1 / (i + j + s), s in [1, 3]: the Hilbert matrix, and more of its kind."""
    k = np.arange(n)
    shift = np.concatenate([[1.0], rng.uniform(1, 3, num - 1)])
    return 1 / (k[:, None] + k + shift[:, None, None])


def toeplitz(rng: Rng, num: int, n: int) -> Floats:
    k = np.arange(n)
    return rng.uniform(-10, 10, (num, n))[:, np.abs(k[:, None] - k)]


def laplacian(rng: Rng, num: int, n: int) -> Floats:
    """Of random graphs: each edge with probability 1/2."""
    edges = np.triu(rng.random((num, n, n)) < 0.5, 1).astype(float)
    edges += edges.swapaxes(1, 2)
    return edges.sum(axis=2)[:, :, None] * np.eye(n) - edges


def rank_deficient(rng: Rng, num: int, n: int) -> Floats:
    """X D X^T for X of 1 to n - 1 columns, D of random signs."""
    x = rng.standard_normal((num, n, n)) * (np.arange(n) < rng.integers(1, max(2, n), (num, 1, 1)))
    return mirror((x * rng.choice([-1.0, 1.0], (num, 1, n))) @ x.swapaxes(1, 2))


def sparse(rng: Rng, num: int, n: int) -> Floats:
    """Three in ten coefficients are not zero, and one of them at least."""
    x = np.where(rng.random((num, n, n)) < 0.3, rng.uniform(-10, 10, (num, n, n)), 0.0)
    x[:, 0, -1] = rng.uniform(1, 10, num)
    return mirror(x)


FAMILIES = (covariance, hilbert, toeplitz, laplacian, rank_deficient, sparse)


def sets(model: Model, num: int, seed: int) -> Iterator[tuple[str, bool, list[tuple[Floats, ...]]]]:
    """Name, whether in distribution, and stacks of operands."""
    yield "test split", True, groups(model.problem, num, seed)
    num //= 4
    for name, changes in TESTS.items():
        if (name, model.problem.config.ensemble) in (("wigner-1", ("iid-uniform",)), ("laplace-1", ("laplace",))):
            continue  # the model's own
        try:
            problem = Problem(replace(model.problem.config, **changes))
        except ValueError:  # ensembles of square matrices have no vectors
            continue
        yield name, False, groups(problem, num, seed)
    low, high = model.problem.dims.rows
    rng = np.random.default_rng(seed)
    for family in FAMILIES:
        stacks = []
        for n in range(low, high + 1):
            shapes = model.problem.tasks[0][1].operands(n, n)
            count = max(1, num // (high - low + 1))
            draws = (
                family(rng, count, n) if rows == cols else rng.uniform(-10, 10, (count, rows, cols))
                for rows, cols in shapes
            )
            stacks.append(tuple(draws))
        yield family.__name__.replace("_", " "), False, stacks


def groups(problem: Problem, num: int, seed: int) -> list[tuple[Floats, ...]]:
    """The first matrices of the test split, by size."""
    stacks = []
    for batch in fixed_set(problem, num, seed):
        for group in batch.groups:
            columns = np.cumsum([cols for _, cols in problem.tasks[group.task][1].operands(*group.dims)])[:-1]
            stacks.append(tuple(np.split(group.inputs, columns, axis=2)))
    return stacks


def measure(name: str, num: int, seed: int) -> Verdict:
    model = learnalg.load(name)
    definition = model.problem.tasks[0][1]
    found, failed, confidence = [], [], []
    for test, in_distribution, stacks in sets(model, num, seed):
        counts = np.zeros(4, dtype=int)
        for stack in stacks:
            inputs = np.concatenate(stack, axis=2)
            has_solution = definition.accept(inputs)
            inputs, operands = inputs[has_solution], tuple(operand[has_solution] for operand in stack)
            if not len(inputs):
                continue
            solution = model.solve(*operands)
            right = solution.error < TRUSTED
            counts += len(right), right.sum(), solution.trusted.sum(), (right & solution.trusted).sum()
            failed.append(~right)
            confidence.append(solution.confidence)
        if counts[0]:
            found.append(Counts(test, in_distribution, *map(int, counts)))
            print(f"  {test:<16}{counts}", flush=True)
    wrong, sure = np.concatenate(failed), np.concatenate(confidence)
    area = float(auc(-sure, wrong)) if wrong.any() and not wrong.all() else None
    return Verdict(name, checksum(find_model(name)), tuple(found), area, provenance())


def percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="released models; all if not given")
    parser.add_argument("--num", type=int, default=1_000, help="matrices in distribution; a quarter of each other set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a folder in place of results/verdicts")
    arguments = parser.parse_args()
    for name in arguments.models or learnalg.released():
        verdict = measure(name, arguments.num, arguments.seed)
        verdict.write(arguments.out / f"{name}.json" if arguments.out else verdict_file(name))
        for inside in (True, False):
            right, precision, recall = map(percent, verdict.shares(inside))
            where = "in" if inside else "out of"
            print(f"{name}, {where} distribution: right {right}, precision {precision}, recall {recall} %", flush=True)


if __name__ == "__main__":
    main()
