"""Products of rows with columns: against matrix products by hand, for all layouts of tokens."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from learnalg.config import DataConfig, ModelConfig, replace_fields
from learnalg.config.presets import preset
from learnalg.models import build, sides
from learnalg.models.grid import Grid
from learnalg.models.products import Multiply, Products, gather, multiply, spread
from learnalg.problem import Problem
from learnalg.training.flops import counted_flops

ONE_DIGIT = "floating:digits=1,exponents=-1:1"
TWO_TOKENS = "balanced:digits=1,exponents=-1:1"


def problem_of(dim: str, task: str = "transpose", encoding: str = ONE_DIGIT, **fields: bool) -> Problem:
    return Problem(DataConfig(task=task, dim=dim, input_encoding=encoding, output_encoding=ONE_DIGIT, **fields))


def read(problem: Problem, *shapes: tuple[int, int]) -> Tensor:
    """Tokens of matrices of these shapes, padded to the longest."""
    tokens = []
    for shape in shapes:
        numbers = problem.tokenizers[0].encoding.encode(np.arange(1.0, 1 + np.prod(shape)).reshape(1, -1) % 9)
        tokens.append(problem.read_tokens(numbers, shape)[0])
    longest = max(map(len, tokens))
    return torch.from_numpy(np.stack([np.pad(t, (0, longest - len(t)), constant_values=1) for t in tokens]))


def module(norm: str = "token") -> Products:
    torch.manual_seed(0)
    return Products(ModelConfig(products=2), dim=8, norm=norm).double()


def rms(x: Tensor) -> Tensor:
    return (x.square().mean() + 1e-6).sqrt()


@torch.no_grad()
def by_hand(products: Products, x_LD: Tensor, rows: int, cols: int, header: int, width: int = 1) -> Tensor:
    """Of one example, matrix by matrix."""
    size, channels = max(rows, cols), products.left.out_features // 3
    sums = torch.zeros((len(x_LD), 3 * channels), dtype=x_LD.dtype)
    for place in range(width):
        at = header + place + width * torch.arange(rows * cols)
        for c in range(3 * channels):
            a, b = (torch.zeros((size, size), dtype=x_LD.dtype) for _ in range(2))
            a[:rows, :cols] = products.left(x_LD)[at, c].view(rows, cols)
            b[:rows, :cols] = products.right(x_LD)[at, c].view(rows, cols)
            if products.is_matrix_normed:
                a, b = a / rms(products.left(x_LD)[at]), b / rms(products.right(x_LD)[at])
            made = (a @ b, a.T @ b, a @ b.T)[c // channels]
            sums[at, c] = made[:rows, :cols].flatten()
    return products.out(sums)


def test_multiply_is_a_matrix_product_a_channel() -> None:
    a, b = torch.randn(2, 3, 4, 5, dtype=torch.double), torch.randn(2, 4, 6, 5, dtype=torch.double)
    torch.testing.assert_close(multiply(a, b), torch.einsum("bikc,bkjc->bijc", a, b))
    assert torch.autograd.gradcheck(Multiply.apply, (a.requires_grad_(), b.requires_grad_()))


both_norms = pytest.mark.parametrize("norm", ["token", "matrix"])


@both_norms
@pytest.mark.parametrize(
    ("shape", "encoding", "width"),
    [((3, 3), ONE_DIGIT, 1), ((2, 4), ONE_DIGIT, 1), ((3, 1), ONE_DIGIT, 1), ((3, 3), TWO_TOKENS, 2)],
)
def test_rows_are_multiplied_with_columns(shape: tuple[int, int], encoding: str, width: int, norm: str) -> None:
    problem = problem_of("x".join(map(str, shape)), encoding=encoding)
    side, tokens_BL, products = sides(problem)[0], read(problem, shape, shape), module(norm)
    layout = Grid(side, 64, 0).layout(tokens_BL)
    assert (layout.first is None) == (shape[0] != shape[1] or width > 1)  # the quick way is for whole squares
    x = torch.randn(2, tokens_BL.shape[1], 8, dtype=torch.double)
    expected = torch.stack([by_hand(products, one, *shape, side.header, width) for one in x])
    torch.testing.assert_close(products(x, layout).detach(), expected)


@both_norms
@pytest.mark.parametrize(("encoding", "width"), [(ONE_DIGIT, 1), (TWO_TOKENS, 2)])
def test_sizes_may_differ_in_a_batch(encoding: str, width: int, norm: str) -> None:
    problem = problem_of("2-3", encoding=encoding)
    side, tokens_BL, products = sides(problem)[0], read(problem, (2, 2), (3, 3)), module(norm)
    layout = Grid(side, 64, 0).layout(tokens_BL)
    x = torch.randn(2, tokens_BL.shape[1], 8, dtype=torch.double)
    found, end = products(x, layout).detach(), side.header + 4 * width
    torch.testing.assert_close(found[0, :end], by_hand(products, x[0, :end], 2, 2, side.header, width))
    torch.testing.assert_close(found[1], by_hand(products, x[1], 3, 3, side.header, width))
    assert not found[0, end:].any()  # padding gets nothing


def test_a_triangle_stands_for_the_whole_matrix() -> None:
    problem = problem_of("3", task="eigenvalues", triangle=True)
    side, tokens_BL = sides(problem)[0], read(problem, (3, 3))
    layout = Grid(side, 64, 0).layout(tokens_BL)
    x = torch.arange(1.0, 1 + tokens_BL.shape[1]).view(1, -1, 1)
    h = side.header + 1.0
    assert spread(x, layout)[0, :, :, 0].tolist() == [[h, h + 1, h + 2], [h + 1, h + 3, h + 4], [h + 2, h + 4, h + 5]]
    back = gather(spread(x, layout), layout, tokens_BL.shape[1])
    assert back[0, :, 0].tolist() == [0.0] * side.header + [h + k for k in range(6)]


def test_products_reach_the_answer_and_are_learned() -> None:
    config = replace_fields(preset("fast"), task="inverse", dim="3", products=4, dim_model=16, heads=2, encoder_loops=1)
    problem = Problem(config.data)
    model = build(config.model, *sides(problem))
    source, target = read(problem, (3, 3)), torch.zeros((1, 4), dtype=torch.long)
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.3)
    before = model(source, target)
    before.square().sum().backward()
    products = model.encoder.layers[0].products
    assert products.left.weight.grad.abs().sum() > 0 and products.right.weight.grad.abs().sum() > 0
    torch.nn.init.zeros_(products.out.weight)
    assert not torch.allclose(model(source, target), before)


def test_flops_are_counted_without_data() -> None:
    few, more = (counted_flops(replace_fields(preset("fast"), task="inverse", dim="3", products=n)) for n in (0, 8))
    assert more > few
