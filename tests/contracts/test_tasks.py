"""What every task keeps, whatever it is. A new entry of TASKS is tested here without a new line."""

import inspect
import itertools

import numpy as np
import pytest

from learnalg.config import DataConfig
from learnalg.problem import Problem
from learnalg.problems import TASKS
from learnalg.problems.eigen import ORDERS, SIGNS
from learnalg.problems.ensembles import Mixture

OPTIONS = {"order": ORDERS, "sign": SIGNS, "of": ("matrix", "gram")}
DIMS = [(1, 1), (3, 3), (5, 5), (4, 6), (6, 4)]
NUM = 20
NORMS = (1, 2, np.inf)


def all_options(name):
    """Every combination of a task's options; one that is not in OPTIONS keeps its default."""
    parameters = inspect.signature(TASKS[name]).parameters.values()
    values = [OPTIONS.get(p.name, (p.default,)) for p in parameters]
    return [dict(zip((p.name for p in parameters), v, strict=True)) for v in itertools.product(*values)]


def admits(task, m, n):
    return m == n or not (task.square or task.symmetric)


CASES = [
    pytest.param(name, options, m, n, id=f"{name}-{'-'.join([*options.values(), f'{m}x{n}'])}")
    for name in TASKS
    for options in all_options(name)
    for m, n in DIMS
    if admits(TASKS[name](**options), m, n)
]
every_task = pytest.mark.parametrize(("name", "options", "m", "n"), CASES)


def draw(task, m, n):
    """NUM problems that the task accepts."""
    rng = np.random.default_rng([m, n])
    operands = [Mixture().draw(rng, 2 * NUM, rows, cols, task.symmetric) for rows, cols in task.operands(m, n)]
    inputs = np.concatenate([drawn.matrices for drawn in operands], axis=2)
    return inputs[task.accept(inputs)][:NUM]


def is_correct(task, inputs, predicted, norm, tolerance):
    """The paper's criterion: |residual| < tolerance |reference|."""
    residual, reference = task.residual(inputs, task.solve(inputs), predicted)
    sizes = [np.linalg.norm(x.reshape(len(x), -1), ord=norm, axis=1) for x in (residual, reference)]
    return sizes[0] < tolerance * sizes[1]


@every_task
def test_shapes_are_the_declared_ones(name, options, m, n):
    task = TASKS[name](**options)
    inputs = draw(task, m, n)
    assert inputs.shape == (NUM, *task.input_shape(m, n))
    solution = task.solve(inputs)
    assert solution.shape == (NUM, *task.output_shape(m, n))
    assert np.isfinite(solution).all()


@every_task
def test_own_solution_is_correct(name, options, m, n):
    task = TASKS[name](**options)
    inputs = draw(task, m, n)
    for norm in NORMS:
        assert is_correct(task, inputs, task.solve(inputs), norm, tolerance=1e-9).all()


def scaled(solution):
    return 1.1 * solution


def perturbed(solution):
    return solution * (1 + 0.1 * np.random.default_rng(0).choice([-1, 1], solution.shape))


def zero(solution):
    return 0 * solution


@every_task
def test_wrong_solution_is_not_correct(name, options, m, n):
    task = TASKS[name](**options)
    inputs = draw(task, m, n)
    for wrong in (scaled, perturbed, np.negative, zero):
        for norm in NORMS:
            assert not is_correct(task, inputs, wrong(task.solve(inputs)), norm, tolerance=0.03).any(), wrong.__name__


@every_task
def test_accept_is_a_mask_and_the_columns_of_operands_are_those_of_the_input(name, options, m, n):
    task = TASKS[name](**options)
    inputs = draw(task, m, n)
    accepted = task.accept(inputs)
    assert accepted.dtype == bool
    assert accepted.shape == (NUM,)
    assert accepted.all()
    operand, column = task.operand_columns(100)[inputs.shape[2], : inputs.shape[2]].T
    widths = [cols for _, cols in task.operands(m, n)]
    if m == n:  # a width alone does not tell the operands of rectangles
        assert operand.tolist() == [k for k, width in enumerate(widths) for _ in range(width)]
        assert column.tolist() == [c for width in widths for c in range(width)]


@every_task
def test_solving_a_batch_is_solving_each_alone(name, options, m, n):
    task = TASKS[name](**options)
    inputs = draw(task, m, n)
    alone = np.concatenate([task.solve(inputs[i : i + 1]) for i in range(NUM)])
    np.testing.assert_allclose(task.solve(inputs), alone, rtol=1e-12, atol=1e-12)


@every_task
def test_solving_leaves_the_inputs_alone(name, options, m, n):
    task = TASKS[name](**options)
    inputs = draw(task, m, n)
    before = inputs.copy()
    task.solve(inputs)
    np.testing.assert_array_equal(inputs, before)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize(("m", "n"), [(4, 6), (6, 4)])
def test_rectangles_are_refused_by_square_tasks_only(name, m, n):
    if admits(TASKS[name](), m, n):
        assert Problem(DataConfig(task=name, dim=f"{m}x{n}")).dims.admits(m, n)
    else:
        with pytest.raises(ValueError, match=f"{m}x{n}"):
            Problem(DataConfig(task=name, dim=f"{m}x{n}"))


@pytest.mark.parametrize("name", TASKS)
def test_every_task_says_what_it_is(name):
    assert TASKS[name]().summary
