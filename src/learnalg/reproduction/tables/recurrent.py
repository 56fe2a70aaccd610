"""Small LSTM and GRU for two cores, for tables 21 and 22."""

from __future__ import annotations

from typing import Any

from learnalg.config import RunConfig, replace_fields
from learnalg.reproduction.making import describe, fast

HIDDEN = 256
MEMORY = 100  # about as many tokens as two 5x5 matrices and their sum have


def small(kind: str, task: str, layers: str, examples: int, encoding: str, **changes: Any) -> tuple[RunConfig, str]:
    """A config of 5x5 matrices, and what a reader must know of it. Without the transformer's own ingredients: of its
    embeddings it has positions, number features and ordered words, and its gates begin with long memories."""
    plain: dict[str, Any] = {"norm": "post", "qk_norm": False, "bias": True, "zero_init": False}
    sizes: dict[str, Any] = {"architecture": kind, "dim_model": HIDDEN, "embedding_dim": 128, "memory": MEMORY}
    config = fast(task, "5", layers, examples, encoding, **plain, **sizes, optimizer="adam", learning_rate=3e-3)
    config = replace_fields(config, **changes)
    return config, describe(config)
