"""From a decoder's states to words, whatever the architecture: logits with a bias for each word.

The weights are the rows of the decoder's embedding (paper, appendix G). The bias is one for each
word, or one for each word at each place within a number: a mantissa never stands where an exponent should.

Axes: B batch, T target, D dimensions, P places, V words.
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


def output_words(decoder: Any) -> Tensor:
    """(V, D): a row for each word, the embedding's. Ordered ones are computed: once an answer."""
    weight_VD: Tensor = decoder.embed.words.weight
    return weight_VD


def word_logits(hidden_BTD: Tensor, weight_VD: Tensor, bias_PV: Tensor, side: Side, index_T: Tensor) -> Tensor:
    """`index_T`: which output tokens these are, from 0."""
    if len(bias_PV) == 1:
        return nn.functional.linear(hidden_BTD, weight_VD, bias_PV[0])
    return nn.functional.linear(hidden_BTD, weight_VD) + nn.functional.embedding(places(side, index_T), bias_PV)


@torch.no_grad()
def set_prior(bias_PV: Tensor, side: Side, targets_BT: Tensor) -> None:
    """Starts the bias at the log frequency of each word, at each place if the bias knows places."""
    index_T = torch.arange(targets_BT.shape[1], device=targets_BT.device)
    place_T = places(side, index_T) if len(bias_PV) > 1 else torch.zeros_like(index_T)
    counts_PV = torch.full_like(bias_PV, 0.01)
    is_word = targets_BT != side.pad
    where = place_T.expand_as(targets_BT)[is_word], targets_BT[is_word]
    counts_PV.index_put_(where, torch.ones_like(targets_BT[is_word], dtype=counts_PV.dtype), accumulate=True)
    bias_PV.copy_((counts_PV / counts_PV.sum(1, keepdim=True)).log())
