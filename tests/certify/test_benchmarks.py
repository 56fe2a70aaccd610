"""The measurements behind the cards: `make verdict` on a small model, and the matrices it draws."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import learnalg
from learnalg import linalg
from learnalg.certify.refine import refine
from learnalg.certify.solution import TRUSTED
from learnalg.problems import TASKS

FOLDER = Path(__file__).parents[2] / "benchmarks"


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


verdict, certify = load("verdict"), load("certify")


@pytest.mark.parametrize("n", [2, 5])
def test_families_are_what_they_are_called(n):
    rng = np.random.default_rng(0)
    found = {family.__name__: family(rng, 300, n) for family in verdict.FAMILIES}
    assert all(A.shape == (300, n, n) and np.allclose(A, A.swapaxes(1, 2)) for A in found.values())
    x = np.random.default_rng(1).standard_normal((3, n, 10 * n))
    np.testing.assert_allclose(verdict.covariance(np.random.default_rng(1), 3, n)[2], np.cov(x[2]))
    k = np.arange(1, n + 1)
    np.testing.assert_allclose(found["hilbert"][0], 1 / (k[:, None] + k - 1))
    np.testing.assert_array_equal(found["toeplitz"][:, 1:, 1:], found["toeplitz"][:, :-1, :-1])
    assert not found["laplacian"].sum(axis=2).any() and found["laplacian"].min() == -1
    ranks = np.linalg.matrix_rank(found["rank_deficient"], tol=1e-9)
    assert set(ranks.tolist()) == set(range(1, n))
    assert (found["sparse"] == 0).mean() > 0.3 and found["sparse"].any(axis=(1, 2)).all()


@pytest.mark.parametrize("name", ["eigvalsh", "eigh", "inv"])
def test_well_known_matrices_are_right_or_flagged_and_refined(name):
    A = np.concatenate([family(np.random.default_rng(4), 8, 5) for family in verdict.FAMILIES])
    A = A[TASKS["inverse"]().accept(A)] if name == "inv" else A
    solution = getattr(linalg, name)(A, details=True)
    is_right = solution.error < TRUSTED
    assert is_right[solution.trusted].all() and solution.trusted.mean() > 0.2
    refined = getattr(linalg, name)(A, refine=True, details=True)
    assert refined.is_certified.all() and not refined.fell_back.any()
    assert (refined.error < 1e-6).all()


def test_a_verdict_counts_what_is_right_and_what_is_trusted():
    measured = verdict.measure("eigenvalues-3", 80, 0)
    names = [counts.name for counts in measured.sets]
    assert names[0] == "test split" and len(names) == 17 and {"positive-1", "hilbert", "rank deficient"} < set(names)
    assert [counts.num for counts in measured.sets] == [80] + [20] * 16
    for counts in measured.sets:
        assert counts.both <= min(counts.right, counts.trusted) <= counts.num
    assert measured.shares(True).precision == 1 and measured.shares(True).recall > 0.95
    assert measured.shares(False).precision == 1 and measured.shares(False).right < 0.9


def test_refined_answers_are_judged_by_more_than_their_certificates():
    found = certify.measure(learnalg.load("eigenvalues-3"), 60, 0)
    assert (found.num, found.certified, found.wrong) == (60, 60, 0) and found.steps < found.standard_steps
    A = np.random.default_rng(2).uniform(-10, 10, (20, 4, 4))
    for task in ("inverse", "eigenvalues", "eigenvectors", "singular_values", "svd"):
        inputs = A if task == "inverse" else A + A.swapaxes(1, 2)
        exact, certificate = refine(task, (inputs,), TASKS[task]().solve(inputs))
        assert (certify.true_error(task, inputs, exact) <= certificate.error).all()
        assert (certify.true_error(task, inputs, exact * (1 + 1e-6)) > 5e-7).all()
