"""What a model is tested on: flags that `evaluate` and `analyse` share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from learnalg.config import CurriculumConfig, DataConfig, RunConfig


@dataclass(frozen=True)
class Domain:
    """The test's matrices; what is not given is as in training."""

    ensemble: tuple[str, ...] = ()  # other matrices than in training: `learnalg list ensembles`
    ensemble_weights: tuple[float, ...] = ()  # weights of a mixture
    amplitude: tuple[float, ...] = ()  # another A, or a range
    sigma_factor: float | None = None  # sigma_test / sigma_train
    spread: float | None = None  # another power of the singular values: below 1 matrices are better conditioned
    dim: str = ""  # other dimensions than in training
    noise: float | None = None  # another input noise

    def of(self, config: RunConfig) -> DataConfig:
        changes: dict[str, Any] = {}
        for name in ("ensemble", "ensemble_weights", "amplitude", "dim"):
            if getattr(self, name):
                changes[name] = getattr(self, name)
        if self.ensemble and not self.ensemble_weights:
            changes["ensemble_weights"] = ()
        if self.sigma_factor is not None:
            changes["sigma_factor"] = self.sigma_factor * config.data.sigma_factor
        for name in ("noise", "spread"):
            if getattr(self, name) is not None:
                changes[name] = getattr(self, name)
        # The run's config checks the lengths; how it was trained does not limit what it is tested on.
        return replace(config, data=replace(config.data, **changes), curriculum=CurriculumConfig()).data
