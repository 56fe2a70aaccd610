"""LSTM and GRU, encoder and decoder (paper, appendix E.1, tables 21 and 22), as torch.nn has them.

    learnalg train --preset paper --architecture gru:embedding_dim=256 --encoder-layers 2 --decoder-layers 2
        --dim-model 1024 --positions none --task add --input-encoding p1000

The paper gives the sizes: 2 to 8 layers, 1024 or 2048 hidden dimensions, and embeddings of 256 or 512 through which
tokens go in and come out. So a linear layer maps the hidden dimensions back to the embedding's, and the output
projection is tied to the embedding. The paper does not say how the encoder is connected to the decoder. Here the
encoder's last state is the decoder's first, layer by layer, and nothing else passes: the state holds the whole matrix.
The network reads in order, so the paper's has no positions (`--positions none`); it learns faster with them. The
embedding is normalised as the transformer's is. Gates that start with long memories (`memory=100`; Tallec and Ollivier,
Can recurrent neural networks warp time?, 2018) leave the first plateau of 5x5 sums after 16,000 examples; torch's own
are still on it.

Sides may differ. Layers are matched from the top: the only layer of a 6/1 decoder starts from the encoder's sixth, all
six of a 1/6 decoder start from the encoder's only one. Where the dimensions differ, states go through a linear map.

Axes: B batch, S source, T target, L either, N layers, D hidden dimensions, E dimensions of the embedding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from learnalg.config import ModelConfig
from learnalg.models.outputs import Part, allowed_tokens, make_bias, set_prior, token_parts, token_vectors, whole_logits
from learnalg.models.seq2seq import Side
from learnalg.models.transformer import Embed

# Of every layer, (N, B, D): hidden states and, of an LSTM, cells.
States = tuple[Tensor, ...]


def lstm(config: ModelConfig, source: Side, target: Side, embedding_dim: int = 0, memory: int = 0) -> nn.Module:
    """Long short-term memories, encoder and decoder."""
    return Recurrent(config, source, target, nn.LSTM, embedding_dim, memory)


def gru(config: ModelConfig, source: Side, target: Side, embedding_dim: int = 0, memory: int = 0) -> nn.Module:
    """Gated recurrent units, encoder and decoder."""
    return Recurrent(config, source, target, nn.GRU, embedding_dim, memory)


# Fields that a recurrent network has no use for, with their defaults.
WITHOUT_EFFECT = {
    "products": 0,
    "relations": "none",
    "encoder_loops": 1,
    "decoder_loops": 1,
    "ffn_factor": 4,
    "heads": (8,),
}


class Recurrent(nn.Module):
    """`embedding_dim`: dimensions of the embedding, 0 for those of the side. `memory`: the longest memory, in tokens,
    that gates start with; 0 for torch's own gates."""

    def __init__(
        self,
        config: ModelConfig,
        source: Side,
        target: Side,
        kind: type[nn.LSTM | nn.GRU],
        embedding_dim: int,
        memory: int,
    ) -> None:
        super().__init__()
        for name, neutral in WITHOUT_EFFECT.items():
            value = getattr(config, name)
            if value != neutral:
                raise ValueError(f"{name} {value} has no effect in a recurrent network: see --preset recurrent")
        if embedding_dim < 0 or memory < 0 or memory == 1:
            raise ValueError(f"embedding_dim {embedding_dim}, memory {memory}: 0, or at least 1 and 2")
        self.encoder = RecurrentEncoder(config, source, kind, embedding_dim, memory)
        self.decoder = RecurrentDecoder(config, target, kind, embedding_dim, memory)

    def hidden_matrices(self) -> list[nn.Parameter]:
        """The weight matrices of the layers."""
        stacks = (self.encoder.layers, self.decoder.layers)
        return [p for stack in stacks for p in stack.parameters() if p.ndim == 2]

    def auxiliary_loss(self, source_BS: Tensor, target_BT: Tensor) -> None:
        return None

    def forward(self, source_BS: Tensor, target_BT: Tensor, padded: bool = True, in_parts: bool = False) -> Any:
        states = self.decoder.start(self.encoder(source_BS, padded))
        hidden_BTD, _ = self.decoder(target_BT, states)
        parts = self.decoder.parts(hidden_BTD, token_vectors(self.decoder))
        return parts if in_parts else whole_logits(parts, self.decoder.side.vocab_size)

    def begin(self, source_BS: Tensor, max_length: int) -> dict[str, Any]:
        states = self.decoder.start(self.encoder(source_BS, padded=True))
        prefix_BT = source_BS.new_zeros((len(source_BS), max_length))
        states_BND = [state_NBD.transpose(0, 1) for state_NBD in states]
        return {"length": 0, "prefix": prefix_BT, "states": states_BND, "vectors": (token_vectors(self.decoder),)}

    def step(self, tokens_B: Tensor, state: dict[str, Any]) -> Tensor:
        at = state["length"]
        state["prefix"][:, at] = tokens_B
        states = tuple(state_BND.transpose(0, 1).contiguous() for state_BND in state["states"])
        hidden_B1D, states = self.decoder(state["prefix"][:, : at + 1], states, last_only=True)
        state["states"] = [state_NBD.transpose(0, 1) for state_NBD in states]
        state["length"] = at + 1
        (vectors_VE,) = state["vectors"]
        parts = self.decoder.parts(hidden_B1D, vectors_VE, start=at)
        return whole_logits(parts, self.decoder.side.vocab_size)[:, 0]

    def set_prior(self, targets_BT: Tensor) -> None:
        set_prior(self.decoder.bias, self.decoder.side, targets_BT)


