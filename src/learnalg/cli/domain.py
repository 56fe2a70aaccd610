"""What a model is tested on: flags that `evaluate` and `analyse` share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from learnalg.config import RunConfig
from learnalg.problem import Problem, check_lengths


@dataclass(frozen=True)
class Domain:
    """Matrices of the test. The default is as in training."""

    ensemble: tuple[str, ...] = ()  # other matrices than in training: `learnalg list ensembles`
    amplitude: tuple[float, ...] = ()  # another A, or a range
    sigma_factor: float | None = None  # standard deviation of the coefficients, as a multiple of that in training
    dim: str = ""  # other dimensions than in training
    noise: float | None = None  # another input noise

    def of(self, config: RunConfig) -> Problem:
        changes: dict[str, Any] = {name: getattr(self, name) for name in ("ensemble", "amplitude", "dim")}
        changes = {name: value for name, value in changes.items() if value}
        if self.sigma_factor is not None:
            changes["sigma_factor"] = self.sigma_factor * config.data.sigma_factor
        if self.noise is not None:
            changes["noise"] = self.noise
        problem = Problem(replace(config.data, **changes))
        check_lengths(problem, config)
        return problem
