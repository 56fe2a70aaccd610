"""Where the results of experiments are: written under `root`, read there or, else, from what the package carries.

results/NAME.json               a released model's
results/NAME/SCALE/KEY.json     a cell's
results/NAME/SCALE/NAME.json    what was computed without training
runs/NAME/SCALE/KEY             a cell's run
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from learnalg.evaluation.result import Result
from learnalg.files import read_json, results_folder
from learnalg.reproduction.experiment import Cell, Experiment


def result_path(experiment: Experiment, scale: str, key: str, root: Path) -> Path:
    """Where a result is written."""
    return root / "results" / experiment.name / scale / f"{key}.json"


def cell_path(experiment: Experiment, scale: str, cell: Cell, root: Path) -> Path:
    return root / "results" / (cell.home or experiment.name) / scale / f"{cell.key}.json"


def cell_folder(experiment: Experiment, scale: str, cell: Cell, root: Path) -> Path:
    return root / "runs" / (cell.home or experiment.name) / scale / cell.key


def load_result(experiment: Experiment, scale: str, cell: Cell, root: Path) -> Result | None:
    path = known_path(cell_path(experiment, scale, cell, root), root)
    if path is not None:
        return _read(path)
    # Nothing to add to what the released model's own result says.
    return released_result(cell.released, root) if cell.released and not cell.tests else None


def has_results(experiment: Experiment, scale: str, root: Path) -> bool:
    return any((folder / experiment.name / scale).is_dir() for folder in (root / "results", results_folder()))


def load_computed(experiment: Experiment, scale: str, root: Path) -> dict[str, Any] | None:
    path = known_path(result_path(experiment, scale, experiment.name, root), root)
    return None if path is None else read_json(path)


def released_result(name: str, root: Path = Path()) -> Result | None:
    """Of a released model, or None if there is no such model."""
    path = known_path(root / "results" / f"{name}.json", root)
    return None if path is None else _read(path)


def released_results(root: Path) -> dict[str, Result]:
    """Of all released models, by name."""
    folders = (results_folder(), root / "results")
    names = sorted({path.stem for folder in folders for path in folder.glob("*.json")})
    found = {name: released_result(name, root) for name in names}
    return {name: result for name, result in found.items() if result is not None}


def known_path(path: Path, root: Path) -> Path | None:
    """The file, or the one that the package carries."""
    carried = results_folder() / path.relative_to(root / "results")
    return next((p for p in (path, carried) if p.is_file()), None)


def _read(path: Path) -> Result:
    return _cached(path, path.stat().st_mtime_ns)


@cache
def _cached(path: Path, changed: int) -> Result:
    """Tables and figures read the same results again and again."""
    return Result.read(path)
