"""Results are one versioned type: they come back as they were written, and what is not a result is refused by name."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import re
from typing import Any

import pytest

from learnalg.config import StageConfig
from learnalg.evaluation.evaluate import evaluate
from learnalg.evaluation.result import VERSION, Origin, Point, Report, Result, percent
from learnalg.files import results_folder
from learnalg.problem import Problem
from learnalg.zoo.load import load_model


@pytest.fixture(scope="module")
def result(tiny_run):
    """With everything that a result may have."""
    config, model = load_model(tiny_run.folder)
    problem = Problem(dataclasses.replace(config.data, task="transpose+add", dim="1-2"))
    report = evaluate(model, problem, 40, tolerances=(0.05,), norms=("l1",))
    found = Result.read(tiny_run.folder / "result.json")
    return dataclasses.replace(
        found,
        config=dataclasses.replace(config, stage=(StageConfig(64, dim="1", ensemble=("laplace",), rate=0.5),)),
        curve=(*found.curve, Point(9_000, 0.5, {"l1": {"0.05": 1.0}})),
        origin=Origin("svd-4", "encoder", 1_000, 2.5, 1e12),
        tests={"laplace": report},
        released="transpose-2",
        note="a note",
    )


@pytest.fixture
def write(result, tmp_path):
    """write(change): the path of this result with its JSON changed."""
    result.write(tmp_path / "folder" / "result.json")

    def changed(change):
        values = json.loads((tmp_path / "folder" / "result.json").read_text())
        values = change(values) or values
        (tmp_path / "changed.json").write_text(json.dumps(values))
        return tmp_path / "changed.json"

    return changed


def test_a_result_comes_back_as_it_was(result, tmp_path):
    result.write(tmp_path / "folder" / "result.json")
    again = Result.read(tmp_path / "folder" / "result.json")
    assert again == result
    assert type(again.tests["laplace"]) is Report and again.tests["laplace"].by_task["add"].num > 0
    again.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "folder" / "result.json").read_bytes()


def test_what_has_a_default_may_be_left_out(write):
    optional = [
        f.name for f in dataclasses.fields(Result) if f.default is not f.default_factory and f.name != "version"
    ]
    assert {"curve", "origin", "tests", "released", "note", "sha256"} == set(optional)
    read = Result.read(write(lambda values: {k: v for k, v in values.items() if k not in optional}))
    assert (read.curve, read.origin, read.tests, read.released, read.note, read.sha256) == ((), None, {}, "", "", "")
    assert read.all_examples == read.examples


@pytest.mark.parametrize("version", [None, 1, VERSION + 1, "2", [2]])
def test_another_version_is_refused(write, version):
    def change(values):
        values["version"] = version
        if version is None:
            del values["version"]

    expected = f"changed.json is not a result of this version ({version!r}, not {VERSION})"
    with pytest.raises(ValueError, match=re.escape(expected)):
        Result.read(write(change))


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ((), "unknown key of result 'lost'.*known: config, steps"),
        (("report",), "unknown key of result.report 'lost'"),
        (("report", "by_dimension", "2x2"), "unknown key of result.report.by_dimension.2x2 'lost'"),
        (("curve", 1), "unknown key of result.curve.1 'lost'"),
        (("origin",), "unknown key of result.origin 'lost'"),
        (("tests", "laplace"), "unknown key of result.tests.laplace 'lost'"),
        (("config", "data"), "unknown key in data 'lost'"),
        (("config",), "unknown table 'lost'"),
    ],
)
def test_unknown_keys_are_refused_by_name(write, place, complaint):
    def change(values):
        inner = values
        for key in place:
            inner = inner[key]
        inner["lost"] = 1

    with pytest.raises(ValueError, match=rf"changed\.json: .*{complaint}"):
        Result.read(write(change))


def test_missing_keys_are_refused_by_name(write):
    def change(values):
        del values["report"]["loss"], values["report"]["num"]

    with pytest.raises(ValueError, match=r"changed\.json: result\.report has no num, loss"):
        Result.read(write(change))


def leaves(values: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every value stands, at any depth."""
    entries = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    return [place, *(inner for key, value in entries for inner in leaves(value, (*place, key)))]


