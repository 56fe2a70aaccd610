"""What a run logs: metrics.jsonl, and TensorBoard events if asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from learnalg.training.devices import is_first
from learnalg.training.run import Run


class Journal:
    def __init__(self, run: Run, step: int) -> None:
        self.run = run
        self.size = run.config.train.batch_size
        self.examples, self.since = step * self.size, time.monotonic()  # when the speed was last measured
        self.board: Any = None
        if run.config.train.tensorboard and is_first():
            from torch.utils.tensorboard import SummaryWriter

            self.board = SummaryWriter(str(run.folder / "tensorboard"), purge_step=self.examples + 1)

    def speed(self, examples: int) -> float:
        """Examples a second since the last call."""
        now = time.monotonic()
        speed = (examples - self.examples) / max(now - self.since, 1e-9)
        self.examples, self.since = examples, now
        return max(speed, 1e-9)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time that does not count for the speed."""
        started = time.monotonic()
        yield
        self.since += time.monotonic() - started

    def add(self, step: int, seconds: float, values: dict[str, Any]) -> None:
        examples = step * self.size
        self.run.add_metrics({"step": step, "examples": examples, "seconds": round(seconds, 2)} | values)
        if self.board is None:
            return
        for name, value in values.items():
            if isinstance(value, float):
                self.board.add_scalar(name, value, examples)
        for tolerance, share in values.get("accuracy", {}).get("l1", {}).items():
            self.board.add_scalar(f"accuracy/{tolerance}", share, examples)

    def close(self) -> None:
        if self.board is not None:
            self.board.close()
