"""What no model was trained for is found by its norm and its traces, at any scale."""

import numpy as np
import pytest

from learnalg.config import DataConfig
from learnalg.problem import Problem
from learnalg.zoo.domain import describe, outside


def drawn(problem, num, n=5):
    definition = problem.tasks[0][1]
    rng, symmetric = np.random.default_rng(77), definition.symmetric or problem.config.symmetric
    return tuple(problem.ensemble.draw(rng, num, *shape, symmetric).matrices for shape in definition.operands(n, n))


@pytest.mark.parametrize("ensemble", ["iid-uniform", "laplace", "positive"])
@pytest.mark.parametrize("task", ["eigenvalues", "inverse", "matmul", "svd"])
def test_the_training_is_inside_at_its_own_scale_only(task, ensemble):
    problem = Problem(DataConfig(task=task, dim="5", ensemble=(ensemble,)))
    operands = drawn(problem, 1_000)
    assert (outside(problem, task, operands) == "").mean() > 0.998
    assert (outside(problem, task, operands, rescale=False) == "").mean() > 0.998
    for scale in (1e-3, 1e3, 1e250):
        far = tuple(scale * operand for operand in operands)
        assert (outside(problem, task, far) == "").mean() > 0.998
        assert (outside(problem, task, far, rescale=False) == "values").all()


@pytest.mark.parametrize("n", [5, 8, 10])
def test_spectra_that_were_never_seen_are_outside(n):
    problem = Problem(DataConfig(task="eigenvalues", dim="5-10"))
    positive = drawn(Problem(DataConfig(task="eigenvalues", dim="5-10", ensemble=("positive",))), 200, n)
    assert (outside(problem, "eigenvalues", positive) == "spectrum").mean() > 0.7
    ones, eye, zero = np.ones((1, n, n)), np.eye(n)[None], np.zeros((1, n, n))
    assert outside(problem, "eigenvalues", (np.concatenate([ones, eye, zero]),)).tolist() == ["spectrum"] * 3


def test_one_operand_outside_is_enough():
    problem = Problem(DataConfig(task="matvec", dim="5"))
    matrices, vectors = drawn(problem, 20)
    assert (outside(problem, "matvec", (matrices, vectors)) == "").all()
    assert (outside(problem, "matvec", (np.broadcast_to(np.eye(5), matrices.shape), vectors)) == "spectrum").all()
    assert (outside(problem, "matvec", (matrices, 100 * vectors), rescale=False) == "values").all()


def test_traces_are_those_of_the_spectrum():
    A = drawn(Problem(DataConfig(task="eigenvalues", dim="5")), 50)[0]
    norm = np.sqrt(np.square(A).sum((1, 2)))
    values = np.linalg.eigvalsh(A) / norm[:, None]
    expected = np.stack([np.log2(norm) + 7, values.sum(1), (values**3).sum(1), (values**4).sum(1)], axis=1)
    np.testing.assert_allclose(describe(A, np.full(50, 7)), expected, atol=1e-12)
    assert describe(A[:, :, :2], np.zeros(50)).shape == (50, 2)
