"""The layers of a transformer made ready to predict (models/ready.py): weights side by side, few operations.

Queries, keys and values are one batch of products. QK-norm divides by the length of a vector: its mean is taken from
the weights. Tokens come before examples: the heads of all examples are then a batch of matrices without a copy, and
products of coefficients run over long vectors.

Axes: L tokens read, N tokens at once, T tokens written, B examples, M = N B, D dimensions, H heads, K dimensions of a
head, C channels of products, s rows and columns.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from learnalg.models.cpu import MANY_ROWS
from learnalg.models.grid import Layout
from learnalg.models.layers import RELATIONS_RATE, Attention, FeedForward, Sublayer
from learnalg.models.products import Products
from learnalg.models.transformer import DecoderLayer, EncoderLayer

TINY = 1e-20  # shortest query or key that is divided by its length


Map = tuple[Tensor, Tensor | None]  # weight and bias


class Linear:
    """n maps of the same vectors: (M, in) -> (n, M, out), or (M, out) of one."""

    def __init__(self, *maps: Map) -> None:
        self.num = len(maps)
        # Not contiguous: oneDNN takes three times as long for that.
        self.weight = torch.stack([weight for weight, _ in maps]).transpose(1, 2)
        biases = [bias for _, bias in maps if bias is not None]
        self.bias = torch.stack(biases)[:, None] if biases else None
        if self.num == 1:
            self.weight, self.bias = self.weight[0], None if self.bias is None else self.bias[0, 0]

    def __call__(self, x: Tensor) -> Tensor:
        if self.num == 1:
            return torch.mm(x, self.weight) if self.bias is None else torch.addmm(self.bias, x, self.weight)
        if len(x) >= MANY_ROWS:  # one by one: a batch of products with the same long matrix is copied
            out = x.new_empty(self.num, len(x), self.weight.shape[2])
            for k, weight in enumerate(self.weight):
                if self.bias is None:
                    torch.mm(x, weight, out=out[k])
                else:
                    torch.addmm(self.bias[k], x, weight, out=out[k])
            return out
        x_nMD = x.expand(self.num, -1, -1)
        return torch.bmm(x_nMD, self.weight) if self.bias is None else torch.baddbmm(self.bias, x_nMD, self.weight)

    def add(self, x: Tensor, change: Tensor) -> Tensor:
        """x plus the one map of the change."""
        return torch.addmm(x if self.bias is None else x + self.bias, change, self.weight)


class Heads:
    """An attention's weights."""

    def __init__(self, attention: Attention) -> None:
        self.heads, self.relations = attention.heads, attention.relations
        out, _ = attention.query.weight.shape
        self.dim = out // self.heads
        parts = attention.query, attention.key, attention.value
        maps: list[Map] = [(m.weight, m.bias) for m in parts]
        query, key, value = maps
        self.scale_K: Tensor | None = None
        norms = attention.query_norm, attention.key_norm
        if isinstance(norms[0], nn.LayerNorm) and isinstance(norms[1], nn.LayerNorm):
            query, key = self.centred(query[0]), self.centred(key[0])
            self.scale_K = norms[0].weight * norms[1].weight * self.dim**0.5
        else:
            query = query[0] * self.dim**-0.5, None if query[1] is None else query[1] * self.dim**-0.5
        self.maps = (query,), (key, value)
        self.out = Linear((attention.out.weight, attention.out.bias))

    def centred(self, weight: Tensor) -> Map:
        weight_HKD = weight.unflatten(0, (self.heads, self.dim))
        return (weight_HKD - weight_HKD.mean(1, keepdim=True)).flatten(0, 1), None

    def split(self, x: Tensor, num: int) -> Tensor:
        """(n, N B, D) or (N B, D) -> (n, N, B H, K)"""
        return x.view(-1, num, x.shape[-2] // num * self.heads, self.dim)

    def unit(self, x: Tensor) -> None:
        if self.scale_K is not None:
            x.div_(torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp_min_(TINY))

    def scaled(self, x: Tensor) -> Tensor:
        """Queries or keys."""
        return x if self.scale_K is None else x * self.scale_K

    def bias(self, related_1QL: Tensor | None) -> Tensor | None:
        """(1, H, Q, L)"""
        if related_1QL is None or self.relations is None:
            return None
        bias_1QLH = F.embedding(related_1QL, RELATIONS_RATE * self.relations.flatten(0, 1))
        return bias_1QLH.permute(0, 3, 1, 2).contiguous()

    def attend(self, query: Tensor, keys: Tensor, values: Tensor, bias_1HNL: Tensor | None) -> Tensor:
        """Queries (N, BH, K), keys (BH, K, L), values (BH, L, K) -> (M, D)"""
        N, BH, _ = query.shape
        scores = torch.bmm(query.transpose(0, 1), keys)
        if bias_1HNL is not None:
            scores.view(BH // self.heads, self.heads, N, -1).add_(bias_1HNL)
        heads = torch.bmm(scores.softmax(-1), values)
        return (heads if N == 1 else heads.transpose(0, 1)).reshape(-1, self.heads * self.dim)


class Norm(NamedTuple):
    shape: tuple[int, ...]
    weight: Tensor
    bias: Tensor | None
    eps: float

    @classmethod
    def of(cls, module: nn.Module) -> Norm | None:
        if not isinstance(module, nn.LayerNorm):
            return None
        return cls(tuple(module.normalized_shape), module.weight, module.bias, module.eps)

    def __call__(self, x: Tensor) -> Tensor:
        return torch.layer_norm(x, self.shape, self.weight, self.bias, self.eps)


class Around:
    """A sublayer's norm and residual connection."""

    def __init__(self, sublayer: Sublayer) -> None:
        made = Norm.of(sublayer.norm)
        self.before = made if sublayer.pre else None
        self.after = None if sublayer.pre else made

    def enter(self, x: Tensor) -> Tensor:
        return x if self.before is None else self.before(x)

    def leave(self, x: Tensor) -> Tensor:
        return x if self.after is None else self.after(x)


class Forward:
    """A feed-forward network."""

    def __init__(self, network: FeedForward, around: Sublayer) -> None:
        self.up, self.down = (Linear((m.weight, m.bias)) for m in (network.up, network.down))
        self.around = Around(around)

    def __call__(self, x: Tensor) -> Tensor:
        return self.around.leave(self.down.add(x, self.up(self.around.enter(x)).relu_()))


class Sums(NamedTuple):
    """Where the factors and the results of products stand (models/products.py); f: the three forms, w: places."""

    factors: Tensor  # (2 f w s s): rows of 6 L tokens, by side and form; 6 L for none
    results: Tensor  # the coefficient of each token behind the header
    shape: tuple[int, int]  # w, s
    filled: float
    has_gaps: bool

    @classmethod
    def of(cls, layout: Layout, length: int, header: int) -> Sums:
        s = layout.size
        token_wij = layout.token_BN.view(-1, s, s)
        mirrored = token_wij.mT
        sides = torch.stack(
            [torch.stack([token_wij, mirrored, token_wij]), torch.stack([token_wij, token_wij, mirrored])]
        )
        form = torch.arange(6, device=sides.device).view(2, 3, 1, 1, 1)
        factors = torch.where(sides < length, sides + form * length, 6 * length).flatten()
        has_gaps = bool((sides == length).any())
        return cls(factors, layout.coefficient_BL[0, header:], (len(token_wij), s), float(layout.filled_M[0]), has_gaps)


class ReadyProducts:
    def __init__(self, products: Products) -> None:
        pairs = [(part, None) for side in (products.left, products.right) for part in side.weight.chunk(3)]
        self.factors, self.out = Linear(*pairs), products.out.weight.t()
        self.channels, self.is_matrix_normed = len(pairs[0][0]), products.is_matrix_normed

    def __call__(self, x: Tensor, sums: Sums, num: int) -> Tensor:
        """(L B, D) -> (tokens behind the header times B, 3 C)"""
        (w, s), C = sums.shape, self.channels
        tokens = self.factors(x).view(6 * num, -1)
        if sums.has_gaps:
            tokens = F.pad(tokens, (0, 0, 0, 1))
        factors = tokens.index_select(0, sums.factors).view(2, 3 * w, s, s, -1)
        left, right = factors.unbind()
        terms = zip(left.unsqueeze(3).unbind(2), right.unsqueeze(1).unbind(2), strict=True)
        made = torch.mul(*next(terms))
        for columns, rows in terms:
            made.addcmul_(columns, rows)
        if self.is_matrix_normed:
            parts = factors.view(2, 3, w, s * s, -1, C)
            square = torch.linalg.vector_norm(parts, dim=(1, 3, 5)).square_() / (3 * C * sums.filled)
            scale_wB = square.add_(1e-6).rsqrt_().prod(0)
            made.view(3, w, s * s, -1, C).mul_(scale_wB[None, :, None, :, None])
        found = made.view(3, w * s * s, -1).index_select(1, sums.results)
        return found.view(3, sums.results.shape[0], -1, C).permute(1, 2, 0, 3).reshape(-1, 3 * C)


class ReadyEncoderLayer:
    def __init__(self, layer: EncoderLayer) -> None:
        self.attention, self.around = Heads(layer.attention), Around(layer.around_attention)
        self.all = Linear(*self.attention.maps[0], *self.attention.maps[1])
        self.products = None if layer.products is None else ReadyProducts(layer.products)
        self.forward = Forward(layer.feed_forward, layer.around_feed_forward)

    def __call__(self, x: Tensor, num: int, bias: Tensor | None, sums: Sums | None) -> Tensor:
        attention = self.attention
        normed = self.around.enter(x)
        qkv = attention.split(self.all(normed), num)
        attention.unit(qkv[:2])
        query, keys, values = qkv.unbind()
        heads = attention.attend(query, attention.scaled(keys).permute(1, 2, 0), values.transpose(0, 1), bias)
        out = attention.out.add(x, heads)
        if self.products is not None and sums is not None:
            made = self.products(x if self.products.is_matrix_normed else normed, sums, num)
            out[out.shape[0] - made.shape[0] :].addmm_(made, self.products.out)
        return self.forward(self.around.leave(out))


class Memory(NamedTuple):
    """Of one layer and loop. Own keys and values are filled step by step."""

    own: Tensor  # (2, T, B H, K)
    cross_keys: Tensor  # (B H, K, L)
    cross_values: Tensor  # (B H, L, K)


class ReadyDecoderLayer:
    def __init__(self, layer: DecoderLayer) -> None:
        self.own, self.cross, self.cross_reads_input = (
            Heads(layer.attention),
            Heads(layer.cross),
            layer.cross_reads_input,
        )
        self.all = Linear(*self.own.maps[0], *self.own.maps[1])
        self.cross_query, self.cross_pair = Linear(*self.cross.maps[0]), Linear(*self.cross.maps[1])
        self.around_own, self.around_cross = Around(layer.around_attention), Around(layer.around_cross)
        self.forward = Forward(layer.feed_forward, layer.around_feed_forward)

    def begin(self, memory: Tensor, num: int, max_length: int, num_loops: int) -> list[Memory]:
        keys, values = self.cross.split(self.cross_pair(memory), num).unbind()
        self.cross.unit(keys)
        keys, values = self.cross.scaled(keys).permute(1, 2, 0).contiguous(), values.transpose(0, 1).contiguous()
        empty = (2, max_length, keys.shape[0], self.own.dim)
        return [Memory(memory.new_empty(empty), keys, values) for _ in range(num_loops)]

    def __call__(
        self, x: Tensor, memory: Memory, num: int, at: int, own_bias: Tensor | None, cross_bias: Tensor | None
    ) -> Tensor:
        own, cross, end = self.own, self.cross, at + num
        qkv = own.split(self.all(self.around_own.enter(x)), num)
        own.unit(qkv[:2])
        memory.own[:, at:end] = qkv[1:]
        keys, values = memory.own[:, :end].unbind()
        heads = own.attend(own.scaled(qkv[0]), keys.permute(1, 2, 0), values.transpose(0, 1), own_bias)
        after = self.around_own.leave(own.out.add(x, heads))
        query = cross.split(self.cross_query(self.around_cross.enter(x if self.cross_reads_input else after)), num)[0]
        cross.unit(query)
        heads = cross.attend(query, memory.cross_keys, memory.cross_values, cross_bias)
        return self.forward(self.around_cross.leave(cross.out.add(after, heads)))
