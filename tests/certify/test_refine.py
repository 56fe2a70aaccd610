"""Refined answers are right to rounding, and certificates say nothing that is not so."""

import numpy as np
import pytest

from learnalg.certify.refine import (
    REFINEMENTS,
    newton_schulz_start,
    refine,
    refine_eigenvectors,
    refine_inverse,
    refine_svd,
)
from learnalg.certify.scaling import from_unit
from learnalg.problems import TASKS


@pytest.fixture
def matrices():
    return np.random.default_rng(5).uniform(-10, 10, (400, 5, 5))


def noisy(x, share):
    return x + share * np.abs(x).mean() * np.random.default_rng(1).standard_normal(x.shape)


def relative(found, true):
    return np.linalg.norm(found - true, axis=(1, 2)) / np.linalg.norm(true, axis=(1, 2))


def test_inverses_from_near_by_are_certified_and_right(matrices):
    true = np.linalg.inv(matrices)
    found, certificate = refine_inverse(matrices, true * (1 + 1e-3))
    assert certificate.is_certified.mean() > 0.99 and np.median(certificate.steps) <= 4
    assert relative(found, true)[certificate.is_certified].max() < 1e-8


def test_a_bound_of_the_error_of_an_inverse_holds(matrices):
    true = np.linalg.inv(matrices)
    start = true * (1 + 0.05 * np.random.default_rng(1).standard_normal(true.shape))
    found, certificate = refine_inverse(matrices, start, most_steps=1)
    known = np.isfinite(certificate.error)
    assert 0.5 < known.mean() < 1 and certificate.error[known].max() > 0.01
    assert (relative(found, true)[known] <= certificate.error[known] * (1 + 1e-6)).all()


def test_no_singular_matrix_is_certified():
    singular = np.ones((3, 4, 4))
    _, certificate = refine_inverse(singular, newton_schulz_start(singular))
    assert not certificate.is_certified.any()


def test_the_standard_start_of_newton_schulz_converges(matrices):
    found, certificate = refine_inverse(matrices, newton_schulz_start(matrices))
    assert certificate.is_certified.mean() > 0.99
    assert relative(found, np.linalg.inv(matrices))[certificate.is_certified].max() < 1e-8


@pytest.mark.parametrize("start", ["predicted", "none", "nonsense"])
def test_eigenvectors_are_those_of_lapack(matrices, start):
    A = matrices + matrices.swapaxes(1, 2)
    values, vectors = np.linalg.eigh(A)
    starts = {"predicted": noisy(vectors[:, :, ::-1], 0.05), "none": None, "nonsense": np.full_like(A, np.nan)}
    found, H, certificate = refine_eigenvectors(A, starts[start])
    assert certificate.is_certified.all() and certificate.residual.max() < 1e-12
    assert np.allclose(found, values[:, ::-1], atol=1e-10)
    assert np.allclose(H @ (found[:, :, None] * H.swapaxes(1, 2)), A, atol=1e-10)


def test_a_good_start_saves_sweeps(matrices):
    A = matrices + matrices.swapaxes(1, 2)
    near = refine_eigenvectors(A, noisy(np.linalg.eigh(A)[1][:, :, ::-1], 0.02))[2].steps.mean()
    assert near < refine_eigenvectors(A)[2].steps.mean() - 1


@pytest.mark.parametrize("shape", [(5, 5), (5, 3), (3, 5)])
def test_singular_vectors_reconstruct(shape):
    A = np.random.default_rng(2).uniform(-10, 10, (200, *shape))
    U, values, V, certificate = refine_svd(A)
    assert certificate.is_certified.all() and certificate.residual.max() < 1e-12
    assert np.allclose(values, np.linalg.svd(A, compute_uv=False), atol=1e-10)
    assert np.allclose(U * values[:, None, :] @ V.swapaxes(1, 2), A, atol=1e-10)


def test_matrices_of_low_rank_and_ties_are_certified_too():
    x = np.random.default_rng(3).uniform(-1, 1, (50, 5, 2))
    low = x @ x.swapaxes(1, 2)
    assert refine_svd(low)[3].is_certified.all()
    assert refine_eigenvectors(low)[2].is_certified.all()
    assert refine_eigenvectors(np.stack([np.eye(4), np.zeros((4, 4))]))[2].is_certified.all()


@pytest.mark.parametrize("noise", [0.0, 0.003, 1.0, np.nan])
@pytest.mark.parametrize("name", ["eigenvalues", "singular_values"])
def test_values_alone_are_refined_through_vectors(matrices, name, noise):
    A = matrices[:100] + matrices[:100].swapaxes(1, 2)
    true = TASKS[name]().solve(A)
    found, certificate = refine(name, (A,), noisy(true, noise))
    assert certificate.is_certified.all() and certificate.residual.max() < 1e-12
    assert np.abs(found - true).max() < 1e-9
    if noise < 0.01:
        assert certificate.steps.mean() < 3.5


@pytest.mark.parametrize("exponent", [-900, 0, 900])
@pytest.mark.parametrize("name", REFINEMENTS)
def test_refinement_knows_no_scale(matrices, name, exponent):
    A = matrices[:50] + matrices[:50].swapaxes(1, 2)
    task = TASKS[name]()
    exponents = np.full((50, 1), exponent)
    start = noisy(task.solve(A), 0.01)
    near, _ = refine(name, (A,), start)
    found, certificate = refine(name, (np.ldexp(A, exponent),), from_unit(name, start, exponents))
    assert certificate.is_certified.all()
    np.testing.assert_array_equal(from_unit(name, found, -exponents), near)


def test_an_inverse_that_no_double_can_hold_is_not_certified():
    A = np.eye(3)[None] * 1e-310
    assert not refine("inverse", (A,), np.zeros((1, 3, 3)))[1].is_certified.any()


def test_products_are_not_refined():
    with pytest.raises(ValueError, match="no refinement for matmul; there is one for: eigenvalues, eigenvectors"):
        refine("matmul", (np.eye(2)[None], np.eye(2)[None]), np.eye(2)[None])


def test_a_stack_with_one_bad_start_keeps_the_better_answer():
    A = np.random.default_rng(4).uniform(-10, 10, (3, 4, 4))
    start = np.linalg.inv(A)
    start[1] = 1e6
    found, certificate = refine("inverse", (A,), start)
    assert certificate.is_certified.all() and certificate.steps[1] > 8 >= certificate.steps[0]
    np.testing.assert_allclose(found @ A, np.broadcast_to(np.eye(4), A.shape), atol=1e-9)
