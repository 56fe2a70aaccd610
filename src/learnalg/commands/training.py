"""Train and resume."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from learnalg.commands.arguments import load_plugins, parse, take
from learnalg.config import RunConfig
from learnalg.presets import find_recipe, preset, read_config


@dataclass(frozen=True)
class Train:
    """Train a model and watch it learn. --preset NAME (fast, the default, or paper) and --config FILE (TOML or
    JSON, or a name of `learnalg list recipes`) set the defaults of all flags below."""

    run: RunConfig
    out: Path | None = None  # folder of the run; none: runs/TASK-DIM-seed-SEED
    init: Path | None = None  # a run or .safetensors file whose weights to start from
    quiet: bool = False  # no progress


def run_train(arguments: list[str]) -> int:
    """Train a model."""
    arguments = load_plugins(arguments)
    chosen, arguments = take(arguments, "--preset")
    base = preset(chosen or "fast")
    file, arguments = take(arguments, "--config")
    if file:
        base = read_config(find_recipe(file), base)
    command = parse(Train, "train", arguments, Train(run=base))
    from learnalg.train import train

    config = command.run
    out = command.out or Path("runs") / f"{config.data.task}-{config.data.dim}-seed-{config.train.seed}"
    return _watched(config, out, command.quiet, lambda watcher: train(config, out, command.init, watcher))


@dataclass(frozen=True)
class Resume:
    """Go on with a run that was stopped, as if it had not been."""

    run: Annotated[Path, tyro.conf.Positional]  # the run's folder
    checkpoint: str = ""  # name of a checkpoint other than the newest
    quiet: bool = False  # no progress


def run_resume(arguments: list[str]) -> int:
    """Go on with a run."""
    command = parse(Resume, "resume", load_plugins(arguments))
    from learnalg.runs import Run
    from learnalg.train import RESULT_FILE, resume

    config = Run.open(command.run).config
    if (command.run / RESULT_FILE).is_file():
        print(f"{command.run} has finished already")
        return 0
    return _watched(config, command.run, command.quiet, lambda w: resume(command.run, command.checkpoint, w))


def _watched(config: RunConfig, out: Path, quiet: bool, go: Callable[[Any], Any]) -> int:
    from learnalg.processes import InterruptedRunError
    from learnalg.progress import Silent, clock, watch
    from learnalg.train import RESULT_FILE

    title = f"{config.data.task} {config.data.dim}"
    watching = nullcontext(Silent()) if quiet else watch(title, config.train.num_steps * config.train.batch_size)
    try:
        with watching as watcher:
            go(watcher)
    except InterruptedRunError as stop:
        print(f"{stop}; go on with: learnalg resume {out}", file=sys.stderr)
        return 128 + stop.number
    if not quiet and (out / RESULT_FILE).is_file():
        result = json.loads((out / RESULT_FILE).read_text())
        from learnalg.report import print_report

        print(
            f"\n{result['examples']:,} examples in {clock(result['seconds'])}; weights in {out / 'model.safetensors'}"
        )
        print_report(result["report"])
    return 0
