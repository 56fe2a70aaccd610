"""Where a token stands: row, column, operand, and place within its coefficient; and what two tokens have in common.

`relations` says which tokens share a row or a column. Attention then learns once to look along a row; with embeddings
alone it learns this for each row by itself.

Axes: B batch, L tokens, Q queries, K keys.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from learnalg.models.seq2seq import Side

MAX_GRID = 102  # rows and columns up to 100, one more for the end, one for the header
HEADER = MAX_GRID - 1  # row and column of the tokens before the first coefficient

Coordinates = tuple[Tensor, Tensor, Tensor]  # row, column in the operand, operand; (B, L) each
NUM_RELATIONS = 16, 4  # equal rows and columns, operands of query and key


class Layout(NamedTuple):
    """Which token belongs to which coefficient of a size x size matrix; N: places times coefficients. B may be 1."""

    token_BN: Tensor  # the token of each coefficient; L where there is none
    coefficient_BL: Tensor  # the coefficient of each token; N where there is none
    filled_M: Tensor  # how many coefficients of each matrix have a token; one value where all are alike
    size: int
    first: int | None  # the first coefficient's token, where the others follow it in order


def places(side: Side, index_L: Tensor) -> Tensor:
    """The place within its coefficient of the k-th token, 0 to width - 1; header tokens have the places after these."""
    return torch.where(index_L < side.header, side.width + index_L, (index_L - side.header) % side.width)


def row_by_row(index_L: Tensor, cols_B1: Tensor) -> tuple[Tensor, Tensor]:
    """Row and column of a matrix's k-th coefficient."""
    return index_L // cols_B1, index_L % cols_B1


