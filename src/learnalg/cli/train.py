"""Train and resume."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from learnalg.cli.arguments import flags_of, load_plugins, parse, take
from learnalg.config import RunConfig, replace_fields
from learnalg.config.presets import find_recipe, preset, read_config, said_of, starts_from


@dataclass(frozen=True)
class Train:
    """Train a model and watch it learn. --preset NAME (fast, the default, or paper) and --config FILE (TOML or
    JSON, or a name of `learnalg list recipes`) set the defaults of all flags below."""

    run: RunConfig
    out: Path | None = None  # folder of the run; none: runs/TASK-DIM-seed-SEED
    init: Path | None = None  # a run, a .safetensors file or a shipped model whose network and weights to start from
    quiet: bool = False  # no progress


def run_train(arguments: list[str]) -> int:
    """Train a model."""
    plugins, arguments = arguments, load_plugins(arguments)
    chosen, arguments = take(arguments, "--preset")
    base = preset(chosen or "fast")
    file, arguments = take(arguments, "--config")
    init, arguments = take(arguments, "--init")
    if file:
        base = read_config(find_recipe(file), base)
        init = init or starts_from(find_recipe(file))
    if init:
        said = said_of(find_recipe(file), "model") if file else {}
        base = _fitting(Path(init), base, said)
    command = parse(Train, "train", arguments, Train(run=base, init=Path(init) if init else None))
    from learnalg.training.loop import train

    config = command.run
    out = command.out or Path("runs") / f"{config.data.task}-{config.data.dim}-seed-{config.train.seed}"
    hint = " ".join(["learnalg resume", str(out), *flags_of(plugins, "--plugin")])
    if command.init and not command.quiet and _sees_again(command.init, config):
        seed = config.train.seed
        print(f"{command.init} has learned from these examples (seed {seed}): --seed N for new ones", file=sys.stderr)
    return _watched(config, out, command.quiet, hint, lambda watcher: train(config, out, command.init, watcher))


def _like(origin: Path, base: RunConfig) -> RunConfig:
    """Weights fit the network and the words that they were trained with: these are taken over."""
    from learnalg.training.run import load_weights

    config, _ = load_weights(origin)
    sides = ("input",) if base.train.init_part == "encoder" else ("input", "output")
    words = {name: getattr(config.data, name) for name in (f"{side}_encoding" for side in sides)}
    return replace(base, model=config.model, data=replace(base.data, **words))


def _fitting(origin: Path, base: RunConfig, said: dict[str, Any]) -> RunConfig:
    """The same for a recipe or config file, whose [model] table is `said`: it must say what its origin's network is.
    Next to an encoder alone it may say what is new."""
    like = _like(origin, base)
    if base.train.init_part == "encoder":
        return replace(like, model=replace(like.model, **said))
    theirs = asdict(like.model)
    different = [f"{name} = {value!r}" for name, value in said.items() if value != theirs[name]]
    if different:
        raise ValueError(f"the config has {', '.join(different)} where {origin}, which it starts from, has not")
    return like


def _sees_again(origin: Path, config: RunConfig) -> bool:
    """Whether a run draws the same batches as the one that it starts from."""
    from learnalg.training.run import load_weights

    before, _ = load_weights(origin)
    same_draws = (before.train.seed, before.train.batch_size) == (config.train.seed, config.train.batch_size)
    return same_draws and before.data == config.data


@dataclass(frozen=True)
class Resume:
    """Go on with a run that was stopped, as if it had not been. With --examples as if it had had another budget from
    the start, which is refused where it would have gone another way: once its rates fall."""

    run: Annotated[Path, tyro.conf.Positional]  # the run's folder
    checkpoint: str = ""  # name of a checkpoint other than the newest
    examples: int | None = None  # another budget, in all; none: that of the run
    quiet: bool = False  # no progress


def run_resume(arguments: list[str]) -> int:
    """Go on with a run."""
    command = parse(Resume, "resume", load_plugins(arguments))
    from learnalg.training.run import Run
    from learnalg.training.loop import RESULT_FILE, resume

    config = Run.open(command.run).config
    if (command.run / RESULT_FILE).is_file():
        if command.examples is not None:
            raise ValueError(f"{command.run} has finished: go on from its weights with --init {command.run}")
        print(f"{command.run} has finished already")
        return 0
    if command.examples is not None:
        config = replace_fields(config, examples=command.examples)
    hint = " ".join(["learnalg resume", str(command.run), *flags_of(arguments, "--plugin")])

    def go(watcher: Any) -> Any:
        return resume(command.run, command.checkpoint, watcher, command.examples)

    return _watched(config, command.run, command.quiet, hint, go)


def _watched(config: RunConfig, out: Path, quiet: bool, hint: str, go: Callable[[Any], Any]) -> int:
    from learnalg.training.devices import InterruptedRunError
    from learnalg.cli.progress import Silent, clock, watch
    from learnalg.training.run import MODEL_FILE
    from learnalg.training.loop import RESULT_FILE

    title = f"{config.data.task} {config.data.dim}"
    watching = nullcontext(Silent()) if quiet else watch(title, config.train.num_steps * config.train.batch_size)
    try:
        with watching as watcher:
            go(watcher)
    except InterruptedRunError as stop:
        print(f"{stop}; go on with: {hint}", file=sys.stderr)
        return 128 + stop.number
    if not quiet and (out / RESULT_FILE).is_file():
        result = json.loads((out / RESULT_FILE).read_text())
        from learnalg.reproduction.report import print_report

        print(f"\n{result['examples']:,} examples in {clock(result['seconds'])}; weights in {out / MODEL_FILE}")
        print_report(result["report"])
    return 0
