"""How long is a training step when the model reads a symmetric matrix, and when it reads its upper triangle?

    python benchmarks/triangle.py [ROUNDS]

Interleaved, medians, one thread, batches of 64 of the preset `fast-2`.
"""

from __future__ import annotations

import sys
from functools import partial

import torch
from interleave import interleave

from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.data import TrainingData
from learnalg.training.step import new_state, train_step


def main(rounds: int) -> None:
    for task, dim in (("eigenvalues", "5"), ("eigenvalues", "8"), ("eigenvectors", "5")):
        steps = {}
        for name, triangle in (("matrix", False), ("triangle", True)):
            fields = {"task": task, "dim": dim, "triangle": triangle, "batch_size": 64}
            config = replace_fields(preset("fast-2"), threads=1, precision="fp32", **fields)
            steps[name] = partial(train_step, new_state(config, torch.device("cpu")), TrainingData(config).batch(0))
        print(f"{task} {dim}x{dim}: {interleave(steps, rounds)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
