"""Bounds hold, whatever the prediction; and they are tight enough to trust what is right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.certify.proofs import PROOFS, count_below, eigenvalue_bound, singular_value_bound
from learnalg.problems import TASKS


def symmetric(rng, num, n):
    x = rng.uniform(-10, 10, (num, n, n))
    return np.triu(x) + np.triu(x, 1).swapaxes(1, 2)


def share_of_l1(predicted, true):
    return np.abs(predicted - true).sum(1) / np.abs(true).sum(1)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), noise=st.sampled_from([0.0, 1e-3, 1e-2, 0.05, 0.3, 3.0]))
@settings(max_examples=60, deadline=None)
def test_no_eigenvalue_is_further_away_than_its_bound(seed, n, noise):
    rng = np.random.default_rng(seed)
    A = symmetric(rng, 20, n)
    true = np.linalg.eigvalsh(A)[:, ::-1]
    predicted = true + noise * np.abs(true).mean(1, keepdims=True) * rng.standard_normal(true.shape)
    error = share_of_l1(-np.sort(-predicted, axis=1), true)
    assert (eigenvalue_bound(A, predicted) >= error).all()


@given(seed=st.integers(0, 10**6), m=st.integers(1, 5), n=st.integers(1, 5), noise=st.sampled_from([0.0, 0.01, 0.2]))
@settings(max_examples=40, deadline=None)
def test_no_singular_value_is_further_away_than_its_bound(seed, m, n, noise):
    rng = np.random.default_rng(seed)
    A = rng.uniform(-10, 10, (20, m, n))
    true = np.linalg.svd(A, compute_uv=False)
    predicted = np.abs(true + noise * true.mean(1, keepdims=True) * rng.standard_normal(true.shape))
    error = share_of_l1(-np.sort(-predicted, axis=1), true)
    assert (singular_value_bound(A, predicted) >= error).all()


@pytest.mark.parametrize("n", [2, 5, 8])
def test_predictions_with_errors_of_two_percent_are_trusted(n):
    rng = np.random.default_rng(n)
    A = symmetric(rng, 500, n)
    true = np.linalg.eigvalsh(A)[:, ::-1]
    predicted = true * (1 + 0.02 * rng.uniform(-1, 1, true.shape))
    assert (eigenvalue_bound(A, predicted) < 0.05).mean() > 0.99


def test_eigenvalues_are_counted_also_of_singular_and_of_hyperbolic_matrices():
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])  # its diagonal has no pivot at x = 0
    assert count_below(swap[None], np.array([0.5])).tolist() == [1]
    assert count_below(swap[None], np.array([0.0])).tolist() == [-1]  # not known, and not guessed
    assert count_below(np.zeros((1, 3, 3)), np.array([0.1])).tolist() == [3]


def test_nothing_is_proven_of_what_is_no_number():
    A = symmetric(np.random.default_rng(0), 2, 3)
    assert np.isinf(eigenvalue_bound(A, np.full((2, 3), np.nan))).all()


def test_every_task_of_the_package_has_a_proof():
    assert set(PROOFS) == set(TASKS)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_the_right_answer_is_proven_and_a_wrong_one_is_not(name):
    task, rng = TASKS[name](), np.random.default_rng(3)
    draws = [
        symmetric(rng, 30, 3) if task.symmetric or name == "symmetric_inverse" else rng.uniform(-10, 10, (30, *shape))
        for shape in task.operands(3, 3)
    ]
    inputs = np.concatenate(draws, axis=2)
    solution = task.solve(inputs)
    assert (PROOFS[name](task, inputs, solution) < 0.05).all()
    assert (PROOFS[name](task, inputs, solution + np.abs(solution).mean()) >= 0.05).all()
