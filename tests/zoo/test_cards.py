"""Cards say what the results say, and are those of the weights beside them."""

from dataclasses import replace

import pytest

from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.evaluation.result import Origin, Result
from learnalg.files import checksum, results_folder
from learnalg.recipes import recipes
from learnalg.zoo.cards import card, hints
from learnalg.zoo.load import ZOO, released


@pytest.mark.parametrize("name", released())
def test_every_released_model_has_its_card_its_result_and_its_checksum(name):
    result = Result.read(results_folder() / f"{name}.json")
    assert (ZOO / f"{name}.md").read_text() == card(name, result)
    assert result.sha256 == checksum(ZOO / f"{name}.safetensors")
    assert result.report.split == "test" and result.report.num == 10_000


def test_every_card_has_its_model():
    assert {path.stem for path in ZOO.glob("*.md")} == set(released())


def test_a_card_says_what_the_network_is_told():
    assert hints(preset("paper")) == []
    told = " ".join(hints(replace_fields(preset("fast"), task="eigenvalues", triangle=True)))
    for text in ("row and the column", "share a row", "numeric value", "neighbours", "multiplied", "upper triangle"):
        assert text in told
    assert "multiplied" not in " ".join(hints(preset("fast-1")))


def test_a_card_says_what_a_model_started_from():
    result = Result.read(results_folder() / "eigenvalues-5.json")
    started = replace(result, origin=Origin("other", "encoder", 1_000, 600.0, 1e9))
    text = card("eigenvalues-5", started)
    assert "the encoder of other: 301,000 examples and 25 minutes in all" in text
    assert "started from" not in card("eigenvalues-5", result)


def test_a_model_without_a_recipe_says_what_replaces_it():
    for name in set(released()) - set(recipes()):
        text = (ZOO / f"{name}.md").read_text()
        named = {recipe for recipe in recipes() if f"The recipe `{recipe}` replaces these runs" in text}
        assert len(named) == 1
