"""What a run tells those who watch it.

>>> class Losses(Silent):
...     def on_log(self, log):
...         print(log.examples, log.loss)
>>> train(config, out, Losses())
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from learnalg.evaluation.result import Report
from learnalg.evaluation.samples import Sample


@dataclass(frozen=True)
class Log:
    """A stretch of some steps."""

    examples: int
    loss: float  # of training, a token
    learning_rate: float  # Adam's
    speed: float  # examples a second
    seconds_left: float
    counts_evaluations: bool  # whether seconds_left has them: not before the first one is measured
    notice: str = ""  # what slows the run down


class Watcher(Protocol):
    def on_log(self, log: Log) -> None: ...

    def on_evaluation(self, examples: int, report: Report) -> None: ...

    def on_samples(self, samples: list[Sample]) -> None:
        """After each evaluation: the first examples of the validation set."""

    def on_final_evaluation(self, num: int, split: str = "validation") -> None: ...

    def on_evaluated(self, done: int) -> None:
        """Examples of the final evaluation so far."""


class Silent:
    """Ignores everything. A watcher may inherit from it and say only what it wants to hear."""

    def on_log(self, log: Log) -> None:
        pass

    def on_evaluation(self, examples: int, report: Report) -> None:
        pass

    def on_samples(self, samples: list[Sample]) -> None:
        pass

    def on_final_evaluation(self, num: int, split: str = "validation") -> None:
        pass

    def on_evaluated(self, done: int) -> None:
        pass
