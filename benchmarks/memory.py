"""How long are a training step and decoding when freed memory is kept, and when glibc returns it to the system?

    python benchmarks/memory.py [ROUNDS]

Interleaved, medians of the processor's time, one thread. Each measurement is a process of its own, since it is decided
before torch is loaded; an empty GLIBC_TUNABLES leaves glibc as it is.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from learnalg.cli.process import prepare_process

VARIANTS: dict[str, dict[str, str]] = {"returned": {"GLIBC_TUNABLES": ""}, "kept": {}}


def median_seconds(work: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times + 1):  # the first is not counted
        begun = time.process_time()
        work()
        seconds.append(time.process_time() - begun)
    return statistics.median(seconds[1:])


def step_seconds() -> float:
    import torch

    from learnalg.config import replace_fields
    from learnalg.data import TrainingData
    from learnalg.recipes import find_recipe, read_recipe
    from learnalg.training.step import new_state, train_step

    config = replace_fields(read_recipe(find_recipe("eigenvalues-5")), threads=1, precision="fp32")
    state, batch = new_state(config, torch.device("cpu")), TrainingData(config).batch(0)
    return median_seconds(lambda: train_step(state, batch), 11)


def decoding_seconds() -> float:
    import torch

    import learnalg

    torch.set_num_threads(1)
    model = learnalg.load("eigenvalues-5")
    return median_seconds(lambda: model.evaluate(num=1000), 5)


WORKS = {"step": step_seconds, "decoding": decoding_seconds}


def main(rounds: int) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GLIBC_TUNABLES"}
    for work in WORKS:
        seconds: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
        for _ in range(rounds):
            for variant, more in VARIANTS.items():
                command = [sys.executable, __file__, work]
                done = subprocess.run(command, env=environment | more, check=True, capture_output=True, text=True)
                seconds[variant].append(float(done.stdout))
        medians = {variant: statistics.median(values) for variant, values in seconds.items()}
        print(f"{work}: " + ", ".join(f"{variant} {1000 * median:.0f} ms" for variant, median in medians.items()))


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in WORKS:
        prepare_process()
        print(WORKS[sys.argv[1]]())
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
