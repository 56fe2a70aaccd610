"""The loss: cross-entropy, with soft targets that say that tokens are ordered.

A mantissa of 314 that is predicted as 315 is nearly right, and cross-entropy does not know it. A soft target spreads
the right token over its neighbours: a bell of a given width, in tokens, cut at the ends of their range.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from learnalg.models.outputs import Part


class SoftTargets:
    """Soft targets for one vocabulary. `written_V2` has the range of each token's neighbours. Tokens that are never
    written are in no range, or they would be learned as predictions."""

    def __init__(self, written_V2: Tensor, width: float) -> None:
        self.written_V2 = written_V2
        self.offsets_W = torch.arange(-round(3 * width), round(3 * width) + 1, device=written_V2.device)
        self.bell_W = torch.exp(-0.5 * (self.offsets_W / width) ** 2)

    def __call__(self, targets_N: Tensor) -> tuple[Tensor, Tensor]:
        """(N,) -> neighbouring tokens (N, W) and their weights, which sum to 1; tokens out of range weigh 0."""
        tokens_NW = targets_N[:, None] + self.offsets_W
        ranges_N2 = self.written_V2[targets_N]
        inside_NW = (tokens_NW >= ranges_N2[:, :1]) & (tokens_NW < ranges_N2[:, 1:])
        weights_NW = self.bell_W * inside_NW
        return torch.where(inside_NW, tokens_NW, targets_N[:, None]), weights_NW / weights_NW.sum(1, keepdim=True)


class _SoftCrossEntropy(torch.autograd.Function):
    """Sum over n of -sum_w weight log softmax(logits)[token]. Its gradient, softmax minus target, is written over
    what the forward pass has saved, where autograd would save and build more: a third of the time over a thousand
    tokens."""

    @staticmethod
    def forward(ctx: Any, logits_NV: Tensor, tokens_NW: Tensor, weights_NW: Tensor) -> Tensor:
        log_NV = F.log_softmax(logits_NV, dim=1, dtype=torch.float32)
        loss = -(log_NV.gather(1, tokens_NW) * weights_NW).sum()
        ctx.save_for_backward(log_NV, tokens_NW, weights_NW)
        ctx.dtype = logits_NV.dtype
        return loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        log_NV, tokens_NW, weights_NW = ctx.saved_tensors
        # Below e^-87 the vectorised exponential is 40 times slower, and a confident model has such values.
        gradient_NV = log_NV.clamp_(min=-80).exp_()
        weights_NW = weights_NW * grads[0]
        gradient_NV.mul_(weights_NW.sum(1, keepdim=True))  # zero in rows of padding
        gradient_NV.scatter_add_(1, tokens_NW, -weights_NW)
        return gradient_NV.to(ctx.dtype), None, None


def sequence_loss(parts: list[Part], targets_BT: Tensor, pad: int, soft: SoftTargets | None) -> Tensor:
    """Summed over all tokens but padding; divide by their number for the mean."""
    return torch.stack([_part_loss(part, targets_BT[:, part.where].flatten(), pad, soft) for part in parts]).sum()


def _part_loss(part: Part, targets_N: Tensor, pad: int, soft: SoftTargets | None) -> Tensor:
    logits_NK = part.logits_BTK.flatten(0, 1)
    if soft is None:
        tokens_NW, weights_NW = targets_N[:, None], logits_NK.new_ones((len(targets_N), 1), dtype=torch.float32)
    else:
        tokens_NW, weights_NW = soft(targets_N)
    weights_NW = weights_NW * (targets_N != pad)[:, None]
    # Padding may stand where its token cannot; it weighs nothing.
    local_NW = (tokens_NW - part.first).clamp(min=0)
    loss: Tensor = _SoftCrossEntropy.apply(logits_NK, local_NW, weights_NW)
    return loss
