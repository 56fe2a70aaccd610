"""Ensembles: the moments, spectra and symmetries that the paper states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.problems.ensembles import ENSEMBLE_SUMMARIES, ENSEMBLES, SQUARE_ENSEMBLES, Mixture

SIGMA = 10 / np.sqrt(3)  # of coefficients uniform in [-10, 10]
POSITIVE = ("positive", "abs-laplace", "marchenko-pastur")
PRESCRIBED = ("uniform", "gaussian", "laplace", "abs-laplace", "well-conditioned", "log-uniform")
CONDITIONS = {"well-conditioned": 3, "log-uniform": 100}  # the largest condition numbers
every_ensemble = pytest.mark.parametrize("name", ENSEMBLES)
quick = settings(max_examples=60, deadline=None, derandomize=True)


def draw(name, num, m, n, symmetric, seed=0):
    return Mixture((name,)).draw(np.random.default_rng(seed), num, m, n, symmetric).matrices


def root_mean_square(x):
    return np.sqrt(np.mean(x**2))


def kurtosis(x):
    """1.8 for a uniform law, 3 for a gaussian one, 6 for a Laplace one."""
    return np.mean(x**4) / np.mean(x**2) ** 2


# Every ensemble.


def test_every_ensemble_has_a_summary():
    assert list(ENSEMBLE_SUMMARIES) == list(ENSEMBLES)


@every_ensemble
@pytest.mark.parametrize(("n", "symmetric"), [(1, True), (3, True), (8, True), (1, False), (5, False)])
def test_coefficients_have_the_same_standard_deviation_everywhere(name, n, symmetric):
    assert root_mean_square(draw(name, 8_000, n, n, symmetric)) == pytest.approx(SIGMA, rel=0.03)


@pytest.mark.parametrize("name", [name for name in ENSEMBLES if name not in SQUARE_ENSEMBLES])
@pytest.mark.parametrize(("m", "n"), [(4, 6), (6, 4), (1, 5), (5, 1)])
def test_rectangular_matrices_have_that_standard_deviation_at_every_place(name, m, n):
    x = draw(name, 8_000, m, n, symmetric=False)
    assert root_mean_square(x) == pytest.approx(SIGMA, rel=0.03)
    np.testing.assert_allclose(np.sqrt(np.mean(x**2, axis=0)), SIGMA, rtol=0.08)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.05 * SIGMA)


@quick
@given(
    name=st.sampled_from(list(ENSEMBLES)),
    m=st.integers(1, 7),
    n=st.integers(1, 7),
    symmetric=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_draws_are_finite_of_the_right_shape_and_fixed_by_the_seed(name, m, n, symmetric, seed):
    if symmetric or name in SQUARE_ENSEMBLES:
        m = n
    x = draw(name, 3, m, n, symmetric, seed)
    assert x.shape == (3, m, n)
    assert np.isfinite(x).all()
    np.testing.assert_array_equal(x, draw(name, 3, m, n, symmetric, seed))
    assert not np.array_equal(x, draw(name, 3, m, n, symmetric, seed + 1))
    assert not np.array_equal(x[0], x[1])


@every_ensemble
@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_symmetric_matrices_are_exactly_symmetric(name, n):
    x = draw(name, 100, n, n, symmetric=True)
    np.testing.assert_array_equal(x, x.swapaxes(1, 2))


@every_ensemble
def test_a_symmetric_rectangle_is_refused(name):
    with pytest.raises(ValueError, match="4x6"):
        draw(name, 1, 4, 6, symmetric=True)


@pytest.mark.parametrize("name", SQUARE_ENSEMBLES)
def test_ensembles_of_square_matrices_refuse_rectangles(name):
    with pytest.raises(ValueError, match=f"{name}.*4x6"):
        draw(name, 1, 4, 6, symmetric=False)


# Wigner matrices (last appendix of the paper).


@pytest.mark.parametrize("name", ["iid-uniform", "iid-gaussian", "iid-laplace", "wigner"])
@pytest.mark.parametrize(("n", "expected"), [(5, 12.91), (10, 18.26), (15, 22.36), (20, 25.81)])
def test_wigner_eigenvalues_have_the_paper_s_standard_deviation(name, n, expected):
    eigenvalues = np.linalg.eigvalsh(draw(name, 500_000 // n**2, n, n, symmetric=True))
    assert eigenvalues.std() == pytest.approx(expected, rel=0.01)
    assert eigenvalues.mean() == pytest.approx(0, abs=0.01 * expected)


@pytest.mark.parametrize(("name", "expected"), [("iid-uniform", 1.8), ("iid-gaussian", 3), ("iid-laplace", 6)])
@pytest.mark.parametrize("symmetric", [True, False])
def test_iid_coefficients_follow_their_law(name, expected, symmetric):
    x = draw(name, 10_000, 4, 4, symmetric)
    assert kurtosis(x) == pytest.approx(expected, rel=0.1)


def test_uniform_coefficients_fill_the_interval():
    x = draw("iid-uniform", 10_000, 4, 4, symmetric=False)
    assert (x.min(), x.max()) == pytest.approx((-10, 10), abs=0.01)
    assert np.abs(x).max() <= 10


def test_iid_coefficients_are_independent():
    x = draw("iid-uniform", 20_000, 3, 3, symmetric=False).reshape(-1, 9)
    np.testing.assert_allclose(np.corrcoef(x.T), np.eye(9), atol=0.04)


# Prescribed spectra.


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("n", [1, 5, 10])
def test_positive_ensembles_have_no_negative_eigenvalue(name, n):
    assert np.linalg.eigvalsh(draw(name, 500, n, n, symmetric=True)).min() > -1e-9


def test_positive_eigenvalues_are_the_absolute_values_of_a_wigner_spectrum():
    wigner = np.linalg.eigvalsh(draw("iid-gaussian", 10_000, 8, 8, symmetric=True))
    positive = np.linalg.eigvalsh(draw("positive", 10_000, 8, 8, symmetric=True))
    deciles = np.arange(0.1, 1, 0.1)
    np.testing.assert_allclose(np.quantile(positive, deciles), np.quantile(np.abs(wigner), deciles), rtol=0.04)


# Uniform in [1, 3]: E[x^4] / E[x^2]^2 = (242 / 10) / (26 / 6)^2; log-uniform over a factor of 100: about ln 100.
SPREAD = [("well-conditioned", 1.289), ("log-uniform", 4.606)]
LAWS = [("uniform", 1.8), ("gaussian", 3), ("laplace", 6), *SPREAD]


@pytest.mark.parametrize(("name", "expected"), [*LAWS, ("abs-laplace", 6)])
def test_eigenvalues_follow_their_law(name, expected):
    eigenvalues = np.linalg.eigvalsh(draw(name, 20_000, 5, 5, symmetric=True))
    assert kurtosis(eigenvalues) == pytest.approx(expected, rel=0.12)
    centred = name != "abs-laplace"
    assert (abs(eigenvalues.mean()) < 0.02 * eigenvalues.std()) == centred


@pytest.mark.parametrize(("name", "expected"), LAWS)
def test_singular_values_follow_their_law_up_to_sign(name, expected):
    singular = np.linalg.svd(draw(name, 10_000, 4, 6, symmetric=False), compute_uv=False)
    assert kurtosis(singular) == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize(("m", "n", "symmetric"), [(5, 5, True), (5, 5, False), (4, 6, False), (6, 4, False)])
def test_uniform_spectra_are_bounded(m, n, symmetric):
    largest = np.linalg.norm(draw("uniform", 2_000, m, n, symmetric), ord=2, axis=(1, 2)).max()
    assert largest <= 10 * np.sqrt(max(m, n)) + 1e-9
    assert largest > 9.9 * np.sqrt(max(m, n))


@pytest.mark.parametrize(("name", "largest"), CONDITIONS.items())
@pytest.mark.parametrize(("m", "n", "symmetric"), [(5, 5, True), (5, 5, False), (4, 6, False), (6, 4, False)])
def test_condition_numbers_are_bounded(name, largest, m, n, symmetric):
    conditions = np.linalg.cond(draw(name, 2_000, m, n, symmetric))
    assert conditions.max() <= largest * (1 + 1e-9)
    assert conditions.max() > 0.8 * largest  # the range is used
    assert np.linalg.cond(draw("uniform", 2_000, m, n, symmetric)).max() > largest  # others have no such bound


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("n", [1, 4])
def test_spectra_of_bounded_condition_fill_their_range_with_both_signs(name, n):
    eigenvalues = np.linalg.eigvalsh(draw(name, 8_000 // n, n, n, symmetric=True)).ravel()
    assert (eigenvalues > 0).mean() == pytest.approx(0.5, abs=0.03)  # five standard deviations
    unit = np.abs(eigenvalues) / (SIGMA * np.sqrt(n))  # of second moment 1
    if name == "well-conditioned":
        place = (unit * np.sqrt(13 / 3) - 1) / 2
    else:
        place = 1 + np.log10(unit * np.sqrt((1 - 1e-4) / (2 * np.log(100)))) / 2
    assert place.min() >= -1e-9 and place.max() <= 1 + 1e-9
    deciles = np.arange(0.1, 1, 0.1)
    np.testing.assert_allclose(np.quantile(place, deciles), deciles, atol=0.03)


@pytest.mark.parametrize("name", [*PRESCRIBED, "positive", "marchenko-pastur"])
@pytest.mark.parametrize("n", [2, 5])
def test_eigenvectors_are_uniform_on_the_sphere(name, n):
    leading = np.linalg.eigh(draw(name, 20_000, n, n, symmetric=True))[1][:, :, -1]
    np.testing.assert_allclose(np.mean(leading**2, axis=0), 1 / n, rtol=0.04)
    np.testing.assert_allclose(np.mean(leading**4, axis=0), 3 / (n * (n + 2)), rtol=0.08)


def test_singular_vectors_have_both_orientations():
    # QR alone gives orthogonal matrices of one determinant; with positive values the sign is that of the vectors.
    signs = np.sign(np.linalg.det(draw("abs-laplace", 4_000, 3, 3, symmetric=False)))
    assert signs.mean() == pytest.approx(0, abs=0.07)


# Amplitudes, factors, mixtures.


def test_a_range_of_amplitudes_is_drawn_per_matrix():
    drawn = Mixture(amplitude=(1.0, 100.0)).draw(np.random.default_rng(0), 4_000, 5, 5, symmetric=False)
    amplitude = drawn.sigma * np.sqrt(3)
    assert (amplitude.min(), amplitude.max()) == pytest.approx((1, 100), abs=0.3)
    assert amplitude.mean() == pytest.approx(50.5, rel=0.04)
    largest = np.abs(drawn.matrices).max(axis=(1, 2))
    assert (largest <= amplitude + 1e-9).all()
    assert np.median(largest / amplitude) > 0.9


def test_a_fixed_amplitude_is_that_of_every_matrix():
    drawn = Mixture(amplitude=(3.0, 3.0)).draw(np.random.default_rng(0), 100, 5, 5, symmetric=False)
    np.testing.assert_allclose(drawn.sigma, np.sqrt(3))


@every_ensemble
def test_factor_scales_matrices_and_sigma(name):
    plain, scaled = (
        Mixture((name,), factor=factor).draw(np.random.default_rng(0), 50, 5, 5, symmetric=True)
        for factor in (1.0, 0.6)
    )
    np.testing.assert_allclose(scaled.matrices, 0.6 * plain.matrices)
    np.testing.assert_allclose(scaled.sigma, 0.6 * plain.sigma)


def test_mixtures_have_equal_parts_along_the_batch():
    x = Mixture(("positive", "gaussian")).draw(np.random.default_rng(0), 4_000, 5, 5, symmetric=False).matrices
    is_positive = (x == x.swapaxes(1, 2)).all(axis=(1, 2))  # no gaussian one is symmetric by chance
    assert is_positive.mean() == pytest.approx(0.5, abs=0.035)
    assert is_positive[:2_000].mean() == pytest.approx(0.5, abs=0.05)
    assert root_mean_square(x) == pytest.approx(SIGMA, rel=0.03)


@quick
@given(names=st.lists(st.sampled_from(list(ENSEMBLES)), min_size=2, max_size=5), num=st.integers(1, 4))
def test_mixtures_may_leave_an_ensemble_out_of_a_small_batch(names, num):
    x = Mixture(tuple(names)).draw(np.random.default_rng(0), num, 3, 3, symmetric=True).matrices
    assert x.shape == (num, 3, 3)
    assert (np.abs(x).max(axis=(1, 2)) > 0).all()


@pytest.mark.parametrize("names", [("laplce",), ("uniform", "laplce")])
def test_an_unknown_ensemble_is_refused_with_the_known_ones(names):
    with pytest.raises(ValueError, match="unknown ensemble 'laplce': did you mean 'laplace'") as error:
        Mixture(names)
    assert all(name in str(error.value) for name in ENSEMBLES)


@pytest.mark.parametrize(("shape", "symmetric"), [((4, 4), True), ((4, 4), False), ((3, 5), False)])
def test_near_ties_have_two_singular_values_close_to_each_other(shape, symmetric):
    matrices = ENSEMBLES["near-ties"](np.random.default_rng(0), 2_000, *shape, symmetric)
    values = np.linalg.svd(matrices, compute_uv=False)
    gaps = (values[:, :-1] / values[:, 1:] - 1).min(axis=1)
    plain = np.linalg.svd(
        ENSEMBLES["iid-uniform"](np.random.default_rng(0), 2_000, *shape, symmetric), compute_uv=False
    )
    assert gaps.max() < 0.23 and np.median(gaps) < 0.03 < np.median((plain[:, :-1] / plain[:, 1:] - 1).min(axis=1))
    if symmetric:
        assert np.array_equal(matrices, matrices.swapaxes(1, 2))
        eigenvalues = np.take_along_axis(
            found := np.linalg.eigvalsh(matrices), np.argsort(-np.abs(found), axis=1), axis=1
        )
        closest = (np.abs(eigenvalues[:, :-1]) / np.abs(eigenvalues[:, 1:])).argmin(axis=1)
        pairs = np.take_along_axis(eigenvalues, closest[:, None] + [[0, 1]], axis=1)
        assert (pairs.prod(axis=1) < 0).mean() > 0.9


@pytest.mark.parametrize(("shape", "symmetric"), [((4, 4), True), ((4, 4), False), ((3, 5), False), ((5, 2), False)])
def test_near_zeros_have_a_vector_whose_first_coefficient_is_small(shape, symmetric):
    matrices = ENSEMBLES["near-zeros"](np.random.default_rng(0), 2_000, *shape, symmetric)
    first = np.abs(np.linalg.svd(matrices, full_matrices=False)[0][:, 0])
    assert (first.min(axis=1) < 0.033).mean() > 0.99  # not where both coefficients that are turned are smaller
    assert 1e-3 < np.median(first.min(axis=1)) < 4e-3
    if symmetric:
        assert np.array_equal(matrices, matrices.swapaxes(1, 2))


@pytest.mark.parametrize(("shape", "symmetric"), [((4, 4), True), ((5, 5), False), ((3, 5), False)])
def test_near_singular_have_a_smaller_smallest_singular_value(shape, symmetric):
    matrices, plain = (
        ENSEMBLES[name](np.random.default_rng(0), 2_000, *shape, symmetric) for name in ("near-singular", "iid-uniform")
    )
    values, before = (np.linalg.svd(drawn, compute_uv=False) for drawn in (matrices, plain))
    assert np.allclose(values[:, :-1], before[:, :-1])
    shrunk = values[:, -1] / before[:, -1]
    assert 0.0999 < shrunk.min() < 0.11 and 0.9 < shrunk.max() < 1.0001
    assert abs(np.median(shrunk) - 10**-0.5) < 0.03
    if symmetric:
        assert np.array_equal(matrices, matrices.swapaxes(1, 2))


@pytest.mark.parametrize("name", ["near-ties", "near-zeros", "near-singular"])
def test_a_single_row_is_as_it_was_drawn(name):
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    assert np.array_equal(ENSEMBLES[name](rng, 5, 1, 3, False), ENSEMBLES["iid-uniform"](other, 5, 1, 3, False))
