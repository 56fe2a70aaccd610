"""Small LSTM and GRU for two cores, for tables 21 and 22."""

from __future__ import annotations

from typing import Any

from learnalg.config import RunConfig, replace_fields
from learnalg.config.presets import preset
from learnalg.reproduction.configs import describe

OPTIONS = "embedding_dim=128,memory=100"  # about as many tokens as two 5x5 matrices and their sum have


def small(kind: str, task: str, layers: str, examples: int, encoding: str, **changes: Any) -> tuple[RunConfig, str]:
    """A config of 5x5 matrices, and what a reader must know of it: the preset for recurrent networks."""
    encoder, _, decoder = layers.partition("/")
    source, _, target = encoding.partition("/")
    fields: dict[str, Any] = {
        "task": task,
        "architecture": f"{kind}:{OPTIONS}",
        "encoder_layers": int(encoder),
        "decoder_layers": int(decoder),
        "input_encoding": source,
        "output_encoding": target,
        "examples": examples,
        "eval_every": examples // 10,
        "optimizer": "adam",
    }
    config = replace_fields(preset("recurrent-1"), **(fields | changes))
    return config, describe(config)
