"""One step of a run again, to see why its loss, gradient or weights were no numbers any more.

    >>> replay(Path("runs/ev5"), 1_234).loss
    nan

A batch depends on the config and on its index, and a step on the weights before it. So the step is taken again from the
last checkpoint before it, or from the first weights, and nothing is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from learnalg.data import TrainingData
from learnalg.training.checkpoint import is_sound, list_checkpoints, load_checkpoint
from learnalg.training.devices import join_processes
from learnalg.training.loop import restore
from learnalg.training.optim import learning_rate_share
from learnalg.training.run import Run
from learnalg.training.step import (
    NotFiniteError,
    TrainState,
    compute_gradient,
    new_state,
    set_first_weights,
    total_norm,
    train_step,
)


@dataclass(frozen=True)
class Parameter:
    name: str
    weight: float  # largest number, NaN if one is
    gradient: float
    moved: float  # largest number after the step; NaN where the step is not taken


@dataclass(frozen=True)
class Replay:
    step: int  # from 1, as in the metrics
    batch: int  # from 0
    seed: int
    start: str  # the checkpoint that it was replayed from
    shapes: tuple[tuple[int, int], tuple[int, int]]  # examples and tokens, of sources and targets
    learning_rate_share: float
    loss: float  # a token
    gradient: float  # norm
    outcome: str  # what was not finite
    parameters: tuple[Parameter, ...]


def replay(folder: Path, step: int) -> Replay:
    run = Run.open(folder)
    config = run.config
    if not 1 <= step <= config.train.num_steps:
        raise ValueError(f"step {step}: the run has steps 1 to {config.train.num_steps:,}")
    with join_processes(config, folder) as device:
        state, data = new_state(config, device), TrainingData(config)
        before = [path for path in list_checkpoints(run.checkpoints) if int(path.stem) < step and is_sound(path)]
        if before:
            restore(state, *load_checkpoint(run.checkpoints, before[-1].name))
        else:
            set_first_weights(state)
        while state.step < step - 1:
            take_or_skip(state, data)
        batch = data.batch(state.step)
        total, num_tokens = compute_gradient(state, batch)
        named = dict(state.model.named_parameters())
        gradients = {name: p.grad.clone() for name, p in named.items() if p.grad is not None}
        weights = {name: largest(p) for name, p in named.items()}
        state.optimizer.drop_gradients()
        outcome = take_or_skip(state, data)
    empty = torch.zeros(1)
    parameters = (
        Parameter(name, weights[name], largest(gradients.get(name, empty)), largest(p)) for name, p in named.items()
    )
    return Replay(
        step=step,
        batch=step - 1,
        seed=config.train.seed,
        start=before[-1].name if before else "the first weights",
        shapes=(batch.sources.shape, batch.targets.shape),
        learning_rate_share=learning_rate_share(config, step - 1),
        loss=total / num_tokens,
        gradient=total_norm(gradients.values()),
        outcome=outcome,
        parameters=tuple(sorted(parameters, key=lambda p: (is_number(p), p.name))),
    )


def take_or_skip(state: TrainState, data: TrainingData) -> str:
    """Takes the next step, or leaves it out as a run does that skips; returns what was not finite."""
    try:
        train_step(state, data.batch(state.step))
    except NotFiniteError as error:
        state.step += 1
        return error.what
    return ""


def largest(tensor: Tensor) -> float:
    return float(tensor.detach().abs().max())


def is_number(parameter: Parameter) -> bool:
    values = torch.tensor([parameter.weight, parameter.gradient, parameter.moved])
    return bool(values.isfinite().all())
