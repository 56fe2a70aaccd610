"""What a solution looks like, as text and in a notebook."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from learnalg.certify.proofs import bound
from learnalg.certify.show import COLOURS
from learnalg.certify.solution import Solution
from learnalg.problems import TASKS

A = np.array([[2.0, 1.0], [1.0, 3.0]])


def solved(factor=1.0, num=1, task="inverse", operands=(A,)):
    definition = TASKS[task]()
    operands = tuple(np.broadcast_to(operand, (num, *operand.shape)) for operand in operands)
    matrix = definition.solve(np.concatenate(operands, axis=2)) * factor
    return Solution(
        task=task,
        definition=definition,
        operands=operands,
        seen=operands,
        matrix=matrix,
        value=matrix,
        residual=bound(task, definition, operands, matrix),
        well_formed=np.ones(num, dtype=bool),
        confidence=np.full(num, 0.25),
        model=np.full(num, "a <model>"),
        seconds=0.1,
    )


class Balance(HTMLParser):
    """Every tag that opens closes, in order."""

    def __init__(self, page):
        super().__init__()
        self.open = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize(
    ("solution", "says"),
    [
        (solved(1.0101).reshaped(()), "trusted, error proven to be below 1.1 %, confidence 0.25>"),
        (solved(1.2).reshaped(()), "not trusted, error proven to be below 20 %"),
        (solved(np.nan).reshaped(()), "not trusted, nothing proven of its error"),
        (
            replace(solved(1.01), well_formed=np.array([False])).reshaped(()),
            "confidence 0.25, held to the form of a matrix",
        ),
        (solved(1.01).reshaped(()).refined(), "certified, residual "),
        (solved(num=3), "<Solution of 3 problems of inverse by a <model>: 3 trusted>"),
        (solved(num=3).refined(), "3 trusted, 3 certified>"),
        (solved(num=0), "<Solution of 0 problems of inverse by no model: 0 trusted>"),
    ],
)
def test_the_text_has_the_verdict_and_the_value(solution, says):
    first, _, rest = repr(solution).partition("\n")
    assert says in first and rest == str(solution.value)


def test_fallen_back_answers_say_so():
    singular = np.vander([1, 1 + 1e-6, 1 + 2e-6])
    solution = solved(0.0, operands=(singular,)).reshaped(()).refined(fallback=True)
    assert "NumPy's answer, not certified" in repr(solution)


@pytest.mark.parametrize(("factor", "colour"), [(1.0, 0), (1.01, 1), (1.5, 2), (np.nan, 2)])
def test_one_problem_is_shown_beside_numpys_answer_with_its_errors(factor, colour):
    page = solved(factor).reshaped(())._repr_html_()
    Balance(page)
    assert "a &lt;model&gt; answers" in page and "NumPy answers" in page
    assert ("not trusted" in page) == (not factor < 1.05)
    assert page.count(COLOURS[colour][1]) == 4
    assert page.count("<td>0.6</td>") == 1  # NumPy's, without a colour


def test_a_stack_is_shown_by_its_verdicts():
    page = solved(np.array([1.0, 1.2, np.nan] * 5)[:, None, None], num=15).reshaped((3, 5))._repr_html_()
    Balance(page)
    assert "15 problems, 5 answers are trusted" in page and "and 5 more" in page
    assert len(re.findall("<tr><td>", page)) == 10 and "<td>1, 4</td>" in page
    assert page.count("<td>none</td>") == 3
    assert "<td>certified</td>" in solved(num=2).refined()._repr_html_()


def test_operands_are_shown_each():
    page = solved(task="matmul", operands=(A, A)).reshaped(())._repr_html_()
    assert "given" in page and ">and<" in page


def test_a_problem_without_a_solution_is_shown():
    solution = solved().reshaped(())
    singular = replace(solution, operands=(np.ones((2, 2)),), residual=np.float64(np.inf))
    assert np.isnan(singular.expected).all() and np.isnan(singular.error)
    Balance(singular._repr_html_())


def test_errors_are_those_of_the_accuracy_tables():
    stack = solved(np.array([1.0, 1.02, 1.3])[:, None, None], num=3)
    np.testing.assert_allclose(stack.error, [0, 0.02, 0.3], atol=1e-12)
    np.testing.assert_allclose(stack.expected, np.broadcast_to(np.linalg.inv(A), (3, 2, 2)))
    assert stack.reshaped((3, 1)).error.shape == (3, 1)
