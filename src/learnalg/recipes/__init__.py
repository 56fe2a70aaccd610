"""Recipes: TOML files that train a released model, whole in themselves.

# Eigenvalues of 2x2 to 10x10 matrices.    the first line, a comment, says what it trains
preset = "fast-2"                          the source of all other fields
[data]                                     tables data, model, optim, train, mix: fields of the config
[[stage]]                                  first parts of the run, if there are any

>>> read_recipe(find_recipe("eigenvalues")).data.dim
'2-10'
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from learnalg.config import RunConfig, from_dict, to_dict
from learnalg.config.presets import PRESETS, preset
from learnalg.files import read_small
from learnalg.naming import unknown

FOLDER = Path(__file__).parent


def recipes() -> dict[str, Path]:
    """The shipped recipes, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def summary(path: Path) -> str:
    """The first line of a recipe, its summary."""
    first, _, _ = path.read_text().partition("\n")
    return first.removeprefix("# ")


def find_recipe(name: str) -> Path:
    """A file, or a shipped recipe by its name."""
    if Path(name).is_file():
        return Path(name)
    if name not in recipes():
        raise unknown("recipe", name, recipes(), hint=", or a .toml file")
    return recipes()[name]


def read_recipe(path: Path) -> RunConfig:
    """The config of a recipe. A typo is an error with the file's name."""
    try:
        values: dict[str, Any] = tomllib.loads(read_small(path).decode())
        name = values.pop("preset", "")
        if not isinstance(name, str) or name not in PRESETS:
            raise ValueError(f"a recipe names its preset with its version: preset = {', '.join(map(repr, PRESETS))}")
        merged = to_dict(preset(name))
        for table, entries in values.items():
            known = merged.get(table)
            merged[table] = known | entries if isinstance(known, dict) and isinstance(entries, dict) else entries
        return from_dict(merged)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from None
