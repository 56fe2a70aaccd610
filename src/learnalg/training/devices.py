"""Where a run happens: the device, its precision, the group of processes, and the signals that stop it."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from learnalg.config import RunConfig
from learnalg.models.cpu import suits_onednn
from learnalg.naming import unknown
from learnalg.processes import highest
from learnalg.training.heartbeat import watch_others

_RUNS = itertools.count()


class InterruptedRunError(Exception):
    """A signal asked the run to stop; its checkpoint is written."""

    def __init__(self, number: int, step: int) -> None:
        super().__init__(f"stopped at step {step}")
        self.number = number


def bf16_pays(device: torch.device, dim: int) -> bool:
    """Whether a layer of so many dimensions is much faster in bf16. On a CPU its products are measured, with the
    rounding of the inputs: many times faster with AMX, 1.5 to 1.9 times with AVX-512 alone, a hundred times slower
    without any support. Where they are a quarter faster, a step gains more: everything else reads half the memory."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported()
    if device.type != "cpu":
        return False
    width = min(dim, 512)  # wider layers gain no more
    rows, weights = torch.ones(1024, width), torch.ones(width, width)

    def seconds(dtype: torch.dtype, num: int) -> float:
        times = []
        for _ in range(num):
            started = time.perf_counter()
            _ = rows.to(dtype) @ weights.to(dtype)
            times.append(time.perf_counter() - started)
        return sorted(times)[num // 2]

    single = seconds(torch.float32, 9)
    if seconds(torch.bfloat16, 1) > 20 * single:  # no support: more of these would be a long wait
        return False
    return seconds(torch.bfloat16, 9) * 1.25 < single


def prepare_cpu() -> None:
    """Settings that torch does not make by itself. Before any work: threads that start later inherit the first."""
    torch.set_flush_denormal(True)  # denormal numbers are slow
    if suits_onednn():
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"  # type: ignore[attr-defined]


@contextmanager
def as_torch_has_it() -> Iterator[None]:
    """Products in fp32 as torch does them without `prepare_cpu`, to compare with."""
    settings = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before, settings.fp32_precision = settings.fp32_precision, "none"
    try:
        yield
    finally:
        settings.fp32_precision = before


def pick_device(name: str) -> torch.device:
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        return torch.device(next(kind for kind in ("cuda", "mps", "cpu") if available[kind]))
    kind, _, index = name.partition(":")
    if kind not in available or (index and not index.isdigit()):
        raise unknown("device", name, ("auto", "cpu", "cuda", "cuda:N", "mps"))
    if not available[kind] or (kind == "cuda" and index and int(index) >= torch.cuda.device_count()):
        raise ValueError(f"device {name} is not available here")
    return torch.device(name)


class Signals:
    def __init__(self) -> None:
        self.number = 0

    def catch(self, number: int, frame: object) -> None:
        self.number = number
        signal.signal(number, signal.default_int_handler)  # a second one does not wait

    def received(self) -> int:
        """Agreed by all processes, so that none waits for one that has stopped."""
        return highest(self.number)


@contextmanager
def catch_signals() -> Iterator[Signals]:
    """SIGINT and SIGTERM wait for the end of a step. Only a main thread may ask for that."""
    signals = Signals()
    try:
        old = {number: signal.signal(number, signals.catch) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:
        old = {}
    try:
        yield signals
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


@contextmanager
def join_processes(config: RunConfig, folder: Path) -> Iterator[torch.device]:
    """This process's device; under torchrun also the group of all processes."""
    prepare_cpu()
    device = pick_device(config.train.device)
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield device
        return
    if config.train.batch_size < world:
        raise ValueError(f"batch_size {config.train.batch_size} cannot be shared by {world} processes")
    if device.type == "cuda":
        if ":" in str(device):
            raise ValueError(f"device {device}: under torchrun each process takes its own, say cuda")
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    store, rank, world = next(rendezvous("env://"))
    store = dist.PrefixStore(f"run-{next(_RUNS)}", store)  # a process may train several runs, one after the other
    # Gradients go by NCCL; counts and signals stay on the CPU and go by gloo. Whoever waits for another process waits
    # as long as that one lives: `watch_others` knows.
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=world, timeout=timedelta(days=30))
    try:
        with watch_others(store, rank, world, folder):
            yield device
    finally:
        dist.destroy_process_group()


def dropout_seed(seed: int, step: int, first_row: int = 0) -> int:
    """A generator for each step, so that dropout has no state to keep."""
    return int(np.random.SeedSequence([seed, step, first_row]).generate_state(1, np.uint64)[0])
