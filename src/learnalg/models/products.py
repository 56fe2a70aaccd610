"""Products of the matrix of tokens with itself, in many channels: what attention does not multiply.

Attention adds up values, each made from one token. In a product of matrices each term is made from two: coefficient
(i, k) and coefficient (k, j). `Products` gives the token of coefficient (i, j) the sum of such terms over k, of two
linear maps of the tokens, in three forms:

    rows by columns     sum over k of a(i, k) b(k, j)
    columns by columns  sum over k of a(k, i) b(k, j)
    rows by rows        sum over k of a(i, k) b(j, k)

What is multiplied, and what for, is learned; rows and columns are given. If a coefficient has several tokens, there is
a matrix for each place. Dimensions and padding belong to no coefficient, and get nothing.

Axes: B batch, L tokens, D dimensions, C channels, M matrices, N coefficients, s rows and columns.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from learnalg.config import ModelConfig
from learnalg.models.grid import Layout


def spread(x_BLC: Tensor, layout: Layout) -> Tensor:
    """Tokens as matrices, zero where a coefficient has none: (M, s, s, C), one matrix for each example and place."""
    s, C = layout.size, x_BLC.shape[2]
    if layout.first is not None:
        return x_BLC[:, layout.first : layout.first + s * s].unflatten(1, (s, s))
    return look_up(x_BLC, layout.token_BN).view(-1, s, s, C)


def gather(grid: Tensor, layout: Layout, length: int) -> Tensor:
    """The way back: (B, L, C)."""
    if layout.first is not None:
        return nn.functional.pad(grid.flatten(1, 2), (0, 0, layout.first, length - layout.first - layout.size**2))
    places = layout.token_BN.shape[1] // layout.size**2
    return look_up(grid.reshape(len(grid) // places, -1, grid.shape[-1]), layout.coefficient_BL)


def look_up(rows_BLC: Tensor, index_BN: Tensor) -> Tensor:
    """Rows by their index; the index after the last is a row of zeros."""
    padded_BLC = nn.functional.pad(rows_BLC, (0, 0, 0, 1))
    if len(index_BN) == 1:
        return padded_BLC.index_select(1, index_BN[0])
    return padded_BLC.gather(1, index_BN[:, :, None].expand(-1, -1, rows_BLC.shape[2]))


def norm_matrix(grid: Tensor, layout: Layout) -> Tensor:
    """Scales each matrix to mean square 1. Its coefficients keep their ratios; a norm of each token would not."""
    square = grid.square().sum((1, 2, 3), keepdim=True) / (grid.shape[-1] * layout.filled_M.view(-1, 1, 1, 1))
    return grid * torch.rsqrt(square + 1e-6)


def multiply(a_BikC: Tensor, b_BkjC: Tensor) -> Tensor:
    """Matrix products, channel by channel: (B, i, j, C)."""
    made = a_BikC[:, :, 0, None] * b_BkjC[:, None, 0]
    for k in range(1, a_BikC.shape[2]):
        made.addcmul_(a_BikC[:, :, k, None], b_BkjC[:, None, k])
    return made


class Multiply(torch.autograd.Function):
    """`multiply` with its gradient, which are two such products. Matrices are small and channels many: on a CPU
    products of whole channels are faster than a batch of matrix products (benchmarks/products.py)."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        return multiply(a, b)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        a, b = ctx.saved_tensors
        return multiply(grads[0], b.transpose(1, 2)), multiply(a.transpose(1, 2), grads[0])


class Products(nn.Module):
    def __init__(self, config: ModelConfig, dim: int, norm: str) -> None:
        super().__init__()
        self.is_matrix_normed = norm == "matrix"
        channels = 3 * config.products
        self.left = nn.Linear(dim, channels, bias=False)
        self.right = nn.Linear(dim, channels, bias=False)
        self.out = nn.Linear(channels, dim, bias=False)
        if config.norm == "pre":
            nn.init.zeros_(self.out.weight)

    def forward(self, x_BLD: Tensor, layout: Layout) -> Tensor:
        left, right = spread(self.left(x_BLD), layout), spread(self.right(x_BLD), layout)
        if self.is_matrix_normed:
            left, right = norm_matrix(left, layout), norm_matrix(right, layout)
        (a, b, c), (x, y, z) = left.chunk(3, -1), right.chunk(3, -1)
        made = [Multiply.apply(a, x), Multiply.apply(b.transpose(1, 2), y), Multiply.apply(c, z.transpose(1, 2))]
        out: Tensor = self.out(gather(torch.cat(made, -1), layout, x_BLD.shape[1]))
        return out
