"""Small LSTM and GRU for two cores, for tables 21 and 22."""

from __future__ import annotations

from typing import Any

from learnalg.config import RunConfig
from learnalg.recipes.making import fast

HIDDEN = 256


def small(
    kind: str, task: str, layers: str, examples: int, encoding: str, batch_size: int = 128
) -> tuple[RunConfig, str]:
    """A config of 5x5 matrices, and what a reader must know of it. Without positions, of which a recurrent network has
    no need, and without the transformer's other ingredients."""
    plain: dict[str, Any] = {"positions": "none", "norm": "post", "qk_norm": False, "bias": True, "zero_init": False}
    plain["output_embedding"] = "lookup"
    sizes: dict[str, Any] = {"architecture": kind, "dim_model": HIDDEN, "embedding_dim": 128, "batch_size": batch_size}
    config = fast(task, "5", layers, examples, encoding, **plain, **sizes, optimizer="adam", learning_rate=1e-3)
    return config, f"{encoding.upper()}, {layers} layers of {HIDDEN} hidden dimensions, {examples:,} examples"
