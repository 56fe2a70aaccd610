"""The NumPy-like door: released models at work, beside NumPy, with their proofs."""

import warnings

import numpy as np
import pytest

from learnalg import linalg
from learnalg.linalg import UntrustedWarning


@pytest.fixture(scope="module")
def matrices():
    return np.random.default_rng(11).uniform(-10, 10, (40, 5, 5))


@pytest.fixture(scope="module")
def symmetric(matrices):
    return np.triu(matrices) + np.triu(matrices, 1).swapaxes(1, 2)


def test_eigenvalues_are_ascending_of_any_leading_shape_and_trusted(symmetric):
    found = linalg.eigvalsh(symmetric.reshape(4, 10, 5, 5))
    assert found.shape == (4, 10, 5)
    assert np.abs(found.reshape(40, 5) - np.linalg.eigvalsh(symmetric)).sum() < 0.02 * np.abs(found).sum()
    assert linalg.eigvalsh(symmetric[0]).shape == (5,)


@pytest.mark.parametrize("scale", [1e-6, 0.01, 100.0, 1e8])
def test_scale_is_no_obstacle(symmetric, scale):
    solution = linalg.eigvalsh(scale * symmetric, details=True)
    assert solution.trusted.mean() > 0.95
    assert linalg.eigvalsh(scale * symmetric, details=True, rescale=True).residual.max() < 0.1


def test_without_rescaling_the_answer_is_wrong_and_says_so(symmetric):
    with pytest.warns(UntrustedWarning, match="no proof of an error below 5 %"):
        linalg.eigvalsh(1e4 * symmetric, rescale=False)


def test_a_spectrum_that_was_never_seen_is_not_trusted(matrices):
    positive = matrices @ matrices.swapaxes(1, 2)
    solution = linalg.eigvalsh(positive, model="eigenvalues-5", details=True)
    true = np.linalg.eigvalsh(positive)[:, ::-1]
    error = np.abs(solution.matrix[:, :, 0] - true).sum(1) / np.abs(true).sum(1)
    assert not (solution.trusted & (error >= 0.05)).any()
    assert solution.trusted.mean() < 0.5


def test_inverses_refined_are_certified_and_those_of_numpy(matrices):
    solution = linalg.inv(matrices, refine=True, details=True)
    assert solution.is_certified.all()
    assert np.allclose(solution.value, np.linalg.inv(matrices), rtol=1e-8, atol=1e-10)


def test_eigh_and_svd_reconstruct_when_refined(symmetric):
    values, vectors = linalg.eigh(symmetric, refine=True)
    assert np.allclose(values, np.linalg.eigvalsh(symmetric), atol=1e-9)
    assert np.allclose(vectors * values[:, None, :] @ vectors.swapaxes(1, 2), symmetric, atol=1e-9)
    U, S, Vh = linalg.svd(symmetric[:, :4, :4], refine=True)
    assert np.allclose(U * S[:, None, :] @ Vh, symmetric[:, :4, :4], atol=1e-9)


def test_products_and_sums_follow_numpy(matrices):
    for found, right in (
        (linalg.matmul(matrices, matrices[::-1]), matrices @ matrices[::-1]),
        (linalg.matvec(matrices, matrices[:, 0]), np.einsum("bij,bj->bi", matrices, matrices[:, 0])),
        (linalg.add(matrices, matrices[::-1]), matrices + matrices[::-1]),
        (linalg.transpose(matrices), matrices.swapaxes(1, 2)),
    ):
        assert found.shape == right.shape
        assert np.abs(found - right).sum() < 0.02 * np.abs(right).sum()


def test_singular_matrices_are_refused_by_their_index(matrices):
    stack = matrices[:6].reshape(2, 3, 5, 5).copy()
    stack[1, 2] = 0
    with pytest.raises(np.linalg.LinAlgError, match=r"\(1, 2\)"):
        linalg.inv(stack)


@pytest.mark.parametrize("wrong", [np.ones(3), np.full((5, 5), np.nan), np.ones((5, 5), dtype=complex)])
def test_what_is_no_matrix_is_refused(wrong):
    with pytest.raises((np.linalg.LinAlgError, TypeError)):
        linalg.eigvalsh(wrong)


def test_a_size_without_a_model_is_refused_unless_allowed():
    A = np.eye(30)
    with pytest.raises(ValueError, match="no released model for eigenvalues of 30x30"):
        linalg.eigvalsh(A)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        linalg.inv(np.eye(6) + 0.1, allow_outside=True, model="inverse-5")
    assert any("was trained on dim 5" in str(w.message) for w in said)


def test_a_solution_is_its_value(symmetric):
    solution = linalg.eigvalsh(symmetric, details=True)
    assert np.asarray(solution).shape == (40, 5, 1)
