"""How long is a training step with Muon's polynomials as they are, and with five equal ones, as in the original?

    python benchmarks/muon.py [ROUNDS]

Interleaved, medians, one thread, for two of the shipped recipes.
"""

from __future__ import annotations

import statistics
import sys
import time

import torch
from torch import Tensor

from learnalg import optim
from learnalg.config import replace_fields
from learnalg.curriculum import Lessons
from learnalg.presets import find_recipe, preset, read_config
from learnalg.step import start, train_step

ORIGINAL = (3.4445, -4.7750, 2.0315)


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
    variants = {"five equal": five_equal, "ours": optim.orthogonalise}
    for name in ("eigenvalues-5-relations", "matmul-5"):
        config = replace_fields(read_config(find_recipe(name), preset("fast")), threads=1, precision="fp32")
        state, batch = start(config, torch.device("cpu")), Lessons(config).batch(0)
        seconds: dict[str, list[float]] = {variant: [] for variant in variants}
        for _ in range(rounds):
            for variant, function in variants.items():
                optim.orthogonalise = function
                begun = time.perf_counter()
                train_step(state, batch)
                seconds[variant].append(time.perf_counter() - begun)
        medians = {variant: statistics.median(values[1:]) for variant, values in seconds.items()}
        shown = ", ".join(f"{variant} {1000 * median:.0f} ms" for variant, median in medians.items())
        print(f"{name}, batch {config.train.batch_size}: {shown}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
