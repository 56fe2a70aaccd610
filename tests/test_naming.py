"""Names with options: what they say, their types, and errors that say what was meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from learnalg.naming import find, make, options_of, split_name, unknown


def shelf(size: int, depth: int = 3, height: float = 1.5, is_open: bool = False, wood: str = "oak") -> dict[str, Any]:
    return {"size": size, "depth": depth, "height": height, "is_open": is_open, "wood": wood}


@dataclass(frozen=True)
class Span:
    ends: tuple[int, int] = (-2, 2)


REGISTRY = {"shelf": shelf, "span": Span, "plain": lambda: None}


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("shelf", "shelf", {}),
        ("", "", {}),
        ("shelf:depth=3", "shelf", {"depth": "3"}),
        ("span:ends=-3:5,wood=a=b", "span", {"ends": "-3:5", "wood": "a=b"}),
    ],
)
def test_a_name_and_its_options(text, name, options):
    assert split_name(text) == (name, options)


@pytest.mark.parametrize("text", ["shelf:depth", "shelf:=3", "shelf:depth=3,", "shelf:depth=3,,height=1"])
def test_other_writings_are_refused(text):
    with pytest.raises(ValueError, match="options are written name:option=value,option=value") as error:
        split_name(text)
    assert repr(text) in str(error.value)


def test_options_have_the_types_that_the_entry_asks_for():
    made = make("thing", "shelf:depth=7,height=2,is_open=True,wood=elm", REGISTRY, 4)
    assert made == {"size": 4, "depth": 7, "height": 2.0, "is_open": True, "wood": "elm"}
    assert isinstance(made["height"], float)
    assert make("thing", "shelf", REGISTRY, 4) == shelf(4)
    assert make("thing", "span:ends=-3:5", REGISTRY) == Span((-3, 5))
    assert options_of("thing", "shelf:is_open=false", shelf) == {"is_open": False}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("shelf:depth=deep", "thing 'shelf': depth=deep: expected a whole number"),
        ("shelf:depth=1.5", "expected a whole number"),
        ("shelf:height=tall", "thing 'shelf': height=tall: expected a number"),
        ("shelf:is_open=maybe", "is_open=maybe: expected true or false"),
        ("span:ends=3", "ends=3: expected LOWEST:HIGHEST"),
        ("shelf:dept=3", "unknown option of thing 'shelf' 'dept': did you mean 'depth'"),
        ("shelf:size=3", "unknown option of thing 'shelf' 'size'.*known: depth, height, is_open, wood"),
        ("plain:depth=3", "unknown option of thing 'plain' 'depth'.*known: none"),
        ("shlef", r"unknown thing 'shlef': did you mean 'shelf'\? known: shelf, span, plain"),
        ("table", "unknown thing 'table': known: shelf, span, plain"),
    ],
)
def test_a_wrong_name_or_option_is_refused_with_what_is_allowed(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        make("thing", text, REGISTRY, 1)


def test_an_entry_is_found_whatever_its_options():
    assert find("thing", "shelf:depth=3", REGISTRY) is shelf
    assert str(unknown("thing", "x", [], hint="; build one")) == "unknown thing 'x': known: none; build one"
