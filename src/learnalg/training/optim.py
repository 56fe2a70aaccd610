"""Optimisers and schedules. A new one is a function here, or in a file of its own, and a line in its dict.

    --optimizer muon:learning_rate=0.02 --schedule linear:cooldown=0.7

The learning rate is a function of the step alone, so that resuming needs no state. A schedule returns it as a share of
the highest. An optimiser returns torch optimisers over the model's parameter groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from learnalg.config import OptimConfig, RunConfig
from learnalg.data import stage_ends
from learnalg.naming import find, make, options_of
from learnalg.training.muon import Muon


class Progress(NamedTuple):
    """Where a run is, after its warm-up."""

    step: int  # from 0
    num_steps: int
    warmup: int  # steps of the warm-up
    highest: float  # learning rate


def constant(at: Progress) -> float:
    """The highest learning rate to the end."""
    return 1.0


def inverse_sqrt(at: Progress) -> float:
    """Falls as one over the square root of the step."""
    return math.sqrt(max(at.warmup, 1) / (at.step + 1))


def cosine(at: Progress, lowest: float = 0.0, period: int = 0, restarts: bool = False) -> float:
    """Falls along a cosine to the learning rate `lowest`.

    It falls within `period` steps (0: the whole run), and then stays there, or restarts."""
    if not 0 <= lowest <= at.highest:
        raise ValueError(f"schedule cosine: lowest {lowest} is a learning rate, from 0 to the highest, {at.highest}")
    if period < 0:
        raise ValueError(f"schedule cosine: period {period} is a number of steps, or 0 for the whole run")
    done = (at.step - at.warmup) / (period or max(at.num_steps - at.warmup, 1))
    share = done % 1.0 if restarts else min(done, 1.0)
    return lowest / at.highest + (1 - lowest / at.highest) * 0.5 * (1 + math.cos(math.pi * share))


def linear(at: Progress, cooldown: float = 0.5) -> float:
    """Constant, then falls to zero over the last part of the run, which is the share `cooldown` of it."""
    if not 0 < cooldown <= 1:
        raise ValueError(f"schedule linear: cooldown {cooldown} is a share of the run: above 0, at most 1")
    return min(1.0, max(0.0, (at.num_steps - at.step) / max(cooldown * at.num_steps, 1)))


SCHEDULES: dict[str, Callable[..., float]] = {
    "constant": constant,
    "inverse-sqrt": inverse_sqrt,
    "cosine": cosine,
    "linear": linear,
}


def learning_rate_share(config: RunConfig, step: int) -> float:
    """The learning rate at a step (from 0), as a share of the highest, times the factor of the stage."""
    num_steps = config.train.num_steps
    warmup = min(config.optim.warmup_steps, num_steps)
    stage = next((s for s, end in zip(config.stage, stage_ends(config), strict=True) if step < end), None)
    factor = stage.rate if stage else 1.0
    if step < warmup:
        return factor * (step + 1) / warmup
    return factor * _schedule(config.optim.schedule)(Progress(step, num_steps, warmup, config.optim.learning_rate))


@cache
def _schedule(text: str) -> Callable[[Progress], float]:
    entry = find("schedule", text, SCHEDULES)
    return partial(entry, **options_of("schedule", text, entry))


def check_schedule(config: RunConfig) -> None:
    """Refuses a schedule that does not exist, or whose options cannot be, before the end of the warm-up finds it."""
    _schedule(config.optim.schedule)(Progress(0, config.train.num_steps, 0, config.optim.learning_rate))


def adam(model: Any, config: OptimConfig, bf16: bool) -> list[torch.optim.Optimizer]:
    """Adam for all weights, as in the paper."""
    betas = (0.9, config.beta2)
    return [torch.optim.Adam(model.parameters(), lr=config.learning_rate, betas=betas, fused=True)]


def adamw(model: Any, config: OptimConfig, bf16: bool, weight_decay: float = 0.0) -> list[torch.optim.Optimizer]:
    """Adam with decoupled weight decay."""
    return [_adamw(list(model.parameters()), config, weight_decay)]


def muon(
    model: Any, config: OptimConfig, bf16: bool, learning_rate: float = 0.02, weight_decay: float = 0.0
) -> list[torch.optim.Optimizer]:
    """Muon, with its own learning rate, for the matrices of hidden layers; AdamW for the rest."""
    if not 0 < learning_rate < math.inf:
        raise ValueError(f"optimizer muon: learning_rate {learning_rate} must be positive and finite")
    hidden = model.hidden_matrices()
    is_hidden = {id(p) for p in hidden}
    rest = [p for p in model.parameters() if id(p) not in is_hidden]
    parts: list[torch.optim.Optimizer] = []
    if hidden:
        parts.append(Muon(hidden, learning_rate, weight_decay=weight_decay, bf16=bf16))
    return [*parts, _adamw(rest, config, weight_decay)]


def _adamw(params: list[torch.nn.Parameter], config: OptimConfig, weight_decay: float) -> torch.optim.Optimizer:
    betas = (0.9, config.beta2)
    return torch.optim.AdamW(params, lr=config.learning_rate, betas=betas, weight_decay=weight_decay, fused=True)


ADAM = ("step", "exp_avg", "exp_avg_sq")
MOMENTS: dict[type, tuple[str, ...]] = {torch.optim.Adam: ADAM, torch.optim.AdamW: ADAM, Muon: ("momentum",)}

OPTIMIZERS: dict[str, Callable[..., list[torch.optim.Optimizer]]] = {"adam": adam, "adamw": adamw, "muon": muon}


class Optimizer:
    """The torch optimisers of a run as one; `highest` has the learning rate of each group before the schedule."""

    def __init__(self, config: RunConfig, model: Any) -> None:
        self.config = config
        bf16 = config.train.precision in ("bf16", "mixed")
        self.parts = make("optimizer", config.optim.optimizer, OPTIMIZERS, model, config.optim, bf16)
        self.highest = [[group["lr"] for group in part.param_groups] for part in self.parts]
        self.params = list(model.parameters())
        check_schedule(config)

    def step(self, step: int) -> float:
        """Clips, moves the weights at the learning rate of this step, and drops the gradients. Returns the gradient's
        norm before it was clipped; where that is not finite, nothing moves."""
        norm = self._clip()
        if math.isfinite(norm):
            share = learning_rate_share(self.config, step)
            for part, highest in zip(self.parts, self.highest, strict=True):
                for group, lr in zip(part.param_groups, highest, strict=True):
                    group["lr"] = lr * share
                part.step()
        self.drop_gradients()
        return norm

    def _clip(self) -> float:
        if self.config.optim.clip:
            return float(torch.nn.utils.clip_grad_norm_(self.params, self.config.optim.clip))
        return float(torch.nn.utils.get_total_norm([p.grad for p in self.params if p.grad is not None]))

    def drop_gradients(self) -> None:
        for part in self.parts:
            part.zero_grad(set_to_none=True)

    def state_tensors(self) -> dict[str, Tensor]:
        """All moments, as 'part.parameter.name'."""
        tensors: dict[str, Tensor] = {}
        for k, part in enumerate(self.parts):
            for index, entries in part.state_dict()["state"].items():
                for name, value in entries.items():
                    tensors[f"{k}.{index}.{name}"] = torch.as_tensor(value)
        return tensors

    def load_state_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Moments that are not those of these weights are refused."""
        left = dict(tensors)
        for k, part in enumerate(self.parts):
            state: dict[int, dict[str, Tensor]] = {}
            own = [p for group in part.param_groups for p in group["params"]]
            for index, p in enumerate(own):
                place = f"{k}.{index}."
                found = {key.removeprefix(place): left.pop(key) for key in tensors if key.startswith(place)}
                names = MOMENTS.get(type(part), found.keys())
                shapes = {name: () if name == "step" else tuple(p.shape) for name in names}
                given = {name: tuple(tensor.shape) for name, tensor in found.items() if tensor.is_floating_point()}
                if found and type(part) in MOMENTS and given != shapes:
                    raise ValueError(f"the moments of the checkpoint do not fit: of {place[:-1]} {given}, not {shapes}")
                if found:
                    state[index] = found
            part.load_state_dict({"state": state, "param_groups": part.state_dict()["param_groups"]})
        if left:
            raise ValueError(f"the moments of the checkpoint do not fit: there is no weight for {next(iter(left))}")
