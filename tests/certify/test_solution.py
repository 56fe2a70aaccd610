"""A solution: what is known of answers, in the shape of their stack."""

import numpy as np
import pytest

from learnalg.certify.proofs import bound
from learnalg.certify.solution import Solution, better
from learnalg.problems import TASKS


def solved(A, answers, model="one", task="inverse"):
    definition = TASKS[task]()
    num = len(A)
    return Solution(
        task=task,
        definition=definition,
        operands=(A,),
        seen=(A.round(1),),
        matrix=answers,
        value=answers,
        residual=bound(task, definition, (A,), answers),
        well_formed=np.ones(num, dtype=bool),
        confidence=np.linspace(0.1, 0.9, num),
        model=np.full(num, model),
        seconds=1.0,
    )


@pytest.fixture
def matrices():
    return np.random.default_rng(0).uniform(-10, 10, (6, 3, 3)) + 20 * np.eye(3)


def test_an_answer_is_trusted_by_its_proof(matrices):
    inverse = np.linalg.inv(matrices)
    assert solved(matrices, inverse).trusted.all()
    assert not solved(matrices, inverse * 1.06).trusted.any()
    assert not solved(matrices, np.full_like(inverse, np.nan)).trusted.any()


def test_the_shape_of_a_stack_is_that_of_all_it_knows(matrices):
    stack = solved(matrices, np.linalg.inv(matrices)).reshaped((2, 3))
    assert stack.shape == (2, 3) and stack.value.shape == (2, 3, 3, 3)
    for known in (stack.residual, stack.trusted, stack.well_formed, stack.confidence, stack.model):
        assert known.shape == (2, 3)
    one = solved(matrices[:1], np.linalg.inv(matrices[:1])).reshaped(())
    assert one.shape == () and isinstance(one.trusted, np.bool_) and f"{one.model}" == "one"
    assert one.value.shape == (3, 3)


def test_the_better_proven_answer_stays(matrices):
    inverse = np.linalg.inv(matrices)
    first = inverse * np.array([1.2, 1.2, 1.0, 1.0, 1.2, 1.0])[:, None, None]
    second = inverse[[0, 4]] * np.array([1.01, 1.5])[:, None, None]
    both = better(solved(matrices, first), np.array([0, 4]), solved(matrices[[0, 4]], second, "another one"))
    assert both.model.tolist() == ["another one", "one", "one", "one", "one", "one"]
    np.testing.assert_allclose(both.value[[0, 4]], [second[0], first[4]])
    np.testing.assert_array_equal(both.residual, bound("inverse", both.definition, both.operands, both.matrix))
    assert both.seconds == 2.0


def test_a_refined_solution_is_certified_and_the_first_stays_as_it_was(matrices):
    inverse = np.linalg.inv(matrices)
    before = solved(matrices, 1.02 * inverse).reshaped((3, 2))
    after = before.refined()
    assert before.steps is None and before.residual.min() > 0.01
    assert after.is_certified.all() and after.certified_residual.max() < 1e-12 and after.residual.max() < 1e-12
    assert after.steps.shape == (3, 2) and (after.steps > 0).all() and not after.fell_back.any()
    np.testing.assert_allclose(after.value.reshape(6, 3, 3), inverse, rtol=1e-10)


def test_numpys_answer_is_taken_only_where_it_is_allowed(matrices):
    matrices[1] = np.vander([1, 1 + 1e-6, 1 + 2e-6])
    solution = solved(matrices, np.zeros_like(matrices))
    flagged, fallen = solution.refined(), solution.refined(fallback=True)
    assert (~flagged.is_certified).tolist() == fallen.fell_back.tolist() == [False, True, False, False, False, False]
    np.testing.assert_array_equal(fallen.value[1], np.linalg.inv(matrices[1]))
    assert not np.array_equal(flagged.value[1], fallen.value[1])


def test_a_solution_is_an_array(matrices):
    solution = solved(matrices, np.linalg.inv(matrices))
    assert np.asarray(solution) is solution.value
    assert np.array(solution) is not solution.value
