"""Tokens by their values, positions by row and column: checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from learnalg.config import DataConfig, ModelConfig
from learnalg.models import build, side_of, sides
from learnalg.models.embeddings import (
    POSITIONS,
    Features,
    GridPositions,
    LearnedPositions,
    Lookup,
    OperandPositions,
    Ordered,
    decades,
    ordered,
    value_features,
)
from learnalg.models.grid import MAX_GRID, places
from learnalg.models.seq2seq import Side
from learnalg.problem import Problem
from learnalg.tokens.tokenizer import END, FIRST_DIM, FIRST_NUMBER, FIRST_TASK, PAD, Tokenizer

VALUES = np.random.default_rng(0).uniform(-100, 100, 2_000)
SINES, COSINES, LINEAR, LOG = slice(0, 8), slice(8, 16), 16, 17
LAST = MAX_GRID - 1  # row and column of the header
P1000, FP15 = Tokenizer("p1000"), Tokenizer("fp15")


def test_features_of_zero_and_of_one_period():
    np.testing.assert_allclose(value_features(np.array([0.0])), [[0] * 8 + [1] * 8 + [0, 0]])
    shortest, longest = value_features(np.array([3.2, 100.0]))
    np.testing.assert_allclose(shortest[[0, 8]], [0, 1], atol=1e-12)
    np.testing.assert_allclose(longest[[7, 15, LINEAR, LOG]], [0, 1, 10, np.log(101)], atol=1e-12)


def test_features_are_odd_or_even():
    features, mirrored = value_features(VALUES), value_features(-VALUES)
    np.testing.assert_array_equal(mirrored[:, COSINES], features[:, COSINES])
    for odd in (SINES, LINEAR, LOG):
        np.testing.assert_array_equal(mirrored[:, odd], -features[:, odd])


def test_features_are_bounded_even_for_the_largest_numbers_of_fp15():
    features = value_features(np.concatenate([VALUES, FP15.encoding.token_values[:-2]]))
    assert np.isfinite(features).all()
    assert np.abs(features[:, :16]).max() <= 1
    assert np.abs(features[:, LINEAR]).max() == 10
    assert np.abs(features[:, LOG]).max() < 24


@pytest.mark.parametrize("distance", [1e-6, 1e-3, 0.1])
def test_features_are_smooth(distance):
    """No feature turns faster than the sine of the shortest period, 3.2."""
    change = np.abs(value_features(VALUES + distance) - value_features(VALUES))
    assert change.max() <= 2 * np.pi / 3.2 * distance * (1 + 1e-6)
    assert change.max() > 0.95 * 2 * np.pi / 3.2 * distance


def test_the_value_orders_two_features():
    features = value_features(np.sort(VALUES))
    assert (np.diff(features[:, [LINEAR, LOG]], axis=0) > 0).all()


def test_close_numbers_are_embedded_close():
    torch.manual_seed(0)
    embed = Features(side_of(FP15), 64)
    numbers = np.array([[3.14, 3.15, 3.5, -3.14, 8.9]])
    embedded = embed(torch.from_numpy(FIRST_NUMBER + FP15.encoding.encode(numbers)[..., 0]))[0]
    near, nearby, *others = (embedded[1:] - embedded[0]).norm(dim=1).tolist()
    assert near < 0.05 * min(others)
    assert near < nearby < min(others)


def test_numbers_share_one_learned_row_and_other_tokens_have_their_own():
    embed = Features(side_of(P1000), 8)
    is_number = ~np.isnan(P1000.token_values)
    rows = embed.row_V.numpy()
    assert (rows[is_number] == 0).all()
    assert sorted(rows[~is_number]) == list(range(1, 1 + (~is_number).sum()))
    assert len(embed.weight) == 1 + (~is_number).sum()
    with torch.no_grad():
        embed.project.weight.zero_()
    embedded = embed(torch.arange(P1000.vocab_size))
    assert torch.equal(embedded, embed.weight[embed.row_V])


def test_features_of_tokens_without_a_value_are_zero():
    embed = Features(side_of(P1000), 8)
    with torch.no_grad():
        embed.weight.zero_()
    no_number = torch.tensor([END, PAD, FIRST_TASK, FIRST_DIM, P1000.vocab_size - 1])
    assert (embed(no_number) == 0).all()
    assert (embed(torch.tensor([FIRST_NUMBER])) != 0).any()


def test_features_need_values():
    with pytest.raises(ValueError, match="values"):
        Features(Side(10), 8)


def test_lookup_is_a_row_a_token():
    embed = Lookup(Side(10), 4)
    assert torch.equal(embed(torch.tensor([[3, 3, 7]])), embed.weight[[3, 3, 7]][None])


def test_learned_positions_are_the_first_rows():
    positions = LearnedPositions(Side(10), 4, max_positions=6, shift=0)
    assert torch.equal(positions(torch.zeros(2, 5, dtype=torch.long)), positions.weight[:5])


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize(
    "tokenizer", [P1000, FP15, Tokenizer("p1000", ("transpose", "add"))], ids=["p1000", "fp15", "joint"]
)
def test_the_last_position_alone_is_the_last_of_all(name, tokenizer, shift):
    positions = POSITIONS[name](side_of(tokenizer), 8, 64, shift)
    start = [END] * shift
    tokens = torch.tensor([[*start, *matrix(tokenizer, 2, 3)], [*start, *matrix(tokenizer, 3, 2)]])
    whole = positions(tokens)  # (L, D) or (B, L, D)
    for length in range(1, tokens.shape[1] + 1):
        last = positions(tokens[:, :length], last_only=True)
        assert last.shape == (*whole.shape[:-2], 1, whole.shape[-1])
        assert torch.equal(last, positions(tokens[:, :length])[..., -1:, :])
        if name != "none" and (
            shift or length >= tokenizer.header
        ):  # an encoder's dimensions are known with its whole header
            assert torch.equal(last, whole[..., length - 1 : length, :])


def test_places_within_coefficients_and_behind_them_those_of_the_header():
    assert places(Side(10, header=2, width=3), torch.arange(9)).tolist() == [3, 4, 0, 1, 2, 0, 1, 2, 0]
    assert places(Side(10, header=3, width=1), torch.arange(6)).tolist() == [1, 2, 3, 0, 0, 0]
    assert places(Side(10, header=2, width=3), torch.tensor([5])).tolist() == [0]


def grid(tokenizer: Tokenizer, tokens: list[int] | Tensor, shift: int) -> list[tuple[int, ...]]:
    """(row, column, place) of each token: tables whose rows hold their own numbers."""
    positions = GridPositions(side_of(tokenizer), 3, 10_100, shift)
    with torch.no_grad():
        for axis, table in enumerate((positions.rows, positions.cols, positions.places)):
            table.zero_()
            table[:, axis] = torch.arange(len(table))
        return [tuple(map(int, row)) for row in positions(torch.as_tensor(tokens)[None])[0]]


def matrix(tokenizer: Tokenizer, rows: int, cols: int) -> list[int]:
    return tokenizer.encode(np.ones((1, rows, cols)))[0].tolist()


# Three tokens a number: row 0, columns 0 to 2, then row 1. The header's places come behind those of numbers.
TWO_BY_THREE = [(row, col, place) for row in (0, 1) for col in (0, 1, 2) for place in (0, 1, 2)]
JOINT = Tokenizer("p1000", ("transpose", "add"))
HEADER, JOINT_HEADER = [(LAST, LAST, 3), (LAST, LAST, 4)], [(LAST, LAST, 3), (LAST, LAST, 4), (LAST, LAST, 5)]


@pytest.mark.parametrize(("tokenizer", "header"), [(P1000, HEADER), (JOINT, JOINT_HEADER)], ids=["alone", "joint"])
def test_grid_of_a_2x3_matrix_in_the_encoder(tokenizer, header):
    assert grid(tokenizer, matrix(tokenizer, 2, 3), shift=0) == header + TWO_BY_THREE


@pytest.mark.parametrize(("tokenizer", "header"), [(P1000, HEADER), (JOINT, JOINT_HEADER)], ids=["alone", "joint"])
def test_grid_of_a_2x3_matrix_in_the_decoder_is_that_of_the_token_to_predict(tokenizer, header):
    end = (2, 0, 0)  # the token to predict behind the last number begins a third row
    assert grid(tokenizer, [END, *matrix(tokenizer, 2, 3)], shift=1) == [*header, *TWO_BY_THREE, end]


def test_grid_of_one_token_a_coefficient():
    tokens = matrix(FP15, 2, 3)
    expected = [(LAST, LAST, 1), (LAST, LAST, 2), (0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0)]
    assert grid(FP15, tokens, shift=0) == expected


def test_grids_of_a_batch_follow_their_own_dimensions():
    positions = GridPositions(side_of(FP15), 8, 512, shift=0)
    tokens = torch.tensor([matrix(FP15, 2, 3), matrix(FP15, 3, 2)])
    together = positions(tokens)
    for row in range(2):
        torch.testing.assert_close(positions(tokens[row : row + 1]), together[row : row + 1])
    assert not torch.equal(together[0], together[1])


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("tokenizer", [P1000, JOINT], ids=["alone", "joint"])
def test_a_sequence_shorter_than_its_header_is_all_header(tokenizer, shift):
    tokens = [END] * shift + matrix(tokenizer, 2, 3)
    whole = grid(tokenizer, tokens, shift)
    for length in range(1, tokenizer.header + 1):
        assert grid(tokenizer, tokens[:length], shift) == whole[:length]


@pytest.mark.parametrize("tokenizer", [P1000, JOINT], ids=["alone", "joint"])
def test_a_decoders_position_does_not_depend_on_later_tokens(tokenizer):
    tokens = torch.tensor([END, *matrix(tokenizer, 2, 3)])
    whole = grid(tokenizer, tokens, shift=1)
    generator = torch.Generator().manual_seed(0)
    for k in range(len(tokens)):
        changed = tokens.clone()
        changed[k + 1 :] = torch.randint(tokenizer.vocab_size, changed[k + 1 :].shape, generator=generator)
        assert grid(tokenizer, changed, shift=1)[: k + 1] == whole[: k + 1]
        assert grid(tokenizer, tokens[: k + 1], shift=1) == whole[: k + 1]


@pytest.mark.parametrize(("part", "start"), [("encoder", []), ("decoder", [END])])
def test_both_sides_of_a_model_count_columns_where_they_stand(part, start):
    side = side_of(FP15)
    size = {"encoder_layers": 1, "dim_model": (8,), "heads": (1,), "positions": ("grid",)}
    positions = getattr(build(ModelConfig(**size), side, side), part).embed.positions
    numbers = matrix(FP15, 2, 3)[FP15.header :]
    wide, wider, higher = (
        positions(torch.tensor([[*start, FIRST_DIM + m - 1, FIRST_DIM + n - 1, *numbers]]))
        for m, n in ((2, 3), (2, 4), (3, 3))
    )
    assert torch.equal(higher, wide)
    assert not torch.equal(wider, wide)


@pytest.mark.parametrize("token", [END, PAD, FIRST_TASK, FIRST_NUMBER, P1000.vocab_size - 1])
def test_a_grid_without_dimensions_stays_within_its_tables(token):
    tokens = torch.full((400,), token)
    found = np.array(grid(P1000, tokens, shift=1))
    assert (found >= 0).all()
    assert (found.max(axis=0) < [MAX_GRID, MAX_GRID, P1000.width + P1000.header]).all()


def test_the_largest_matrix_fits_into_the_grid():
    row, col, _ = np.array(grid(FP15, [END, *matrix(FP15, 100, 100)], shift=1)).T
    assert (row[-2], col[-2]) == (99, 99)
    assert (row[-1], col[-1]) == (100, 0)


# Operands side by side.


def operands(positions, tokens):
    """(row, column in the operand, operand) of each number, read off tables that hold one at a time."""
    found = []
    for table in ("rows", "cols", "operands"):
        with torch.no_grad():
            for name in ("rows", "cols", "places", "operands"):
                getattr(positions, name).zero_()
            size = len(getattr(positions, table))
            getattr(positions, table)[:] = torch.arange(size, dtype=torch.float32)[:, None]
        found.append(positions(torch.as_tensor(tokens)[None])[0, :, 0].round().int().tolist())
    return list(zip(*found, strict=True))


def operand_positions(**data) -> OperandPositions:
    return OperandPositions(sides(Problem(DataConfig(**data)))[0], 8, 10_002, shift=0)


@pytest.mark.parametrize("task", ["add", "matmul"])
def test_columns_are_counted_in_each_operand(task):
    found = operands(operand_positions(task=task), matrix(FP15, 2, 4))
    assert found[2:] == [
        *((0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)),
        *((1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1)),
    ]
    assert [place[:2] for place in found[:2]] == [(LAST, LAST)] * 2


def test_a_vector_is_an_operand_of_one_column():
    found = operands(operand_positions(task="matvec"), matrix(FP15, 2, 3))
    assert found[2:] == [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0), (1, 0, 1)]


def test_in_joint_training_the_task_tells_the_operands():
    tokenizer = Tokenizer("fp15", ("add", "matvec", "transpose"))
    positions = operand_positions(task="+".join(tokenizer.task_names))
    tokens = torch.tensor(matrix(tokenizer, 1, 4))
    for task, columns in enumerate(([0, 1, 0, 1], [0, 1, 2, 0], [0, 1, 2, 3])):
        tokens[0] = FIRST_TASK + task
        assert [place[1] for place in operands(positions, tokens)[3:]] == columns


def test_with_one_operand_they_are_the_grid():
    tokens = torch.tensor([matrix(FP15, 2, 3)])
    for task in ("eigenvalues", "transpose"):
        positions = operand_positions(task=task)
        plain = GridPositions(side_of(FP15), 8, 10_002, shift=0)
        plain.load_state_dict(positions.state_dict())  # the same tables, no more
        assert torch.equal(positions(tokens), plain(tokens))


def test_the_largest_operands_fit():
    found = operands(operand_positions(task="add"), matrix(FP15, 100, 100))
    assert found[-1] == (99, 49, 1)


@pytest.mark.parametrize("name", ["p100", "p1000", "b1999", "fp15"])
def test_ordered_tokens_start_close_to_their_neighbours(name):
    torch.manual_seed(0)
    tokenizer = Tokenizer(name)
    embed = Ordered(side_of(tokenizer), 64)
    weight_VD = embed.weight.detach()
    start, stop = max(tokenizer.ordered.tolist(), key=lambda span: span[1] - span[0])
    rows = weight_VD[start:stop]
    steps = (rows[1:] - rows[:-1]).norm(dim=1)
    far = (rows[: len(rows) // 2] - rows[len(rows) // 2 : len(rows) // 2 * 2]).norm(dim=1)
    assert steps.mean() < 0.5 * far.mean()


def test_ordered_rows_are_what_tokens_are_embedded_as():
    embed = Ordered(side_of(P1000), 32)
    tokens = torch.arange(P1000.vocab_size)[None]
    torch.testing.assert_close(embed(tokens)[0], embed.weight)


def test_tokens_without_order_have_rows_of_their_own():
    embed = Ordered(side_of(P1000), 32)
    is_ordered = np.diff(P1000.ordered, axis=1)[:, 0] > 1
    assert not embed.features_VF[~is_ordered].any()
    lengths = embed.weight.detach().norm(dim=1).numpy()
    assert 0.7 < lengths[~is_ordered].mean() < 1.3
    assert 0.7 < lengths[is_ordered].mean() < 1.3


def test_digits_have_rows_of_their_own():
    assert type(ordered(side_of(Tokenizer("p10")), 32)) is Lookup
    assert type(ordered(side_of(P1000), 32)) is Ordered


def test_periods_of_ordered_tokens_go_from_twice_the_range_to_some_thirty_tokens():
    tokenizer = Tokenizer("b1999")
    start, stop = tokenizer.ordered[FIRST_NUMBER]
    sines = Ordered(side_of(tokenizer), 8).features_VF[start:stop, :8].numpy()
    assert stop - start == 1999
    crossings = (np.diff(np.sign(sines[1:]), axis=0) != 0).sum(axis=0)
    np.testing.assert_allclose(crossings, 2.0 ** np.arange(8) - 1, atol=1)


@pytest.mark.parametrize("name", ["p1000", "b1999"])
def test_decades_know_a_mantissa_by_its_logarithm(name):
    """The waves of 2.00 are those of log 2, of -2.00 the same with the other sign; the last token of a decade
    is next to its first."""
    tokenizer = Tokenizer(name)
    side = side_of(tokenizer)
    plain, told = Ordered(side, 8).features_VF, Ordered(side, 8, decades=True).features_VF
    torch.testing.assert_close(told[:, : plain.shape[1]], plain)
    waves_VF = told[:, plain.shape[1] :].numpy()
    assert waves_VF.shape[1] == (28 if name == "b1999" else 14)
    start, stop = max(tokenizer.ordered.tolist(), key=lambda span: span[1] - span[0])
    id_of = {round(100 * side.values[k]): k for k in range(start, stop)}
    phases = 2 * np.pi * np.log10(2) * 2.0 ** np.arange(7)
    np.testing.assert_allclose(waves_VF[id_of[200], :14], [*np.sin(phases), *np.cos(phases)], atol=1e-6)
    if name == "b1999":
        np.testing.assert_allclose(waves_VF[id_of[-200], 14:], -waves_VF[id_of[200], 14:], atol=1e-6)
        assert not waves_VF[id_of[99]].any()  # no number is written so
    near, far = (np.abs(waves_VF[id_of[k]] - waves_VF[id_of[100]]).max() for k in (999, 500))
    assert near < 0.2 < far
    is_ordered = np.diff(tokenizer.ordered, axis=1)[:, 0] > 1
    assert not waves_VF[~is_ordered].any()


def test_decades_of_digits_are_rows_of_their_own():
    assert type(decades(side_of(Tokenizer("p10")), 32)) is Lookup
    for side in (side_of(Tokenizer("fp15")), Side(40, ordered=np.array([[0, 40]] * 40))):
        with pytest.raises(ValueError, match="need tokens that are mantissas"):
            decades(side, 8)


def test_ordered_tokens_need_their_ranges():
    with pytest.raises(ValueError, match="ordered embeddings need"):
        ordered(Side(10), 8)
