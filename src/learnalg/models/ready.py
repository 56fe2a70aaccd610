"""A transformer made ready to predict: the logits of its `begin` and `step`, in fewer and cheaper operations.

    >>> ready = ready_of(model)                       # kept with the model; made anew when its weights have changed
    >>> writing = ready.begin(source_BS, max_length)
    >>> hidden_NBD = ready.read(tokens_NB, writing)   # one token of each example, or several that are known
    >>> logits_BK, first = ready.logits(hidden_NBD[-1], at=0)

All sources have one header, so one size, and no padding. Then all that depends on places alone (positions, the learned
bias of relations, the layout of products) is a table, kept for the next call. The layers are in models/ready_layers.py.

Axes: L tokens read, N tokens at once, T tokens written, B examples, D dimensions, H heads, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from learnalg.models.grid import Coordinates, relations
from learnalg.models.loops import Loop
from learnalg.models.outputs import token_vectors
from learnalg.models.ready_layers import Memory, Norm, ReadyDecoderLayer, ReadyEncoderLayer, Sums
from learnalg.models.transformer import Transformer

Header = tuple[int, ...]  # its tokens
TABLES = 16  # sizes whose tables are kept


class SourceTables(NamedTuple):
    positions: Tensor  # (L, 1, D)
    coordinates: Coordinates | None
    biases: list[Tensor | None]  # of each layer, (1, H, L, L)
    sums: Sums | None


class TargetTables(NamedTuple):
    positions: Tensor  # (T, 1, D)
    own: list[Tensor]  # of each layer, (1, H or 1, T, T), with the causal mask
    cross: list[Tensor | None]  # of each layer, (1, H, T, L)


@dataclass
class Writing:
    """The state of a decoding."""

    source: Header
    length: int  # of the source
    max_length: int
    memories: list[list[Memory]]  # of each layer, of each loop
    target: TargetTables
    at: int = 0


KEPT: WeakKeyDictionary[nn.Module, Ready] = WeakKeyDictionary()


def ready_of(model: nn.Module) -> Ready | None:
    """None for other architectures, in training, and where torch does not count the changes of weights."""
    if not isinstance(model, Transformer) or model.training:
        return None
    ready = KEPT.get(model)
    if ready is None or ready.state != weights_state(ready.parameters):
        parameters = tuple(model.parameters())
        if any(p.is_inference() or p.is_meta for p in parameters):
            return None
        ready = KEPT[model] = Ready(model, parameters)
    return ready


def weights_state(parameters: tuple[nn.Parameter, ...]) -> list[tuple[int, int]]:
    return [(p._version, p.data_ptr()) for p in parameters]


class Ready:
    def __init__(self, model: Transformer, parameters: tuple[nn.Parameter, ...]) -> None:
        self.parameters, self.state = parameters, weights_state(parameters)
        self.source, self.target = model.source, model.target
        self.source_ends, self.has_relations, self.has_products = (
            model.source_ends,
            model.has_relations,
            model.has_products,
        )
        self.grids = model.source_grid, model.target_grid
        self.embeds = model.encoder.embed, model.decoder.embed
        self.embed_norms = [Norm.of(embed.norm) for embed in self.embeds]
        self.finals = [Norm.of(side.final) for side in (model.encoder, model.decoder)]
        self.encoder, self.decoder = (
            Stack(model.encoder.layers, ReadyEncoderLayer),
            Stack(model.decoder.layers, ReadyDecoderLayer),
        )
        self.vectors_VD = vectors_VD = token_vectors(model.decoder)
        ranges = zip(model.decoder.bias, model.decoder.allowed, strict=False)
        self.outputs = [(vectors_VD[low:high], bias_V[low:high], low) for bias_V, (low, high) in ranges]
        self.source_tables = lru_cache(TABLES)(self._source_tables)
        self.target_tables = lru_cache(TABLES)(self._target_tables)

    @property
    def header(self) -> int:
        """Tokens of the target's header."""
        return self.target.header

    @property
    def device(self) -> torch.device:
        return self.vectors_VD.device

    def header_of(self, source_BS: Tensor) -> Header | None:
        """That of all sources; None where they differ or are padded."""
        header_BS = source_BS[:, : self.source.header]
        if len(source_BS) > 1 and not bool((header_BS == header_BS[:1]).all()):
            return None
        first: list[int] = source_BS[0].tolist()
        return None if first[-1] == self.source.pad else tuple(first[: self.source.header])

    def begin(self, source_BS: Tensor, header: Header, max_length: int) -> Writing:
        if self.source_ends:
            source_BS = F.pad(source_BS, (1, 1), value=self.source.end)
        L = source_BS.shape[1]
        tables = self.source_tables(header, L)
        hidden = self.embed(0, source_BS.t(), tables.positions)

        def layer(layer: Any, k: int, n: int, x: Tensor) -> Tensor:
            out: Tensor = layer(x, L, tables.biases[k], tables.sums)
            return out

        hidden = self.encoder.run(hidden, L, layer)
        memory = hidden if self.finals[0] is None else self.finals[0](hidden)
        memories = [layer.begin(memory, L, max_length, self.decoder.num_loops) for layer in self.decoder.layers]
        unknown = (self.target.first_dim,) * self.header  # its own places do not depend on it
        return Writing(header, L, max_length, memories, self.target_tables(unknown, max_length, header, L))

    def set_header(self, writing: Writing, header: Header) -> None:
        """What the target begins with; before the first coefficient is predicted."""
        writing.target = self.target_tables(header, writing.max_length, writing.source, writing.length)

    def read(self, tokens_NB: Tensor, writing: Writing) -> Tensor:
        """The hidden state behind each token, (N, B, D), ready for `logits`."""
        N, at, target = tokens_NB.shape[0], writing.at, writing.target
        end = writing.at = at + N
        hidden = self.embed(1, tokens_NB, target.positions[at:end])

        def layer(layer: Any, k: int, n: int, x: Tensor) -> Tensor:
            own = target.own[k][:, :, at:end, :end] if self.has_relations or N > 1 else None
            cross = target.cross[k]
            out: Tensor = layer(x, writing.memories[k][n], N, at, own, None if cross is None else cross[:, :, at:end])
            return out

        hidden = self.decoder.run(hidden, N, layer)
        hidden = hidden if self.finals[1] is None else self.finals[1](hidden)
        return hidden.view(N, -1, hidden.shape[1])

    def logits(self, hidden_BD: Tensor, at: int) -> tuple[Tensor, int]:
        """Of the output token at that index, (B, K), for the tokens from the second result on: no others may follow."""
        vectors_KD, bias_K, first = self.outputs[self.place(at) if len(self.outputs) > 1 else 0]
        return F.linear(hidden_BD, vectors_KD, bias_K), first

    def embed(self, side: int, tokens_NB: Tensor, positions_N1D: Tensor) -> Tensor:
        """(N B, D)"""
        if side == 0:
            hidden = (self.embeds[0].words(tokens_NB) + positions_N1D).flatten(0, 1)
        elif len(tokens_NB) == 1:
            hidden = self.vectors_VD.index_select(0, tokens_NB[0]).add_(positions_N1D[0])
        else:
            hidden = (F.embedding(tokens_NB, self.vectors_VD) + positions_N1D).flatten(0, 1)
        made = self.embed_norms[side]
        return hidden if made is None else made(hidden)

    def place(self, at: int) -> int:
        header, width = self.target.header, self.target.width
        return width + at if at < header else (at - header) % width

    def _positions(self, side: int, tokens_1L: Tensor) -> Tensor:
        positions = self.embeds[side].positions(tokens_1L)
        return positions.reshape(-1, positions.shape[-1]).expand(tokens_1L.shape[1], -1)[:, None]

    def _tokens(self, header: Header, length: int) -> Tensor:
        filled = torch.zeros((1, length), dtype=torch.long)
        num = min(length, len(header))
        filled[0, :num] = torch.tensor(header[:num])
        return filled.to(self.vectors_VD.device)

    def _source_tables(self, header: Header, length: int) -> SourceTables:
        tokens_1L, grid = self._tokens(header, length), self.grids[0]
        coordinates = grid.operand_coordinates(tokens_1L) if self.has_relations else None
        related = None if coordinates is None else relations(coordinates, coordinates)
        biases = [layer.attention.bias(related) for layer in self.encoder.layers]
        sums = Sums.of(grid.layout(tokens_1L), length, self.source.header) if self.has_products else None
        return SourceTables(self._positions(0, tokens_1L), coordinates, biases, sums)

    def _target_tables(self, header: Header, length: int, source: Header, source_length: int) -> TargetTables:
        tokens_1T = self._tokens((0, *header), length)  # behind the start token
        causal_TT = torch.full((length, length), -torch.inf, device=tokens_1T.device).triu(1)
        read = self.source_tables(source, source_length).coordinates
        written = None if read is None else self.grids[1].operand_coordinates(tokens_1T)
        own = cross = None
        if read is not None and written is not None:
            own, cross = relations(written, written), relations(written, read)
        biases = [layer.own.bias(own) for layer in self.decoder.layers]
        return TargetTables(
            self._positions(1, tokens_1T),
            [causal_TT[None, None] if bias is None else bias + causal_TT for bias in biases],
            [layer.cross.bias(cross) for layer in self.decoder.layers],
        )


class Stack:
    """The layers of a side, perhaps in a loop."""

    def __init__(self, layers: nn.ModuleList, make: Callable[[Any], Any]) -> None:
        first = layers[0]
        self.loop = first if isinstance(first, Loop) else None
        self.num_loops = 1 if self.loop is None else self.loop.num_loops
        self.layers = [make(layer) for layer in (layers if self.loop is None else self.loop.layers)]

    def run(self, x: Tensor, num: int, apply: Callable[[Any, int, int, Tensor], Tensor]) -> Tensor:
        """`apply` gets the layer, its index, that of the loop, and (num B, D)."""

        def once(x: Tensor, n: int) -> Tensor:
            for k, layer in enumerate(self.layers):
                x = apply(layer, k, n, x)
            return x

        if self.loop is None:
            return once(x, 0)
        looped: Tensor = self.loop.gate(  # gates read (num, B, D)
            x.unflatten(0, (num, -1)), lambda x, n: once(x.flatten(0, 1), n).unflatten(0, (num, -1)), self.num_loops
        )[0]
        return looped.flatten(0, 1)
