"""The recipes: training configs (NAME.toml), and one Python file for each table or figure. A new one is a file and a
line here."""

from learnalg.recipes import ablation, comparisons
from learnalg.recipes.recipe import SCALES, Cell, Recipe, Shown, paper_numbers, paper_table

__all__ = ["RECIPES", "SCALES", "Cell", "Recipe", "Shown", "paper_numbers", "paper_table"]

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (ablation.RECIPE, comparisons.RECIPE)}