WRONG = (None, True, -7, 3.5, "text", [], [1], {}, {"a": 1}, [[[]]], 10**400, math.nan)
FREE = ("provenance", "data")  # may be anything


def test_values_of_a_wrong_type_give_one_line_that_names_them(result, tmp_path):
    """Each value of the file, replaced by each of another kind, is refused in one line; no traceback."""
    path = tmp_path / "a.json"
    short = {"report": result.tests["laplace"], "tests": {}, "curve": result.curve[-1:]}
    dataclasses.replace(result, **short).write(path)
    values, refused = json.loads(path.read_text()), 0
    for place in leaves(values)[1:]:
        if place[0] == "config" and len(place) > 2:
            continue  # tests of config go through these
        for wrong in WRONG:
            changed = copy.deepcopy(values)
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            before = type(inner[place[-1]])
            if before is type(wrong) and wrong is not math.nan:
                continue
            inner[place[-1]] = wrong
            path.write_text(json.dumps(changed))
            if any(key in FREE for key in place[:-1]):
                continue  # some may be anything: the test below
            is_share = any("accuracy" in str(key) for key in place)
            is_number = before is float and type(wrong) is int and wrong < 10**300
            if (is_number and not is_share) or (place == ("origin",) and wrong is None):
                Result.read(path)
                continue
            with pytest.raises(ValueError) as refusal:
                Result.read(path)
            refused += 1
            assert str(refusal.value).startswith(str(path)) and "\n" not in str(refusal.value)
    assert refused > 400


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        (("report", "num"), 0, "a report is of 0 examples"),
        (("report", "accuracy"), {}, "a report has no accuracy"),
        (("report", "accuracy", "l1"), {}, "a report has no accuracy"),
        (("report", "accuracy", "l1"), {"0.05": 1.0}, "other tolerances"),
        (("report", "accuracy", "l1", "0.05"), 1.5, "an accuracy of 1.5 at the tolerance '0.05'"),
        (("report", "accuracy"), {"l1": {"five": 0.5}}, "at the tolerance 'five'"),
        (("report", "accuracy"), {"l2": {"0.05": 0.5}}, "a result has no accuracy in l1"),
        (("report", "interval", "l1", "0.05"), [0.5], "no pair"),
        (("report", "data"), {"dim": "5"}, "do not describe matrices"),
        (("report", "data", "amplitude"), ["<b>"], "do not describe matrices"),
        (("report", "by_dimension", "2x2", "accuracy"), {}, "a part of a report has no accuracy"),
        (("curve", 0, "accuracy"), {}, "a point of a learning curve has no accuracy"),
        (("provenance", "machine"), "a laptop", "provenance.machine is 'a laptop': must be a JSON object"),
        (("provenance", "machine", "cpu"), 7, "provenance.cpu is '7': must be text"),
        (("provenance", "commit"), None, "provenance.commit is 'None': must be text"),
    ],
)
def test_what_readers_of_results_count_on_is_checked(write, place, value, complaint):
    def change(values):
        inner = values
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value

    with pytest.raises(ValueError, match=rf"changed\.json: .*{re.escape(complaint)}"):
        Result.read(write(change))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_result_that_is_not_finite_is_not_written(result, tmp_path, value):
    wrong = dataclasses.replace(result, report=dataclasses.replace(result.report, loss=value))
    with pytest.raises(ValueError, match=rf"a\.json: report\.loss = {value} cannot be written"):
        wrong.write(tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", sorted(results_folder().glob("*.json")), ids=lambda path: path.stem)
def test_the_results_that_are_quoted_are_of_this_version(path):
    result = Result.read(path)
    assert result.report.num > 0 and 0 <= result.report.accuracy["l1"]["0.05"] <= 1


@pytest.mark.parametrize(
    ("share", "text"),
    [(1, "100.0"), (0.9999, "99.99"), (0.99999, "99.99"), (0.9995, "99.95"), (0.9994, "99.9"), (0, "0.0"), (None, "-")],
)
def test_less_than_all_is_never_written_as_100(share, text):
    assert percent(share) == text
