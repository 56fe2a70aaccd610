"""The architectures. A new one is a file and a line here; `build` makes a new model."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from learnalg.config import ModelConfig
from learnalg.models.embeddings import EMBEDDINGS, OUTPUTS, POSITIONS
from learnalg.models.recurrent import gru, lstm
from learnalg.models.seq2seq import Seq2Seq, Side
from learnalg.models.sides import decoder_input, side_of, sides
from learnalg.models.transformer import Transformer
from learnalg.naming import find, make

__all__ = ["MODELS", "Seq2Seq", "Side", "build", "count_parameters", "decoder_input", "side_of", "sides"]

MODELS: dict[str, Callable[..., nn.Module]] = {"transformer": Transformer, "lstm": lstm, "gru": gru}


def build(config: ModelConfig, source: Side, target: Side) -> nn.Module:
    """A new model. Unknown names are refused."""
    find("input embedding", config.input_embedding, EMBEDDINGS)
    find("output embedding", config.output_embedding, {name: EMBEDDINGS[name] for name in OUTPUTS})
    for side in ("encoder", "decoder"):
        find("positions", config.positions_of(side), POSITIONS)
    return make("architecture", config.architecture, MODELS, config, source, target)


def count_parameters(config: ModelConfig, source: Side, target: Side) -> dict[str, int]:
    """Parameters by part, counted on the built model; torch's meta device takes no memory for it."""
    with torch.device("meta"):
        model = build(config, source, target)
    parts: dict[str, int] = {}
    for name, parameter in model.named_parameters():
        # encoder.layers.3.attention.query.weight -> encoder layers
        part = " ".join(name.split(".")[:2])
        parts[part] = parts.get(part, 0) + parameter.numel()
    return parts
