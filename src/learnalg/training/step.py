"""One step of training: the loss of a batch, its gradient, and all weights moved once.

>>> state = new_state(config, torch.device("cpu"))
>>> set_first_weights(state)
>>> train_step(state, TrainingData(config).batch(0))
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from learnalg.config import RunConfig
from learnalg.data import Batch, Stream, shard
from learnalg.models import build, decoder_input, sides
from learnalg.models.dropout import rows_of_batch
from learnalg.models.outputs import Part
from learnalg.models.weights import set_weights
from learnalg.problem import Problem
from learnalg.processes import own_rows, sum_gradients
from learnalg.tokens.tokenizer import PAD
from learnalg.training.devices import dropout_seed
from learnalg.training.loss import SoftTargets, sequence_loss
from learnalg.training.optim import Optimizer
from learnalg.zoo.load import load_weights


@dataclass
class TrainState:
    config: RunConfig
    model: Any  # an nn.Module that is a Seq2Seq
    optimizer: Optimizer
    soft: SoftTargets | None
    device: torch.device
    forward: nn.Module  # the model itself, or compiled
    step: int = 0
    seconds: float = 0.0
    loss_sum: float = 0.0  # since the last log
    loss_tokens: int = 0
    stopped: bool = False  # early, on its criterion
    skipped: int = 0  # steps in a row whose loss or gradient was not finite


class NotFiniteError(ValueError):
    """A loss, a gradient or weights that are no numbers any more. `moved`: the weights have moved already."""

    def __init__(self, state: TrainState, what: str, moved: bool = False) -> None:
        self.step, self.moved, self.what = state.step + 1, moved, what
        super().__init__(f"step {self.step} (batch {state.step}, seed {state.config.train.seed}): {what}")


PRIOR_NUM = 4_096  # examples whose tokens are counted to start the output's bias


def new_state(config: RunConfig, device: torch.device) -> TrainState:
    """The weights of the seed, and all that a step needs."""
    torch.set_num_threads(config.train.threads)
    torch.manual_seed(config.train.seed)
    problem = Problem(config.data)
    model = build(config.model, *sides(problem)).to(device)
    optimizer = Optimizer(config, model)
    written = torch.from_numpy(problem.tokenizers[1].written).to(device)
    soft = SoftTargets(written, config.optim.soft_width) if config.optim.soft_width else None
    forward: Any = torch.compile(model) if config.train.compile else model
    return TrainState(config, model, optimizer, soft, device, forward)


def set_first_weights(state: TrainState) -> None:
    """What a new run starts with besides the weights of its seed: those of another model, or of its encoder; and the
    token frequencies, where the output is new and has a bias for each place."""
    name, part = state.config.train.origin
    if name:
        set_weights(state.model, load_weights(name)[1], name, part)
    is_new_output = not name or part == "encoder"
    if is_new_output and state.config.model.output_bias != "token":
        problem = Problem(state.config.data)
        first = Stream(problem, state.config.train.seed, "train", PRIOR_NUM).batch(0)
        state.model.set_prior(torch.from_numpy(first.targets).to(state.device))


def train_step(state: TrainState, batch: Batch) -> None:
    """One step on one batch, of which each process takes its rows. Weights move if loss and gradient are finite."""
    total, num_tokens = compute_gradient(state, batch)
    if not math.isfinite(total):
        state.optimizer.drop_gradients()
        raise NotFiniteError(state, f"the loss is {total}")
    norm = state.optimizer.step(state.step)
    if not math.isfinite(norm):
        raise NotFiniteError(state, f"the norm of the gradient is {norm}")
    check_finite(state, dict(state.model.named_parameters()))
    state.step += 1
    state.skipped = 0
    state.loss_sum += total
    state.loss_tokens += num_tokens


def compute_gradient(state: TrainState, batch: Batch) -> tuple[float, int]:
    """Leaves the gradient of the mean loss in the parameters. Returns the summed loss and the number of tokens. Both
    are of the whole batch, whatever this process's rows are, and in how many parts it takes them."""
    num_tokens = int((batch.targets != PAD).sum())
    start, stop = own_rows(len(batch))
    size = state.config.train.micro_batch or len(batch)
    total = torch.zeros((), device=state.device)
    for first in range(start, stop, size):
        total += _add_gradient(state, batch, first, min(first + size, stop), num_tokens)
    total = sum_gradients([p.grad for p in state.optimizer.params if p.grad is not None], total)
    return float(total), num_tokens


def _add_gradient(state: TrainState, batch: Batch, first: int, stop: int, num_tokens: int) -> Tensor:
    """Of these rows of a batch. Returns their summed loss."""
    config, num = state.config, len(batch)
    part = batch if stop - first == num else shard(batch, first, stop)
    source_BS = torch.from_numpy(part.sources).to(state.device)
    target_BT = torch.from_numpy(part.targets).to(state.device)
    read_BT = decoder_input(target_BT)
    with (
        rows_of_batch(state.model, first, len(part), num) as is_shared,
        torch.autocast(state.device.type, torch.bfloat16, enabled=config.train.is_bf16(state.step)),
    ):
        if config.model.dropout:
            torch.manual_seed(dropout_seed(config.train.seed, state.step, 0 if is_shared else first))
        parts: list[Part] = state.forward(source_BS, read_BT, bool((part.sources == PAD).any()), in_parts=True)
    loss_sum = sequence_loss(parts, target_BT, PAD, state.soft)
    loss = loss_sum * (1 / num_tokens)
    auxiliary = state.model.auxiliary_loss(source_BS, read_BT)
    if auxiliary is not None:
        loss = loss + auxiliary * (len(part) / num)  # a mean over examples
    loss.backward()
    return loss_sum.detach()


@torch.no_grad()
def check_finite(state: TrainState, tensors: dict[str, Tensor]) -> None:
    """Refuses weights or moments that have infinities or NaN, by name."""
    floats = {name: tensor for name, tensor in tensors.items() if tensor.is_floating_point()}
    if math.isfinite(total_norm(floats.values())):  # ten times faster than asking every number
        return
    for name, tensor in floats.items():
        if not tensor.isfinite().all():
            raise NotFiniteError(state, f"{name} has numbers that are not finite", moved=True)


def total_norm(tensors: Iterable[Tensor]) -> float:
    """Not finite where a number is not, or where the norm is beyond 1e19."""
    return float(torch.nn.utils.get_total_norm(list(tensors)))
