"""Runs experiments, and says what is left to run.

    >>> run_experiment(EXPERIMENTS["table-6"], "laptop", Path("."))

An experiment that is run again does only what is missing, and resumes a cell that was stopped. A cell that is a
released model, or starts from one, waits for the model's result.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnalg.config import RunConfig, replace_fields, to_dict
from learnalg.evaluation.result import Result
from learnalg.files import read_json, results_folder, write_json
from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.results import (
    cell_folder,
    cell_path,
    load_computed,
    load_result,
    released_result,
    result_path,
)
from learnalg.training.run import Run, cpu_name, provenance

if TYPE_CHECKING:
    from learnalg.training.watcher import Watcher

GPU_FLOPS = 6e12  # a second: 40 % of the 15.7 TFLOP/s that a V100, the paper's GPU, has in fp32
TYPICAL_SHARE = 0.4  # of the machine's matrix-product rate that training reaches, before anything was measured
TEST_SEED = 0

Watch = Callable[[Cell], "AbstractContextManager[Watcher | None]"]


def unwatched(cell: Cell) -> AbstractContextManager[Watcher | None]:
    return nullcontext(None)


def run_experiment(
    experiment: Experiment,
    scale: str,
    root: Path,
    wanted: tuple[str, ...] = (),
    watch: Watch = unwatched,
    say: Callable[[str], None] = print,
) -> None:
    """All that is missing and can be run. What cannot is named and passed over."""
    if experiment.computed and load_computed(experiment, scale, root) is None:
        compute(experiment, scale, root, say)
    for cell in choose(experiment, scale, wanted):
        if load_result(experiment, scale, cell, root) is not None:
            continue
        missing, stale = missing_model(cell, root), outdated(experiment, scale, cell, root)
        if missing:
            say(f"{cell.key}: not run, the released model {missing} has no result in results/{missing}.json")
        elif stale:
            say(f"{cell.key}: not run, {stale}")
        else:
            with watch(cell) as watcher:
                run_cell(experiment, scale, cell, root, watcher)


def choose(experiment: Experiment, scale: str, wanted: tuple[str, ...] = ()) -> list[Cell]:
    """The cells whose key contains one of the wanted texts, all if there is none; and what these start from. A text
    that is a whole key picks that cell alone."""
    cells = experiment.cells_at(scale)
    keys = {cell.key for cell in cells}
    chosen = keys if not wanted else keys & set(wanted)
    chosen |= {key for key in keys for text in set(wanted) - keys if text in key}
    unknown = [text for text in wanted if not any(text in key for key in keys)]
    if unknown and cells:
        close = get_close_matches(unknown[0], sorted(keys), n=5, cutoff=0.0)
        raise ValueError(
            f"no cell of {experiment.name} has {unknown[0]} in its name; closest of {len(keys)}: {', '.join(close)}; "
            f"learnalg reproduce {experiment.name} --scale {scale} --dry-run lists all"
        )
    chosen |= {cell.init for cell in cells if cell.key in chosen and cell.init}
    return [cell for cell in cells if cell.key in chosen]


def compute(experiment: Experiment, scale: str, root: Path, say: Callable[[str], None]) -> bool:
    """Computes what needs no training; writes it, unless the model that it needs is not there yet. Whether it did."""
    from learnalg.reproduction.computed import COMPUTED

    path = result_path(experiment, scale, experiment.name, root)
    computed = COMPUTED[experiment.computed](scale, root)
    if not computed:
        say(f"{experiment.name}: not computed, the model that it needs is not there yet")
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, computed | {"provenance": provenance()})
    return True


def run_cell(experiment: Experiment, scale: str, cell: Cell, root: Path, watcher: Watcher | None = None) -> None:
    """Trains or resumes, or takes the released model; evaluates on the test split; writes the cell's result."""
    if cell.released:
        known = released_result(cell.released, root)
        if known is None:
            raise ValueError(f"the released model {cell.released} has no result")
        result, weights = known, Path(cell.released)
    else:
        weights = cell_folder(experiment, scale, cell, root)
        result = _trained(experiment, scale, cell, root, watcher)
    tests = {} if not cell.tests else _tests(cell, weights, result)
    made = result.provenance | ({"tested": provenance()} if tests else {})
    result = replace(result, tests=tests, provenance=made, released=cell.released, note=cell.note)
    result.write(cell_path(experiment, scale, cell, root))


def _trained(experiment: Experiment, scale: str, cell: Cell, root: Path, watcher: Watcher | None) -> Result:
    """The result of a cell's run, with the report of its test split."""
    from learnalg.evaluation.evaluate import evaluate
    from learnalg.problem import Problem
    from learnalg.training.loop import FINAL_TOLERANCES, RESULT_FILE, Silent
    from learnalg.training.restart import to_its_end
    from learnalg.zoo.load import load_model

    folder, config = cell_folder(experiment, scale, cell, root), planned_config(experiment, scale, cell, root)
    run = to_its_end(config, folder, watcher)
    result = Result.read(run.folder / RESULT_FILE)
    if result.origin and cell.init:
        result = replace(result, origin=replace(result.origin, model=cell.init))
    config, model = load_model(run.folder)
    num, watcher = config.train.final_num, watcher or Silent()
    watcher.on_final_evaluation(num, "test")
    report = evaluate(model, Problem(config.data), num, TEST_SEED, FINAL_TOLERANCES, done=watcher.on_evaluated)
    return replace(result, report=report)


