"""Cells as jobs of `learnalg.launch`: the same cells, trained and tested by the same function, on many machines.

>>> cell_jobs(pending({"table-6": EXPERIMENTS["table-6"]}, "smoke", Path()), "smoke")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from learnalg.launch import Job
from learnalg.naming import find
from learnalg.reproduction import pending
from learnalg.reproduction.results import cell_folder
from learnalg.reproduction.runner import compute, run_cell


def cell_jobs(found: Sequence[pending.Job], scale: str) -> tuple[list[Job], list[str]]:
    """The jobs of what is missing, and a line for each cell that cannot be run."""
    refused = {job.name: f"{job.name}: not run, {job.note}" for job in found if job.waits}
    jobs = []
    for job in found:
        if job.needs in refused:
            refused[job.name] = f"{job.name}: not run, it starts from {job.needs}"
        if job.name not in refused:
            arguments = {"experiment": job.experiment.name, "scale": scale, "cell": job.cell.key if job.cell else ""}
            after = (_name(job.needs, scale),) if any(job.needs == other.name for other in found) else ()
            jobs.append(Job(_name(job.name, scale), "learnalg.reproduction.jobs:run_job", arguments, after))
    return jobs, list(refused.values())


def _name(text: str, scale: str) -> str:
    """'table-6/p10' at scale smoke is 'table-6/smoke/p10'."""
    experiment, _, key = text.partition("/")
    return f"{experiment}/{scale}/{key or experiment}"


def run_job(experiment: str, scale: str, cell: str) -> None:
    """A cell, or, without one, what the experiment computes. Its result goes to results/ of the current folder."""
    from learnalg.reproduction.tables import EXPERIMENTS
    from learnalg.training.devices import prepare_cpu

    found = find("experiment", experiment, EXPERIMENTS)
    prepare_cpu()
    if cell:
        cells = {known.key: known for known in found.cells_at(scale)}
        run_cell(found, scale, find(f"cell of {experiment}", cell, cells), Path())
    else:
        said: list[str] = []
        if not compute(found, scale, Path(), said.append):
            raise ValueError("; ".join(said))


def run_folder(job: Job) -> Path | None:
    """Where a cell's run is."""
    from learnalg.reproduction.tables import EXPERIMENTS

    experiment, scale = EXPERIMENTS[job.arguments["experiment"]], job.arguments["scale"]
    cells = {cell.key: cell for cell in experiment.cells_at(scale)}
    cell = cells.get(job.arguments["cell"])
    return None if cell is None or cell.released else cell_folder(experiment, scale, cell, Path())
