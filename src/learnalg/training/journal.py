"""What a run logs: metrics.jsonl, and TensorBoard events if asked for."""

from __future__ import annotations

from typing import Any

from learnalg.training.devices import is_first
from learnalg.training.run import Run


class Journal:
    def __init__(self, run: Run, step: int) -> None:
        self.run = run
        self.size = run.config.train.batch_size
        self.board: Any = None
        if run.config.train.tensorboard and is_first():
            from torch.utils.tensorboard import SummaryWriter

            self.board = SummaryWriter(str(run.folder / "tensorboard"), purge_step=step * self.size + 1)

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
