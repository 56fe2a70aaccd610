"""Muon (Jordan et al., 2024) moves a hidden matrix along the nearest orthogonal matrix to its momentum: all directions
of the update get the same length.

Polynomials in the momentum find that matrix: four, where the original has five, since each has its own coefficients
(Amsel et al., 2025). Matrices of one shape are computed together. torch.optim.Muon computes in bf16, which is a hundred
times slower than fp32 on CPUs without bf16 units: here bf16 is for GPUs and for runs in bf16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn


def _quintics(lowest: float, num: int) -> list[tuple[float, float, float]]:
    """Polynomials a x + b x^3 + c x^5 that one after the other bring all of [lowest, 1] close to 1. Each has the
    smallest error on the values that the one before leaves, found by Remez's exchange."""
    found, low, high = [], lowest, 1.0
    for _ in range(num):
        x = torch.tensor([low, 0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high, high], dtype=torch.float64)
        for _ in range(50):
            signs = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)
            a, b, c, error = torch.linalg.solve(torch.stack([x, x**3, x**5, signs], 1), torch.ones_like(x)).tolist()
            root = math.sqrt(9 * b * b - 20 * a * c)  # of the derivative: where the polynomial turns
            x[1], x[2] = math.sqrt((-3 * b - root) / (10 * c)), math.sqrt((-3 * b + root) / (10 * c))
        found.append((a, b, c))
        low, high = 1 - abs(error), 1 + abs(error)
    return found


# Singular values from 0.003 to 1, as shares of the matrix's norm, end between 0.80 and 1.20.
QUINTICS = _quintics(lowest=0.003, num=4)


def orthogonalise(matrices: Tensor) -> Tensor:
    """(num, m, n) -> nearly the nearest orthogonal matrices; singular values that are not tiny end near 1."""
    is_tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if is_tall else matrices
    # Beyond 1 the polynomials explode, and in bf16 a norm is off by up to 0.4 %.
    room = 1.02 if x.dtype == torch.bfloat16 else 1.0
    x = x / (room * x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    # A wide matrix is multiplied once, by the product of all polynomials in its Gram matrix: half the time. Not in
    # bf16, where the rounding errors of the Gram matrix grow.
    is_wide = x.shape[-1] >= 2 * x.shape[-2] and x.dtype == torch.float32
    x = _factor(x @ x.mT) @ x if is_wide else _one_by_one(x)
    return x.mT if is_tall else x


def _one_by_one(x: Tensor) -> Tensor:
    for a, b, c in QUINTICS:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


def _factor(gram: Tensor) -> Tensor:
    """What `_one_by_one` multiplies a matrix by, from its Gram matrix; all these matrices commute."""
    factor = torch.eye(gram.shape[-1], device=gram.device).expand_as(gram)
    for a, b, c in QUINTICS:
        step = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        step.diagonal(dim1=-2, dim2=-1).add_(a)
        factor = step @ factor
        gram = step @ gram @ step
    return factor


class Muon(torch.optim.Optimizer):
    """For 2-D weights of hidden layers; Nesterov momentum, update scaled by sqrt(max(1, rows / cols))."""

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        bf16: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self.bf16 = bf16

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
        if updates.is_cuda or self.bf16:
            updates = orthogonalise(updates.bfloat16()).to(params[0].dtype)
        else:
            updates = orthogonalise(updates)
        if group["weight_decay"]:
            torch._foreach_mul_(params, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(params, list(updates.unbind()), alpha=-group["lr"] * scale)
