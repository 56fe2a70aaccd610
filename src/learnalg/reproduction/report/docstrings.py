"""What the docstrings of recipes say of time and of what was measured, made from the recipes and from results/."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from learnalg.training.flops import counted_flops
from learnalg.reproduction.tables import RECIPES, Recipe
from learnalg.reproduction.runner import load_computed, load_result
from learnalg.reproduction.table import best_of, table_of

SPEED = 60e9  # FLOPs a second of training on two cores, as the docstrings say
WIDTH = 120
LAPTOP_TIME = re.compile(r"(?<=\blaptop )[\d.]+ (minutes|hours)(?=, paper)")


def recipe_file(recipe: Recipe) -> str:
    """Of the package of recipes: 'table-6' is table_06.py."""
    kind, _, number = recipe.name.partition("-")
    return f"{kind}_{int(number):02d}.py" if kind == "table" else f"{recipe.name.replace('-', '_')}.py"


def laptop_time(recipe: Recipe) -> str:
    flops = sum(
        cell.config.train.examples * counted_flops(cell.config) for cell in recipe.cells_at("laptop") if not cell.kept
    )
    minutes = flops / SPEED / 60
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"


def measured(recipe: Recipe, root: Path) -> str:
    """A sentence: how much of it was run at scale laptop, and the best number."""
    if recipe.computed:
        is_there = load_computed(recipe, "laptop", root) is not None
        return f"Measured: results/{recipe.name}/laptop." if is_there else "Not measured at scale laptop so far."
    cells = [cell for cell in recipe.cells_at("laptop") if cell.shows]
    done = sum(load_result(recipe, "laptop", cell, root) is not None for cell in cells)
    if not done:
        return "Not measured at scale laptop so far."
    best, beside = best_of(table_of(recipe, "laptop", root))
    papers = f" where the paper has {beside}" if beside else ""
    number = f", the highest number {best}{papers}" if best else ""
    return f"Measured at scale laptop: {done} of {len(cells)} cells{number}."


def refreshed(source: str, recipe: Recipe, root: Path, with_time: bool = True) -> str:
    """A recipe's source with these sentences as they should be; counting FLOPs for the time takes seconds."""
    _, docstring, rest = source.split('"""', maxsplit=2)
    kept = [p for p in docstring.strip().split("\n\n") if not p.startswith(("Measured", "Not measured"))]
    if with_time and recipe.cells and LAPTOP_TIME.search(kept[-1]):
        kept[-1] = textwrap.fill(LAPTOP_TIME.sub(laptop_time(recipe), " ".join(kept[-1].split())), WIDTH)
    paragraphs = "\n\n".join([*kept, textwrap.fill(measured(recipe, root), WIDTH)])
    return f'"""{paragraphs}\n"""{rest}'


def refresh_all(folder: Path, root: Path) -> None:
    for recipe in RECIPES.values():
        path = folder / recipe_file(recipe)
        path.write_text(refreshed(path.read_text(), recipe, root))
