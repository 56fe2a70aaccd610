"""What two tokens have in common: rows, columns and operands by hand, and that attention uses it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from learnalg.config import DataConfig, ModelConfig
from learnalg.models import build, sides
from learnalg.models.grid import HEADER, NUM_RELATIONS, Coordinates, Grid, relations, upper_triangle
from learnalg.models.layers import DIRECTED_SCORE, RELATIONS_RATE, relation_start
from learnalg.problem import Problem

ONE_DIGIT = "floating:digits=1,exponents=-1:1"
ROW, COL, ROW_IS_COL, COL_IS_ROW = 4, 8, 16, 32
QUERY_IN_SECOND, KEY_IN_SECOND = 2, 1


def problem_of(task: str, dim: str, triangle: bool = False) -> Problem:
    return Problem(
        DataConfig(task=task, dim=dim, triangle=triangle, input_encoding=ONE_DIGIT, output_encoding=ONE_DIGIT)
    )


def tokens_of(problem: Problem, m: int, n: int) -> tuple[Tensor, Tensor]:
    """Of one problem, and of what the decoder reads to answer it."""
    task = problem.tasks[0][1]
    inputs = np.arange(1.0, 1 + np.prod(task.input_shape(m, n))).reshape(1, *task.input_shape(m, n)) % 9 + 1
    source, target = problem.tokenizers
    answer = target.encode(np.ones((1, *task.output_shape(m, n))))
    numbers = source.encoding.encode(inputs.reshape(1, -1))
    return torch.from_numpy(problem.read_tokens(numbers, inputs.shape[1:])), torch.from_numpy(
        np.pad(answer, ((0, 0), (1, 0)))
    )


def coordinates_of(problem: Problem, m: int, n: int) -> tuple[Coordinates, Coordinates]:
    found = zip(sides(problem), tokens_of(problem, m, n), strict=True)
    source, target = (Grid(side, 64, shift).operand_coordinates(ids) for shift, (side, ids) in enumerate(found))
    return source, target


def one(row: int, col: int, operand: int = 0) -> Coordinates:
    return torch.tensor([[row]]), torch.tensor([[col]]), torch.tensor([[operand]])


@pytest.mark.parametrize(
    ("query", "key", "expected"),
    [
        ((0, 1), (2, 3), 0),
        ((0, 1), (0, 3), ROW),
        ((0, 1), (2, 1), COL),
        ((0, 1), (2, 0), ROW_IS_COL),
        ((0, 1), (1, 3), COL_IS_ROW),
        ((0, 1), (1, 0), ROW_IS_COL + COL_IS_ROW),
        ((0, 1), (0, 1), ROW + COL),
        ((2, 2), (2, 2), ROW + COL + ROW_IS_COL + COL_IS_ROW),
        ((0, 1, 1), (0, 3), ROW + QUERY_IN_SECOND),
        ((0, 1), (0, 1, 1), ROW + COL + KEY_IN_SECOND),
        ((0, 1, 2), (2, 3, 5), QUERY_IN_SECOND + KEY_IN_SECOND),
        ((HEADER, HEADER), (0, 1), 0),
    ],
)
def test_relations_by_hand(query, key, expected):
    assert relations(one(*query), one(*key)).tolist() == [[[expected]]]


def test_the_answer_of_a_sum_finds_its_two_coefficients():
    """M[i, j] and N[i, j], and no others, have the row and the column of the sum's coefficient i, j."""
    source, target = coordinates_of(problem_of("add", "3"), 3, 3)
    found = relations(target, source)[0, 2:11, 2:].reshape(9, 3, 2, 3) & (ROW + COL)
    is_it = (found == ROW + COL).permute(0, 2, 1, 3).reshape(9, 2, 9)
    assert torch.equal(is_it, torch.eye(9, dtype=torch.bool)[:, None].expand(9, 2, 9))


def test_the_answer_of_a_transposition_finds_its_coefficient():
    source, target = coordinates_of(problem_of("transpose", "2x3"), 2, 3)
    found = relations(target, source)[0, 2:8, 2:] & (ROW_IS_COL + COL_IS_ROW)
    expected = torch.zeros(6, 6, dtype=torch.bool)
    expected[torch.arange(6), torch.arange(6).reshape(2, 3).T.flatten()] = True
    assert torch.equal(found == ROW_IS_COL + COL_IS_ROW, expected)


