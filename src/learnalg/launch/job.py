"""A job and its folder: what to run, and what came of it. Plain JSON: nothing is unpickled, and a person can read it.

job.json       the function and its arguments         log.txt        what it printed, of all attempts
started.json   where the last attempt runs            outcome.json   done with a value, failed with a line, or stopped
handle.json    what the engine calls it
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from learnalg.files import read_json, write_json

JOB, STARTED, OUTCOME, HANDLE, LOG = "job.json", "started.json", "outcome.json", "handle.json", "log.txt"


@dataclass(frozen=True)
class Job:
    """`function` is 'learnalg.MODULE:NAME'; what it returns must fit into JSON. When it is called again after it was
    stopped, it continues from where it was, or begins anew."""

    name: str  # names its folder: 'table-6/p10'
    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()  # names of jobs that must be done before it starts

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w@-][\w@.-]*(/[\w@-][\w@.-]*)*", self.name):
            raise ValueError(f"job {self.name!r}: a name has letters, digits and _ @ . -, in parts set apart by /")
        if not re.fullmatch(r"learnalg(\.\w+)+:\w+", self.function):
            raise ValueError(f"job {self.name}: function {self.function!r} is not written learnalg.MODULE:NAME")

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / JOB, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> Job:
        values = read_json(folder / JOB)
        if values.keys() != {"name", "function", "arguments", "after"} or not isinstance(values["arguments"], dict):
            raise ValueError(f"{folder / JOB} is damaged: a job has a name, a function, arguments and what it is after")
        return cls(str(values["name"]), str(values["function"]), values["arguments"], tuple(values["after"]))

    def is_same(self, folder: Path) -> bool:
        """Whether this folder's job is this one."""
        return bool(read_json(folder / JOB) == json.loads(json.dumps(asdict(self))))


@dataclass(frozen=True)
class Outcome:
    state: Literal["done", "failed", "stopped"]
    value: Any = None  # what the function returned
    error: str = ""  # one line
    host: str = ""
    seconds: float = 0.0  # of the last attempt

    def write(self, folder: Path) -> None:
        write_json(folder / OUTCOME, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> Outcome | None:
        """None while there is none."""
        if not (folder / OUTCOME).is_file():
            return None
        try:
            return cls(**read_json(folder / OUTCOME))
        except TypeError as error:
            raise ValueError(f"{folder / OUTCOME} is damaged: {error}") from None
