"""Kept models: weights, card and result, and that verify tells true from false."""

import json
import re
import shutil
from pathlib import Path

import pytest

from learnalg.cli import main
from learnalg.zoo import __main__ as zoo

RESULT = Path(__file__).parents[1] / "results/eigenvalues-3.json"


def test_verify_agrees_with_a_shipped_result(capsys):
    assert main(["verify", str(RESULT), "--num", "300"]) == 0
    assert "agrees" in capsys.readouterr().out


def test_verify_differs_from_a_claim_that_is_not_true(tmp_path, capsys):
    claim = json.loads(RESULT.read_text())
    claim["report"]["accuracy"]["l1"]["0.005"] = 0.9
    path = tmp_path / RESULT.name
    path.write_text(json.dumps(claim))
    assert main(["verify", str(path), "--num", "300"]) == 1
    assert "DIFFERS" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["nothing.json"]])
def test_verify_refuses_what_is_not_there(arguments, capsys):
    assert main(["verify", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_shipped_model_is_found_by_its_name(tmp_path, capsys):
    (tmp_path / "m.txt").write_text("1 2 3\n2 5 -4\n3 -4 0.5\n")
    assert main(["solve", "eigenvalues-3", str(tmp_path / "m.txt"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] < 0.2
    assert main(["evaluate", "eigenvalues-4"]) == 2
    assert "eigenvalues-3" in capsys.readouterr().err


@pytest.fixture
def finished(tiny_run, tmp_path):
    """A finished run of a clean commit."""
    folder = shutil.copytree(tiny_run.folder, tmp_path / "run")
    sessions = json.loads((folder / "provenance.json").read_text())
    sessions[0]["commit"] = "0123abc"
    (folder / "provenance.json").write_text(json.dumps(sessions))
    return folder


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    (tmp_path / "zoo").mkdir()
    monkeypatch.setattr(zoo, "ZOO", tmp_path / "zoo")
    return tmp_path / "zoo"


def test_a_finished_run_is_kept_with_weights_card_and_curve(finished, shelf):
    zoo.keep(finished, "tiny", shelf)
    assert (shelf / "tiny.safetensors").read_bytes() == (finished / "model.safetensors").read_bytes()
    result = json.loads((shelf / "tiny.json").read_text())
    assert result["curve"][-1]["examples"] == result["examples"]
    assert f"{result['parameters']:,} parameters" in (shelf / "tiny.md").read_text()


def test_another_budget_on_the_way_is_part_of_the_command(finished, shelf):
    (first,) = json.loads((finished / "provenance.json").read_text())
    later = [first | {"command": f"learnalg resume run{flags}"} for flags in ("", " --examples 128", "")]
    later[1]["examples"] = 128
    (finished / "provenance.json").write_text(json.dumps([first, *later]))
    zoo.keep(finished, "tiny", shelf)
    provenance = json.loads((shelf / "tiny.json").read_text())["provenance"]
    assert provenance == first | {"command": f"{first['command']}; learnalg resume run --examples 128"}


def without_exact(report):
    for norm in report["accuracy"]:
        del report["accuracy"][norm]["0.0"]


def wrongly_exact(report):
    report["accuracy"]["linf"]["0.0"] += 0.1


@pytest.mark.parametrize(("change", "code", "shares"), [(None, 0, 5), (without_exact, 0, 4), (wrongly_exact, 1, 5)])
def test_verify_takes_results_with_and_without_exact_shares(finished, shelf, monkeypatch, capsys, change, code, shares):
    monkeypatch.setattr("learnalg.training.run.ZOO", shelf)
    zoo.keep(finished, "tiny", shelf)
    assert " % exact; " in (shelf / "tiny.md").read_text()
    result = json.loads((shelf / "tiny.json").read_text())
    if change is not None:
        change(result["report"])
    (shelf / "tiny.json").write_text(json.dumps(result))
    assert main(["verify", str(shelf / "tiny.json")]) == code
    said = capsys.readouterr().out
    assert ("DIFFERS" if code else "agrees") in said
    assert re.match(r"tiny: ([\d. /]+) on 20 examples", said)[1].count("/") == shares - 1


@pytest.mark.parametrize("commits", [["0123abc+"], ["0123abc", "4567def+"]])
def test_runs_of_a_changed_tree_are_not_kept(finished, shelf, commits):
    (session,) = json.loads((finished / "provenance.json").read_text())
    (finished / "provenance.json").write_text(json.dumps([session | {"commit": commit} for commit in commits]))
    with pytest.raises(ValueError, match="not committed"):
        zoo.keep(finished, "tiny", shelf)
    assert not list(shelf.iterdir())


@pytest.mark.parametrize(("commits", "is_kept"), [(["0123abc+", "4567def"], False), (["0123abc", "4567def+"], True)])
def test_what_was_changed_at_a_resumption_may_be_said(finished, shelf, commits, is_kept):
    (session,) = json.loads((finished / "provenance.json").read_text())
    (finished / "provenance.json").write_text(json.dumps([session | {"commit": commit} for commit in commits]))
    if not is_kept:
        with pytest.raises(ValueError, match="not committed"):
            zoo.keep(finished, "tiny", shelf, "a comment")
        return
    zoo.keep(finished, "tiny", shelf, "a comment")
    assert json.loads((shelf / "tiny.json").read_text())["provenance"]["uncommitted"] == "a comment"
    assert "a comment" in (shelf / "tiny.md").read_text()


def test_unfinished_runs_are_not_kept(finished, shelf):
    (finished / "result.json").unlink()
    with pytest.raises(ValueError, match="has not finished"):
        zoo.keep(finished, "tiny", shelf)


def test_large_weights_are_not_kept(finished, shelf, monkeypatch):
    monkeypatch.setattr(zoo, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="larger than 10 bytes"):
        zoo.keep(finished, "tiny", shelf)
    assert not list(shelf.iterdir())
