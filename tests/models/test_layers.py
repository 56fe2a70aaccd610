"""Attention: its two ways of computing agree with the definition, and each is taken where it should be."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from learnalg.models import layers
from learnalg.models.layers import FUSED_FROM, VECTOR, attend

B, H, Q, K = 2, 3, 5, 8
NEVER = 10**9
LENGTHS = [1, VECTOR - 1, VECTOR, 20, FUSED_FROM - 1, FUSED_FROM, FUSED_FROM + 1]

every_length = pytest.mark.parametrize("length", LENGTHS)
every_mask = pytest.mark.parametrize("kind", ["none", "padding", "causal"])


def inputs(length: int, kind: str, queries: int = Q) -> tuple[list[Tensor], Tensor | None]:
    """Queries, keys and values, and a mask that leaves each query something to look at."""
    generator = torch.Generator().manual_seed(length)
    if kind == "causal":
        queries = length
    shapes = (B, H, queries, K), (B, H, length, K), (B, H, length, K)
    tensors = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    if kind == "none":
        return tensors, None
    if kind == "causal":
        return tensors, torch.full((length, length), -math.inf).triu(1)
    mask = torch.zeros(B, 1, 1, length)
    mask[1, ..., (length + 1) // 2 :] = -math.inf
    return tensors, mask


def defined(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """In double precision, a query at a time."""
    query, keys, values = query.double(), keys.double(), values.double()
    rows = []
    for q in range(query.shape[2]):
        scores = (keys * query[:, :, q : q + 1]).sum(-1) / math.sqrt(K)
        if mask is not None:
            scores = scores + mask.expand(B, H, query.shape[2], -1)[:, :, q]
        weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
        rows.append((weights[..., None] * values).sum(-2))
    return torch.stack(rows, dim=2).float()


def with_gradients(out: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    direction = torch.randn(out.shape, generator=torch.Generator().manual_seed(1))
    return [out.detach(), *torch.autograd.grad((out * direction).sum(), tensors)]


@pytest.fixture
def calls(monkeypatch):
    """How many keys the fused kernel was called with, each time."""
    seen, fused = [], layers.F.scaled_dot_product_attention

    def remember(query, keys, values, **options):
        seen.append(keys.shape[-2])
        return fused(query, keys, values, **options)

    monkeypatch.setattr(layers.F, "scaled_dot_product_attention", remember)
    return seen


@every_length
@every_mask
@pytest.mark.parametrize("fused_from", [0, NEVER], ids=["fused", "written-out"])
def test_both_ways_are_attention_as_defined(length, kind, fused_from, monkeypatch, calls):
    monkeypatch.setattr(layers, "FUSED_FROM", fused_from)
    tensors, mask = inputs(length, kind)
    found = with_gradients(attend(*tensors, mask), tensors)
    assert len(calls) == (fused_from == 0)
    torch.testing.assert_close(found, with_gradients(defined(*tensors, mask), tensors), rtol=1e-5, atol=1e-5)


@every_length
def test_long_sequences_are_fused_and_short_ones_written_out(length, calls):
    tensors, _ = inputs(length, "none", queries=1)
    attend(*tensors, None)
    assert calls == ([length] if length >= FUSED_FROM else [])


@pytest.mark.parametrize("way", ["autocast", "tensors"])
@every_mask
def test_bf16_is_always_written_out(way, kind, monkeypatch):
    def fail(*arguments, **options):
        raise AssertionError("the fused kernel was called")

    tensors, mask = inputs(FUSED_FROM + 4, kind)
    expected = defined(*tensors, mask)
    monkeypatch.setattr(layers.F, "scaled_dot_product_attention", fail)
    if way == "autocast":
        with torch.autocast("cpu", torch.bfloat16):
            out = attend(*tensors, mask)
    else:
        out = attend(*(t.bfloat16() for t in tensors), mask if mask is None else mask.bfloat16())
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(out.float(), expected, rtol=0.05, atol=0.03)
    with pytest.raises(AssertionError, match="fused"):
        attend(*tensors, mask)