class RecurrentEncoder(nn.Module):
    def __init__(self, config: ModelConfig, side: Side, kind: type[nn.LSTM | nn.GRU], dim: int, memory: int) -> None:
        super().__init__()
        self.pad = side.pad
        dim = dim or config.width("encoder")
        self.embed = Embed(config, side, dim, config.input_embedding, config.positions_of("encoder"), shift=0)
        self.layers = make_layers(config, "encoder", kind, dim, memory)

    def forward(self, source_BS: Tensor, padded: bool) -> States:
        """The states after each sequence's last token: packed, a sequence ends where its padding begins."""
        embedded = self.embed(source_BS)
        if padded:
            lengths_B = (source_BS != self.pad).sum(1).cpu()
            embedded = pack_padded_sequence(embedded, lengths_B, batch_first=True, enforce_sorted=False)
        return as_states(self.layers(embedded)[1])


class RecurrentDecoder(nn.Module):
    def __init__(self, config: ModelConfig, side: Side, kind: type[nn.LSTM | nn.GRU], dim: int, memory: int) -> None:
        super().__init__()
        self.side = side
        dim = dim or config.width("decoder")
        self.embed = Embed(config, side, dim, config.output_embedding, config.positions_of("decoder"), shift=1)
        self.layers = make_layers(config, "decoder", kind, dim, memory)
        first = config.encoder_layers - config.decoder_layers
        self.start_from = [max(0, first + layer) for layer in range(config.decoder_layers)]
        sizes = config.width("encoder"), config.width("decoder")
        self.bridges = nn.ModuleList(
            nn.Identity() if sizes[0] == sizes[1] else nn.Linear(*sizes) for _ in range(2 if kind is nn.LSTM else 1)
        )
        self.out = nn.Linear(sizes[1], dim)
        self.bias = make_bias(config, side)
        self.allowed = allowed_tokens(config, side)

    def start(self, encoder_states: States) -> States:
        pairs = zip(self.bridges, encoder_states, strict=True)
        return tuple(bridge(state_NBD[self.start_from]) for bridge, state_NBD in pairs)

    def forward(self, target_BT: Tensor, states: States, last_only: bool = False) -> tuple[Tensor, States]:
        hidden_BTD, last = self.layers(self.embed(target_BT, last_only), states if len(states) > 1 else states[0])
        return hidden_BTD, as_states(last)

    def parts(self, hidden_BTD: Tensor, vectors_VE: Tensor, start: int = 0) -> list[Part]:
        return token_parts(self.out(hidden_BTD), vectors_VE, self, start)


def make_layers(config: ModelConfig, of: str, kind: type[nn.LSTM | nn.GRU], dim: int, memory: int) -> nn.LSTM | nn.GRU:
    num_layers = config.num_layers(of)
    # torch drops between layers only, and warns where there is nothing between.
    dropout = config.dropout if num_layers > 1 else 0.0
    layers = kind(dim, config.width(of), num_layers, batch_first=True, dropout=dropout)
    if memory:
        for layer in range(num_layers):
            set_memory(getattr(layers, f"bias_ih_l{layer}"), memory, has_input_gate=kind is nn.LSTM)
    return layers


def set_memory(bias: Tensor, longest: int, has_input_gate: bool) -> None:
    """Each unit remembers for 2 to `longest` tokens at first; torch's forget half at every token. The second gate of
    both kinds decides what is kept, the first of an LSTM what is taken in."""
    size = len(bias) // (4 if has_input_gate else 3)
    with torch.no_grad():
        kept = torch.empty(size).uniform_(1, longest - 1).log().to(bias.device)
        bias[size : 2 * size] += kept
        if has_input_gate:
            bias[:size] -= kept


def as_states(last: Tensor | States) -> States:
    """torch gives the state of a GRU as a tensor, that of an LSTM as a pair."""
    return last if isinstance(last, tuple) else (last,)
