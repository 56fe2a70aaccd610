"""Runs a recipe's cells and sets the numbers beside the paper's.

    >>> run_cells(RECIPES["table-6"], "laptop", Path("."))
    >>> print(as_markdown(table_of(RECIPES["table-6"], "laptop", Path("."))))

A cell that was run is a JSON in results/NAME/SCALE/, its folder is runs/NAME/SCALE/KEY; a recipe that is run again
does only what is missing, and goes on where a cell was stopped.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from learnalg.bench import machine_rate
from learnalg.evaluate import TOLERANCES, evaluate
from learnalg.flops import counted_flops
from learnalg.progress import Watcher
from learnalg.recipes import Cell, Recipe, Shown, paper_table
from learnalg.runs import Run, cpu_name, load_model, provenance, write_json
from learnalg.train import RESULT_FILE, curve, resume, train

GPU_FLOPS = 6e12  # a second: 40 % of the 15.7 TFLOP/s that a V100, the paper's GPU, has in fp32
TYPICAL_SHARE = 0.4  # of the machine's matrix-product rate that training reaches, before anything was measured


def result_file(recipe: Recipe, scale: str, key: str, root: Path) -> Path:
    return root / "results" / recipe.name / scale / f"{key}.json"


def load_result(recipe: Recipe, scale: str, cell: Cell, root: Path) -> dict[str, Any] | None:
    path = result_file(recipe, scale, cell.key, root)
    kept = root / "results" / f"{cell.kept}.json"
    if not path.is_file() and cell.kept and not cell.tests:
        path = kept  # nothing to add to what the kept model's own result says
    loaded: dict[str, Any] | None = json.loads(path.read_text()) if path.is_file() else None
    return loaded


def choose(recipe: Recipe, scale: str, wanted: tuple[str, ...]) -> list[Cell]:
    """The cells whose key contains one of the wanted texts, all if there is none; and what these start from."""
    cells = recipe.cells_at(scale)
    chosen = {cell.key for cell in cells if not wanted or any(text in cell.key for text in wanted)}
    if not chosen and cells:
        raise ValueError(
            f"no cell of {recipe.name} has {' or '.join(wanted)} in its name; cells: {', '.join(c.key for c in cells)}"
        )
    chosen |= {cell.init for cell in cells if cell.key in chosen and cell.init}
    return [cell for cell in cells if cell.key in chosen]


def run_cells(
    recipe: Recipe, scale: str, root: Path, wanted: tuple[str, ...] = (), watcher: Watcher | None = None
) -> None:
    for cell in choose(recipe, scale, wanted):
        if load_result(recipe, scale, cell, root) is None:
            run_cell(recipe, scale, cell, root, watcher)


def run_cell(recipe: Recipe, scale: str, cell: Cell, root: Path, watcher: Watcher | None = None) -> None:
    """Trains, or goes on, or takes the kept model; tests; writes the cell's JSON."""
    folder = root / "runs" / recipe.name / scale
    if cell.kept:
        result = json.loads((root / "results" / f"{cell.kept}.json").read_text())
        model_path = Path(cell.kept)
    else:
        model_path = folder / cell.key
        if (model_path / "config.json").is_file():
            run = resume(model_path, watcher=watcher)
        else:
            run = train(cell.config, model_path, folder / cell.init if cell.init else None, watcher)
        result = json.loads((run.folder / RESULT_FILE).read_text()) | {"curve": curve(run)}
    if cell.tests:
        config, model = load_model(model_path)
        num, seed = result["report"]["num"], result["report"]["seed"]
        tests = {}
        for name, changes in cell.tests.items():
            data = replace(config.data, **changes)
            tests[name] = asdict(evaluate(model, data, num, seed, (*TOLERANCES, 0.0)))
        result |= {"tests": tests, "tested": provenance()}
    path = result_file(recipe, scale, cell.key, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, result | {"kept": cell.kept, "note": cell.note})


@dataclass(frozen=True)
class Step:
    """A line of the plan."""

    key: str
    state: str  # done, kept, begun or to do
    examples: int  # left to train on
    flops: float  # left
    note: str


