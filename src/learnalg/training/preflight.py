"""What is checked before a run starts, so that no long run is started in vain."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import torch
from torch import nn

from learnalg.config import RunConfig
from learnalg.data import Stream, TrainingData
from learnalg.models import build, count_parameters, sides
from learnalg.problem import Problem, check_lengths
from learnalg.problems import Task
from learnalg.training.loggers import check_logger
from learnalg.training.optim import Optimizer


def check_before_start(config: RunConfig, out: Path) -> None:
    """Refuses, before there is a folder, what cannot be trained: names, sizes, combinations, and matrices that cannot
    be drawn, solved or written."""
    check_logger(config.train.logger)
    for problem in TrainingData(config).problems:
        check_lengths(problem, config)
        for name, task in problem.tasks:
            check_task(problem, name, task)
    TrainingData(config).batch(0)
    Stream(Problem(config.data), config.train.seed, "valid", 1).batch(0)
    check_memory(config)
    with torch.device("meta"):
        model = build(config.model, *sides(Problem(config.data)))
    Optimizer(config, model)  # names of optimiser and schedule
    check_disk(out, model)


def check_task(problem: Problem, name: str, task: Task) -> None:
    """Refuses a task whose solutions have another shape than it says, on the smallest and on the largest matrices."""
    rng = np.random.default_rng(0)
    symmetric = task.symmetric or problem.config.symmetric
    for m, n in zip(problem.dims.rows, problem.dims.cols, strict=True):
        draws = [problem.ensemble.draw(rng, 4, *shape, symmetric).matrices for shape in task.operands(m, n)]
        inputs = np.concatenate(draws, axis=2)
        inputs = inputs[task.accept(inputs)]
        if not len(inputs):
            continue
        found, expected = np.shape(task.solve(inputs)), (len(inputs), *task.output_shape(m, n))
        if found != expected:
            raise ValueError(
                f"task {name}: solve gives the shape {found} for {len(inputs)} matrices of {m}x{n}, "
                f"and output_shape says {expected}"
            )


def check_memory(config: RunConfig) -> None:
    """Weights, gradients and two moments, 4 bytes each, must fit into the machine."""
    need = 16 * sum(count_parameters(config.model, *sides(Problem(config.data))).values())
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else need
    if need > have:
        raise ValueError(f"this model needs {need / 1e9:,.0f} GB, and the machine has {have / 1e9:,.0f}")


def check_disk(out: Path, model: nn.Module) -> None:
    """A run keeps two checkpoints of weights and moments while it writes a third, and the weights."""
    need = 10 * sum(p.numel() * p.element_size() for p in model.parameters())
    folder = next(p for p in [out, *out.absolute().parents] if p.exists())
    if shutil.disk_usage(folder).free < need:
        raise ValueError(f"the disk of {out} is too full: this run needs {need / 1e6:.0f} MB")
