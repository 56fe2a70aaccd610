"""Optimisers and schedules. The learning rate is a pure function of the step, so that resuming needs no state.

Muon (Jordan et al., 2024) moves a hidden matrix along the nearest orthogonal matrix to its momentum: all directions of
the update get the same length. The Newton-Schulz iteration that finds it is five small matrix products;
matrices of one shape go through it together. torch.optim.Muon does it in bf16, which on CPUs without
bf16 units is a hundred times slower than fp32: here it is done in the dtype that is fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from learnalg.config import OptimConfig


def rate(config: OptimConfig, step: int, num_steps: int) -> float:
    """The learning rate at a step (from 0), as a share of the highest."""
    warmup = min(config.warmup_steps, num_steps)
    if step < warmup:
        return (step + 1) / warmup
    if config.schedule == "inverse-sqrt":
        return math.sqrt(max(warmup, 1) / (step + 1))
    if config.schedule == "cosine":
        period = config.schedule_steps or max(num_steps - warmup, 1)
        lowest = config.min_learning_rate / config.learning_rate
        share = min((step - warmup) / period, 1.0)
        return lowest + (1 - lowest) * 0.5 * (1 + math.cos(math.pi * share))
    if config.schedule == "linear":
        return min(1.0, max(0.0, (num_steps - step) / max(config.cooldown * num_steps, 1)))
    return 1.0


def soft_width(config: OptimConfig, step: int, num_steps: int) -> float:
    """The width of soft targets at a step: constant, then shrinking by equal factors over the cool-down."""
    if not config.soft_width_end:
        return config.soft_width
    share = max(0.0, 1 - (num_steps - step) / max(config.cooldown * num_steps, 1))
    return config.soft_width * (config.soft_width_end / config.soft_width) ** share


# Coefficients of the quintic x -> a x + b x^3 + c x^5 that drives singular values towards 1 fast.
_QUINTIC = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrices: Tensor, steps: int = 5) -> Tensor:
    """(num, m, n) -> about the nearest orthogonal matrices; singular values not tiny at first end near 1."""
    a, b, c = _QUINTIC
    is_tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if is_tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if is_tall else x


class Muon(torch.optim.Optimizer):
    """For 2-D weights of hidden layers; Nesterov momentum, update scaled by sqrt(max(1, rows / cols))."""

    def __init__(self, params: Iterable[nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            shapes: dict[tuple[int, ...], list[Tensor]] = {}
            for p in group["params"]:
                if p.grad is not None:
                    shapes.setdefault(tuple(p.shape), []).append(p)
            for (rows, cols), params in shapes.items():
                self._step_together(params, math.sqrt(max(1.0, rows / cols)), group)

    def _step_together(self, params: list[Tensor], scale: float, group: dict[str, Any]) -> None:
        grads = [p.grad for p in params if p.grad is not None]
        for p in params:
            if "momentum" not in self.state[p]:
                self.state[p]["momentum"] = torch.zeros_like(p)
        buffers = [self.state[p]["momentum"] for p in params]
        torch._foreach_lerp_(buffers, grads, 1 - group["momentum"])
        updates = torch.stack(torch._foreach_lerp(grads, buffers, group["momentum"]))
        if updates.is_cuda:
            updates = orthogonalise(updates.bfloat16()).to(params[0].dtype)
        else:
            updates = orthogonalise(updates)
        if group["weight_decay"]:
            torch._foreach_mul_(params, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(params, list(updates.unbind()), alpha=-group["lr"] * scale)


class Optimizer:
    """One or two torch optimisers behind one step; `highest` keeps each group's rate before the schedule."""

    def __init__(self, config: OptimConfig, model: nn.Module, num_steps: int) -> None:
        self.config, self.num_steps = config, num_steps
        named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        hidden = [p for name, p in named if p.ndim == 2 and "layers" in name.split(".")]
        betas = (config.beta1, config.beta2)
        self.parts: list[torch.optim.Optimizer] = []
        if config.optimizer == "muon" and hidden:
            self.parts.append(Muon(hidden, config.muon_learning_rate, weight_decay=config.weight_decay))
            is_hidden = {id(p) for p in hidden}
            rest = [p for _, p in named if id(p) not in is_hidden]
        else:
            rest = [p for _, p in named]
        kind = torch.optim.Adam if config.optimizer == "adam" else torch.optim.AdamW
        decay = 0.0 if config.optimizer == "adam" else config.weight_decay
        self.parts.append(
            kind(rest, lr=config.learning_rate, betas=betas, eps=config.eps, weight_decay=decay, fused=True)
        )
        self.highest = [[group["lr"] for group in part.param_groups] for part in self.parts]
        self.params = [p for _, p in named]

    def step(self, step: int) -> None:
        """Clips, moves the weights at the rate of this step, and drops the gradients."""
        if self.config.clip:
            torch.nn.utils.clip_grad_norm_(self.params, self.config.clip)
        share = rate(self.config, step, self.num_steps)
        for part, highest in zip(self.parts, self.highest, strict=True):
            for group, lr in zip(part.param_groups, highest, strict=True):
                group["lr"] = lr * share
            part.step()
            part.zero_grad(set_to_none=True)

    def state_tensors(self) -> dict[str, Tensor]:
        """All moments, by part, place of the parameter and name."""
        tensors: dict[str, Tensor] = {}
        for k, part in enumerate(self.parts):
            for index, entries in part.state_dict()["state"].items():
                for name, value in entries.items():
                    tensors[f"{k}.{index}.{name}"] = torch.as_tensor(value)
        return tensors

    def load_state_tensors(self, tensors: dict[str, Tensor]) -> None:
        for k, part in enumerate(self.parts):
            state: dict[int, dict[str, Tensor]] = {}
            for key, value in tensors.items():
                which, index, name = key.split(".")
                if int(which) == k:
                    state.setdefault(int(index), {})[name] = value
            part.load_state_dict({"state": state, "param_groups": part.state_dict()["param_groups"]})
