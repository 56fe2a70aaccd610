"""What enters a model: checked, and at the scale of its training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.certify.scaling import to_unit
from learnalg.config import DataConfig
from learnalg.problem import Problem
from learnalg.zoo.operands import OutsideWarning, check_operands, is_symmetric, training_factors

A = np.random.default_rng(0).uniform(-10, 10, (50, 5, 5))


def factors(task, operands, **changes):
    """As multiples of the operands as they were given."""
    unit, exponents = to_unit(task, operands)
    found = training_factors(task, unit, exponents, DataConfig(task=task, **changes))
    with np.errstate(over="ignore"):
        return found, np.ldexp(found, -exponents)


@given(exponent=st.integers(-1000, 1000), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_matrices_of_any_scale_come_to_that_of_the_training(exponent, seed):
    matrices = np.random.default_rng(seed).standard_normal((20, 5, 5))
    unit, exponents = to_unit("eigenvalues", (np.ldexp(matrices, exponent),))
    read = unit[0] * training_factors("eigenvalues", unit, exponents, DataConfig())[:, :, None]
    assert (np.abs(read).max((1, 2)) <= 10 * (1 + 1e-12)).all()
    size = np.sqrt(3 * np.square(read).mean((1, 2)))
    assert (size > 3).all() and size.mean() > 6  # single large coefficients leave the others small


def test_what_is_in_distribution_is_not_touched():
    _, multiples = factors("eigenvalues", (A,))
    assert (multiples == 1).mean() > 0.95 and np.abs(multiples - 1).max() < 0.5


def test_zeros_are_not_scaled():
    found, multiples = factors("inverse", (np.zeros((2, 3, 3)),))
    assert (found == 1).all() and (multiples == 1).all()


def test_a_range_of_amplitudes_leaves_its_matrices():
    for scale in (0.15, 1.0, 9.0):
        assert (factors("eigenvalues", (scale * A,), amplitude=(1.0, 100.0))[1] == 1).mean() > 0.9
    assert (factors("eigenvalues", (100 * A,), amplitude=(1.0, 100.0))[1] < 0.2).all()


def test_ensembles_without_bounds_may_exceed_the_amplitude():
    drawn = np.random.default_rng(1).laplace(0, 10 / np.sqrt(6), (200, 5, 5))
    assert (factors("eigenvalues", (drawn,), ensemble=("laplace",))[1] == 1).mean() > 0.7
    assert (factors("eigenvalues", (drawn,))[1] == 1).mean() < 0.1


def test_operands_of_a_product_are_scaled_apart_and_those_of_a_sum_together():
    other = 1e-3 * A[::-1]
    _, of_sum = factors("add", (A, other))
    np.testing.assert_array_equal(of_sum[:, 0], of_sum[:, 1])
    _, of_product = factors("matmul", (A, other))
    assert (of_product[:, 1] / of_product[:, 0] > 500).all()


def test_tasks_that_are_not_known_to_scale_stay():
    problem = (A * 1e6,)
    unit, exponents = to_unit("determinant", problem)
    assert (training_factors("determinant", unit, exponents, DataConfig()) == 1).all() and unit[0] is problem[0]


@pytest.mark.parametrize("scale", [1e-300, 1e-10, 1.0, 1e300])
def test_symmetry_knows_no_scale(scale):
    both = scale * np.stack([A[0], A[0] + A[0].T, np.tril(A[0]) + np.tril(A[0], -1).T * (1 + 1e-9)])
    assert is_symmetric(both).tolist() == [False, True, True]
    assert not is_symmetric(np.ones((2, 3, 4))).any()


def test_stacks_are_flattened_and_remember_their_shape():
    problem = Problem(DataConfig(task="matvec", dim="5"))
    arrays, lead, dims = check_operands(problem, 0, (A.reshape(5, 10, 5, 5), A[:, 0].reshape(5, 10, 5)))
    assert [array.shape for array in arrays] == [(50, 5, 5), (50, 5, 1)]
    assert (lead, dims) == ((5, 10), (5, 5))


def test_a_size_outside_is_refused_or_warned_of():
    problem = Problem(DataConfig(task="inverse", dim="3-4"))
    with pytest.raises(ValueError, match="a 5x5 matrix, but this model was trained on dim 3-4"):
        check_operands(problem, 0, (A,))
    with pytest.warns(OutsideWarning, match="trained on dim 3-4"):
        check_operands(problem, 0, (A,), allow_outside=True)
