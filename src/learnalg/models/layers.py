"""The parts of a transformer: norms, attention, the feed-forward network.

Axes: B batch, Q queries, L keys, D dimensions, H heads, K dimensions of a head.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from learnalg.config import ModelConfig
from learnalg.models.dropout import Dropout
from learnalg.models.grid import NUM_RELATIONS


def make_norm(config: ModelConfig, dim: int) -> nn.Module:
    """LayerNorm, as in the paper; on a CPU one fused kernel. 1e-12 is what the paper's published code uses."""
    return nn.LayerNorm(dim, eps=1e-12, bias=has_biases(config))


def has_biases(config: ModelConfig) -> bool:
    """Pre-norm layers have none."""
    return config.norm == "post"


def make_final_norm(config: ModelConfig, dim: int) -> nn.Module:
    """For what leaves the layers: those of a pre-norm network do not normalise it."""
    return make_norm(config, dim) if config.norm == "pre" else nn.Identity()


FUSED_FROM = 96  # keys from which the fused kernel trains faster on a CPU, in fp32 (docs/log.md)


def attend(query_BHQK: Tensor, keys_BHLK: Tensor, values_BHLK: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(K) + mask) V. On a CPU it is written out for short sequences, for a learned mask and in
    bf16: there the fused kernel's backward pass is many times slower."""
    on_cpu = query_BHQK.device.type == "cpu"
    is_bf16 = on_cpu and (query_BHQK.dtype == torch.bfloat16 or torch.is_autocast_enabled("cpu"))
    is_learned = mask is not None and mask.requires_grad
    if not on_cpu or (keys_BHLK.shape[-2] >= FUSED_FROM and not is_bf16 and not is_learned):
        return F.scaled_dot_product_attention(query_BHQK, keys_BHLK, values_BHLK, attn_mask=mask)
    scores_BHQL = (query_BHQK * query_BHQK.shape[-1] ** -0.5) @ keys_BHLK.transpose(-1, -2)
    if mask is not None:
        scores_BHQL = scores_BHQL + mask
    weights_BHQL = ShortSoftmax.apply(scores_BHQL) if is_short(scores_BHQL) else scores_BHQL.softmax(-1)
    return weights_BHQL @ values_BHLK


VECTOR = 16  # numbers of fp32 in a register of AVX-512; torch's softmax handles shorter rows one by one


def is_short(scores: Tensor) -> bool:
    return scores.shape[-1] < VECTOR and scores.dtype == torch.float32 and not torch.compiler.is_compiling()


