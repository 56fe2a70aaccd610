"""Answers scale as their problems do."""

import numpy as np
import pytest
import torch

from learnalg.certify.scaling import SCALINGS, from_unit, multiplied, scaling_of, to_unit
from learnalg.problems import TASKS, parse_tasks


def problems(name, rng):
    definition = parse_tasks(name)[0][1]
    draws = [rng.uniform(-10, 10, (20, *shape)) for shape in definition.operands(3, 3)]
    if definition.symmetric:
        draws = [x + x.swapaxes(1, 2) for x in draws]
    return definition, tuple(draws)


def test_every_task_of_the_package_scales():
    assert {name for name in SCALINGS if ":" not in name} == set(TASKS)
    assert scaling_of("eigenvectors:order=ascending") is SCALINGS["eigenvectors"]
    assert scaling_of("determinant") is None


@pytest.mark.parametrize("name", SCALINGS)
def test_answers_of_unit_problems_become_those_of_the_problems(name):
    task, operands = problems(name, np.random.default_rng(1))
    unit, exponents = to_unit(name, operands)
    largest = np.stack([np.abs(x).max((1, 2)) for x in unit])
    assert largest.max() < 1 and (largest.max(0) >= 0.5).all()
    right = task.solve(np.concatenate(operands, axis=2))
    back = from_unit(name, task.solve(np.concatenate(unit, axis=2)), exponents)
    np.testing.assert_allclose(back, right, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(from_unit(name, from_unit(name, right, exponents), -exponents), right)


@pytest.mark.parametrize("name", SCALINGS)
def test_answers_of_multiplied_problems(name):
    task, operands = problems(name, np.random.default_rng(2))
    factors = np.random.default_rng(3).uniform(0.5, 20, (20, len(operands)))
    if not SCALINGS[name].apart:
        factors[:] = factors[:, :1]
    there = [factors[:, k, None, None] * operand for k, operand in enumerate(operands)]
    right = multiplied(name, task.solve(np.concatenate(operands, axis=2)), factors)
    np.testing.assert_allclose(task.solve(np.concatenate(there, axis=2)), right, rtol=1e-9, atol=1e-9)


def test_extreme_scales_are_exact():
    torch.set_flush_denormal(False)  # a training in this process makes 1e-310 zero
    A = np.array([[[1e-310, 3e-308], [0.0, 2e-309]], [[1e308, -1e300], [5.0, 0.0]], np.zeros((2, 2))])
    unit, exponents = to_unit("transpose", (A,))
    np.testing.assert_array_equal(from_unit("transpose", unit[0], exponents), A)
    assert np.isinf(from_unit("inverse", np.ones((1, 2, 2)), np.array([[-1040]]))).all()
    assert not from_unit("matmul", np.ones((1, 2, 2)), np.array([[1000, -1000]])).min() < 1


def test_what_is_not_homogeneous_stays():
    A = np.full((1, 2, 2), 1e30)
    unit, exponents = to_unit("determinant", (A,))
    assert unit[0] is A and not exponents.any()
    assert from_unit("determinant", A, exponents + 5) is A and multiplied("determinant", A, exponents + 5.0) is A
