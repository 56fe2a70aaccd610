"""What every architecture offers: logits for training, and one token at a time for decoding.

Axes in names: B batch, S source, T target, L either, D dimensions, H heads, K dimensions of a head, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn


@dataclass(frozen=True)
class Side:
    """What a model knows of the sequences on one side: sizes, and what the tokens stand for."""

    vocab_size: int
    header: int = 2  # tokens before the first coefficient; the last two are the dimensions
    width: int = 1  # tokens of a coefficient
    first_task: int = 0  # id of the first task's token
    first_dim: int = 0  # id of the dimension 1
    pad: int = 1
    values: NDArray[np.floating] | None = None  # (vocab,), NaN where a token does not stand for a number
    ordered: NDArray[np.int64] | None = None  # (vocab, 2): the range of tokens in which neighbours mean close numbers
    # (tasks, cols, col, 2): the operand of a column, and the column in it, in an input of so many columns; None: one
    operands: NDArray[np.int64] | None = None
    triangle: bool = False  # the sequence has the upper triangle of a square matrix only
    end: int = 0
    # for each token of a coefficient: the first token that may stand there, and the one after the last
    slots: tuple[tuple[int, int], ...] | None = None


class Seq2Seq(Protocol):
    """`target` is what the decoder reads: a start token, then the output without its end."""

    def __call__(self, source_BS: Tensor, target_BT: Tensor, padded: bool = True, in_parts: bool = False) -> Any:
        """Logits (B, T, V). `padded=False` promises that no source has padding. `in_parts` returns a list of Part
        (models/outputs.py), from which the loss is computed."""

    def begin(self, source_BS: Tensor, max_length: int) -> dict[str, Any]:
        """State of a decoding: nested dicts and lists of tensors whose first axis is the batch; others in tuples."""

    def step(self, tokens_B: Tensor, state: dict[str, Any]) -> Tensor:
        """Reads one token each, updates the state, returns the next token's logits (B, V)."""

    def set_prior(self, targets_BT: Tensor) -> None:
        """Starts the output at the tokens' frequencies in these targets."""

    def hidden_matrices(self) -> list[nn.Parameter]:
        """The parameter group that Muon moves: weight matrices between hidden states. AdamW moves all others."""

    def auxiliary_loss(self, source_BS: Tensor, target_BT: Tensor) -> Tensor | None:
        """What training adds to the mean loss for the last forward pass, which read these; None for nothing."""