def upper_triangle(index_L: Tensor, size_B1: Tensor) -> tuple[Tensor, Tensor]:
    """The same for an upper triangle, whose row r starts at the coefficient r n - r (r - 1) / 2. Padding after the
    triangle counts as its last coefficient."""
    n = size_B1
    index_BL = index_L.minimum(n * (n + 1) // 2 - 1)
    # The root of r n - r (r - 1) / 2 = k; single precision is exact enough for sizes up to 100.
    row_BL = ((2 * n + 1 - ((2 * n + 1).square() - 8 * index_BL).float().sqrt()) / 2).floor().long()
    return row_BL, index_BL - row_BL * n + row_BL * (row_BL - 1) // 2 + row_BL


class Grid(nn.Module):
    """Where the tokens of one side stand. It has no parameters.

    `shift` is 1 for the decoder, whose sequence starts with one more token: its k-th position is that of the
    k-th output token, the one to predict there; the dimensions, already read, determine it.
    """

    order: Tensor
    columns: Tensor

    def __init__(self, side: Side, max_positions: int, shift: int) -> None:
        super().__init__()
        self.side, self.shift = side, shift
        # A buffer, not torch.arange: with the latter torch.compile (2.13, CPU) fails on the divisions below.
        self.register_buffer("order", torch.arange(max_positions), persistent=False)
        if side.operands is not None:
            self.register_buffer("columns", torch.tensor(side.operands), persistent=False)

    def indices(self, tokens_BL: Tensor, last_only: bool) -> Tensor:
        length = tokens_BL.shape[1]
        return self.order[length - 1 if last_only else 0 : length]

    def places(self, tokens_BL: Tensor, last_only: bool = False) -> Tensor:
        return places(self.side, self.indices(tokens_BL, last_only))

    def coordinates(self, tokens_BL: Tensor, last_only: bool = False) -> tuple[Tensor, Tensor]:
        """Row and column of each token, all operands side by side."""
        side, at_L = self.side, self.indices(tokens_BL, last_only)
        index_L = (at_L - side.header).clamp(min=0) // side.width
        cols_B1 = self.num_cols(tokens_BL)
        is_header_L = at_L < side.header
        row_BL, col_BL = (upper_triangle if side.triangle else row_by_row)(index_L, cols_B1)
        row_BL = torch.where(is_header_L, HEADER, row_BL.clamp(max=MAX_GRID - 2))
        return row_BL, torch.where(is_header_L, HEADER, col_BL)

    def operand_coordinates(self, tokens_BL: Tensor, last_only: bool = False) -> Coordinates:
        """Row, column in the operand, and which operand."""
        row_BL, col_BL = self.coordinates(tokens_BL, last_only)
        if self.side.operands is None:
            return row_BL, col_BL, torch.zeros_like(col_BL)
        task_B1 = (tokens_BL[:, :1] - self.side.first_task).clamp(0, len(self.columns) - 1)
        found = self.columns[task_B1, self.num_cols(tokens_BL), col_BL.clamp(max=MAX_GRID - 3)]
        operand_BL, own_BL = found.unbind(-1)
        return row_BL, torch.where(col_BL == HEADER, HEADER, own_BL), operand_BL

    def shared_coordinates(self, tokens_BL: Tensor) -> Coordinates:
        """The same; of the first example alone (B is 1) where all have its header, and so its size. Meta tensors have
        no header."""
        header_BL = tokens_BL[:, : self.side.header + self.shift]
        is_shared = not header_BL.is_meta and bool((header_BL == header_BL[:1]).all())
        return self.operand_coordinates(tokens_BL[:1] if is_shared else tokens_BL)

    def layout(self, tokens_BL: Tensor) -> Layout:
        """Which token belongs to which coefficient. A token of a triangle belongs to the mirrored one too."""
        L, width = tokens_BL.shape[1], self.side.width
        if tokens_BL.is_meta:  # has shapes only: the matrix is taken for a square one
            size = math.isqrt(max(L - self.side.header, 1) // width)
            empty = torch.empty((1, width * size * size), dtype=torch.long, device="meta")
            return Layout(empty, torch.empty_like(tokens_BL[:1]), torch.empty(1, device="meta"), size, None)
        row_BL, col_BL = self.coordinates(tokens_BL)
        is_number_BL = (row_BL != HEADER) & (tokens_BL != self.side.pad)
        size = 1 + int(torch.where(is_number_BL, row_BL.maximum(col_BL), 0).max())
        place_L, num_coefficients = self.places(tokens_BL), width * size * size
        coefficient_BL = torch.where(is_number_BL, (place_L * size + row_BL) * size + col_BL, num_coefficients)
        is_shared = bool((coefficient_BL == coefficient_BL[:1]).all())
        coefficient_BL = coefficient_BL[:1] if is_shared else coefficient_BL
        token_BN = torch.full((len(coefficient_BL), num_coefficients + 1), L, device=tokens_BL.device)
        token_BN.scatter_(1, coefficient_BL, self.order[:L].expand_as(coefficient_BL))
        token_BN = token_BN[:, :-1]
        if self.side.triangle:
            square = token_BN.view(-1, width, size, size)
            token_BN = square.minimum(square.mT).flatten(1)  # L, for no token, is the largest
        first = int(token_BN[0, 0])
        is_run = width == 1 and bool((token_BN == first + self.order[:num_coefficients]).all())
        filled_M = ((token_BN < L).sum(1) // width).repeat_interleave(1 if is_shared else width)
        return Layout(token_BN, coefficient_BL, filled_M, size, first if is_run else None)

    def num_cols(self, tokens_BL: Tensor) -> Tensor:
        last_dim = min(self.side.header - 1 + self.shift, tokens_BL.shape[1] - 1)  # shorter sequences are all header
        return (tokens_BL[:, last_dim, None] - (self.side.first_dim - 1)).clamp(1, MAX_GRID - 2)


def relations(queries: Coordinates, keys: Coordinates) -> Tensor:
    """(B, Q, K): bits for what two tokens have in common (rows, columns, the row of one and the column of the other),
    and for their operands; all operands after the first are alike."""
    (row_BQ, col_BQ, operand_BQ), (row_BK, col_BK, operand_BK) = queries, keys
    equal = torch.zeros((), dtype=torch.long, device=row_BQ.device)
    for k, (one_BQ, other_BK) in enumerate(
        ((row_BQ, row_BK), (col_BQ, col_BK), (row_BQ, col_BK), (col_BQ, row_BK)),
    ):
        equal = equal + 2**k * (one_BQ[:, :, None] == other_BK[:, None, :])
    return equal * 4 + 2 * operand_BQ.clamp(max=1)[:, :, None] + operand_BK.clamp(max=1)[:, None, :]
