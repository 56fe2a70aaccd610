"""One's own runs."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnalg.cli.flags import Folders, parse
from learnalg.evaluation.result import percent

if TYPE_CHECKING:
    from learnalg.serve.runs import Run

COLUMNS = ("run", "state", "task", "sizes", "seed", "examples", "of", "5 / 2 / 1 / 0.5 %", "changed")


@dataclass(frozen=True)
class RunsCommand:
    """List the runs in a folder, the last changed last: what they train, how far they are, and their accuracy in
    percent, of the final evaluation or else of the last one."""

    folders: Folders = ()  # folders with runs; none: runs
    json: bool = False  # print one JSON object a line


def run(arguments: list[str]) -> int:
    command = parse(RunsCommand, "runs", arguments)
    from learnalg.cli.texts import columns
    from learnalg.serve.runs import Runs

    rows = []
    for folder in command.folders or (Path("runs"),):
        if not folder.is_dir():
            raise ValueError(f"{folder}: no such folder")
        found = reversed(Runs(folder).find().values())
        rows += [row_of(one, folder / one.name if one.folder != folder else folder) for one in found]
    if command.json:
        for row in rows:
            print(json.dumps(row))
        return 0
    if not rows:
        print("no runs")
        return 0
    texts = [[row["run"], row["state"], *_cells(row)] for row in rows]
    print(columns([list(COLUMNS), *texts], right=(4, 5, 6, 7)))
    return 0


def row_of(one: Run, path: Path) -> dict[str, Any]:
    row: dict[str, Any] = {"run": str(path), "state": state_of(one), "changed": one.changed}
    if one.config is None:
        return row | {"trouble": one.trouble}
    accuracy = None
    if one.result is not None:
        accuracy = next(iter(one.result.report.accuracy.values()))
    elif one.evaluation is not None:
        accuracy = one.evaluation["accuracy"]["l1"]
    train = one.config.train
    details = {"task": one.config.data.task, "sizes": one.config.data.dim, "seed": train.seed}
    return row | details | {"examples": one.metrics.examples, "of": train.examples, "accuracy": accuracy}


def state_of(one: Run) -> str:
    """running, stopped, finished or damaged. A run that trains locks its folder; where there are no locks, the time of
    its last line tells."""
    from learnalg.training.run import is_locked

    if one.config is None:
        return "damaged"
    locked = is_locked(one.folder)
    if locked is None:
        return one.state.replace("in progress", "running")
    return "running" if locked else "finished" if one.state == "finished" else "stopped"


def moment(seconds: float) -> str:
    """The time of today, or the day."""
    at, now = time.localtime(seconds), time.localtime()
    return time.strftime("%H:%M" if at[:3] == now[:3] else "%F", at)


def _cells(row: dict[str, Any]) -> list[str]:
    changed = moment(row["changed"])
    if "trouble" in row:
        return ["", "", "", "", "", "", f"{changed}  {row['trouble']}"]
    accuracy = row["accuracy"] or {}
    shares = " / ".join(percent(accuracy[t]) for t in ("0.05", "0.02", "0.01", "0.005") if t in accuracy)
    return [row["task"], row["sizes"], str(row["seed"]), f"{row['examples']:,}", f"{row['of']:,}", shares, changed]
