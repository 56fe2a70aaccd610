"""What has come of a sweep so far: its trials as rows of a table, and as a figure.

>>> rows_of(Path("runs/sweep"))[0]  # the best, if one is done
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnalg.evaluation.figures import CURVES, QUIET, RIGHT, STYLE, WRONG, panels, set_log
from learnalg.evaluation.result import Report, Result
from learnalg.sweep.space import Dimension
from learnalg.sweep.study import Plan, check_optuna, open_study, trial_folder, trial_lock
from learnalg.training.run import Run
from learnalg.zoo.index import RESULT_FILE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from optuna.trial import FrozenTrial

    from learnalg.evaluation.result import Point

STATES = ("done", "pruned", "failed", "running", "stopped", "waits")  # in the order of a table


@dataclass(frozen=True)
class Row:
    number: int
    state: str
    values: dict[str, Any] = field(default_factory=dict)  # field -> value of the config
    chosen: dict[str, Any] = field(default_factory=dict)  # field -> what Optuna chose: a text, or a number
    examples: int = 0
    seen: Report | Point | None = None  # the final evaluation, or the last one so far; of the validation split
    curve: tuple[Point, ...] = ()
    note: str = ""


def rows_of(folder: Path) -> list[Row]:
    """All trials: those that are done first, the best of them first."""
    check_optuna()
    plan = Plan.read(folder)
    rows = [_row(folder, plan, trial) for trial in open_study(folder, plan).get_trials(deepcopy=False)]

    def place(row: Row) -> tuple[int, float, int]:
        value = plan.measure(row.seen) if row.seen and row.state == "done" else 0.0
        return STATES.index(row.state), value if plan.by == "loss" else -value, row.number

    return sorted(rows, key=place)


def _row(folder: Path, plan: Plan, trial: FrozenTrial) -> Row:
    chosen = trial.params or trial.system_attrs.get("fixed_params", {})
    values = {d.field: d.value(chosen[d.field]) for d in plan.space if d.field in chosen}
    out, note = trial_folder(folder, trial.number), str(trial.user_attrs.get("note", ""))
    curve: tuple[Point, ...] = ()
    seen: Report | Point | None = None
    examples = 0
    if (out / "config.json").is_file():
        run = Run.open(out)
        curve = run.curve()
        if curve:
            seen, examples = curve[-1], curve[-1].examples
        if (out / RESULT_FILE).is_file() and trial.state.name == "COMPLETE":
            result = Result.read(out / RESULT_FILE)
            seen, examples = result.report, result.examples
    return Row(trial.number, _state(folder, trial, note), values, chosen, examples, seen, curve, note)


def _state(folder: Path, trial: FrozenTrial, note: str) -> str:
    if trial.state.name == "RUNNING":
        lock = trial_lock(folder, trial.number)
        if not lock.acquire(wait=False):
            return "running"
        lock.release()
        return "stopped"
    states = {"COMPLETE": "done", "PRUNED": "failed" if note else "pruned", "WAITING": "waits"}
    return states.get(trial.state.name, "failed")


def draw(folder: Path, kind: str) -> bytes:
    """A panel for each field that is varied, and one with the learning curves; as png or svg."""
    import matplotlib

    plan, rows = Plan.read(folder), rows_of(folder)
    shown = [row for row in rows if row.seen is not None]
    best = next((row for row in shown if row.state == "done"), None)
    with matplotlib.rc_context(STYLE):
        num = len(plan.space) + 1
        figure, axes = panels(num, 2 if num == 4 else min(num, 3), 4.2, 3.4)
        for axis, dimension in zip(axes, plan.space, strict=False):
            _against(axis, plan, dimension, shown, best)
        _curves(axes[-1], plan, shown, best)
        handles, labels = axes[0].get_legend_handles_labels()
        if handles:
            figure.legend(handles, labels, loc="outside lower center", ncols=4)
        content = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else {"Software": None}  # the same trials give the same file
        figure.savefig(content, format=kind, dpi=150, metadata=metadata)
    return content.getvalue()


def measured_name(plan: Plan) -> str:
    return "validation loss" if plan.by == "loss" else f"validation accuracy at {100 * plan.tolerance:g} %"


def _height(plan: Plan, seen: Report | Point) -> float:
    return plan.measure(seen) * (1 if plan.by == "loss" else 100)


def _against(axis: Axes, plan: Plan, dimension: Dimension, rows: list[Row], best: Row | None) -> None:
    names = list(dimension.choices)
    for state, color, marker in (("done", RIGHT, "o"), ("pruned", WRONG, "x"), ("running", QUIET, "+")):
        those = [row for row in rows if row.state == state and dimension.field in row.chosen and row.seen]
        place = [names.index(row.chosen[dimension.field]) if names else row.chosen[dimension.field] for row in those]
        heights = [_height(plan, row.seen) for row in those if row.seen]
        if those:
            axis.plot(place, heights, linestyle="none", marker=marker, color=color, label=state)
    if best is not None and best.seen:
        at = best.chosen[dimension.field]
        at = names.index(at) if names else at
        axis.plot([at], [_height(plan, best.seen)], "o", ms=11, mfc="none", color="#222222", label="best")
    if names:
        axis.set_xticks(range(len(names)), names)
        axis.set_xlim(-0.5, len(names) - 0.5)
    elif dimension.log:
        set_log(axis, np.array([dimension.low, dimension.high]))
        axis.set_xlim(dimension.low / 1.1, dimension.high * 1.1)
    if not names and not dimension.log:
        spare = 0.03 * (dimension.high - dimension.low)
        axis.set_xlim(dimension.low - spare, dimension.high + spare)
    axis.set_xlabel(dimension.field if dimension.template == "{}" else dimension.template.format("..."))
    axis.set_ylabel(measured_name(plan))


def _curves(axis: Axes, plan: Plan, rows: list[Row], best: Row | None) -> None:
    for row in rows:
        is_best = best is not None and row.number == best.number
        color = CURVES[0] if is_best else WRONG if row.state == "pruned" else QUIET
        examples = [point.examples / 1000 for point in row.curve]
        heights = [_height(plan, point) for point in row.curve]
        axis.plot(examples, heights, color=color, lw=2.0 if is_best else 0.8, marker=".", zorder=3 if is_best else 2)
    axis.set_xlabel("thousand training examples")
    axis.set_ylabel(measured_name(plan))
    axis.set_xlim(left=0)
