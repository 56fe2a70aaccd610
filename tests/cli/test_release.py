"""A finished run becomes a released model: weights, card and result, of a clean commit and on the test split."""

import json
import shutil

import pytest
import torch

from learnalg.evaluation.result import Result
from learnalg.files import checksum, load_tensors, save_tensors
from learnalg.training import release as module
from learnalg.training.release import release
from learnalg.zoo.cards import card


@pytest.fixture
def finished(tiny_run, tmp_path):
    """A finished run of a clean commit."""
    folder = shutil.copytree(tiny_run.folder, tmp_path / "run")
    _sessions(folder, [{"commit": "0123abc"}])
    return folder


def _sessions(folder, changes):
    first = json.loads((folder / "provenance.json").read_text())[0]
    (folder / "provenance.json").write_text(json.dumps([first | change for change in changes]))


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Where models are released to, and a test set of 200 examples."""
    monkeypatch.setattr(module, "TEST_NUM", 200)
    (tmp_path / "shelf").mkdir()
    return tmp_path / "shelf"


def test_a_finished_run_is_released_with_weights_card_and_result(finished, shelf):
    release(finished, "tiny", zoo=shelf, results=shelf)
    halves, trained = (load_tensors(path)[0] for path in (shelf / "tiny.safetensors", finished / "model.safetensors"))
    assert halves.keys() == trained.keys()
    assert all(torch.equal(half, trained[name].half()) for name, half in halves.items())
    result = Result.read(shelf / "tiny.json")
    assert result.released == "tiny" and result.sha256 == checksum(shelf / "tiny.safetensors")
    assert result.curve[-1].examples == result.examples
    assert (shelf / "tiny.md").read_text() == card("tiny", result)


def test_a_release_is_tested_on_the_test_split(finished, shelf):
    report = release(finished, "tiny", zoo=shelf, results=shelf).report
    assert (report.split, report.seed, report.num) == ("test", 0, 200)
    assert list(report.accuracy["l1"]) == ["0.05", "0.02", "0.01", "0.005", "0.0"]
    assert Result.read(finished / "result.json").report.split == "valid"


def test_sizes_and_ensembles_are_tested_by_themselves_too(finished, shelf):
    result = release(finished, "tiny", also=("2", "2:iid-gaussian"), zoo=shelf, results=shelf)
    assert [(report.num, report.split) for report in result.tests.values()] == [(200, "test")] * 2
    assert result.tests["2"].data["dim"] == "2"
    assert result.tests["2:iid-gaussian"].data["ensemble"] == ["iid-gaussian"]
    assert "| 2:iid-gaussian alone |" in (shelf / "tiny.md").read_text()
    assert Result.read(shelf / "tiny.json").tests == result.tests
    with pytest.raises(ValueError, match="ensemble 'gausian'"):
        release(finished, "tiny", also=("2:gausian",), zoo=shelf, results=shelf)


def test_the_command_releases(run, finished, shelf, monkeypatch):
    monkeypatch.setattr(module.release, "__defaults__", ("", "", (), shelf, shelf, module.ignore))
    code, out, err = run("release", finished, "tiny", "--note", "A small one.")
    assert (code, err) == (0, "") and "test split" in out
    assert Result.read(shelf / "tiny.json").note == "A small one."


def test_another_budget_on_the_way_is_part_of_the_command(finished, shelf):
    again = {"commit": "0123abc", "command": "learnalg resume run"}
    longer = {"commit": "0123abc", "command": "learnalg resume run --examples 128", "examples": 128}
    _sessions(finished, [{"commit": "0123abc", "command": "learnalg train"}, again, longer, again])
    provenance = release(finished, "tiny", zoo=shelf, results=shelf).provenance
    assert provenance["command"] == "learnalg train; learnalg resume run --examples 128"


@pytest.mark.parametrize("commits", [["0123abc+"], [""], ["0123abc", "4567def+"], ["0123abc+", "4567def"]])
def test_runs_of_a_changed_tree_are_not_released(finished, shelf, commits):
    _sessions(finished, [{"commit": commit} for commit in commits])
    with pytest.raises(ValueError, match=r"not committed|clean commit"):
        release(finished, "tiny", zoo=shelf, results=shelf)
    assert not list(shelf.iterdir())


@pytest.mark.parametrize(("commits", "is_released"), [(["0123abc+", "4567"], False), (["0123abc", "4567+"], True)])
def test_what_was_changed_at_a_resumption_may_be_said(finished, shelf, commits, is_released):
    _sessions(finished, [{"commit": commit} for commit in commits])
    if not is_released:
        with pytest.raises(ValueError, match="clean commit"):
            release(finished, "tiny", uncommitted="a comment", zoo=shelf, results=shelf)
        return
    release(finished, "tiny", uncommitted="a comment", zoo=shelf, results=shelf)
    assert Result.read(shelf / "tiny.json").provenance["uncommitted"] == "a comment"
    assert "a comment" in (shelf / "tiny.md").read_text()


def test_unfinished_runs_are_not_released(finished, shelf):
    (finished / "result.json").unlink()
    with pytest.raises(ValueError, match="has not finished"):
        release(finished, "tiny", zoo=shelf, results=shelf)


def test_large_weights_are_not_released(finished, shelf, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="larger than 10 bytes"):
        release(finished, "tiny", zoo=shelf, results=shelf)
    assert not list(shelf.iterdir())


def test_weights_that_are_not_those_of_the_result_are_not_released(finished, shelf):
    content = bytearray((finished / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (finished / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match="SHA-256"):
        release(finished, "tiny", zoo=shelf, results=shelf)
    assert not list(shelf.iterdir())


def test_weights_too_large_for_half_precision_are_named(finished, shelf, monkeypatch):
    tensors, metadata = load_tensors(finished / "model.safetensors")
    name = next(name for name, tensor in tensors.items() if tensor.ndim == 2)
    tensors[name][0, 0] = 1e6
    save_tensors(finished / "model.safetensors", tensors, metadata)
    monkeypatch.setattr(module, "check_weights", lambda path: None)
    with pytest.raises(ValueError, match=rf"{name} has weights of 1e\+06: too large"):
        release(finished, "tiny", zoo=shelf, results=shelf)
    assert not list(shelf.iterdir())
