"""From a decoder's hidden states to logits, whatever the architecture.

The weights are the rows of the decoder's embedding (paper, appendix G). There is one bias for each token, or one for
each token at each place within a coefficient: a mantissa never stands where an exponent should. With `slot` a place has
logits for the tokens that may stand there, and for no others: of three tokens of P10000, two need a hundred logits
instead of ten thousand.

Axes: B batch, T target, D dimensions, P places, V vocabulary, K the tokens of a part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from learnalg.config import ModelConfig
from learnalg.models.grid import places
from learnalg.models.seq2seq import Side

NEVER = -1e4  # the logit of a token that cannot stand at a place


class Part(NamedTuple):
    """The logits of the output tokens at one place, for the tokens from `first` on."""

    where: slice  # of the output tokens
    first: int
    logits_BTK: Tensor


def make_bias(config: ModelConfig, side: Side) -> nn.Parameter:
    num_places = 1 if config.output_bias == "token" else side.header + side.width
    return nn.Parameter(torch.zeros(num_places, side.vocab_size))


def allowed_tokens(config: ModelConfig, side: Side) -> tuple[tuple[int, int], ...]:
    """For each place, in the order of models/grid.py: the first token and the one after the last."""
    if config.output_bias != "slot":
        return ((0, side.vocab_size),) * (side.header + side.width)
    if side.slots is None:
        raise ValueError("output_bias slot needs to know the tokens of each place")
    # Before the numbers stand the special tokens: dimensions are in the header, and the end comes where a number would.
    first_number = min(start for start, _ in side.slots)
    numbers = ((0 if place == 0 else start, stop) for place, (start, stop) in enumerate(side.slots))
    return (*numbers, *((0, first_number),) * side.header)


def token_vectors(decoder: Any) -> Tensor:
    """(V, D): the rows of the embedding. Those of ordered tokens are computed, once a forward pass."""
    weight_VD: Tensor = decoder.embed.words.weight
    return weight_VD


def token_parts(hidden_BTD: Tensor, weight_VD: Tensor, decoder: Any, start: int = 0) -> list[Part]:
    """The logits of the output tokens from the one at `start` on, place by place; all in one part where the bias has no
    places."""
    bias_PV, side, length = decoder.bias, decoder.side, hidden_BTD.shape[1]
    if len(bias_PV) == 1:
        return [Part(slice(0, length), 0, F.linear(hidden_BTD, weight_VD, bias_PV[0]))]
    parts = []
    for place, where in _places(side, start, length):
        low, high = decoder.allowed[place]
        parts.append(Part(where, low, F.linear(hidden_BTD[:, where], weight_VD[low:high], bias_PV[place, low:high])))
    return parts


def _places(side: Side, start: int, length: int) -> list[tuple[int, slice]]:
    """The places of the output tokens from the one at `start` on, each with the tokens there."""
    header = [
        (side.width + at, slice(at - start, at - start + 1)) for at in range(start, min(side.header, start + length))
    ]
    begin = max(side.header - start, 0)
    numbers = [((start + at - side.header) % side.width, slice(at, length, side.width)) for at in range(begin, length)]
    return header + numbers[: side.width]


def whole_logits(parts: list[Part], vocab_size: int) -> Tensor:
    """(B, T, V): the parts put together."""
    if len(parts) == 1 and parts[0].logits_BTK.shape[-1] == vocab_size:
        return parts[0].logits_BTK
    one = parts[0].logits_BTK
    length = sum(part.logits_BTK.shape[1] for part in parts)
    logits_BTV = one.new_full((len(one), length, vocab_size), NEVER)
    for where, first, logits_BTK in parts:
        logits_BTV[:, where, first : first + logits_BTK.shape[-1]] = logits_BTK
    return logits_BTV


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
