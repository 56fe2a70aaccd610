"""Search for the best settings, by many short runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from learnalg.cli.flags import Folder, build, said_in
from learnalg.cli.plugins import load_plugins, plugins_in
from learnalg.cli.train import base_of
from learnalg.config import RunConfig, field_names
from learnalg.config.presets import preset
from learnalg.naming import unknown

if TYPE_CHECKING:
    from learnalg.sweep.study import Plan
    from learnalg.sweep.trials import Row

FIRST = ("sweep", "vary", "trials", "jobs", "launch", "by", "tolerance", "prune", "show", "out")
KINDS = (".png", ".svg")
SETTINGS = ("vary", "by", "tolerance", "prune", "preset", "recipe", *field_names())  # what a sweep begins with


@dataclass(frozen=True)
class Sweep:
    """Search for the best settings, by many runs that workers share. The same command, or `learnalg sweep FOLDER`,
    continues a sweep; runs that were stopped or killed resume. Trials are compared on the validation split."""

    sweep: Folder  # the sweep's folder
    vary: tuple[str, ...] = ()  # FIELD=VALUE,VALUE or FIELD=LOW:HIGH or FIELD=log:LOW:HIGH; several
    trials: int | None = None  # trials in all; default: 20, or all combinations where there are values only
    jobs: int = 1  # trials at once: workers, each a job with --threads cores
    launch: str = "local"  # where the workers run: local, slurm or ray, with options: slurm:minutes=240
    by: Literal["loss", "accuracy"] = "loss"  # what is compared, of the validation split
    tolerance: float = 0.05  # of that accuracy: 0.05, 0.02, 0.01 or 0.005
    prune: bool = True  # end trials that are worse than the median of the others
    show: bool = False  # show how far the sweep is, and run nothing
    out: Path | None = None  # also draw it: a .png or .svg file
    quiet: bool = False  # no progress
    preset: str = ""  # what is not varied comes from a preset: `learnalg list presets`; none: fast
    recipe: str = ""  # or from a recipe: `learnalg list recipes`, or a .toml file
    config: RunConfig = field(default_factory=RunConfig)


def run(arguments: list[str]) -> int:
    left = load_plugins(arguments)
    if any(argument in ("-h", "--help") for argument in left):
        said_in(Sweep, "sweep", left, FIRST, Sweep(Path(), config=preset("fast")))
    said = said_in(Sweep, "sweep", left)
    folder, out = said["sweep"], said.get("out")
    if out is not None and out.suffix not in KINDS:
        raise unknown("kind of file", out.suffix or str(out), KINDS)
    if out is not None and out.exists():
        raise ValueError(f"{out} exists already")
    code = 0
    if not said.get("show"):
        plan = _plan(folder, said)
        code = _search(folder, plan, said, arguments)
    elif any(name in said for name in (*SETTINGS, "trials", "jobs", "launch")):
        raise ValueError("--show shows a sweep: it goes with --out only")
    from learnalg.sweep.study import Plan
    from learnalg.sweep.trials import draw, rows_of

    plan = Plan.read(folder)
    rows = rows_of(folder)
    print(_table(plan, rows))
    print(_best(folder, rows))
    if out is not None:
        from learnalg.files import write_whole

        write_whole(out, draw(folder, out.suffix[1:]))
        print(out)
    return code


def _plan(folder: Path, said: dict[str, Any]) -> Plan:
    """Of the command, or, where it names the folder only, of the sweep that is there."""
    from learnalg.sweep.study import PLAN, Plan

    is_there, trials = (folder / PLAN).is_file(), said.get("trials")
    if is_there and not any(name in said for name in SETTINGS):
        known = Plan.read(folder)
        values = {name: getattr(known, name) for name in ("config", "vary", "by", "tolerance", "prune")}
        return Plan(**values, trials=trials or known.trials)
    values = {name: said[name] for name in ("vary", "by", "tolerance", "prune") if name in said}
    plan = Plan(build(RunConfig, said, base_of(said)), values.pop("vary", ()), trials or 1, **values)
    return Plan(plan.config, plan.vary, trials or len(plan.grid) or 20, **values)


def _search(folder: Path, plan: Plan, said: dict[str, Any], arguments: list[str]) -> int:
    from learnalg.cli.launching import Launch, run_jobs
    from learnalg.launch import Job
    from learnalg.sweep.study import begin

    workers = said.get("jobs", 1)
    if workers < 1:
        raise ValueError(f"--jobs {workers}: at least 1")
    engine = Launch(said.get("launch", "local"), workers, plan.config.train.threads or 1).engine(arguments)
    begin(folder, plan)
    place = str(folder.absolute())
    name = f"sweep/{folder.absolute().name}"
    jobs = [Job(f"{name}/worker-{k}", "learnalg.sweep.worker:work", {"folder": place}) for k in range(1, workers + 1)]
    again = " ".join(["learnalg sweep", str(folder), *plugins_in(arguments)])
    return run_jobs(jobs, engine, again, lambda job: None, quiet=said.get("quiet", False))


def _table(plan: Plan, rows: list[Row]) -> str:
    """Accuracy and loss are of the validation split, so far or at the end."""
    from learnalg.cli.texts import columns, tolerance_name
    from learnalg.evaluation.result import percent
    from learnalg.sweep.study import TOLERANCES

    fields = [dimension.field for dimension in plan.space]
    tolerances = [str(tolerance) for tolerance in TOLERANCES]
    head = ["trial", "state", *fields, "examples", "loss", *map(tolerance_name, tolerances), ""]
    found = [head]
    for row in rows:
        shares = row.seen.accuracy["l1"] if row.seen else {}
        found.append(
            [
                f"{row.number:04d}",
                row.state,
                *(_shown(row.values.get(name, "")) for name in fields),
                f"{row.examples:,}",
                f"{row.seen.loss:.4f}" if row.seen else "",
                *(percent(shares[tolerance]) if tolerance in shares else "" for tolerance in tolerances),
                row.note,
            ]
        )
    return columns(found, right=range(2, len(head) - 1))


def _shown(value: Any) -> str:
    return (
        "/".join(map(str, value))
        if isinstance(value, tuple)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _best(folder: Path, rows: list[Row]) -> str:
    best = rows[0] if rows and rows[0].state == "done" else None
    if best is None:
        return "\nno trial is done"
    run = folder / "trials" / f"{best.number:04d}"
    values = ", ".join(f"{name} {_shown(value)}" for name, value in best.values.items())
    done = sum(row.state == "done" for row in rows)
    return f"\nbest of {done} done: trial {run.name}, {values}; test it with: learnalg evaluate {run}"
