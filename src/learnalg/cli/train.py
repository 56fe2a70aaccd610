"""Train a model and watch it learn."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from learnalg.cli.flags import build, said_in
from learnalg.cli.plugins import load_plugins, plugins_in
from learnalg.config import RunConfig, TrainConfig
from learnalg.config.presets import preset
from learnalg.pairs.given import with_file
from learnalg.problems import PAIRS
from learnalg.recipes import find_recipe, read_recipe

FIRST = (
    *("task", "dim", "examples", "ensemble", "input_encoding", "output_encoding"),
    *("preset", "recipe", "init", "data", "seed", "batch_size", "out"),
)


@dataclass(frozen=True)
class Train:
    """Train a model and watch it learn. What no flag sets comes from the recipe, or else from the preset."""

    preset: str = ""  # start from a preset: `learnalg list presets`; none: fast
    recipe: str = ""  # start from a recipe: `learnalg list recipes`, or a .toml file
    out: Path | None = None  # folder of the run; default: runs/TASK-DIM-seed-SEED
    quiet: bool = False  # no progress
    launch: str = ""  # run it as a job with --threads cores: local, slurm or ray, with options: slurm:minutes=240
    config: RunConfig = field(default_factory=RunConfig)


def run(arguments: list[str]) -> int:
    said, base = _said_and_base(load_plugins(arguments))
    config = build(RunConfig, said, base)
    config = replace(config, data=with_file(config.data))
    from learnalg.cli.progress import follow
    from learnalg.training.loop import train

    problem = Path(config.data.file[0]).stem if config.data.data else f"{config.data.task}-{config.data.dim}"
    out = said.get("out") or Path("runs") / f"{problem}-seed-{config.train.seed}"
    quiet = said.get("quiet", False)
    again = " ".join(["learnalg resume", str(out), *plugins_in(arguments)])
    if config.train.init and not quiet and _sees_again(config):
        name, seed = config.train.origin[0], config.train.seed
        print(f"{name} was trained on these examples (seed {seed}): --seed N draws new ones", file=sys.stderr)
    if said.get("launch"):
        from learnalg.cli.launching import launch_training
        from learnalg.training.run import check_is_free

        check_is_free(out)
        return launch_training(said["launch"], config, out, quiet, arguments)
    return follow(config, out, quiet, again, lambda watcher: train(config, out, watcher))


def _said_and_base(arguments: list[str]) -> tuple[dict[str, Any], RunConfig]:
    """The given flags, and the config that they change: of a recipe, or of a preset with the network of --init."""
    is_help = any(argument in ("-h", "--help") for argument in arguments)
    asked = [argument for argument in arguments if argument not in ("-h", "--help")]
    said = said_in(Train, "train", asked)
    base = base_of(said)
    if is_help:
        said_in(Train, "train", ["--help"], FIRST, Train(config=base, preset=said.get("preset", "fast")))
    return said, base


def base_of(said: dict[str, Any]) -> RunConfig:
    if said.get("preset") and said.get("recipe"):
        raise ValueError("--preset and --recipe: a recipe names its preset, so only one of them")
    if said.get("recipe"):
        return read_recipe(find_recipe(said["recipe"]))
    base = preset(said.get("preset") or "fast")
    base = _like_origin(base, said["init"]) if said.get("init") else base
    # Without --task, the pairs of a file are all that is known.
    return replace(base, data=replace(base.data, task=PAIRS)) if said.get("data") else base


def _like_origin(base: RunConfig, init: str) -> RunConfig:
    """Weights fit the network and the encodings that they were trained with: these are taken over. With an encoder
    alone the output may have another encoding."""
    from learnalg.zoo.load import load_weights

    name, part = TrainConfig(init=init).origin
    theirs = load_weights(name)[0]
    data = replace(base.data, input_encoding=theirs.data.input_encoding)
    if part == "all":
        data = replace(data, output_encoding=theirs.data.output_encoding)
    return replace(base, model=theirs.model, data=data)


def _sees_again(config: RunConfig) -> bool:
    """Whether a run draws the same batches as the one that it starts from."""
    from learnalg.zoo.load import load_weights

    before, _ = load_weights(config.train.origin[0])
    same_draws = (before.train.seed, before.train.batch_size) == (config.train.seed, config.train.batch_size)
    return same_draws and before.data == config.data
