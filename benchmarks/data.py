"""Tokenised batches a second, on one core, for each task and encoding: `make bench`.

Medians of several rounds, all cases interleaved, so that a noisy moment of the machine hits all of them alike.
"""

# ruff: noqa: E402 - NumPy reads the number of threads when it is loaded
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import statistics
import time

from learnalg.config import DataConfig
from learnalg.data import Stream
from learnalg.problem import Problem
from learnalg.problems import TASKS
from learnalg.tokens import ENCODINGS

# (task, dim, input encoding, output encoding): the two with a promised speed first, then everything at 5x5.
PROMISED = [("eigenvalues", "5", "fp15", "p1000", 60_000), ("add", "10", "b1999", "b1999", 20_000)]
PAIRS = [(name, name) for name in ENCODINGS] + [("fp15", "p1000")]


def cases() -> list[tuple[str, str, str, str, int]]:
    every = [(task, "5", source, target, 0) for task in TASKS for source, target in PAIRS]
    variable = [("eigenvalues", "5-10", "fp15", "p1000", 0), ("add", "5-10x5-10", "b1999", "b1999", 0)]
    return [*PROMISED, *variable, *every]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--examples", type=int, default=2_000, help="in each round")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    streams = [
        Stream(
            Problem(DataConfig(task=t, dim=d, input_encoding=i, output_encoding=o)), 1, "train", arguments.batch_size
        )
        for t, d, i, o, _ in cases()
    ]
    seconds: list[list[float]] = [[] for _ in streams]
    batches = max(1, arguments.examples // arguments.batch_size)
    for round_ in range(arguments.rounds + 1):
        for k, stream in enumerate(streams):
            started = time.perf_counter()
            for index in range(batches):
                stream.batch(index)
            if round_:  # the first round builds tables
                seconds[k].append(time.perf_counter() - started)
    print(f"examples a second on one core, batches of {arguments.batch_size}, median of {arguments.rounds}\n")
    print(f"{'task':<20}{'dim':<12}{'encodings':<16}{'examples/s':>12}{'promised':>12}")
    for (task, dim, source, target, promised), times in zip(cases(), seconds, strict=True):
        rate = batches * arguments.batch_size / statistics.median(times)
        print(f"{task:<20}{dim:<12}{source + ' ' + target:<16}{rate:>12,.0f}{promised or '':>12}")


if __name__ == "__main__":
    main()
