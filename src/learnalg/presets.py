"""Where settings come from: presets, recipes and config files.

    >>> config = replace_fields(preset("fast"), task="add", dim="3", examples=50_000)

A preset is a whole config. A recipe, shipped or your own file, says only what differs from a preset.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from learnalg.config import ModelConfig, OptimConfig, RunConfig, TrainConfig, from_dict, to_dict

# `paper`: what the paper's section 3 says, with the model of its hardest problems. `fast`: what learns from
# far fewer examples, on a CPU.
PRESETS: dict[str, RunConfig] = {
    "paper": RunConfig(
        optim=OptimConfig(schedule="cosine", min_learning_rate=1e-5, schedule_steps=4_000_000),
    ),
    "fast": RunConfig(
        model=ModelConfig(
            encoder_layers=4,
            decoder_layers=1,
            dim_model=128,
            heads=8,
            input_embedding="features",
            output_embedding="ordered",
            positions="grid",
            relations=True,
            products=32,
            norm="pre",
            qk_norm=True,
            bias=False,
            zero_init=True,
            output_bias="place",
        ),
        optim=OptimConfig(
            optimizer="muon",
            learning_rate=3e-3,
            schedule="linear",
            warmup_steps=50,
            cooldown=0.7,
            beta2=0.99,
            clip=1.0,
            prior_bias=True,
            soft_width=3.0,
        ),
        train=TrainConfig(examples=400_000, batch_size=128, eval_every=50_000),
    ),
}


def preset(name: str) -> RunConfig:
    if name not in PRESETS:
        raise ValueError(f"unknown preset {name!r}; known: {', '.join(PRESETS)}")
    return PRESETS[name]


RECIPES = Path(__file__).parent / "recipes"
PAPER_NUMBERS = RECIPES / "paper.toml"  # the paper's tables, no recipe


def recipes() -> dict[str, Path]:
    """The configs that are shipped, by name."""
    return {path.stem: path for path in sorted(RECIPES.glob("*.toml")) if path != PAPER_NUMBERS}


def find_recipe(name: str) -> Path:
    """A file, or a recipe that is shipped, by its name."""
    if Path(name).is_file():
        return Path(name)
    if name not in recipes():
        raise ValueError(f"no config file or recipe {name!r}; recipes: {', '.join(recipes())}")
    return recipes()[name]


def starts_from(path: Path) -> str:
    """The model that a recipe starts from (`init = "add-5"` before its tables), '' for none."""
    init = _read(path).get("init", "")
    if not isinstance(init, str):
        raise ValueError(f"{path}: init {init!r} must be the name of a model")
    return init


def said_of(path: Path, table: str) -> dict[str, Any]:
    """What a file says itself in one of its tables; `read_config` has checked it."""
    return dict(_read(path).get(table, {}))


def read_config(path: Path, base: RunConfig) -> RunConfig:
    """A TOML or JSON file with tables data, model, optim, train, curriculum; what it does not say comes from `base`."""
    merged: dict[str, Any] = to_dict(base)
    for table, entries in _read(path).items():
        if table != "init":
            merged[table] = merged[table] | entries if table in merged and isinstance(entries, dict) else entries
    try:
        return from_dict(merged)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read(path: Path) -> dict[str, Any]:
    text = path.read_text()
    try:
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path}: expected the tables data, model, optim, train, curriculum")
    return values
