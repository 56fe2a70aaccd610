"""Bounds hold, whatever the prediction; and they are tight enough to trust what is right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.certify.proofs import PROOFS, bound, eigenvalue_bound, singular_value_bound
from learnalg.certify.scaling import from_unit
from learnalg.problems import TASKS, Task


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
    operands = tuple(draws)
    for scale in (1.0, 2.0**-600, 2.0**600):
        scaled = tuple(scale * operand for operand in operands)
        exponents = np.full((30, len(operands)), np.log2(scale).astype(int))
        if name in ("matmul", "matvec") and scale != 1:
            scaled, exponents = (scaled[0], operands[1]), exponents * [1, 0]
        there = from_unit(name, solution, exponents)
        assert (bound(name, task, scaled, there) < 1e-4).all()
    assert (bound(name, task, operands, solution + np.abs(solution).mean()) >= 0.05).all()


def test_vectors_that_are_not_orthogonal_are_not_trusted():
    """Each column of H diagonalises the matrix of zeros, and a multiple of the identity in part."""
    task, A = TASKS["eigenvectors"](), np.diag([2.0, 1.0, 0.0])[None]
    solution = task.solve(A)
    assert bound("eigenvectors", task, (A,), solution)[0] < 1e-9
    solution[0, 1:, 2] = 0.0  # the vector of the eigenvalue 0
    assert (
        np.abs(task.residual(A, solution, solution)[0]).sum() == 0
    )  # the criterion of the accuracy tables does not see it
    assert bound("eigenvectors", task, (A,), solution)[0] > 0.3


def test_of_zeros_zero_is_right():
    zero = np.zeros((1, 3, 3))
    for name in ("eigenvalues", "eigenvectors", "svd", "singular_values", "add", "transpose"):
        task = TASKS[name]()
        operands = tuple(np.zeros((1, *shape)) for shape in task.operands(3, 3))
        assert bound(name, task, operands, task.solve(np.concatenate(operands, axis=2)))[0] == 0
    assert np.isinf(eigenvalue_bound(zero, np.full((1, 3), 1e-3)))


def test_a_task_of_ones_own_is_proven_by_solving_it():
    trace = Task(
        "the trace", solve=lambda M: np.trace(M, axis1=1, axis2=2)[:, None, None], output_shape=lambda m, n: (1, 1)
    )
    A = np.random.default_rng(0).uniform(-10, 10, (5, 3, 3))
    right = trace.solve(A)
    np.testing.assert_allclose(bound("trace", trace, (A,), 1.03 * right), 0.03)


def test_options_are_heeded():
    """Ascending eigenvalues are wrong in descending order."""
    A = symmetric(np.random.default_rng(2), 20, 4)
    ascending = TASKS["eigenvalues"](order="ascending")
    right = ascending.solve(A)
    assert (bound("eigenvalues:order=ascending", ascending, (A,), right) == 0).all()
    assert (bound("eigenvalues:order=ascending", ascending, (A,), right[:, ::-1]) > 0.05).all()
    gram = TASKS["singular_values"](of="gram")
    assert (bound("singular_values:of=gram", gram, (A,), gram.solve(A)) < 1e-9).all()


def test_values_in_the_wrong_order_are_not_proven():
    A = symmetric(np.random.default_rng(2), 20, 4)
    assert (eigenvalue_bound(A, np.linalg.eigvalsh(A)) > 0.05).all()


@pytest.mark.parametrize("noise", [0.0, 1e-3, 0.1, 3.0])
def test_one_answer_has_the_same_bound_as_in_a_stack(noise):
    """Few values are proven all distances at once, many by halves."""
    rng = np.random.default_rng(3)
    A = symmetric(rng, 200, 5)
    predicted = np.linalg.eigvalsh(A)[:, ::-1] * (1 + noise * rng.standard_normal((200, 5)))
    for proof, values in ((eigenvalue_bound, predicted), (singular_value_bound, -np.sort(-np.abs(predicted), axis=1))):
        alone = np.concatenate([proof(A[k : k + 1], values[k : k + 1]) for k in range(20)])
        np.testing.assert_array_equal(alone, proof(A, values)[:20])


def test_an_empty_stack_has_no_bounds():
    task = TASKS["inverse"]()
    assert bound("inverse", task, (np.empty((0, 3, 3)),), np.empty((0, 3, 3))).shape == (0,)
