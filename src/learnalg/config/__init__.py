"""What a run is made of: five frozen dataclasses, checked where they are built.

    >>> replace_fields(RunConfig(), task="add", dim="3", examples=50_000).data.dim
    '3'

Every field is a flag of `learnalg train` (`--dim-model 256`), and its comment is that flag's help.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import Any

from learnalg.checks import check_types
from learnalg.config.network import ModelConfig
from learnalg.config.problem import DataConfig
from learnalg.config.training import CurriculumConfig, OptimConfig, TrainConfig

__all__ = [
    "CurriculumConfig",
    "DataConfig",
    "ModelConfig",
    "OptimConfig",
    "RunConfig",
    "TrainConfig",
    "from_dict",
    "replace_fields",
    "to_dict",
]


@dataclass(frozen=True)
class RunConfig:
    """All of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)

    def __post_init__(self) -> None:
        check_types(self)
        for data in (self.data, self.curriculum.easier(self.data)):
            for side, length in zip(("input", "output"), data.lengths, strict=True):
                if length > self.model.max_positions:
                    raise ValueError(
                        f"the longest {side} has {length} tokens, more than max_positions {self.model.max_positions}: "
                        f"raise --max-positions or choose a shorter encoding"
                    )


def to_dict(config: RunConfig) -> dict[str, Any]:
    return dataclasses.asdict(config)


def from_dict(values: dict[str, Any]) -> RunConfig:
    """The tables data, model, optim, train, curriculum; what they do not say has its default. A typo is an error."""
    parts = typing.get_type_hints(RunConfig)
    for table, entries in values.items():
        if table not in parts or not isinstance(entries, dict):
            raise ValueError(f"config: unknown table {table!r}; known: {', '.join(parts)}")
        known = [f.name for f in dataclasses.fields(parts[table])]
        for name in entries:
            if name not in known:
                raise ValueError(f"config: unknown key {table}.{name}; known: {', '.join(known)}")
    # A list in a file is a tuple here; types and values are checked where the dataclasses are built.
    return RunConfig(
        **{
            table: parts[table](**{k: tuple(v) if isinstance(v, list) else v for k, v in entries.items()})
            for table, entries in values.items()
        }
    )


def replace_fields(config: RunConfig, **changes: Any) -> RunConfig:
    """Fields by their own names, wherever they live: replace_fields(config, dim='3', examples=1000)."""
    parts: dict[str, Any] = {}
    for part in dataclasses.fields(config):
        value = getattr(config, part.name)
        own = {f.name for f in dataclasses.fields(value)} & changes.keys()
        parts[part.name] = dataclasses.replace(value, **{name: changes.pop(name) for name in own})
    if changes:
        raise ValueError(f"unknown config field {', '.join(changes)}")
    return RunConfig(**parts)
