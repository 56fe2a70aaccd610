"""From a decoder's hidden states to logits, whatever the architecture.

The weights are the rows of the decoder's embedding (paper, appendix G). There is one bias for each token, or one for
each token at each place within a coefficient: a mantissa never stands where an exponent should.

Axes: B batch, T target, D dimensions, P places, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from learnalg.config import ModelConfig
from learnalg.models.grid import places
from learnalg.models.seq2seq import Side


def make_bias(config: ModelConfig, side: Side) -> nn.Parameter:
    num_places = side.header + side.width if config.output_bias == "place" else 1
    return nn.Parameter(torch.zeros(num_places, side.vocab_size))


def token_vectors(decoder: Any) -> Tensor:
    """(V, D): the rows of the embedding. Those of ordered tokens are computed, once a forward pass."""
    weight_VD: Tensor = decoder.embed.words.weight
    return weight_VD


def token_logits(hidden_BTD: Tensor, weight_VD: Tensor, bias_PV: Tensor, side: Side, index_T: Tensor) -> Tensor:
    """`index_T`: which output tokens these are, from 0."""
    if len(bias_PV) == 1:
        return nn.functional.linear(hidden_BTD, weight_VD, bias_PV[0])
    # Not bias_PV[places]: with several threads the gradient of an index adds in no fixed order, and bits differ.
    return nn.functional.linear(hidden_BTD, weight_VD) + nn.functional.embedding(places(side, index_T), bias_PV)


@torch.no_grad()
def set_prior(bias_PV: Tensor, side: Side, targets_BT: Tensor) -> None:
    """Starts the bias at the log frequency of each token, at each place if the bias has places."""
    index_T = torch.arange(targets_BT.shape[1], device=targets_BT.device)
    place_T = places(side, index_T) if len(bias_PV) > 1 else torch.zeros_like(index_T)
    counts_PV = torch.full_like(bias_PV, 0.01)
    is_token = targets_BT != side.pad
    where = place_T.expand_as(targets_BT)[is_token], targets_BT[is_token]
    counts_PV.index_put_(where, torch.ones_like(targets_BT[is_token], dtype=counts_PV.dtype), accumulate=True)
    bias_PV.copy_((counts_PV / counts_PV.sum(1, keepdim=True)).log())
