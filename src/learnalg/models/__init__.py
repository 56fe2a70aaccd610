"""The architectures. A new one is a file and a line here; `build` makes a model from a run's config."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from learnalg.config import ModelConfig
from learnalg.models.embeddings import EMBEDDINGS, OUTPUTS, POSITIONS
from learnalg.models.recurrent import gru, lstm
from learnalg.models.seq2seq import Seq2Seq, Side
from learnalg.models.transformer import Transformer
from learnalg.naming import find, make
from learnalg.problem import Problem
from learnalg.problems.dims import MAX_DIM
from learnalg.tokens.tokenizer import FIRST_DIM, FIRST_TASK, PAD, Tokenizer

__all__ = ["MODELS", "Seq2Seq", "Side", "build", "count_parameters", "sides"]

MODELS: dict[str, Callable[..., nn.Module]] = {"transformer": Transformer, "lstm": lstm, "gru": gru}


def side_of(tokenizer: Tokenizer) -> Side:
    size, header, width = tokenizer.vocab_size, tokenizer.header, tokenizer.width
    return Side(size, header, width, FIRST_TASK, FIRST_DIM, PAD, tokenizer.word_values, tokenizer.ordered)


def sides(problem: Problem) -> tuple[Side, Side]:
    """What a model knows of the sequences that it reads and writes."""
    source, target = problem.tokenizers
    columns = np.stack([task.operand_columns(MAX_DIM) for _, task in problem.tasks])
    has_several = bool(columns[..., 0].any())
    read = replace(side_of(source), operands=columns if has_several else None, triangle=problem.config.triangle)
    return read, side_of(target)


def build(config: ModelConfig, source: Side, target: Side) -> nn.Module:
    """A new model; names that no registry has are refused."""
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
