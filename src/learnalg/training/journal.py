"""What a run logs: metrics.jsonl, and a logger's copy of it if asked for."""

from __future__ import annotations

from typing import Any

from learnalg.config import to_dict
from learnalg.processes import is_first
from learnalg.training.loggers import LOGGERS, Logger, scalars
from learnalg.training.run import Run


class Journal:
    def __init__(self, run: Run, step: int) -> None:
        self.run = run
        self.size = run.config.train.batch_size
        self.logger: Logger | None = None
        name = run.config.train.logger
        if name and is_first():
            self.logger = LOGGERS[name](run.folder, to_dict(run.config), step * self.size)

    def add(self, step: int, seconds: float, values: dict[str, Any]) -> None:
        examples = step * self.size
        self.run.add_metrics({"step": step, "examples": examples, "seconds": round(seconds, 2)} | values)
        if self.logger is not None:
            self.logger.log(scalars(values), examples)

    def close(self) -> None:
        if self.logger is not None:
            self.logger.close()