def _tests(cell: Cell, weights: Path, result: Result) -> dict[str, Any]:
    """Reports on other matrices than the model's own."""
    from learnalg.evaluation.evaluate import TOLERANCES, evaluate
    from learnalg.problem import Problem
    from learnalg.zoo.load import load_model

    config, model = load_model(weights)
    tolerances = tuple(dict.fromkeys((*cell.tolerances, *TOLERANCES, 0.0)))
    return {
        name: evaluate(model, Problem(replace(config.data, **changes)), result.report.num, TEST_SEED, tolerances)
        for name, changes in cell.tests.items()
    }


def planned_config(experiment: Experiment, scale: str, cell: Cell, root: Path) -> RunConfig:
    """The cell's config, with the run that it starts from."""
    if not cell.init:
        return cell.config
    origin = next(c for c in experiment.cells_at(scale) if c.key == cell.init)
    return replace_fields(cell.config, init=str(cell_folder(experiment, scale, origin, root)))


def missing_model(cell: Cell, root: Path) -> str:
    """The released model that a cell is, or starts from, and that has no result; '' if nothing is missing."""
    waiting = cell.released or cell.config.train.origin[0]
    return waiting if waiting and released_result(waiting, root) is None else ""


def outdated(experiment: Experiment, scale: str, cell: Cell, root: Path) -> str:
    """What to do where a run was begun under another config than the cell's, or is damaged; '' elsewhere."""
    folder = cell_folder(experiment, scale, cell, root)
    if cell.released or not (folder / "config.json").is_file():
        return ""
    try:
        run = Run.open(folder)
        run.metrics()
    except ValueError as error:  # it names the file
        return str(error)
    begun = run.config
    # What a run settles for its machine is no difference.
    settled = {"threads": begun.train.threads, "precision": begun.train.precision}
    wanted = replace_fields(planned_config(experiment, scale, cell, root), **settled)
    names = []
    for table, old in to_dict(begun).items():
        new = to_dict(wanted)[table]
        if isinstance(old, dict):
            names += [f"{table}.{name}" for name in old if old[name] != new[name]]
        elif old != new:
            names.append(table)
    return f"{folder} was begun with another {', '.join(names)}: remove it to start anew" if names else ""


@dataclass(frozen=True)
class Step:
    """A line of the plan."""

    key: str
    state: str  # done, released, missing (the released model is), begun, stale (begun under another config) or to do
    examples: int  # left to train on
    note: str
    config: RunConfig | None = None  # of what is trained

    @property
    def flops(self) -> float:
        """Left. It takes a second to count those of a large network: `--list` does without."""
        if not self.examples or self.config is None:
            return 0.0
        from learnalg.training.flops import counted_flops

        return self.examples * counted_flops(self.config)


def plan(experiment: Experiment, scale: str, root: Path, wanted: tuple[str, ...] = ()) -> list[Step]:
    steps = []
    if experiment.computed:
        state = "to do" if load_computed(experiment, scale, root) is None else "done"
        steps.append(Step(experiment.name, state, 0, "computed"))
    for cell in choose(experiment, scale, wanted):
        folder = cell_folder(experiment, scale, cell, root)
        examples, done = cell.config.train.examples, 0
        missing, note = missing_model(cell, root), cell.note
        if load_result(experiment, scale, cell, root) is not None:
            state, done = "done", examples
        elif missing:
            state, note = "missing", "; ".join(filter(None, (f"waits for {missing}", cell.note)))
            done = examples if cell.released else 0
        elif cell.released:
            state, done = "released", examples
        elif stale := outdated(experiment, scale, cell, root):
            state, note = "stale", stale
        elif (folder / "config.json").is_file():
            state, done = "begun", Run.open(folder).spent()[0]
        else:
            state = "to do"
        steps.append(Step(cell.key, state, max(examples - done, 0), note, cell.config))
    return steps


def measured_rate(root: Path) -> float:
    """FLOPs a second: the median over results of this kind of machine, else a share of its own rate."""

    rates = []
    folder = root / "results"
    for path in (folder if folder.is_dir() else results_folder()).rglob("*.json"):
        values = read_json(path)
        is_here = values.get("provenance", {}).get("machine", {}).get("cpu") == cpu_name()
        flops = values.get("flops_per_example", 0.0) * values.get("examples", 0)
        if is_here and flops > 1e12:  # a shorter run has hardly begun
            rates.append(flops / values["seconds"])
    if rates:
        return statistics.median(rates)
    import torch

    from learnalg.training.speed import machine_rate

    return TYPICAL_SHARE * machine_rate(torch.float32)
