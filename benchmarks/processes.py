"""One process against two: examples a second, and bytes that they send each other in a step.

    torchrun --nproc-per-node 2 benchmarks/processes.py --rounds 5 --out results/scaling/processes.json

In each round the first process steps alone, with one thread and with as many as there are processes, while the others
sleep; then all step together, with one thread each. The batch is the same, so two processes have half of it each. The
medians are of all rounds but the first. Bytes are counted in two ways: what a step gives to the collectives, and what
the machine's loopback has carried (Linux; other programs that use it are counted too).
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

os.environ["GLOO_SOCKET_IFNAME"] = "lo"

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from learnalg.config import RunConfig, replace_fields
from learnalg.config.presets import preset
from learnalg.data import TrainingData
from learnalg.files import write_json
from learnalg.processes import wait_for_all
from learnalg.training.devices import prepare_cpu
from learnalg.training.run import provenance
from learnalg.training.speed import machine_rate
from learnalg.training.step import new_state, train_step

COMMON = {"task": "eigenvalues", "dim": "5", "precision": "fp32", "threads": 1, "workers": 0}
CASES: dict[str, tuple[RunConfig, int]] = {  # and how many steps a round has
    "fast-3": (replace_fields(preset("fast-3"), **COMMON, triangle=True, batch_size=64), 4),
    "paper-1": (replace_fields(preset("paper-1"), **COMMON, batch_size=64), 2),
}
LOOPBACK = Path("/proc/net/dev")


class Counted:
    """What this process gives to all_reduce, in bytes."""

    def __init__(self) -> None:
        self.bytes, self.seconds, self.inner = 0, 0.0, dist.all_reduce

    def __call__(self, tensor: torch.Tensor, *arguments: Any) -> Any:
        self.bytes += tensor.numel() * tensor.element_size()
        started = time.perf_counter()
        done = self.inner(tensor, *arguments)
        self.seconds += time.perf_counter() - started
        return done


def carried() -> int:
    """Bytes that the loopback has carried since the machine started."""
    if not LOOPBACK.is_file():
        return 0
    line = next(line for line in LOOPBACK.read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.partition(":")[2].split()[0])


def timed(times: int, work: Callable[..., object], *arguments: object) -> float:
    """Seconds of one."""
    started = time.perf_counter()
    for _ in range(times):
        work(*arguments)
    return (time.perf_counter() - started) / times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="a .json file for the numbers")
    arguments = parser.parse_args()
    prepare_cpu()
    store, rank, world = next(rendezvous("env://", timeout=timedelta(minutes=10)))
    states = {name: new_state(config, torch.device("cpu")) for name, (config, _) in CASES.items()}
    batches = {name: TrainingData(config).batch(0) for name, (config, _) in CASES.items()}
    found: dict[str, dict[str, list[float]]] = {name: {} for name in CASES}
    counted = Counted()
    dist.all_reduce = counted

    def note(name: str, what: str, value: float) -> None:
        found[name].setdefault(what, []).append(value)

    for round_ in range(arguments.rounds + 1):
        if rank == 0:
            note("fast-3", "machine", machine_rate(torch.float32))
            for name, (_, steps) in CASES.items():
                for threads in (1, world):
                    torch.set_num_threads(threads)
                    seconds = timed(steps, train_step, states[name], batches[name])
                    note(name, f"1 process, {threads} threads", seconds)
            torch.set_num_threads(1)
            store.set(f"alone {round_}", "done")
        store.wait([f"alone {round_}"])
        group = dist.PrefixStore(f"round {round_}", store)
        dist.init_process_group("gloo", store=group, rank=rank, world_size=world)
        for name, (_, steps) in CASES.items():
            wait_for_all()
            before, counted.bytes, counted.seconds = carried(), 0, 0.0
            seconds = timed(steps, train_step, states[name], batches[name])
            wait_for_all()
            note(name, f"{world} processes", seconds)
            note(name, "given", counted.bytes / steps)
            note(name, "waited", counted.seconds / steps)
            note(name, "carried", (carried() - before) / steps)
        dist.destroy_process_group()
    if rank == 0:
        report(found, states, world, arguments.out)


def report(found: dict[str, dict[str, list[float]]], states: dict[str, Any], world: int, out: Path | None) -> None:
    cases = {}
    for name, (config, _) in CASES.items():
        medians = {what: statistics.median(values[1:]) for what, values in found[name].items()}
        parameters = sum(p.numel() for p in states[name].model.parameters())
        cases[name] = {"batch_size": config.train.batch_size, "parameters": parameters} | medians
        print(f"{name}: {parameters:,} parameters, batch {config.train.batch_size}, {world} processes")
        for what, value in medians.items():
            if what in ("given", "carried"):
                print(f"  {what:<24}{value:>14,.0f} bytes a step")
            elif what == "waited":
                print(f"  {what:<24}{1000 * value:>10.1f} ms in collectives")
            elif what != "machine":
                speed = config.train.batch_size / value
                print(f"  {what:<24}{1000 * value:>10.1f} ms a step {speed:>10.1f} examples/s")
    if out is not None:
        write_json(out, {"processes": world, "cases": cases, "provenance": provenance()})


if __name__ == "__main__":
    main()
