"""Models to try: released ones, and those of the runs that are shown. They are found by name, loaded once, and used by
one thread at a time.

    >>> models = Models(Runs(Path("runs")))
    >>> [choice.name for choice in models.choices("transpose")]
    ['transpose', 'runs/first']
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from learnalg.evaluation.result import percent
from learnalg.naming import unknown
from learnalg.problem import Problem
from learnalg.serve.runs import Runs
from learnalg.zoo.catalog import index
from learnalg.zoo.index import MODEL_FILE, ZOO

if TYPE_CHECKING:
    from learnalg.zoo.model import Model

MOST_LOADED = 6
RUN = "runs/"  # before the name of a run


@dataclass(frozen=True)
class Choice:
    name: str
    problem: Problem
    path: Path  # of the weights
    note: str  # beside the name

    @property
    def tasks(self) -> list[str]:
        return list(self.problem.task_names)


class Models:
    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self._lock = Lock()
        self._loaded: OrderedDict[tuple[Path, int], tuple[Model, Lock]] = OrderedDict()

    @cached_property
    def _released(self) -> list[Choice]:
        """The most accurate first."""
        entries = sorted(index(), key=lambda entry: entry.accuracy, reverse=True)
        notes = [f"{percent(entry.accuracy[0])} % accurate at 5 % tolerance" for entry in entries]
        return [
            Choice(entry.name, entry.problem, ZOO / f"{entry.name}.safetensors", note)
            for entry, note in zip(entries, notes, strict=True)
        ]

    def _of_runs(self) -> list[Choice]:
        found = []
        for run in self.runs.find().values():
            if run.config is not None and run.has_model:
                try:
                    problem = Problem(run.config.data)
                except ValueError:  # a task of a plugin that is not loaded
                    continue
                found.append(Choice(RUN + run.name, problem, run.folder / MODEL_FILE, run.state))
        return found

    def all(self) -> list[Choice]:
        return [*self._released, *self._of_runs()]

    def tasks(self) -> list[str]:
        """All problems that some model solves."""
        return list(dict.fromkeys(task for choice in self.all() for task in choice.tasks))

    def choices(self, task: str) -> list[Choice]:
        return [choice for choice in self.all() if task in choice.tasks]

    def best(self, task: str, m: int, n: int, is_symmetric: bool) -> Choice:
        """The most accurate released model for that size, or else for the problem."""
        choices = self.choices(task)
        if not choices:
            raise unknown("problem", task[:100], self.tasks())
        fitting = [c for c in choices if c.problem.dims.admits(m, n)]
        fitting = [c for c in fitting if is_symmetric or not c.problem.config.symmetric]
        return (fitting or choices)[0]

    def find(self, name: str) -> Choice:
        known = {choice.name: choice for choice in self.all()}
        if name not in known:
            raise unknown("model", name[:100], known)
        return known[name]

    @contextmanager
    def using(self, choice: Choice) -> Iterator[Model]:
        """The model, for this thread alone."""
        model, lock = self._load(choice)
        with lock:
            yield model

    def _load(self, choice: Choice) -> tuple[Model, Lock]:
        key = choice.path, choice.path.stat().st_mtime_ns
        with self._lock:
            if key not in self._loaded:
                from learnalg.zoo.model import load

                model = load(choice.path)
                model.name = choice.name
                model.module.eval()
                self._loaded[key] = model, Lock()
            self._loaded.move_to_end(key)
            while len(self._loaded) > MOST_LOADED:
                self._loaded.popitem(last=False)
            return self._loaded[key]