class ShortSoftmax(torch.autograd.Function):
    """Softmax of rows shorter than a vector, such as those of 3x3 matrices, five times as fast as torch's on a CPU."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        shares = (scores - scores.amax(-1, keepdim=True)).exp_()
        shares.div_(shares.sum(-1, keepdim=True))
        ctx.save_for_backward(shares)
        return shares

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (shares,) = ctx.saved_tensors
        changes = grads[0] * shares
        return changes.addcmul_(shares, changes.sum(-1, keepdim=True), value=-1)


class Bias(NamedTuple):
    """What is added to the scores of attention: a mask, and a learned bias by the relation of query and key."""

    mask: Tensor | None = None  # 0 where a query may look, -inf where not
    relations_BQL: Tensor | None = None  # what query and key have in common (models/grid.py); B may be 1


DIRECTED_SCORE = 12.0  # the first scores of directed heads
RELATIONS_RATE = 10.0  # Adam moves all weights alike, and scores have to move further than others
# What the first heads look at from the start, by relations (bits of models/grid.py): the same coefficient, the mirrored
# one, the same row, the same column, the column whose index is the row's, the row whose index is the column's.
FIRST_HEADS = (0b0011, 0b1100, 0b0001, 0b0010, 0b0100, 0b1000)


def relation_start(heads: int, score: float) -> Tensor:
    """(16, heads): this score where a head should look, zero elsewhere; heads after the first six start at zero."""
    start = torch.zeros(NUM_RELATIONS[0], heads)
    equal = torch.arange(NUM_RELATIONS[0])
    for head, wanted in enumerate(FIRST_HEADS[:heads]):
        start[equal & wanted == wanted, head] = score
    return start


class Attention(nn.Module):
    """Attention from `dim` to `memory_dim` dimensions."""

    def __init__(self, config: ModelConfig, dim: int, memory_dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim, bias=has_biases(config))
        self.key = nn.Linear(memory_dim, dim, bias=has_biases(config))
        self.value = nn.Linear(memory_dim, dim, bias=has_biases(config))
        self.out = nn.Linear(dim, dim, bias=has_biases(config))
        self.query_norm = make_norm(config, dim // heads) if config.norm == "pre" else nn.Identity()
        self.key_norm = make_norm(config, dim // heads) if config.norm == "pre" else nn.Identity()
        if config.norm == "pre":
            nn.init.zeros_(self.out.weight)
        # Of three axes: Muon is for matrices that map.
        score = DIRECTED_SCORE / RELATIONS_RATE if config.relations == "directed" else 0.0
        start_R1H = relation_start(heads, score)[:, None].repeat(1, NUM_RELATIONS[1], 1)
        self.relations = nn.Parameter(start_R1H) if config.relations != "none" else None

    def split(self, x_BLD: Tensor) -> Tensor:
        B, L, D = x_BLD.shape
        return x_BLD.view(B, L, self.heads, D // self.heads).transpose(1, 2)  # (B, H, L, K)

    def keys_values(self, memory_BLD: Tensor) -> tuple[Tensor, Tensor]:
        keys_BHLK: Tensor = self.key_norm(self.split(self.key(memory_BLD)))
        return keys_BHLK, self.split(self.value(memory_BLD))

    def forward(self, x_BQD: Tensor, keys_BHLK: Tensor, values_BHLK: Tensor, bias: Bias) -> Tensor:
        heads_BHQK = attend(self.queries(x_BQD), keys_BHLK, values_BHLK, self.mask(bias))
        merged: Tensor = self.out(heads_BHQK.transpose(1, 2).flatten(2))
        return merged

    def queries(self, x_BQD: Tensor) -> Tensor:
        query_BHQK: Tensor = self.query_norm(self.split(self.query(x_BQD)))
        return query_BHQK

    def mask(self, bias: Bias) -> Tensor | None:
        """What is added to the scores of each head."""
        if self.relations is None or bias.relations_BQL is None:
            return bias.mask
        bias_BQLH = F.embedding(bias.relations_BQL, RELATIONS_RATE * self.relations.flatten(0, 1))
        bias_BHQL = bias_BQLH.permute(0, 3, 1, 2)
        return bias_BHQL if bias.mask is None else bias_BHQL + bias.mask

    def weights(self, x_BQD: Tensor, keys_BHLK: Tensor, bias: Bias) -> Tensor:
        """(B, H, Q, L): how much each query looks at each key, to be shown; `attend` does not keep it."""
        query_BHQK, mask = self.queries(x_BQD), self.mask(bias)
        scores_BHQL = (query_BHQK * query_BHQK.shape[-1] ** -0.5) @ keys_BHLK.transpose(-1, -2)
        return (scores_BHQL if mask is None else scores_BHQL + mask).softmax(-1)


class FeedForward(nn.Module):
    def __init__(self, config: ModelConfig, dim: int) -> None:
        super().__init__()
        self.up = nn.Linear(dim, config.ffn_factor * dim, bias=has_biases(config))
        self.down = nn.Linear(config.ffn_factor * dim, dim, bias=has_biases(config))
        if config.norm == "pre":
            nn.init.zeros_(self.down.weight)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(F.relu(self.up(x)))
        return out


class Sublayer(nn.Module):
    """Residual connection, dropout and norm around a function: post-norm as in the paper, or pre-norm."""

    def __init__(self, config: ModelConfig, dim: int) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm = make_norm(config, dim)
        self.dropout = Dropout(config.dropout)

    def enter(self, x: Tensor) -> Tensor:
        return self.norm(x) if self.pre else x

    def leave(self, x: Tensor, change: Tensor) -> Tensor:
        x = x + self.dropout(change)
        return x if self.pre else self.norm(x)
