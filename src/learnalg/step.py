"""One step of training: a batch in, all weights moved once.

>>> state = start(config, torch.device("cpu"))
>>> train_step(state, Lessons(config).batch(0))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from learnalg.config import RunConfig
from learnalg.data import Batch
from learnalg.evaluate import decoder_input
from learnalg.loss import SoftTargets, number_token_loss, sequence_loss
from learnalg.models import build, sides
from learnalg.optim import Optimizer, soft_width
from learnalg.processes import dropout_seed
from learnalg.tokenizer import PAD


@dataclass
class TrainState:
    config: RunConfig
    model: Any  # an nn.Module that is a Seq2Seq
    optimizer: Optimizer
    ordered: Tensor  # (V, 2): for each word the range of words in which neighbours mean close numbers
    soft: SoftTargets | None
    device: torch.device
    forward: nn.Module  # the model itself, or wrapped by compile or DDP
    step: int = 0
    seconds: float = 0.0
    loss_sum: float = 0.0  # since the last log
    loss_tokens: int = 0
    stopped: bool = False  # early, on its criterion


def start(config: RunConfig, device: torch.device) -> TrainState:
    """Weights of the seed, and everything that a step needs."""
    torch.set_num_threads(config.train.threads)
    torch.manual_seed(config.train.seed)
    model = build(config.model, *sides(config.data)).to(device)
    optimizer = Optimizer(config.optim, model, config.train.num_steps, bf16=config.train.precision == "bf16")
    tokenizer = config.data.tokenizers[1]
    ordered = torch.from_numpy(tokenizer.ordered).to(device)
    written = torch.from_numpy(tokenizer.written).to(device)
    soft = SoftTargets(written, config.optim.soft_width) if config.optim.soft_width else None
    forward: Any = torch.compile(model) if config.train.compile else model
    if dist.is_initialized():
        forward = DistributedDataParallel(forward, device_ids=[device.index] if device.type == "cuda" else None)
    return TrainState(config, model, optimizer, ordered, soft, device, forward)


def train_step(state: TrainState, batch: Batch) -> None:
    """One step on one batch, or on this process's part of it."""
    source_BS = torch.from_numpy(batch.sources).to(state.device)
    target_BT = torch.from_numpy(batch.targets).to(state.device)
    read_BT = decoder_input(target_BT)
    num_tokens = torch.tensor(float((batch.targets != PAD).sum()))
    if state.config.model.dropout:
        torch.manual_seed(dropout_seed(state.config.train.seed, state.step))
    if state.soft is not None:
        state.soft.set_width(soft_width(state.config.optim, state.step, state.config.train.num_steps))
    with torch.autocast(state.device.type, torch.bfloat16, enabled=state.config.train.precision == "bf16"):
        logits_BTV: Tensor = state.forward(source_BS, read_BT, bool((batch.sources == PAD).any()))
    loss_sum = sequence_loss(logits_BTV, target_BT, PAD, state.soft)
    if state.config.optim.number_loss:
        distance = number_token_loss(logits_BTV.flatten(0, 1), target_BT.flatten(), state.ordered)
        loss_sum = loss_sum + state.config.optim.number_loss * distance
    world = 1
    if dist.is_initialized():  # gradients are averaged over processes: divide by the mean number of tokens
        world = dist.get_world_size()
        dist.all_reduce(num_tokens)
    loss = loss_sum * (world / float(num_tokens))
    if hasattr(state.model, "auxiliary_loss"):
        loss = loss + state.model.auxiliary_loss(source_BS, read_BT)
    loss.backward()
    state.optimizer.step(state.step)
    state.step += 1
    total = loss_sum.detach().cpu()
    if dist.is_initialized():
        dist.all_reduce(total)
    if not math.isfinite(total):
        raise ValueError(f"the loss at step {state.step} is {float(total)}: try smaller learning rates")
    state.loss_sum += float(total)
    state.loss_tokens += int(num_tokens)
