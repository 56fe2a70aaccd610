"""Cards say what the results say, and are those of the weights beside them."""

from dataclasses import replace

import pytest

from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.evaluation.result import Origin, Result
from learnalg.files import checksum, results_folder
from learnalg.recipes import recipes
from learnalg.zoo.cards import card, describe_refined, describe_verdict, hints
from learnalg.zoo.load import ZOO, released
from learnalg.zoo.verdict import Counts, Refined, Verdict


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


def test_a_card_says_how_far_verdicts_can_be_believed():
    sets = Counts("test split", True, 1000, 900, 900, 900), Counts("positive-1", False, 100, 50, 40, 40)
    text = describe_verdict(Verdict("tiny", "", sets, None, {}))
    assert text.startswith("of the answers that are trusted, 100.0 % are right in distribution and 100.0 % out of it")
    assert "of the right ones, 100.0 and 80.0 % are trusted" in text and "90.0 and 50.0 % are." in text
    refined = Refined("tiny", "", "inverse", 10_000, 9_990, 9_980, 0, 1e-13, 4.5, 16.0, 0, {})
    assert describe_refined(refined).startswith("99.9 % of 10,000 answers are certified without NumPy, in 4.5 steps")
    assert describe_verdict(None) == describe_refined(None) == ""


def test_a_model_without_a_recipe_says_what_replaces_it():
    for name in set(released()) - set(recipes()):
        text = (ZOO / f"{name}.md").read_text()
        named = {recipe for recipe in recipes() if f"The recipe `{recipe}` replaces these runs" in text}
        assert len(named) == 1
