"""Recipes: each can be trained as it stands, and those of released models are what their models were trained with."""

import tomllib
from pathlib import Path

import pytest

from learnalg.config import to_dict
from learnalg.config.presets import preset
from learnalg.evaluation.result import Result
from learnalg.files import results_folder
from learnalg.recipes import read_recipe, recipes, summary
from learnalg.training.preflight import check_before_start
from learnalg.zoo.load import released

RESULTS = results_folder()
ENDS_OF_CHAINS = {
    "eigenvectors",
    "eigenvectors-5",
    "svd-4",
    "inverse-5",
    "matmul-5",
}  # several runs, which no single recipe repeats
FROM_SCRATCH = {
    *("transpose", "add", "matvec", "matmul", "eigenvalues", "eigenvalues-20", "eigenvalues-any"),
    *("eigenvectors", "singular_values", "svd", "inverse", "nine"),
}

every_recipe = pytest.mark.parametrize("name", recipes())


def said(name):
    return tomllib.loads(recipes()[name].read_text())


def test_every_released_model_has_a_recipe_or_is_the_end_of_a_chain():
    assert set(recipes()) == set(released()) - ENDS_OF_CHAINS | FROM_SCRATCH
    for name in ENDS_OF_CHAINS:
        origin = Result.read(RESULTS / f"{name}.json").origin.model
        assert "@" in origin or "/" in origin  # weights that are in the history, or in no package


@pytest.mark.parametrize("name", sorted(set(released()) - ENDS_OF_CHAINS))
def test_a_recipe_is_what_its_model_was_trained_with(name):
    config, result = read_recipe(recipes()[name]), Result.read(RESULTS / f"{name}.json")
    assert (config.data, config.model, config.optim) == (result.config.data, result.config.model, result.config.optim)
    assert (config.mix, config.stage) == (result.config.mix, result.config.stage)
    for field in ("examples", "batch_size", "seed"):
        assert getattr(config.train, field) == getattr(result.config.train, field)
    assert config.train.init == (result.origin.model if result.origin else "")


@every_recipe
def test_a_recipe_says_what_it_trains_and_nothing_that_its_preset_says(name):
    assert summary(recipes()[name]).endswith((".", ". ")) and recipes()[name].read_text().startswith("# ")
    values = said(name)
    base = to_dict(preset(values.pop("preset")))
    values.pop("stage", None)
    for table, entries in values.items():
        for field, value in entries.items():
            known = base[table][field]
            is_named = field in ("task", "dim", "examples")  # these are said even where they are the preset's
            assert is_named or (list(known) if isinstance(known, tuple) else known) != value, f"{table}.{field}"
    assert values["data"]["task"] and values["data"]["dim"] and values["train"]["examples"]
    assert "products" not in values.get("model", {})


@pytest.mark.parametrize("name", sorted(FROM_SCRATCH))
def test_recipes_of_all_sizes_start_from_nothing(name):
    config = read_recipe(recipes()[name])
    assert not config.train.init
    assert name == "nine" or "-" in config.data.dim


@every_recipe
def test_a_recipe_can_be_started(name, tmp_path):
    check_before_start(read_recipe(recipes()[name]), Path(tmp_path) / "run")
