"""Universal transformers (paper, appendix E.2, tables 23 and 24; Dehghani et al., 2018): the same layers in a loop.

    learnalg train --preset paper --encoder-layers 1 --decoder-layers 1 --encoder-loops 4

A looped encoder or decoder applies its layers several times, with shared weights; each loop starts from the result of
the one before. The paper's models have one layer a side, and only those with a looped encoder learn. Three gates decide
how the result of a loop enters the hidden state (`--architecture transformer:loop_gate=copy`):

- none: the result is the next state.
- copy (Csordás et al., 2021): a gate for each token and dimension mixes the result into the state, and starts almost
  closed. Their gate reads the result of self-attention, ours that of the loop, which may have several layers.
- act, adaptive computation time (Graves, 2016): each token halts by itself. A loop's weight is the probability to halt
  after it. A token halts where the sum passes 0.99, or at the last loop; that loop's weight is the remainder, what is
  left of 1. The result is the weighted mean of the states. A halted token keeps its state, which others still read.
  (Dehghani et al. write the same; their code also changes the states of halted tokens, and its weights do not sum to
  1.) The ponder cost, loops plus remainder, is added to the training loss.

Dehghani et al. also give each loop an embedding of its index. The paper does not mention it; it is not done here.

Axes: B batch, S source, T target, L either, D dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from learnalg.config import ModelConfig
from learnalg.models.layers import FeedForward, make_final_norm
from learnalg.naming import unknown

GATE_BIAS = -3.0  # the gate starts at 0.05 (Csordás et al.)
HALTING_BIAS = 1.0  # tokens start with a probability of 0.73 to halt (Graves)
PONDER_COST = 0.01  # weight in the loss of the loops that tokens take before they halt
HALTED_AT = 0.99  # below 1, so that a token can halt after one loop (Graves)

# One loop through all layers: the state before it and the index of the loop, from 0 -> the state after it.
Once = Callable[[Tensor, int], Tensor]


def looped(layers: nn.ModuleList, config: ModelConfig, side: str, gate: str) -> nn.ModuleList:
    """The layers of a side, or one loop around them where they are applied several times."""
    if gate not in GATES:
        raise unknown("loop_gate of a transformer", gate, GATES)
    num_loops = config.num_loops(side)
    if num_loops == 1:
        return layers
    return nn.ModuleList([Loop(layers, num_loops, GATES[gate](config, config.width(side)))])


def ponder_cost(
    encoder: nn.ModuleList, is_token_BS: Tensor, decoder: nn.ModuleList, is_token_BT: Tensor
) -> Tensor | None:
    """Weighted loops and remainders of the last forward pass; None without halting. The mean over an example's tokens,
    then over examples: processes with equal shares of a batch add up to it."""
    costs = []
    for stack, is_token_BL in ((encoder, is_token_BS), (decoder, is_token_BT)):
        for loop in stack:
            if isinstance(loop, Loop) and loop.ponder_BL is not None:
                ponder_B = (loop.ponder_BL * is_token_BL).sum(1) / is_token_BL.sum(1)
                costs.append(ponder_B.mean())
    return PONDER_COST * torch.stack(costs).sum() if costs else None


class Loop(nn.Module):
    """Layers applied several times; stands where an encoder or decoder has a layer."""

    def __init__(self, layers: nn.ModuleList, num_loops: int, gate: nn.Module) -> None:
        super().__init__()
        self.num_loops, self.layers, self.gate = num_loops, layers, gate
        self.ponder_BL: Tensor | None = None  # loops and remainders of the last forward pass

    def forward(self, x_BLD: Tensor, *context: Any) -> Tensor:
        """`context`: what else a layer of this side reads, such as biases of attention."""

        def once(x_BLD: Tensor, n: int) -> Tensor:
            for layer in self.layers:
                x_BLD = layer(x_BLD, *context)
            return x_BLD

        x_BLD, self.ponder_BL = self.gate(x_BLD, once, self.num_loops)
        return x_BLD

    def begin(self, memory_BSD: Tensor, max_length: int) -> list[list[dict[str, Tensor]]]:
        """A token's keys and values differ from loop to loop: each has its own cache."""
        blocks: Any = self.layers
        return [[block.begin(memory_BSD, max_length) for block in blocks] for _ in range(self.num_loops)]

    def step(self, x_B1D: Tensor, caches: list[list[dict[str, Tensor]]], at: int, *biases: Any) -> Tensor:
        blocks: Any = self.layers

        def once(x_B1D: Tensor, n: int) -> Tensor:
            for block, cache in zip(blocks, caches[n], strict=True):
                x_B1D = block.step(x_B1D, cache, at, *biases)
            return x_B1D

        x_B1D, _ = self.gate(x_B1D, once, self.num_loops)
        return x_B1D


