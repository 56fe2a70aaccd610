"""What an example costs: floating-point operations of one forward and backward pass, counted by torch on a real batch.

Matrix products only, without the optimiser's; examples and FLOPs can be compared between machines, minutes cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from learnalg.config import DataConfig, ModelConfig, RunConfig
from learnalg.data import Stream
from learnalg.models import build, decoder_input, sides
from learnalg.problem import Problem

SAMPLE = 32  # examples that are counted


def count_flops(model: torch.nn.Module, sources: object, targets: object) -> int:
    """Of one forward and backward pass."""
    source_BS, target_BT = torch.as_tensor(sources), torch.as_tensor(targets)
    with _unfused(), FlopCounterMode(display=False) as counter:
        model(source_BS, decoder_input(target_BT), False).sum().backward()
    model.zero_grad(set_to_none=True)
    return int(counter.get_total_flops())


@contextmanager
def _unfused() -> Iterator[None]:
    """On a CPU torch counts neither the FLOPs of its fused attention nor those of oneDNN's fused LSTM."""
    onednn: Any = torch.backends.mkldnn
    enabled = onednn.enabled
    onednn.enabled = False
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        onednn.enabled = enabled


def flops_per_example(model: torch.nn.Module, config: RunConfig) -> float:
    """On the average of a few examples of the training split, on the model's device."""
    device = next(model.parameters()).device
    batch = Stream(Problem(config.data), config.train.seed, "train", SAMPLE).batch(0)
    sources, targets = torch.from_numpy(batch.sources).to(device), torch.from_numpy(batch.targets).to(device)
    return count_flops(model, sources, targets) / SAMPLE


def counted_flops(config: RunConfig) -> float:
    """Of one example, counted without computing: torch's meta device has shapes only."""
    return _counted(config.model, config.data)


@cache
def _counted(model_config: ModelConfig, data: DataConfig) -> float:
    """Takes half a second; the runs of an ablation are many seeds of few networks."""
    with torch.device("meta"):
        model = build(model_config, *sides(Problem(data)))
    return flops_per_example(model, RunConfig(data=data, model=model_config))