def plan(recipe: Recipe, scale: str, root: Path, wanted: tuple[str, ...] = ()) -> list[Step]:
    steps = []
    for cell in choose(recipe, scale, wanted):
        folder = root / "runs" / recipe.name / scale / cell.key
        examples, done = cell.config.train.examples, 0
        if load_result(recipe, scale, cell, root) is not None:
            state, done = "done", examples
        elif cell.kept:
            state, done = "kept", examples
        elif (folder / "config.json").is_file():
            state, done = "begun", max((line["examples"] for line in Run.open(folder).metrics()), default=0)
        else:
            state = "to do"
        left = max(examples - done, 0)
        steps.append(Step(cell.key, state, left, left * counted_flops(cell.config) if left else 0.0, cell.note))
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


@dataclass(frozen=True)
class Number:
    """One place of a table: the paper's number, ours (one for each seed), and what it is of."""

    paper: Any = ""
    ours: tuple[float, ...] = ()
    keys: tuple[str, ...] = ()  # of the cells that fill it, run or not
    is_planned: bool = False  # some cell fills it, run or not
    interval: tuple[float, float] | None = None  # 95 %, of a single share
    note: str = ""
    digits: int = 1  # after the point

    @property
    def text(self) -> str:
        if not self.ours:
            return "not run" if self.is_planned else ""
        spread = f" ± {statistics.stdev(self.ours):.{self.digits}f}" if len(self.ours) > 1 else ""
        return f"{statistics.fmean(self.ours):.{self.digits}f}{spread}"


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    columns: list[str]
    rows: list[list[Number]]  # labels are Numbers with only `paper`


def table_of(recipe: Recipe, scale: str, root: Path) -> Table:
    """The paper's table with ours beside it; a recipe without one makes its rows and columns from the cells."""
    cells = recipe.cells_at(scale)
    if recipe.has_paper:
        columns, paper_rows = paper_table(recipe.name)
        rows = [[Number(paper=value) for value in row] for row in paper_rows]
        row_names, column_names = [], []
    else:
        row_names = list(dict.fromkeys(str(s.row) for c in cells for s in c.shows))
        column_names = list(dict.fromkeys(str(s.column) for c in cells for s in c.shows))
        columns = ["", *column_names]
        rows = [[Number(paper=name), *[Number()] * len(column_names)] for name in row_names]
    for cell in cells:
        result = load_result(recipe, scale, cell, root)
        for shown in cell.shows:
            r = shown.row if isinstance(shown.row, int) else row_names.index(shown.row)
            c = shown.column if isinstance(shown.column, int) else 1 + column_names.index(shown.column)
            rows[r][c] = _filled(rows[r][c], cell, shown, result)
    return Table(recipe.name, recipe.title, columns, rows)


def _filled(number: Number, cell: Cell, shown: Shown, result: dict[str, Any] | None) -> Number:
    ours, interval = number.ours, None
    if result is not None:
        value = lookup(result, shown.measure)
        ours = (*ours, float(value) * shown.factor)
        if "accuracy/" in shown.measure and len(ours) == 1:
            low, high = lookup(result, shown.measure.replace("accuracy/", "interval/"))
            interval = 100 * low, 100 * high
    note = "; ".join(dict.fromkeys(n for n in (number.note, cell.note) if n))
    return replace(
        number,
        ours=ours,
        keys=(*number.keys, cell.key),
        is_planned=True,
        interval=interval,
        note=note,
        digits=shown.digits,
    )


def lookup(result: dict[str, Any], path: str) -> Any:
    value: Any = result
    for part in path.split("/"):
        if not isinstance(value, dict) or part not in value:
            raise ValueError(f"a result has no {path}: nothing at {part!r}")
        value = value[part]
    return value


def best_of(table: Table) -> tuple[str, str]:
    """Our highest number and the paper's at the same place."""
    filled = [number for row in table.rows for number in row if number.ours]
    if not filled:
        return "", ""
    best = max(filled, key=lambda number: statistics.fmean(number.ours))
    return f"{statistics.fmean(best.ours):.1f}", str(best.paper)


def as_markdown(table: Table) -> str:
    def cell(number: Number, column: int) -> str:
        if not number.is_planned:
            return str(number.paper)
        beside = f" ({number.paper})" if number.paper != "" else ""
        return f"{number.text}{beside}"

    return "\n".join(
        [
            _line(table.columns),
            _line(["---"] * len(table.columns)),
            *(_line(cell(number, k) for k, number in enumerate(row)) for row in table.rows),
        ]
    )


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
