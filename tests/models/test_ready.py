"""A transformer made ready to predict: when it is, and that released models write what their steps write.

Its logits are those of the forward pass: tests/contracts/test_models.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import learnalg
from learnalg.config import ModelConfig
from learnalg.data import fixed_set
from learnalg.evaluation.decode import Grammar, greedy, greedy_by_steps
from learnalg.models import build, side_of
from learnalg.models.cpu import MANY_ROWS, fast_products
from learnalg.models.ready import ready_of
from learnalg.models.ready_layers import Linear
from learnalg.tokens.tokenizer import PAD, Tokenizer

TOKENIZER = Tokenizer("floating:digits=1,exponents=-1:1")
SIZE: dict[str, Any] = {"encoder_layers": 1, "decoder_layers": 1, "dim_model": (16,), "heads": (2,)}


def make(architecture: str = "transformer") -> nn.Module:
    extra = {} if architecture == "transformer" else {"heads": (8,), "positions": ("none",)}
    config = ModelConfig(**(SIZE | extra), architecture=architecture)
    return build(config, side_of(TOKENIZER), side_of(TOKENIZER)).eval()


def sources(*shapes: tuple[int, int], extra: int = 0) -> torch.Tensor:
    rows = [TOKENIZER.encode(np.ones((1, *shape)))[0] for shape in shapes]
    ids = np.full((len(rows), max(map(len, rows)) + extra), PAD)
    for k, row in enumerate(rows):
        ids[k, : len(row)] = row
    return torch.from_numpy(ids)


def test_sources_of_one_size_without_padding_have_a_header():
    ready = ready_of(make())
    assert ready is not None
    same = sources((2, 2), (2, 2))
    assert ready.header_of(same) == tuple(same[0, :2].tolist())
    assert ready.header_of(sources((2, 2), (2, 2), extra=1)) is None
    assert ready.header_of(sources((2, 3), (3, 2))) is None


def test_it_is_kept_until_the_weights_change():
    model = make()
    ready = ready_of(model)
    assert ready is not None and ready_of(model) is ready
    with torch.no_grad():
        next(model.parameters()).mul_(2)
    other = ready_of(model)
    assert other is not None and other is not ready
    assert ready_of(model.train()) is None
    assert ready_of(make("lstm")) is None


RELEASED = (
    "eigenvalues-5",
    "eigenvalues",
    "eigenvalues-3",
    "eigenvectors-5",
    "inverse-3",
    "svd-4",
    "matvec-5",
    "add-5",
)


@pytest.mark.parametrize("name", RELEASED)
def test_released_models_write_what_their_steps_write(name):
    """Looped and plain, with and without products and relations; freely, and bound to the shape of the answer."""
    model = learnalg.load(name)
    batch = next(fixed_set(model.problem, 40, 0))
    group = max(batch.groups, key=lambda group: len(group.rows))
    source = torch.from_numpy(batch.sources[group.rows])
    source = source[:, : int((source[0] != model.module.source.pad).sum())]
    tokenizer, task = model.problem.tokenizers[1], model.problem.tasks[0][1]
    shape = task.output_shape(*group.dims)
    longest = tokenizer.length(shape) + 1
    for grammar, wanted in ((None, None), (Grammar(tokenizer, longest), shape)):
        expected = greedy_by_steps(model.module, source, longest, grammar, wanted)
        found = greedy(model.module, source, longest, grammar, wanted)
        assert torch.equal(found.tokens_BT, expected.tokens_BT)
        assert torch.equal(found.free_B, expected.free_B)
        torch.testing.assert_close(found.log_BT, expected.log_BT, atol=1e-2, rtol=1e-2)


def test_maps_of_few_and_of_many_rows_are_the_same():
    maps = [(torch.randn(6, 5), torch.randn(6)) for _ in range(3)]
    x = torch.randn(MANY_ROWS, 5)
    for parts in (maps, [(weight, None) for weight, _ in maps]):
        made = Linear(*parts)
        expected = torch.stack([torch.nn.functional.linear(x, *part) for part in parts])
        torch.testing.assert_close(made(x), expected)
        torch.testing.assert_close(made(x[:3]), expected[:, :3])


@pytest.mark.parametrize("name", ["eigenvalues-5", "inverse-3"])
def test_one_problem_is_answered_as_in_a_stack(name):
    model = learnalg.load(name)
    inputs = next(fixed_set(model.problem, 6, 0)).groups[0].inputs
    alone, stack = [model.solve(matrix) for matrix in inputs], model.solve(np.tile(inputs, (8, 1, 1)))
    np.testing.assert_array_equal([found.matrix for found in alone], stack.matrix[: len(inputs)])
    np.testing.assert_allclose([found.confidence for found in alone], stack.confidence[: len(inputs)], rtol=1e-3)


def test_products_are_exact_with_either_library_and_the_setting_comes_back():
    settings: Any = torch.backends.mkldnn.matmul
    before = settings.fp32_precision
    a = torch.linspace(-1, 1, 128 * 128).view(128, 128).sin()
    for rows in (1, 1000):
        with fast_products(rows):
            torch.testing.assert_close(a @ a, (a.double() @ a.double()).float(), rtol=0, atol=1e-3)
    assert settings.fp32_precision == before
