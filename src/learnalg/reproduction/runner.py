"""Runs a recipe's cells, and says what is left to run.

    >>> run_cells(RECIPES["table-6"], "laptop", Path("."))

A cell that was run is a JSON in results/NAME/SCALE/, its folder is runs/NAME/SCALE/KEY; a recipe that is run again
does only what is missing, and goes on where a cell was stopped. A cell that is a kept model waits for the model's
result, results/MODEL.json. What needs no training is computed, and kept as results/NAME/SCALE/NAME.json.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch

from learnalg.training.speed import machine_rate
from learnalg.reproduction.computed import COMPUTED
from learnalg.config import RunConfig, replace_fields, to_dict
from learnalg.evaluation.evaluate import TOLERANCES, evaluate
from learnalg.training.flops import counted_flops
from learnalg.cli.progress import Watcher
from learnalg.reproduction.tables import Cell, Recipe
from learnalg.training.run import Run, all_examples, cpu_name, load_model, provenance, write_json
from learnalg.training.loop import RESULT_FILE, curve, resume, train

GPU_FLOPS = 6e12  # a second: 40 % of the 15.7 TFLOP/s that a V100, the paper's GPU, has in fp32
TYPICAL_SHARE = 0.4  # of the machine's matrix-product rate that training reaches, before anything was measured


def result_file(recipe: Recipe, scale: str, key: str, root: Path) -> Path:
    return root / "results" / recipe.name / scale / f"{key}.json"


def cell_file(recipe: Recipe, scale: str, cell: Cell, root: Path) -> Path:
    return root / "results" / (cell.home or recipe.name) / scale / f"{cell.key}.json"


def cell_folder(recipe: Recipe, scale: str, cell: Cell, root: Path) -> Path:
    return root / "runs" / (cell.home or recipe.name) / scale / cell.key


def load_result(recipe: Recipe, scale: str, cell: Cell, root: Path) -> dict[str, Any] | None:
    path = cell_file(recipe, scale, cell, root)
    if not path.is_file() and cell.kept and not cell.tests:
        path = kept_file(cell, root)  # nothing to add to what the kept model's own result says
    return _read(path)


def load_computed(recipe: Recipe, scale: str, root: Path) -> dict[str, Any] | None:
    return _read(result_file(recipe, scale, recipe.name, root))


def _read(path: Path) -> dict[str, Any] | None:
    loaded: dict[str, Any] | None = json.loads(path.read_text()) if path.is_file() else None
    return loaded


def kept_file(cell: Cell, root: Path) -> Path:
    return root / "results" / f"{cell.kept}.json"


def missing_model(recipe: Recipe, scale: str, cell: Cell, root: Path) -> str:
    """The kept model that a cell is, or starts from, and that has no result yet; '' if nothing is missing."""
    waiting = (c.kept for c in (cell, origin_of(recipe, scale, cell)) if c and c.kept)
    return next((name for name in waiting if not (root / "results" / f"{name}.json").is_file()), "")


def origin_of(recipe: Recipe, scale: str, cell: Cell) -> Cell | None:
    """The cell whose weights another one starts from."""
    return next((c for c in recipe.cells_at(scale) if c.key == cell.init), None) if cell.init else None


def init_of(recipe: Recipe, scale: str, cell: Cell, root: Path) -> Path | None:
    """The model or run that a cell starts from."""
    origin = origin_of(recipe, scale, cell)
    if origin is None:
        return None
    return Path(origin.kept) if origin.kept else cell_folder(recipe, scale, origin, root)


def choose(recipe: Recipe, scale: str, wanted: tuple[str, ...]) -> list[Cell]:
    """The cells whose key contains one of the wanted texts, all if there is none; and what these start from. A text
    that is a whole key picks that cell alone."""
    cells = recipe.cells_at(scale)
    keys = {cell.key for cell in cells}
    chosen = keys if not wanted else keys & set(wanted)
    chosen |= {key for key in keys for text in set(wanted) - keys if text in key}
    unknown = [text for text in wanted if not any(text in key for key in keys)]
    if unknown and cells:
        close = get_close_matches(unknown[0], sorted(keys), n=5, cutoff=0.0)
        raise ValueError(
            f"no cell of {recipe.name} has {unknown[0]} in its name; closest of {len(keys)}: {', '.join(close)}; "
            f"learnalg reproduce {recipe.name} --scale {scale} --dry-run lists all"
        )
    chosen |= {cell.init for cell in cells if cell.key in chosen and cell.init}
    return [cell for cell in cells if cell.key in chosen]


def run_cells(
    recipe: Recipe, scale: str, root: Path, wanted: tuple[str, ...] = (), watcher: Watcher | None = None
) -> None:
    """All that is missing and can be run."""
    if recipe.computed and load_computed(recipe, scale, root) is None:
        compute(recipe, scale, root)
    for cell in choose(recipe, scale, wanted):
        is_done = load_result(recipe, scale, cell, root) is not None
        if not is_done and not missing_model(recipe, scale, cell, root):
            run_cell(recipe, scale, cell, root, watcher)


def compute(recipe: Recipe, scale: str, root: Path) -> None:
    """Computes what needs no training; writes it, unless the model that it needs is not there yet."""
    path = result_file(recipe, scale, recipe.name, root)
    computed = COMPUTED[recipe.computed](scale, root)
    if not computed:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, computed | {"provenance": provenance()})


def run_cell(recipe: Recipe, scale: str, cell: Cell, root: Path, watcher: Watcher | None = None) -> None:
    """Trains, or goes on, or takes the kept model; tests; writes the cell's JSON."""
    if cell.kept:
        result = json.loads(kept_file(cell, root).read_text())
        model_path = Path(cell.kept)
    else:
        model_path, init = cell_folder(recipe, scale, cell, root), init_of(recipe, scale, cell, root)
        origin = origin_of(recipe, scale, cell)
        if (model_path / "config.json").is_file():
            if stale := outdated(recipe, scale, cell, root):
                raise ValueError(stale)
            run = resume(model_path, watcher=watcher)
        else:
            run = train(cell.config, model_path, init, watcher)
        result = json.loads((run.folder / RESULT_FILE).read_text()) | {"curve": curve(run)}
        known = load_result(recipe, scale, origin, root) if origin else None
        if origin and known:  # what the weights that it started from had learned from counts as well
            result["origin"] = {"model": origin.kept or origin.key, "examples": all_examples(known)}
    if cell.tests:
        config, model = load_model(model_path)
        num, seed = result["report"]["num"], result["report"]["seed"]
        tolerances = tuple(dict.fromkeys((*cell.tolerances, *TOLERANCES, 0.0)))
        tests = {}
        for name, changes in cell.tests.items():
            data = replace(config.data, **changes)
            tests[name] = asdict(evaluate(model, data, num, seed, tolerances))
        result |= {"tests": tests, "tested": provenance()}
    path = cell_file(recipe, scale, cell, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, result | {"kept": cell.kept, "note": cell.note})


