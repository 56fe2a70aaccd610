"""What a run is made of: frozen dataclasses, checked where they are built, that know no task and no tokenizer.

    >>> replace_fields(RunConfig(), task="add", dim="3", examples=50_000).data.dim
    '3'

Every field but `stage` is a flag of `learnalg train` (`--encoder-layers 4`), and its comment is that flag's help. A run
is a function of its config.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import Any

from learnalg.config.checks import check_types, need
from learnalg.config.data import DataConfig
from learnalg.config.model import ModelConfig
from learnalg.config.training import MixConfig, OptimConfig, StageConfig, TrainConfig
from learnalg.config.upgrade import renamed
from learnalg.naming import unknown

__all__ = [
    "DataConfig",
    "MixConfig",
    "ModelConfig",
    "OptimConfig",
    "RunConfig",
    "StageConfig",
    "TrainConfig",
    "field_names",
    "from_dict",
    "replace_fields",
    "to_dict",
]


@dataclass(frozen=True)
class RunConfig:
    """The whole config of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    mix: MixConfig = field(default_factory=MixConfig)
    stage: tuple[StageConfig, ...] = ()  # first parts of the run, in order; the rest is as `data` says

    def __post_init__(self) -> None:
        check_types(self)
        before = sum(stage.examples for stage in self.stage)
        if before >= self.train.examples and self.stage:
            raise ValueError(f"stages of {before:,} examples leave nothing of the run's {self.train.examples:,}")
        if self.data.data:
            draws = {"mix_share": self.mix.mix_share, "repeated_share": self.mix.repeated_share}
            draws |= {"stage": any(stage.dim or stage.ensemble for stage in self.stage)}
            for name, drawn in draws.items():
                need(not drawn, f"{name}: has no effect on the pairs of a file, which are all that is trained on")


def field_names() -> list[str]:
    """All fields, by the names that replace_fields and the flags know."""
    tables = [hint for name, hint in typing.get_type_hints(RunConfig).items() if name != "stage"]
    return [f.name for table in tables for f in dataclasses.fields(table)]


def to_dict(config: RunConfig) -> dict[str, Any]:
    return dataclasses.asdict(config)


def from_dict(values: dict[str, Any]) -> RunConfig:
    """The tables data, model, optim, train, mix and a list of stages; a missing field has its default. A typo is
    an error."""
    if not isinstance(values, dict):
        raise ValueError(f"config: {str(values)[:40]!r} is no table of tables")
    values = renamed(values)
    parts = {name: hint for name, hint in typing.get_type_hints(RunConfig).items() if name != "stage"}
    for table, entries in values.items():
        if table not in (*parts, "stage"):
            raise ValueError(f"config: {unknown('table', table, (*parts, 'stage'))}")
        if not isinstance(entries, (list, tuple) if table == "stage" else dict):
            raise ValueError(f"config: {table} is not a {'list of tables' if table == 'stage' else 'table'}")
    built: dict[str, Any] = {
        table: _from_table(parts[table], table, entries) for table, entries in values.items() if table != "stage"
    }
    return RunConfig(**built, stage=tuple(_from_table(StageConfig, "stage", s) for s in values.get("stage", ())))


def _from_table(kind: Any, table: str, entries: Any) -> Any:
    known = [f.name for f in dataclasses.fields(kind)]
    if not isinstance(entries, dict):
        raise ValueError(f"config: {table} {entries!r} is not a table")
    for name in entries:
        if name not in known:
            raise ValueError(f"config: {unknown(f'key in {table}', name, known)}")
    missing = [f.name for f in dataclasses.fields(kind) if _is_required(f) and f.name not in entries]
    if missing:
        raise ValueError(f"config: {table} needs {', '.join(missing)}")
    # A list in a file is a tuple here; types and values are checked where the dataclasses are built.
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in entries.items()})


def _is_required(entry: dataclasses.Field[Any]) -> bool:
    return entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING


def replace_fields(config: RunConfig, **changes: Any) -> RunConfig:
    """Fields by their own names, wherever they live: replace_fields(config, dim='3', examples=1000).

    A field with one value, or one for each side, also takes a plain value: dim_model=128."""
    parts: dict[str, Any] = {"stage": changes.pop("stage", config.stage)}
    for part in dataclasses.fields(config):
        if part.name == "stage":
            continue
        value = getattr(config, part.name)
        own = {f.name for f in dataclasses.fields(value)} & changes.keys()
        new = {name: changes.pop(name) for name in own}
        for name, given in new.items():
            if isinstance(getattr(value, name), tuple) and isinstance(given, int | float | str):
                new[name] = (given,)
        parts[part.name] = dataclasses.replace(value, **new)
    if changes:
        raise unknown("config field", next(iter(changes)), field_names())
    return RunConfig(**parts)
