"""The plan of a sweep, and its study: Optuna's, in a journal that all workers share.

>>> plan = Plan(config, ("dim_model=64,128", "learning_rate=log:1e-4:1e-2"), trials=20)
>>> begin(Path("runs/sweep"), plan)

Trials are chosen by the validation split: by its loss, which tells networks apart that answer nothing right yet, or by
its accuracy, which also compares networks whose outputs are written in different encodings.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from learnalg.config import RunConfig, from_dict, replace_fields, to_dict
from learnalg.config.checks import check_types, need
from learnalg.files import read_json, write_json
from learnalg.sweep.locks import FileLock, JournalLock
from learnalg.sweep.space import Dimension

if TYPE_CHECKING:
    import optuna

    from learnalg.evaluation.result import Point, Report

PLAN, JOURNAL, TRIALS = "sweep.json", "journal.log", "trials"
VERSION = 1
TOLERANCES = (0.05, 0.02, 0.01, 0.005)
STARTUP = 4  # trials that end before one is pruned
MOST_CHECKED = 256  # combinations of values
PATIENCE = 2  # evaluations that a trial has before it may be pruned


@dataclass(frozen=True)
class Plan:
    config: RunConfig
    vary: tuple[str, ...]
    trials: int
    by: Literal["loss", "accuracy"] = "loss"
    tolerance: float = 0.05
    prune: bool = True

    def __post_init__(self) -> None:
        check_types(self)
        need(self.trials >= 1, f"trials {self.trials}: must be at least 1")
        need(self.tolerance in TOLERANCES, f"tolerance {self.tolerance}: must be one of {TOLERANCES}")
        need(bool(self.vary), "nothing to vary: name fields with --vary FIELD=VALUE,VALUE or FIELD=LOW:HIGH")
        names = [dimension.field for dimension in self.space]
        need(len(set(names)) == len(names), f"--vary: a field is named twice: {', '.join(names)}")
        need(
            self.by == "accuracy" or "output_encoding" not in names,
            "losses of different output encodings cannot be compared: choose --by accuracy",
        )

    @cached_property
    def space(self) -> tuple[Dimension, ...]:
        return tuple(Dimension.parse(said, self.config) for said in self.vary)

    @property
    def grid(self) -> list[dict[str, Any]]:
        """All combinations, where there are choices only."""
        if not all(dimension.choices for dimension in self.space):
            return []
        found = itertools.product(*(dimension.choices for dimension in self.space))
        return [dict(zip((dimension.field for dimension in self.space), values, strict=True)) for values in found]

    def values(self, trial: optuna.trial.Trial) -> dict[str, Any]:
        """Field -> value of a trial, which is asked from Optuna or is known already."""
        return {dimension.field: dimension.value(dimension.suggest(trial)) for dimension in self.space}

    def config_with(self, values: dict[str, Any]) -> RunConfig:
        return replace_fields(self.config, **values)

    def measure(self, report: Report | Point) -> float:
        return report.loss if self.by == "loss" else report.accuracy["l1"][str(self.tolerance)]

    def write(self, folder: Path) -> None:
        write_json(folder / PLAN, asdict(self) | {"config": to_dict(self.config), "version": VERSION})

    @classmethod
    def read(cls, folder: Path) -> Plan:
        path = folder / PLAN
        if not path.is_file():
            raise ValueError(f"{folder} is not a sweep's folder: it has no {PLAN}")
        values = read_json(path)
        if values.pop("version", None) != VERSION:
            raise ValueError(f"{path} is of another version than {VERSION}")
        try:
            return cls(**values | {"config": from_dict(values["config"]), "vary": tuple(values["vary"])})
        except (TypeError, KeyError) as error:
            raise ValueError(f"{path} is damaged: {error}") from None

    def differences(self, other: Plan) -> list[str]:
        """In what two plans differ, but for the number of trials."""
        mine, theirs = (json.loads(json.dumps(asdict(plan))) for plan in (self, other))
        found = [name for name in ("vary", "by", "tolerance", "prune") if mine[name] != theirs[name]]
        for table, values in mine["config"].items():
            if isinstance(values, dict):
                found += [f"{table}.{name}" for name in values if values[name] != theirs["config"][table][name]]
            elif values != theirs["config"][table]:
                found.append(table)
        return found


def begin(folder: Path, plan: Plan) -> None:
    """A new sweep, or more trials of the one that is there. Several may do so at once."""
    check_optuna()
    is_there = (folder / PLAN).is_file()
    if folder.exists() and not is_there and any(path.name != "begin.lock" for path in folder.iterdir()):
        raise ValueError(f"{folder} exists already and is no sweep: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "begin.lock"):
        if (folder / PLAN).is_file():
            found = plan.differences(Plan.read(folder))
            if found:
                raise ValueError(f"{folder} was begun with another {', '.join(found)}: choose another folder")
        else:
            check_values(plan, folder)
        (folder / TRIALS).mkdir(exist_ok=True)
        study = open_study(folder, plan)
        for values in plan.grid[: plan.trials]:
            study.enqueue_trial(values, skip_if_exists=True)
        plan.write(folder)  # last: with it the sweep is there


def check_values(plan: Plan, folder: Path) -> None:
    """Refuses a value that no trial could be trained with, alone or together with others."""
    from learnalg.training.preflight import check_before_start

    ends = [[dimension.value(value) for value in dimension.extremes()] for dimension in plan.space]
    fields = [dimension.field for dimension in plan.space]
    together = list(itertools.islice(itertools.product(*ends), MOST_CHECKED))
    for k, (field, values) in enumerate(zip(fields, ends, strict=True)):
        for value in values:
            first: ValueError | None = None
            others = (dict(zip(fields, combined, strict=True)) for combined in together if combined[k] == value)
            for combined in ({field: value}, *others):
                try:
                    check_before_start(plan.config_with(combined), folder)
                    break
                except ValueError as error:
                    first = first or error
            else:
                raise ValueError(f"--vary {field}: {value}: {first}")


def check_optuna() -> None:
    if find_spec("optuna") is None:
        raise ValueError("a sweep needs optuna: pip install 'learnalg[sweep]'")


def open_study(folder: Path, plan: Plan, number: int = 0) -> optuna.Study:
    """`number` is that of the next trial: a sweep with one worker draws the same whenever it is stopped."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    journal = folder / JOURNAL
    storage = JournalStorage(JournalFileBackend(str(journal), JournalLock(journal)))  # type: ignore[arg-type]
    return optuna.create_study(
        storage=storage,
        study_name="sweep",
        load_if_exists=True,
        direction="minimize" if plan.by == "loss" else "maximize",
        sampler=optuna.samplers.TPESampler(seed=plan.config.train.seed * 10_000 + number, constant_liar=True),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=PATIENCE)
        if plan.prune
        else optuna.pruners.NopPruner(),
    )


def trial_folder(folder: Path, number: int) -> Path:
    return folder / TRIALS / f"{number:04d}"


def trial_lock(folder: Path, number: int) -> FileLock:
    return FileLock(folder / TRIALS / f"{number:04d}.lock")