def outdated(recipe: Recipe, scale: str, cell: Cell, root: Path) -> str:
    """What to do where a run was begun under another config than the cell's, or from other weights; '' elsewhere."""
    folder = cell_folder(recipe, scale, cell, root)
    if not (folder / "config.json").is_file():
        return ""
    run, init = Run.open(folder), init_of(recipe, scale, cell, root)
    begun = run.config
    # What a run settles for its machine is no difference.
    settled = replace_fields(cell.config, threads=begun.train.threads, precision=begun.train.precision)
    tables = zip(to_dict(begun).items(), to_dict(settled).values(), strict=True)
    names = [f"{table}.{name}" for (table, old), new in tables for name in old if old[name] != new[name]]
    if any(session.get("init", "") != str(init or "") for session in run.sessions()[:1]):
        names.append("init")
    return f"{folder} was begun with another {', '.join(names)}: remove it to start anew" if names else ""


@dataclass(frozen=True)
class Step:
    """A line of the plan."""

    key: str
    state: str  # done, kept, missing (the kept model is), begun, stale (begun, and the recipe has changed) or to do
    examples: int  # left to train on
    note: str
    config: RunConfig | None = None  # of what is trained

    @property
    def flops(self) -> float:
        """Left. It takes a second to count those of a large network: `--list` does without."""
        return self.examples * counted_flops(self.config) if self.examples and self.config else 0.0


def plan(recipe: Recipe, scale: str, root: Path, wanted: tuple[str, ...] = ()) -> list[Step]:
    steps = []
    if recipe.computed:
        state = "to do" if load_computed(recipe, scale, root) is None else "done"
        steps.append(Step(recipe.name, state, 0, "computed"))
    for cell in choose(recipe, scale, wanted):
        folder = cell_folder(recipe, scale, cell, root)
        examples, done = cell.config.train.examples, 0
        missing, note = missing_model(recipe, scale, cell, root), cell.note
        if load_result(recipe, scale, cell, root) is not None:
            state, done = "done", examples
        elif missing:
            state, note = "missing", "; ".join(filter(None, (f"waits for {missing}", cell.note)))
            done = examples if cell.kept else 0
        elif cell.kept:
            state, done = "kept", examples
        elif stale := outdated(recipe, scale, cell, root):
            state, note = "stale", stale
        elif (folder / "config.json").is_file():
            state, done = "begun", max((line["examples"] for line in Run.open(folder).metrics()), default=0)
        else:
            state = "to do"
        steps.append(Step(cell.key, state, max(examples - done, 0), note, cell.config))
    return steps


def measured_rate(root: Path) -> float:
    """FLOPs a second: the median over kept results of this kind of machine, else a share of its own rate."""
    rates = []
    for path in (root / "results").rglob("*.json"):
        result = json.loads(path.read_text())
        is_here = result.get("provenance", {}).get("machine", {}).get("cpu") == cpu_name()
        flops = result.get("flops_per_example", 0.0) * result.get("examples", 0)
        if is_here and flops > 1e12:  # a shorter run has hardly begun
            rates.append(flops / result["seconds"])
    return statistics.median(rates) if rates else TYPICAL_SHARE * machine_rate(torch.float32)
