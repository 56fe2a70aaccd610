"""Eigenvalues are counted rightly, whatever the matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.certify.spectrum import count_below, tridiagonal


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), rank=st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_counts_are_those_of_computed_eigenvalues(seed, n, rank):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10, 10, (20, n, n))
    x[:, rank:] = 0  # also of low rank, with ties at zero
    A = x.swapaxes(1, 2) @ x if seed % 2 else np.triu(x) + np.triu(x, 1).swapaxes(1, 2)
    true = np.linalg.eigvalsh(A)
    cuts = rng.uniform(-30, 30, (20, 40))
    assert (count_below(*tridiagonal(A), cuts) == (true[:, None, :] < cuts[:, :, None]).sum(-1)).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 20])
def test_a_tridiagonal_matrix_has_the_same_eigenvalues(n):
    x = np.random.default_rng(n).uniform(-10, 10, (50, n, n))
    A = x + x.swapaxes(1, 2)
    diagonal, squares = tridiagonal(A)
    T = np.zeros_like(A)
    k, j = np.arange(n), np.arange(n - 1)
    T[:, k, k] = diagonal
    T[:, j, j + 1] = T[:, j + 1, j] = np.sqrt(squares)
    np.testing.assert_allclose(np.linalg.eigvalsh(T), np.linalg.eigvalsh(A), atol=1e-11)


def test_matrices_without_a_pivot_are_counted():
    swap = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    assert count_below(*tridiagonal(swap), np.array([[-2.0, -0.5, 0.0, 0.5, 2.0]])).tolist() == [[0, 1, 1, 1, 2]]
    for A in (np.zeros((1, 4, 4)), np.eye(4)[None]):
        at = A[0, 0, 0]
        assert count_below(*tridiagonal(A), np.array([[at - 1e-9, at + 1e-9]])).tolist() == [[0, 4]]
