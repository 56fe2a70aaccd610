"""The list of runs, and runs beside each other."""

import json
import re
import shutil
import time

import pytest

from learnalg.cli.runs import moment
from learnalg.cli.texts import columns
from learnalg.config import replace_fields
from learnalg.training.run import Run


@pytest.fixture
def folder(tiny_run, tmp_path):
    """Three runs: finished, stopped, damaged."""
    runs = tmp_path / "runs"
    shutil.copytree(tiny_run.folder, runs / "done", ignore=shutil.ignore_patterns("checkpoints"))
    other = shutil.copytree(runs / "done", runs / "deep" / "half")
    (other / "result.json").unlink()
    lines = (other / "metrics.jsonl").read_text().splitlines(keepends=True)
    until = next(k for k, line in enumerate(lines) if "accuracy" in line)
    (other / "metrics.jsonl").write_text("".join(lines[: until + 1]))
    run = Run.open(other)
    Run(other, replace_fields(run.config, seed=7, heads=1)).save_config()
    (runs / "broken").mkdir()
    (runs / "broken" / "config.json").write_text("{")
    return runs


def test_runs_are_listed_with_what_they_are(run, folder):
    code, out, err = run("runs")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert set(lines) == {"run", "runs/done", "runs/deep/half", "runs/broken"}
    assert re.search(r"finished +transpose +1-2 +1 +8,000 +8,000 +\d+\.\d / ", lines["runs/done"])
    assert re.search(r"stopped +transpose +1-2 +7 +3,968 +8,000 +\d+\.\d / ", lines["runs/deep/half"])
    assert "damaged" in lines["runs/broken"]


def test_a_run_that_trains_is_running(run, folder):
    with Run.open(folder / "deep" / "half").locked():
        found = {row["run"]: row for row in map(json.loads, run("runs", folder, "--json")[1].splitlines())}
    states = {name.rpartition("/")[2]: row["state"] for name, row in found.items()}
    assert states == {"done": "finished", "half": "running", "broken": "damaged"}


def test_the_folder_of_one_run_is_listed_too(run, folder):
    (row,) = map(json.loads, run("runs", folder / "done", "--json")[1].splitlines())
    assert row["run"] == str(folder / "done") and row["accuracy"].keys() >= {"0.05", "0.005"}


def test_no_runs(run, tmp_path):
    assert run("runs", tmp_path) == (0, "no runs\n", "")
    assert run("runs")[0] == 2


def test_runs_and_released_models_stand_side_by_side(run, folder):
    code, out, err = run("compare", "runs/done", "runs/deep/half", "eigenvalues-3")
    assert (code, err) == (0, "")
    settings, outcomes, curves = out.strip().split("\n\n")
    rows = {line.split()[0]: line.split()[1:] for line in settings.splitlines()[1:]}
    assert rows["train.seed"][:2] == ["1", "7"] and rows["data.task"][2] == "eigenvalues"
    assert "optim.beta2" not in rows  # is the same
    assert re.search(r"^examples +8,000 +3,968 +200,064$", outcomes, re.MULTILINE)
    assert re.search(r"^evaluated on +20, valid +10,000, test$", outcomes, re.MULTILINE)
    points = {point.examples: point for point in Run.open(folder / "done").curve()}
    end = f"{100 * points[8_000].accuracy['l1']['0.05']:.1f}"
    assert re.search(rf"^8,000 +{end}$", curves, re.MULTILINE)  # the shorter curve has ended
    assert re.search(rf"^3,968 +{100 * points[3_968].accuracy['l1']['0.05']:.1f} +\d", curves, re.MULTILINE)


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("html", b"<!doctype html>")])
def test_learning_curves_are_drawn(run, folder, tmp_path, kind, start):
    code, out, err = run("compare", "runs/done", "runs/deep/half", "--out", f"curves.{kind}")
    assert (code, err) == (0, "") and out.endswith(f"curves.{kind}\n")
    content = (tmp_path / f"curves.{kind}").read_bytes()
    assert content.startswith(start)
    if kind == "html":
        assert b"train.seed" in content and b"<svg" in content
        assert b'href="http' not in content and b"src=" not in content  # it asks nobody for anything
    assert run("compare", "runs/done", "runs/deep/half", "--out", f"curves.{kind}")[0] == 2  # nothing twice


def test_names_in_a_page_are_text(run, folder, tmp_path):
    (folder / "done").rename(folder / "<script>")
    assert run("compare", "runs/<script>", "runs/deep/half", "--out", "page.html")[0] == 0
    assert "<script>" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("compare", "required"),
        ("compare runs/done", "two or more"),
        ("compare runs/done runs/done", "two or more"),
        ("compare runs/done eigenvalues-33", "did you mean 'eigenvalues-3'?"),
        ("compare runs/done runs", "runs is not a run's folder"),
        ("compare runs/done runs/broken", "config.json is damaged"),
        ("compare runs/done runs/deep/half --out curves.pdf", "unknown kind of file '.pdf'"),
        ("compare runs/done runs/deep/half --tolerance 0.3", "the learning curves have 0.05, 0.02, 0.01, 0.005"),
    ],
)
def test_what_cannot_be_compared_is_refused(run, folder, line, complaint):
    code, out, err = run(*line.split())
    assert (code, out) == (2, "") and complaint in err and err.count("\n") == 1


def test_columns_stand_under_each_other():
    assert columns([["a", "bb", "c"], ["aaa", "b", ""]], right=(1,)) == "a    bb  c\naaa   b"


def test_what_changed_today_has_its_time_and_before_its_day():
    now = time.time()
    assert re.fullmatch(r"\d\d:\d\d", moment(now))
    assert moment(now - 2 * 86_400) == time.strftime("%F", time.localtime(now - 2 * 86_400))
