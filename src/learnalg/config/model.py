"""The network: its architecture, its sizes and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from learnalg.config.checks import check_types, need

# A config may come from a stranger's file: these cost memory or time, and no weights.
MOST = {"encoder_loops": 100, "decoder_loops": 100, "max_positions": 2**16}
MOST_HEADS = 128


@dataclass(frozen=True)
class ModelConfig:
    """The network. Where two numbers are given, they are the encoder's and the decoder's."""

    architecture: str = "transformer"  # transformer, lstm or gru, with options: `learnalg list architectures`
    encoder_layers: int = 6  # layers of the encoder
    decoder_layers: int = 1  # layers of the decoder
    encoder_loops: int = 1  # number of times that the encoder's layers are applied, with shared weights
    decoder_loops: int = 1  # number of times that the decoder's layers are applied
    dim_model: tuple[int, ...] = (512,)  # dimensions; two numbers: encoder's and decoder's
    heads: tuple[int, ...] = (8,)  # attention heads; two numbers: encoder's and decoder's
    ffn_factor: int = 4  # hidden units of the feed-forward network, as a multiple of the dimensions
    dropout: float = 0.0  # share of activations dropped in training
    max_positions: int = 512  # longest sequence, in tokens
    input_embedding: str = "lookup"  # embedding of input tokens: `learnalg list embeddings`
    output_embedding: str = "lookup"  # embedding of output tokens, shared with the output projection
    positions: tuple[str, ...] = ("learned",)  # `learnalg list positions`; two names: encoder's and decoder's
    # learned: the bias starts at zero; directed: with scores that make heads look at the same coefficient, row, column
    relations: Literal["none", "learned", "directed"] = "none"  # attention bias for a shared row, column or operand
    products: int = 0  # channels of each form in which encoder layers multiply rows with columns; 0: none
    norm: Literal["post", "pre"] = "post"  # post: the paper's layers; pre: pre-norm, QK-norm, no biases, zero-init
    # place: a bias for each token at each place, started at frequencies; slot: and only tokens that can stand there
    output_bias: Literal["token", "place", "slot"] = "token"  # token: a bias for each token

    def __post_init__(self) -> None:
        check_types(self)
        for name in (
            *("encoder_layers", "decoder_layers", "encoder_loops", "decoder_loops"),
            *("ffn_factor", "max_positions"),
        ):
            need(getattr(self, name) >= 1, f"{name} {getattr(self, name)}: must be at least 1")
        for name, most in MOST.items():
            need(getattr(self, name) <= most, f"{name} {getattr(self, name)}: at most {most:,}")
        need(self.products >= 0, f"products {self.products}: must not be negative")
        for name in ("dim_model", "heads", "positions"):
            need(
                len(getattr(self, name)) in (1, 2),
                f"{name} {getattr(self, name)}: one value, or the encoder's and the decoder's",
            )
        for side in ("encoder", "decoder"):
            dim, heads = self.width(side), self.num_heads(side)
            need(dim >= 1 and heads >= 1, f"{side}: {dim} dimensions and {heads} heads: need at least 1 of each")
            need(heads <= MOST_HEADS, f"{side}: {heads} heads: at most {MOST_HEADS}")
            need(dim % heads == 0, f"{side}: {heads} heads do not divide {dim} dimensions")
        need(0 <= self.dropout < 1, f"dropout {self.dropout}: must be in [0, 1)")

    def num_layers(self, side: str) -> int:
        return self.encoder_layers if side == "encoder" else self.decoder_layers

    def num_loops(self, side: str) -> int:
        return self.encoder_loops if side == "encoder" else self.decoder_loops

    def width(self, side: str) -> int:
        return self.dim_model[0 if side == "encoder" else -1]

    def num_heads(self, side: str) -> int:
        return self.heads[0 if side == "encoder" else -1]

    def positions_of(self, side: str) -> str:
        return self.positions[0 if side == "encoder" else -1]
