"""What is checked before a run starts, so that nothing long is begun in vain."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from torch import nn

from learnalg.config import RunConfig
from learnalg.models import count_parameters, sides


def check_tensorboard(config: RunConfig) -> None:
    if config.train.tensorboard and importlib.util.find_spec("tensorboard") is None:
        raise ValueError("tensorboard is not installed: pip install 'learnalg[tensorboard]'")


def check_memory(config: RunConfig) -> None:
    """Weights, gradients and two moments, 4 bytes each, must fit into the machine."""
    need = 16 * sum(count_parameters(config.model, *sides(config.data)).values())
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else need
    if need > have:
        raise ValueError(f"this model needs {need / 1e9:,.0f} GB, and the machine has {have / 1e9:,.0f}")


def check_disk(out: Path, model: nn.Module) -> None:
    """A run keeps two checkpoints of weights and moments while it writes a third, and the weights."""
    need = 10 * sum(p.numel() * p.element_size() for p in model.parameters())
    folder = next(p for p in [out, *out.absolute().parents] if p.exists())
    if shutil.disk_usage(folder).free < need:
        raise ValueError(f"the disk of {out} is too full: this run needs {need / 1e6:.0f} MB")