class NoGate(nn.Module):
    """The result of a loop is the next state."""

    def __init__(self, config: ModelConfig, dim: int) -> None:
        super().__init__()

    def forward(self, x_BLD: Tensor, once: Once, num_loops: int) -> tuple[Tensor, None]:
        for n in range(num_loops):
            x_BLD = once(x_BLD, n)
        return x_BLD, None


class CopyGate(nn.Module):
    """Mixes the result of a loop into the state, by a share for each token and dimension."""

    def __init__(self, config: ModelConfig, dim: int) -> None:
        super().__init__()
        self.norm = make_final_norm(config, dim)
        # It has biases even in pre-norm networks: one of them keeps the gate closed at first.
        self.feed_forward = FeedForward(replace(config, norm="post"), dim)
        nn.init.constant_(self.feed_forward.down.bias, GATE_BIAS)

    def forward(self, x_BLD: Tensor, once: Once, num_loops: int) -> tuple[Tensor, None]:
        for n in range(num_loops):
            new_BLD = once(x_BLD, n)
            share_BLD = torch.sigmoid(self.feed_forward(self.norm(new_BLD)))
            x_BLD = x_BLD + share_BLD * (new_BLD - x_BLD)
        return x_BLD, None


class Halting(nn.Module):
    """Adaptive computation time: the mean of a token's states, weighted by the probabilities to halt at each."""

    def __init__(self, config: ModelConfig, dim: int) -> None:
        super().__init__()
        self.norm = make_final_norm(config, dim)
        # A vector, since Muon would move a matrix of one row by the same length at every step.
        self.weight_D = nn.Parameter(torch.zeros(dim))
        self.bias = nn.Parameter(torch.full((1,), HALTING_BIAS))

    def forward(self, x_BLD: Tensor, once: Once, num_loops: int) -> tuple[Tensor, Tensor]:
        mean_BLD = torch.zeros_like(x_BLD)
        ponder_BL = torch.zeros(x_BLD.shape[:2], device=x_BLD.device)
        spent_BL = torch.zeros_like(ponder_BL)  # sum of the weights so far
        # No loop is skipped when all tokens have halted: in decoding, later tokens read keys and values of every loop,
        # and in training the check would wait for the device before each loop.
        for n in range(num_loops):
            running_BL = spent_BL < HALTED_AT
            x_BLD = torch.where(running_BL[..., None], once(x_BLD, n), x_BLD)
            halt_BL = torch.sigmoid((self.norm(x_BLD) * self.weight_D).sum(-1) + self.bias)
            halts_BL = running_BL & ((spent_BL + halt_BL >= HALTED_AT) | (n == num_loops - 1))
            remainder_BL = 1 - spent_BL
            ponder_BL = ponder_BL + running_BL + halts_BL * remainder_BL
            weight_BL = torch.where(halts_BL, remainder_BL, halt_BL * running_BL)
            mean_BLD = mean_BLD + weight_BL[..., None] * x_BLD
            spent_BL = spent_BL + weight_BL
        return mean_BLD, ponder_BL


GATES: dict[str, Callable[[ModelConfig, int], nn.Module]] = {"none": NoGate, "copy": CopyGate, "act": Halting}
