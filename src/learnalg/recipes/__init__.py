"""The recipes: training configs (NAME.toml), and one Python file for each table or figure. A new one is a file and a
line here."""

from learnalg.recipes import (
    ablation,
    figure_3,
    speed,
    table_01,
    table_02,
    table_03,
    table_04,
    table_05,
    table_06,
    table_08,
    table_09,
    table_10,
    table_11,
    table_12,
    table_18,
    table_20,
    table_27,
    table_28,
    table_29,
)
from learnalg.recipes.measure import lookup, place_of
from learnalg.recipes.recipe import SCALES, Cell, Recipe, Shown, paper_numbers, paper_table

__all__ = ["RECIPES", "SCALES", "Cell", "Recipe", "Shown", "lookup", "paper_numbers", "paper_table", "place_of"]

RECIPES: dict[str, Recipe] = {
    module.RECIPE.name: module.RECIPE
    for module in (
        table_01,
        table_02,
        table_03,
        table_04,
        table_05,
        table_06,
        table_08,
        table_09,
        table_10,
        table_11,
        table_12,
        table_18,
        table_20,
        table_27,
        table_28,
        table_29,
        figure_3,
        speed,
        ablation,
    )
}
