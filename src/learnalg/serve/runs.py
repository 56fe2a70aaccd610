"""Runs in a folder, as they go: configs, losses and evaluations, read from what training writes.

    >>> Runs(Path("runs")).find()["eigenvectors"].state
    'in progress'

A run has a name, its path inside the folder, and only names that were found there are read: a name from outside is
looked up, never opened. A link that leads out of the folder is not followed.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from learnalg.config import RunConfig, from_dict, to_dict
from learnalg.config.checks import is_a
from learnalg.evaluation.result import Result, point_of
from learnalg.files import parse_json, read_json
from learnalg.naming import unknown
from learnalg.training.run import is_locked, read_sessions
from learnalg.zoo.index import MODEL_FILE, RESULT_FILE

CONFIG_FILE, METRICS_FILE, PROVENANCE_FILE = "config.json", "metrics.jsonl", "provenance.json"
MOST_RUNS = 500
MOST_DEPTH = 4  # runs of `learnalg reproduce` are in runs/TABLE/SCALE/KEY
MOST_METRICS = 256 * 1024 * 1024  # bytes
MOST_LINE = 1024 * 1024
FRESH_SECONDS = 180.0  # since the last line of metrics, where folders cannot be locked


@dataclass
class Metrics:
    """What was read of metrics.jsonl so far; further lines are added as they come."""

    offset: int = 0
    losses: list[tuple[float, float]] = field(default_factory=list)  # examples, mean loss
    speeds: list[tuple[float, float]] = field(default_factory=list)
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    examples: int = 0
    seconds: float = 0.0
    damaged: int = 0  # lines that are not what training writes

    def add(self, line: bytes) -> None:
        try:
            values = parse_json(line)
            examples, seconds = values["examples"], values["seconds"]
            measured = [values[name] for name in ("loss", "examples_per_second") if "loss" in values]
            if not is_a(examples, int) or not all(is_a(number, float) for number in (seconds, *measured)):
                raise ValueError("not numbers")
            if "accuracy" in values:
                shares = point_of(values).accuracy["l1"].items()
                values["accuracy"]["l1"] = {str(float(tolerance)): share for tolerance, share in shares}
                self.evaluations.append(values)
            if "loss" in values:
                self.losses.append((examples, measured[0]))
                self.speeds.append((examples, measured[1]))
        except (ValueError, KeyError, TypeError):
            self.damaged += 1
            return
        self.examples, self.seconds = max(self.examples, examples), max(self.seconds, seconds)


@dataclass(frozen=True)
class Run:
    name: str
    folder: Path
    config: RunConfig | None
    trouble: str  # why there is no config
    metrics: Metrics
    changed: float  # when metrics were written last, seconds since 1970

    @property
    def has_model(self) -> bool:
        return self.config is not None and is_inside(self.folder, self.folder / MODEL_FILE)

    @cached_property
    def result(self) -> Result | None:
        path = self.folder / RESULT_FILE
        try:
            return Result.read(path) if is_inside(self.folder, path) else None
        except ValueError:
            return None

    @property
    def state(self) -> str:
        if is_inside(self.folder, self.folder / RESULT_FILE):
            return "finished"
        is_alive = is_locked(self.folder)  # by the process that trains
        if is_alive is None:
            is_alive = time.time() - self.changed < FRESH_SECONDS
        return "in progress" if is_alive else "stopped"

    @property
    def share(self) -> float:
        """Of the budget, in percent."""
        return min(100.0, 100 * self.metrics.examples / self.config.train.examples) if self.config else 0.0

    @property
    def evaluation(self) -> dict[str, Any] | None:
        """The last one."""
        return self.metrics.evaluations[-1] if self.metrics.evaluations else None

    def accuracy(self, tolerance: str) -> list[tuple[float, float]]:
        """Examples, accuracy in percent on the validation split."""
        lines = self.metrics.evaluations
        return [
            (e["examples"], 100 * e["accuracy"]["l1"][tolerance]) for e in lines if tolerance in e["accuracy"]["l1"]
        ]

    def by_size(self, tolerance: str = "0.05") -> dict[str, list[tuple[float, float]]]:
        found: dict[str, list[tuple[float, float]]] = {}
        for line in self.metrics.evaluations:
            parts = line.get("by_dimension")
            for size, shares in parts.items() if isinstance(parts, dict) else ():
                if isinstance(shares, dict) and isinstance(shares.get(tolerance), float | int):
                    found.setdefault(str(size), []).append((line["examples"], 100 * shares[tolerance]))
        return found

    @property
    def sessions(self) -> list[dict[str, Any]]:
        path = self.folder / PROVENANCE_FILE
        try:
            return read_sessions(path) if is_inside(self.folder, path) else []
        except ValueError:
            return []


def is_inside(folder: Path, path: Path) -> bool:
    """A file of that folder, and no link out of it."""
    return path.is_file() and path.resolve().is_relative_to(folder.resolve())


class Runs:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._metrics: dict[Path, Metrics] = {}
        self._configs: dict[Path, tuple[int, RunConfig | None, str]] = {}

    def find(self) -> dict[str, Run]:
        """All runs in the folder by name, the last changed first."""
        found = [self._run(folder) for folder in self._folders()]
        return {run.name: run for run in sorted(found, key=lambda run: -run.changed)}

    def named(self, names: list[str], known: dict[str, Run]) -> list[Run]:
        for name in names:
            if name not in known:
                raise unknown("run", name[:100], known)
        return [known[name] for name in dict.fromkeys(names)]

    def _folders(self) -> list[Path]:
        found: list[Path] = []
        for where, folders, files in os.walk(self.folder, followlinks=False):
            path = Path(where)
            if CONFIG_FILE in files and is_inside(self.folder, path / CONFIG_FILE):
                found.append(path)
                folders.clear()  # there are no runs in a run
            if len(found) >= MOST_RUNS:
                break
            if len(path.relative_to(self.folder).parts) >= MOST_DEPTH:
                folders.clear()
            folders.sort()
        return found

    def _run(self, folder: Path) -> Run:
        name = folder.relative_to(self.folder).as_posix()
        config, trouble = self._config(folder / CONFIG_FILE)
        path = folder / METRICS_FILE
        is_there = is_inside(folder, path)
        metrics = self._read(path) if is_there else Metrics()
        changed = (path if is_there else folder / CONFIG_FILE).stat().st_mtime
        return Run(name if name != "." else self.folder.resolve().name, folder, config, trouble, metrics, changed)

    def _config(self, path: Path) -> tuple[RunConfig | None, str]:
        changed = path.stat().st_mtime_ns
        known = self._configs.get(path)
        if known is None or known[0] != changed:
            try:
                known = (changed, from_dict(read_json(path)), "")
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                known = (changed, None, f"{CONFIG_FILE}: {error}")
            self._configs[path] = known
        return known[1], known[2]

    def _read(self, path: Path) -> Metrics:
        """Lines that are whole and new since the last time; all again where the file was written anew."""
        metrics = self._metrics.get(path, Metrics())
        size = path.stat().st_size
        if size < metrics.offset:
            metrics = Metrics()
        if metrics.offset < size <= MOST_METRICS:
            with path.open("rb") as file:
                file.seek(metrics.offset)
                while (line := file.readline(MOST_LINE)).endswith(b"\n"):
                    metrics.add(line)
                    metrics.offset += len(line)
        self._metrics[path] = metrics
        return metrics


def fields_of(config: RunConfig) -> dict[str, str]:
    """'train.seed' -> '1', of all settings."""

    def flat(values: Any, name: str) -> dict[str, str]:
        if isinstance(values, dict):
            return {k: v for key, part in values.items() for k, v in flat(part, f"{name}.{key}".lstrip(".")).items()}
        if isinstance(values, list | tuple) and any(isinstance(value, dict) for value in values):
            return {k: v for n, part in enumerate(values, 1) for k, v in flat(part, f"{name}.{n}").items()}
        text = ", ".join(map(str, values)) if isinstance(values, list | tuple) else str(values)
        return {name: text}

    return flat(to_dict(config), "")


def side_by_side(runs: list[Run]) -> tuple[list[tuple[str, list[str]]], list[tuple[str, list[str]]]]:
    """Settings in which the runs differ, and those that they share: name and one value for each run."""
    every = [fields_of(run.config) if run.config else {} for run in runs]
    names = list(dict.fromkeys(name for fields in every for name in fields))
    rows = [(name, [fields.get(name, "") for fields in every]) for name in names]
    return [row for row in rows if len(set(row[1])) > 1], [row for row in rows if len(set(row[1])) == 1]
