"""How long is a training step with Muon's polynomials as they are, and with five equal ones, as in the original?

    python benchmarks/muon.py [ROUNDS]

Interleaved, medians, one thread, for two of the recipes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import torch
from interleave import interleave
from torch import Tensor

from learnalg.config import replace_fields
from learnalg.data import Batch, TrainingData
from learnalg.recipes import find_recipe, read_recipe
from learnalg.training import muon
from learnalg.training.step import TrainState, new_state, train_step

ORIGINAL = (3.4445, -4.7750, 2.0315)
OURS = muon.orthogonalise


def five_equal(matrices: Tensor) -> Tensor:
    a, b, c = ORIGINAL
    is_tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if is_tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if is_tall else x


def main(rounds: int) -> None:
    for name in ("eigenvalues-5", "matvec-5"):
        config = replace_fields(read_recipe(find_recipe(name)), threads=1, precision="fp32")
        state, batch = new_state(config, torch.device("cpu")), TrainingData(config).batch(0)

        def step(orthogonalise: Callable[[Tensor], Tensor], state: TrainState = state, batch: Batch = batch) -> None:
            muon.orthogonalise = orthogonalise
            train_step(state, batch)

        variants = {"five equal": partial(step, five_equal), "ours": partial(step, OURS)}
        print(f"{name}, batch {config.train.batch_size}: {interleave(variants, rounds)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
