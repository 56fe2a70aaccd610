"""Batches of one size against batches of mixed sizes, which are padded to the longest: examples a second in training.

    python benchmarks/sizes.py --dims 5-10 5-20 --rounds 12

Both draw their sizes alike, in equal parts, so that what differs is the padding. Steps alternate, one thread.

"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import torch

from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.data import Batch, Stream
from learnalg.problem import Problem
from learnalg.training.devices import prepare_cpu
from learnalg.training.step import new_state, train_step

BATCH = 32


def one_size(problem: Problem, index: int) -> Batch:
    """Like a batch of training, with sizes in equal parts."""
    rng = np.random.default_rng([1, index])
    size = int(rng.integers(problem.dims.rows[0], problem.dims.rows[1] + 1))
    of_size = replace_fields(preset("fast"), task=problem.config.task, dim=str(size), triangle=problem.config.triangle)
    return Stream(Problem(of_size.data), 1, "train", BATCH).batch(index)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dims", nargs="+", default=["5-10", "5-20"])
    parser.add_argument("--rounds", type=int, default=12)
    arguments = parser.parse_args()
    prepare_cpu()
    print(f"{'sizes':<8}{'mixed':>10}{'one size':>10}{'gain':>8}")
    for dim in arguments.dims:
        config = replace_fields(
            preset("fast"), task="eigenvalues", dim=dim, triangle=True, threads=1, precision="fp32", batch_size=BATCH
        )
        problem, state = Problem(config.data), new_state(config, torch.device("cpu"))
        mixed_stream = Stream(problem, 1, "valid", BATCH)  # draws a size for each example
        train_step(state, one_size(problem, 0))
        times: dict[str, list[float]] = {"mixed": [], "one size": []}
        for index in range(arguments.rounds):
            for kind, batch in (("mixed", mixed_stream.batch(index)), ("one size", one_size(problem, index))):
                started = time.perf_counter()
                train_step(state, batch)
                times[kind].append(time.perf_counter() - started)
        # Batches of one size differ in cost: their mean is what a run pays. Of mixed ones all are alike.
        mixed, single = BATCH / statistics.median(times["mixed"]), BATCH / statistics.fmean(times["one size"])
        print(f"{dim:<8}{mixed:>10.1f}{single:>10.1f}{single / mixed:>7.2f}x", flush=True)


if __name__ == "__main__":
    main()
