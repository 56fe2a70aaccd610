"""The encoder-decoder transformer (paper, section 3 and appendix G), from the model down.

With the defaults of ModelConfig it is the paper's: post-norm, LayerNorm on the embeddings, learned positions, ReLU,
output projection tied to the decoder's embedding with a bias of its own. Its parameter count equals the last
table of the paper. The two sides may differ in layers, dimensions, heads and vocabulary.

Axes: B batch, S source, T target, D dimensions, H heads, K dimensions of a head, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from learnalg.config import ModelConfig
from learnalg.models.dropout import Dropout
from learnalg.models.embeddings import EMBEDDINGS, POSITIONS
from learnalg.models.grid import Coordinates, Grid, Layout, relations
from learnalg.models.layers import Attention, Bias, FeedForward, Sublayer, make_final_norm, make_norm
from learnalg.models.loops import looped, ponder_cost
from learnalg.models.outputs import Part, allowed_tokens, make_bias, set_prior, token_parts, token_vectors, whole_logits
from learnalg.models.products import Products
from learnalg.models.seq2seq import Side
from learnalg.naming import unknown


class Transformer(nn.Module):
    """Encoder and decoder with attention, as in the paper."""

    def __init__(
        self,
        config: ModelConfig,
        source: Side,
        target: Side,
        loop_gate: str = "none",
        cross_query: str = "sequential",
        product_norm: str = "matrix",
        source_ends: bool = False,
    ) -> None:
        super().__init__()
        check_choice("cross_query", cross_query, ("sequential", "input"))
        check_choice("product_norm", product_norm, ("matrix", "token"))
        if product_norm != "matrix" and not config.products:
            raise ValueError(f"product_norm={product_norm} has no effect without products")
        if loop_gate != "none" and config.encoder_loops == config.decoder_loops == 1:
            raise ValueError(f"loop_gate={loop_gate} has no effect without encoder_loops or decoder_loops")
        if source_ends and (
            config.positions_of("encoder") != "learned" or config.relations != "none" or config.products
        ):
            raise ValueError("source_ends=true: the encoder needs learned positions, no relations and no products")
        self.source, self.target, self.source_ends = source, target, source_ends
        self.longest_source = config.max_positions - 2 * source_ends
        self.encoder = Encoder(config, source, product_norm)
        self.decoder = Decoder(config, target, cross_reads_input=cross_query == "input")
        self.encoder.layers = looped(self.encoder.layers, config, "encoder", loop_gate)
        self.decoder.layers = looped(self.decoder.layers, config, "decoder", loop_gate)
        self.source_grid = Grid(source, config.max_positions, shift=0)
        self.target_grid = Grid(target, config.max_positions, shift=1)
        self.has_relations, self.has_products = config.relations != "none", config.products > 0

    def forward(self, source_BS: Tensor, target_BT: Tensor, padded: bool = True, in_parts: bool = False) -> Any:
        source_BS = self.read_source(source_BS)
        mask = self.padding_mask(source_BS) if padded else None
        memory_BSD, source = self.encode(source_BS, mask)
        target = self.target_grid.shared_coordinates(target_BT) if self.has_relations else None
        T = target_BT.shape[1]
        causal_TT = torch.full((T, T), -torch.inf, device=target_BT.device).triu(1)
        own, cross = attention_bias(causal_TT, target, target), attention_bias(mask, target, source)
        parts: list[Part] = self.decoder(target_BT, memory_BSD, own, cross)
        return parts if in_parts else whole_logits(parts, self.target.vocab_size)

    def encode(self, source_BS: Tensor, mask: Tensor | None) -> tuple[Tensor, Coordinates | None]:
        source = self.source_grid.shared_coordinates(source_BS) if self.has_relations else None
        layout = self.source_grid.layout(source_BS) if self.has_products else None
        return self.encoder(source_BS, attention_bias(mask, source, source), layout), source

    def read_source(self, source_BS: Tensor) -> Tensor:
        """What the encoder reads: in the paper's published code, the source between two end tokens."""
        if not self.source_ends:
            return source_BS
        if source_BS.shape[1] > self.longest_source:
            raise ValueError(f"an input of {source_BS.shape[1]} tokens: source_ends=true leaves {self.longest_source}")
        lengths_B1 = (source_BS != self.source.pad).sum(1, keepdim=True)
        longer_BS = nn.functional.pad(source_BS, (1, 1), value=self.source.pad)
        at_ends_B2 = torch.cat([torch.zeros_like(lengths_B1), lengths_B1 + 1], dim=1)
        return longer_BS.scatter(1, at_ends_B2, self.source.end)

    def padding_mask(self, source_BS: Tensor) -> Tensor:
        mask_BS = torch.zeros(source_BS.shape, device=source_BS.device)
        return mask_BS.masked_fill_(source_BS == self.source.pad, -torch.inf)[:, None, None, :]

    def begin(self, source_BS: Tensor, max_length: int) -> dict[str, Any]:
        source_BS = self.read_source(source_BS)
        mask = self.padding_mask(source_BS)
        memory_BSD, source = self.encode(source_BS, mask)
        state = self.decoder.begin(memory_BSD, mask, max_length)
        if source is not None:  # in a tuple if all examples share it: a reordering of examples leaves tuples alone
            state["source"] = source if len(source[0]) == 1 else list(source)
        return state

    def step(self, tokens_B: Tensor, state: dict[str, Any]) -> Tensor:
        at = state["length"]
        state["prefix"][:, at] = tokens_B
        own, cross = Bias(), Bias(state["mask"])
        if self.has_relations:
            written = self.target_grid.shared_coordinates(state["prefix"][:, : at + 1])
            last = written[0][:, -1:], written[1][:, -1:], written[2][:, -1:]
            own, cross = attention_bias(None, last, written), attention_bias(state["mask"], last, state["source"])
        return self.decoder.step(state, own, cross)

    def set_prior(self, targets_BT: Tensor) -> None:
        self.decoder.set_prior(targets_BT)

    def auxiliary_loss(self, source_BS: Tensor, target_BT: Tensor) -> Tensor | None:
        """The ponder cost of loops in which tokens halt (models/loops.py)."""
        is_token_BS, is_token_BT = self.read_source(source_BS) != self.source.pad, target_BT != self.target.pad
        return ponder_cost(self.encoder.layers, is_token_BS, self.decoder.layers, is_token_BT)

    def hidden_matrices(self) -> list[nn.Parameter]:
        """The weight matrices of the layers, which map hidden states to hidden states."""
        stacks = (self.encoder.layers, self.decoder.layers)
        return [p for stack in stacks for p in stack.parameters() if p.ndim == 2]


