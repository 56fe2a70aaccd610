"""The network: its kind, its sizes and its ingredients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from learnalg.checks import check_types, need


@dataclass(frozen=True)
class ModelConfig:
    """The network. Sizes given for one side go before those given for both."""

    architecture: str = "transformer"  # `learnalg list architectures`
    encoder_layers: int = 6  # layers of the encoder
    decoder_layers: int = 1  # layers of the decoder
    dim_model: int = 512  # dimensions of both sides
    encoder_dim: int = 0  # dimensions of the encoder; 0: dim_model
    decoder_dim: int = 0  # dimensions of the decoder; 0: dim_model
    heads: int = 8  # attention heads of both sides
    encoder_heads: int = 0  # attention heads of the encoder; 0: heads
    decoder_heads: int = 0  # attention heads of the decoder; 0: heads
    ffn_factor: int = 4  # hidden units of the feed-forward network, in dimensions
    dropout: float = 0.0  # share of activations dropped in training
    max_positions: int = 512  # longest sequence
    input_embedding: str = "lookup"  # of the encoder's words: `learnalg list embeddings`
    output_embedding: str = "lookup"  # of the decoder's words; others than lookup, ordered, decades need --no-tied
    embedding_dim: int = 0  # dimensions of a recurrent model's words, on both sides; 0: those of the side
    memory: int = 0  # longest memory, in tokens, that a recurrent model's gates begin with; 0: gates as torch has them
    positions: str = "learned"  # learned, grid (row, column, place in the number), operands (columns in each) or none
    encoder_positions: str = ""  # those of the encoder, such as place (in the number alone); '': positions
    relations: bool = False  # attention is told which tokens share a row, a column, an operand
    relation_start: float = 0.0  # score with which heads begin to look at the same cell, row, column, ...; such as 12
    products: int = 0  # channels of each form in which encoder layers multiply rows with columns; 0: none
    product_norm: Literal["matrix", "token"] = "matrix"  # what products read, normalised as a whole or token by token
    norm: Literal["post", "pre"] = "post"  # normalise after (the paper) or before each sublayer
    norm_kind: str = "layer"  # layer or rms: `learnalg list norms`
    activation: str = "relu"  # of the feed-forward network: relu, gelu or relu2
    qk_norm: bool = False  # normalise queries and keys
    bias: bool = True  # biases in linear layers
    zero_init: bool = False  # start each sublayer's output projection at zero
    tied: bool = True  # output projection shares the decoder's embedding
    output_bias: Literal["word", "place"] = "word"  # a bias a word, or one for each place within a number
    cross_query: Literal["sequential", "input"] = "sequential"  # input: as in the paper's published code
    encoder_loops: int = 4  # times that a universal transformer goes through its encoder's layers
    decoder_loops: int = 1  # times that a universal transformer goes through its decoder's layers
    loop_gate: Literal["none", "copy", "act"] = "none"  # of those loops; copy: gates mix old and new; act: tokens halt
    ponder_cost: float = 0.01  # weight in the loss of the loops that tokens take before they halt, with act

    def __post_init__(self) -> None:
        check_types(self)
        for name in (
            *("encoder_layers", "decoder_layers", "dim_model", "heads", "ffn_factor", "max_positions"),
            *("encoder_loops", "decoder_loops"),
        ):
            need(getattr(self, name) >= 1, f"{name} {getattr(self, name)}: must be at least 1")
        for name in ("embedding_dim", "memory", "ponder_cost", "products", "relation_start"):
            need(getattr(self, name) >= 0, f"{name} {getattr(self, name)}: must not be negative")
        need(self.relations or not self.relation_start, f"relation_start {self.relation_start}: needs --relations")
        need(self.memory != 1, f"memory {self.memory}: 0, or at least 2 tokens")
        need(self.bias or not self.memory, f"memory {self.memory}: is in the gates' biases, and needs --bias")
        for side in ("encoder", "decoder"):
            dim, heads = self.width(side), self.num_heads(side)
            need(dim >= 1 and heads >= 1, f"{side}: {dim} dimensions and {heads} heads: at least 1 of each")
            need(dim % heads == 0, f"{side}: {heads} heads do not divide {dim} dimensions")
        need(0 <= self.dropout < 1, f"dropout {self.dropout}: must be in [0, 1)")

    def num_layers(self, side: str) -> int:
        return int(getattr(self, f"{side}_layers"))

    def width(self, side: str) -> int:
        return int(getattr(self, f"{side}_dim")) or self.dim_model

    def words_width(self, side: str) -> int:
        """Of a recurrent model's embeddings; a transformer's are as wide as the side."""
        return self.embedding_dim or self.width(side)

    def num_heads(self, side: str) -> int:
        return int(getattr(self, f"{side}_heads")) or self.heads
