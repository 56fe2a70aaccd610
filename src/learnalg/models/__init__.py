"""The architectures. A new one is a file and a line here; `build` makes a model from a run's config."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from learnalg.config import DataConfig, ModelConfig
from learnalg.matrices import MAX_DIM
from learnalg.models.embeddings import EMBEDDINGS, POSITIONS, TIEABLE
from learnalg.models.layers import ACTIVATIONS, NORMS
from learnalg.models.recurrent import gru, lstm
from learnalg.models.seq2seq import Seq2Seq, Side
from learnalg.models.transformer import Transformer
from learnalg.models.universal import UniversalTransformer
from learnalg.tokenizer import FIRST_DIM, FIRST_TASK, PAD, Tokenizer

__all__ = ["MODELS", "Seq2Seq", "Side", "build", "check_model", "count_parameters", "sides"]

MODELS: dict[str, Callable[[ModelConfig, Side, Side], nn.Module]] = {
    "transformer": Transformer,
    "universal": UniversalTransformer,
    "lstm": lstm,
    "gru": gru,
}


def check_model(config: ModelConfig) -> None:
    """Refuses names that no registry has."""
    for kind, name, registry in (
        ("architecture", config.architecture, MODELS),
        ("input embedding", config.input_embedding, EMBEDDINGS),
        ("output embedding", config.output_embedding, EMBEDDINGS),
        ("positions", config.positions, POSITIONS),
        ("encoder positions", config.encoder_positions or config.positions, POSITIONS),
        ("norm kind", config.norm_kind, NORMS),
        ("activation", config.activation, ACTIVATIONS),
    ):
        if name not in registry:
            raise ValueError(f"unknown {kind} {name!r}; known: {', '.join(registry)}")
    if config.output_embedding == "number":
        raise ValueError("output embedding 'number' would read tokens that are not yet written: it is for the input")
    if config.tied and config.output_embedding not in TIEABLE:
        raise ValueError(f"output embedding {config.output_embedding!r} has no row for each word to tie: --no-tied")


def side_of(tokenizer: Tokenizer) -> Side:
    size, header, width = tokenizer.vocab_size, tokenizer.header, tokenizer.width
    words = tokenizer.word_values, tokenizer.numbers, tokenizer.ordered
    return Side(size, header, width, FIRST_TASK, FIRST_DIM, PAD, *words)


def sides(data: DataConfig) -> tuple[Side, Side]:
    source, target = data.tokenizers
    columns = np.stack([task.operand_columns(MAX_DIM) for _, task in data.tasks])
    has_several = bool(columns[..., 0].any())
    read = replace(side_of(source), operands=columns if has_several else None, triangle=data.triangle)
    return read, side_of(target)


def build(config: ModelConfig, source: Side, target: Side) -> nn.Module:
    check_model(config)
    return MODELS[config.architecture](config, source, target)


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