def check_choice(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise unknown(f"{option} of a transformer", value, allowed)


def attention_bias(mask: Tensor | None, queries: Coordinates | None, keys: Coordinates | None) -> Bias:
    return Bias(mask, None if queries is None or keys is None else relations(queries, keys))


class Encoder(nn.Module):
    def __init__(self, config: ModelConfig, side: Side, product_norm: str) -> None:
        super().__init__()
        dim = config.width("encoder")
        positions = config.positions_of("encoder")
        self.embed = Embed(config, side, dim, config.input_embedding, positions, shift=0)
        self.layers = nn.ModuleList(EncoderLayer(config, dim, product_norm) for _ in range(config.encoder_layers))
        self.final = make_final_norm(config, dim)

    def forward(self, source_BS: Tensor, bias: Bias, layout: Layout | None = None) -> Tensor:
        hidden_BSD = self.embed(source_BS)
        for layer in self.layers:
            hidden_BSD = layer(hidden_BSD, bias, layout)
        final: Tensor = self.final(hidden_BSD)
        return final


class Decoder(nn.Module):
    def __init__(self, config: ModelConfig, side: Side, cross_reads_input: bool) -> None:
        super().__init__()
        dim = config.width("decoder")
        self.embed = Embed(config, side, dim, config.output_embedding, config.positions_of("decoder"), shift=1)
        self.layers = nn.ModuleList(
            DecoderLayer(config, dim, config.width("encoder"), cross_reads_input) for _ in range(config.decoder_layers)
        )
        self.final = make_final_norm(config, dim)
        self.side = side
        self.bias = make_bias(config, side)
        self.allowed = allowed_tokens(config, side)

    def forward(self, target_BT: Tensor, memory_BSD: Tensor, own: Bias, cross: Bias) -> list[Part]:
        hidden_BTD = self.embed(target_BT)
        for layer in self.layers:
            hidden_BTD = layer(hidden_BTD, memory_BSD, own, cross)
        return token_parts(self.final(hidden_BTD), token_vectors(self), self)

    def set_prior(self, targets_BT: Tensor) -> None:
        set_prior(self.bias, self.side, targets_BT)

    def begin(self, memory_BSD: Tensor, mask: Tensor | None, max_length: int) -> dict[str, Any]:
        B = len(memory_BSD)
        prefix_BT = torch.zeros((B, max_length), dtype=torch.long, device=memory_BSD.device)
        blocks: Any = self.layers
        layers = [block.begin(memory_BSD, max_length) for block in blocks]
        # In a tuple: a reordering of examples leaves tuples alone.
        return {"length": 0, "prefix": prefix_BT, "mask": mask, "layers": layers, "vectors": (token_vectors(self),)}

    def step(self, state: dict[str, Any], own: Bias, cross: Bias) -> Tensor:
        at = state["length"]
        # A token's embedding depends on its place, and that on the dimensions read before.
        hidden_B1D = self.embed(state["prefix"][:, : at + 1], last_only=True)
        blocks: Any = self.layers
        for block, cache in zip(blocks, state["layers"], strict=True):
            hidden_B1D = block.step(hidden_B1D, cache, at, own, cross)
        state["length"] = at + 1
        (vectors_VD,) = state["vectors"]
        parts = token_parts(self.final(hidden_B1D), vectors_VD, self, start=at)
        return whole_logits(parts, self.side.vocab_size)[:, 0]


class Embed(nn.Module):
    """Tokens plus positions; normalised in the paper's post-norm network."""

    def __init__(self, config: ModelConfig, side: Side, dim: int, kind: str, positions: str, shift: int) -> None:
        super().__init__()
        self.words = EMBEDDINGS[kind](side, dim)  # released weights have this name
        self.positions = POSITIONS[positions](side, dim, config.max_positions, shift)
        self.norm = make_norm(config, dim) if config.norm == "post" else nn.Identity()
        self.dropout = Dropout(config.dropout)

    def forward(self, tokens_BL: Tensor, last_only: bool = False) -> Tensor:
        positions = self.positions(tokens_BL, last_only)  # (L, D) or (B, L, D)
        if last_only:
            tokens_BL = tokens_BL[:, -1:]
        embedded: Tensor = self.dropout(self.norm(self.words(tokens_BL) + positions))
        return embedded


class EncoderLayer(nn.Module):
    def __init__(self, config: ModelConfig, dim: int, product_norm: str) -> None:
        super().__init__()
        self.attention = Attention(config, dim, dim, config.num_heads("encoder"))
        self.products = Products(config, dim, product_norm) if config.products else None
        self.feed_forward = FeedForward(config, dim)
        self.around_attention = Sublayer(config, dim)
        self.around_feed_forward = Sublayer(config, dim)

    def forward(self, x_BSD: Tensor, bias: Bias, layout: Layout | None) -> Tensor:
        normed = self.around_attention.enter(x_BSD)
        keys, values = self.attention.keys_values(normed)
        change = self.attention(normed, keys, values, bias)
        if self.products is not None and layout is not None:
            change = change + self.products(x_BSD if self.products.is_matrix_normed else normed, layout)
        x_BSD = self.around_attention.leave(x_BSD, change)
        change = self.feed_forward(self.around_feed_forward.enter(x_BSD))
        return self.around_feed_forward.leave(x_BSD, change)


class DecoderLayer(nn.Module):
    def __init__(self, config: ModelConfig, dim: int, memory_dim: int, cross_reads_input: bool) -> None:
        super().__init__()
        heads = config.num_heads("decoder")
        self.cross_reads_input = cross_reads_input
        self.attention = Attention(config, dim, dim, heads)
        self.cross = Attention(config, dim, memory_dim, heads)
        self.feed_forward = FeedForward(config, dim)
        self.around_attention = Sublayer(config, dim)
        self.around_cross = Sublayer(config, dim)
        self.around_feed_forward = Sublayer(config, dim)

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor, own: Bias, cross: Bias) -> Tensor:
        normed = self.around_attention.enter(x_BTD)
        return self.finish(
            x_BTD, normed, self.attention.keys_values(normed), own, self.cross.keys_values(memory_BSD), cross
        )

    def finish(
        self,
        x: Tensor,
        normed: Tensor,
        own: tuple[Tensor, Tensor],
        own_bias: Bias,
        memory: tuple[Tensor, Tensor],
        memory_bias: Bias,
    ) -> Tensor:
        after = self.around_attention.leave(x, self.attention(normed, *own, own_bias))
        # The query of the paper's published code is the layer's input, not the result of self-attention.
        query = self.around_cross.enter(x if self.cross_reads_input else after)
        after = self.around_cross.leave(after, self.cross(query, *memory, memory_bias))
        change = self.feed_forward(self.around_feed_forward.enter(after))
        return self.around_feed_forward.leave(after, change)

    def begin(self, memory_BSD: Tensor, max_length: int) -> dict[str, Tensor]:
        keys_BHSK, values_BHSK = self.cross.keys_values(memory_BSD)
        B, H, _, K = keys_BHSK.shape
        own = keys_BHSK.new_zeros((B, H, max_length, K))
        return {"keys": own, "values": own.clone(), "memory_keys": keys_BHSK, "memory_values": values_BHSK}

    def step(self, x_B1D: Tensor, cache: dict[str, Tensor], at: int, own_bias: Bias, memory_bias: Bias) -> Tensor:
        normed = self.around_attention.enter(x_B1D)
        keys, values = self.attention.keys_values(normed)
        cache["keys"][:, :, at : at + 1], cache["values"][:, :, at : at + 1] = keys, values
        own = cache["keys"][:, :, : at + 1], cache["values"][:, :, : at + 1]
        memory = cache["memory_keys"], cache["memory_values"]
        return self.finish(x_B1D, normed, own, own_bias, memory, memory_bias)