def model_of(problem: Problem, **changes: Any) -> torch.nn.Module:
    torch.manual_seed(0)
    small = ModelConfig(encoder_layers=1, decoder_layers=1, dim_model=(16,), heads=(2,), max_positions=64, **changes)
    return build(small, *sides(problem)).eval()


def test_relations_begin_at_zero_and_then_count():
    problem = problem_of("add", "2")
    plain, told = model_of(problem), model_of(problem, relations="learned")
    source, target = tokens_of(problem, 2, 2)
    torch.testing.assert_close(plain(source, target), told(source, target))
    tables = [p for name, p in told.named_parameters() if "relations" in name]
    assert [tuple(p.shape) for p in tables] == [(*NUM_RELATIONS, 2)] * 3  # the encoder's, the decoder's own and cross
    told(source, target).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in tables)
    for table in tables:
        with torch.no_grad():
            table.normal_()
        assert not torch.allclose(plain(source, target), told(source, target), atol=1e-4)
        with torch.no_grad():
            table.zero_()


def test_first_heads_look_where_they_are_told():
    """Six heads: the same coefficient, the mirrored one, the same row, the same column, and these two crossed."""
    scores = relation_start(8, 12.0)
    assert scores.shape == (NUM_RELATIONS[0], 8)
    assert not scores[:, 6:].any()
    for equal in range(16):
        row, col, row_is_col, col_is_row = (bool(equal & bit) for bit in (1, 2, 4, 8))
        expected = [row and col, row_is_col and col_is_row, row, col, row_is_col, col_is_row]
        assert scores[equal, :6].tolist() == [12.0 * wanted for wanted in expected]
    assert relation_start(2, 12.0).shape == (16, 2)
    problem = problem_of("transpose", "3")
    told = model_of(problem, relations="directed")
    assert told.decoder.layers[0].cross.relations.max() * RELATIONS_RATE == DIRECTED_SCORE


@pytest.mark.parametrize("problem", [problem_of("add", "1-3"), problem_of("eigenvalues", "1-3", triangle=True)])
def test_a_batch_of_several_sizes_is_seen_as_each_alone(problem):
    model = model_of(problem, relations="learned", positions=("grid",))
    with torch.no_grad():
        for name, table in model.named_parameters():
            if "relations" in name:
                table.normal_()
    pairs = [tokens_of(problem, n, n) for n in (1, 2, 3)]
    sources, targets = (
        torch.cat([torch.nn.functional.pad(ids, (0, longest.shape[1] - ids.shape[1]), value=1) for ids in column])
        for column, longest in zip(zip(*pairs, strict=True), pairs[-1], strict=True)
    )
    together = model(sources, targets)
    for k, (source, target) in enumerate(pairs):
        torch.testing.assert_close(together[k, : target.shape[1]], model(source, target)[0])


@pytest.mark.parametrize("n", [1, 2, 5, 8, 37, 100])
def test_coordinates_of_a_triangle(n):
    row, col = upper_triangle(torch.arange(n * (n + 1) // 2), torch.tensor([[n]]))
    assert torch.equal(torch.cat([row, col]), torch.triu_indices(n, n))


def test_tokens_of_a_triangle_stand_where_they_stand_in_the_whole_matrix():
    upper, whole = (problem_of("eigenvalues", "3", triangle=triangle) for triangle in (True, False))
    (read, _), (full, _) = tokens_of(upper, 3, 3), tokens_of(whole, 3, 3)
    row, col, _ = Grid(sides(upper)[0], 64, 0).operand_coordinates(read)
    all_rows, all_cols, _ = Grid(sides(whole)[0], 64, 0).operand_coordinates(full)
    kept = [0, 1, *(2 + k for k in (0, 1, 2, 4, 5, 8))]
    assert torch.equal(row, all_rows[:, kept])
    assert torch.equal(col, all_cols[:, kept])
