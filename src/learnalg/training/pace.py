"""How fast a run goes, when it ends, and whether other work slows it down.

Threads wait for each other after every operator. Where another program takes one of two cores, both threads wait for
the slower one, and two can be slower than one. A measurement tells: a forward pass with one thread, and with all.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist

from learnalg.config import RunConfig, TrainConfig
from learnalg.data import Batch
from learnalg.models import decoder_input
from learnalg.training.step import TrainState

RECENT = 20  # stretches whose speed tells when the run ends
PROBE_FIRST, PROBE_EVERY = 20.0, 60.0  # seconds
CLEARLY = 1.1  # how many times slower than one thread the run's threads must be to say so


def evaluation_steps(config: TrainConfig) -> int:
    """Steps from one evaluation to the next."""
    return max(1, round(config.eval_every / config.batch_size))


class Pace:
    def __init__(self, config: RunConfig, step: int) -> None:
        self.config = config.train
        self.step, self.since = step, time.monotonic()  # when the speed was last measured
        self.recent: deque[tuple[int, float]] = deque(maxlen=RECENT)  # examples, seconds
        self.evaluation_seconds = 0.0  # an example; 0: not known yet
        self.probe_at, self.notice = time.monotonic() + PROBE_FIRST, ""

    def speed(self, step: int) -> float:
        """Examples a second since the last call."""
        now = time.monotonic()
        examples, seconds = (step - self.step) * self.config.batch_size, max(now - self.since, 1e-9)
        self.step, self.since = step, now
        self.recent.append((examples, seconds))
        return max(examples / seconds, 1e-9)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time that does not count for the speed."""
        started = time.monotonic()
        yield
        self.since += time.monotonic() - started

    def seconds_left(self) -> float:
        """Of the steps that are left, and of the evaluations once one is measured."""
        config, every = self.config, evaluation_steps(self.config)
        examples, seconds = (sum(column) for column in zip(*self.recent, strict=True))
        training = (config.num_steps - self.step) * config.batch_size * seconds / max(examples, 1)
        is_odd = config.num_steps % every != 0 and self.step < config.num_steps  # the last one is out of turn
        evaluations = config.num_steps // every - self.step // every + is_odd
        return training + self.evaluation_seconds * (evaluations * config.eval_num + config.final_num)

    def watch_threads(self, state: TrainState, batch: Batch) -> None:
        """Measures now and then whether the run's threads are slower than one; `notice` says so."""
        has_threads = state.config.train.threads > 1 and state.device.type == "cpu" and not dist.is_initialized()
        if not has_threads or time.monotonic() < self.probe_at:
            return
        with self.paused():
            one, all_ = forward_seconds(state, batch)
        self.probe_at = time.monotonic() + PROBE_EVERY
        self.notice = slower_threads(state.config.train.threads, one, all_)


def slower_threads(threads: int, one: float, all_: float) -> str:
    """What to say of a forward pass that takes so many seconds with one thread and with all; '' if that is normal."""
    if all_ < CLEARLY * one:
        return ""
    return (
        f"other work slows this run: {threads} threads take {all_ * 1e3:.0f} ms where 1 takes {one * 1e3:.0f}; "
        f"stop, and resume with --threads 1"
    )


def forward_seconds(state: TrainState, batch: Batch, rounds: int = 3) -> tuple[float, float]:
    """Median seconds of a forward pass with one thread and with the run's, measured in turn. Changes nothing: no
    gradient, no dropout, the same threads afterwards."""
    source_BS, target_BT = torch.from_numpy(batch.sources), torch.from_numpy(batch.targets)
    read_BT = decoder_input(target_BT)
    is_bf16, was_training = state.config.train.is_bf16(state.step), state.model.training
    times: dict[int, list[float]] = {1: [], state.config.train.threads: []}
    state.model.eval()
    try:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=is_bf16):
            for round_ in range(rounds + 1):  # the first warms up
                for threads, found in times.items():
                    torch.set_num_threads(threads)
                    started = time.perf_counter()
                    state.model(source_BS, read_BT)
                    if round_:
                        found.append(time.perf_counter() - started)
    finally:
        torch.set_num_threads(state.config.train.threads)
        state.model.train(was_training)
    return statistics.median(times[1]), statistics.median(times[state.config.train.threads])
