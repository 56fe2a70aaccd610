"""Runs and the paper's tables, as the page shows them."""

import os
import re
import time

import numpy as np
import pytest
from starlette.testclient import TestClient

from learnalg.reproduction.report import hosting
from learnalg.reproduction.report.gathering import Document
from learnalg.serve.app import build_app
from learnalg.serve.charts import Line, line_chart, nice_step, scatter_chart, short_number
from learnalg.serve.runs import Runs, fields_of, side_by_side
from learnalg.serve.showing import samples_of


def test_runs_are_found_in_folders_of_folders(folder):
    runs = Runs(folder).find()
    assert set(runs) == {"first", "deep/second"}
    first = runs["first"]
    assert (first.metrics.examples, first.state, first.share) == (2000, "in progress", 20.0)
    assert runs["deep/second"].state == "stopped"
    assert first.accuracy("0.05") == [(2000, 62.5)] and first.by_size() == {"3x3": [(2000, 75.0)]}
    assert first.has_model and not runs["deep/second"].has_model


def test_metrics_are_read_on_from_where_they_ended(tmp_path, made):
    folder = made.run(tmp_path / "a", lines=[made.log(10, 1.0)])
    runs, path = Runs(tmp_path), folder / "metrics.jsonl"
    assert runs.find()["a"].metrics.losses == [(10, 1.0)]
    with path.open("a") as file:
        file.write('{"examples": 20, "seconds": 1, "loss": 0.5, "examples_per_second": 3}\n{"examples": 30, "sec')
    assert runs.find()["a"].metrics.losses == [(10, 1.0), (20, 0.5)]
    with path.open("a") as file:
        file.write('onds": 1, "loss": 0.25, "examples_per_second": 3}\n')
    assert runs.find()["a"].metrics.losses[-1] == (30, 0.25)
    path.write_text('{"examples": 10, "seconds": 1, "loss": 9.0, "examples_per_second": 3}\n')  # resumed from before
    assert runs.find()["a"].metrics.losses == [(10, 9.0)]


@pytest.mark.parametrize(
    "line",
    ["nonsense", "[]", "3", '{"examples": "many", "seconds": 1}', '{"examples": 1}', "[" * 100_000, "\x00\xff",
     '{"examples": 1, "seconds": 1, "accuracy": {"l1": 3}}',
     '{"examples": 1, "seconds": 1, "valid_loss": 1, "accuracy": {"l1": {"0.05": "much"}}}',
     '{"examples": 1e999, "seconds": 1}'],
)  # fmt: skip
def test_damaged_metrics_are_counted_and_left_out(tmp_path, line, made):
    folder = made.run(tmp_path / "a", lines=[made.log(10, 1.0)])
    with (folder / "metrics.jsonl").open("a") as file:
        file.write(line + "\n")
    metrics = Runs(tmp_path).find()["a"].metrics
    assert (metrics.damaged, len(metrics.losses)) == (1, 1)


def test_a_config_that_is_wrong_is_shown_with_the_reason(tmp_path):
    (tmp_path / "bad").mkdir()
    for content in ("{", "[]", '{"data": {"task": 3}}', '{"nonsense": {}}', '{"data": []}'):
        (tmp_path / "bad" / "config.json").write_text(content)
        os.utime(tmp_path / "bad" / "config.json", ns=(time.time_ns(),) * 2)
        run = Runs(tmp_path).find()["bad"]
        assert run.config is None and run.trouble.startswith("config.json: "), content


def test_links_out_of_the_folder_are_not_followed(folder, tmp_path, made):
    outside = made.run(tmp_path / "outside", lines=[made.log(10, 1.0)])
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "linked").symlink_to(outside)
    inside = made.run(runs / "inside")
    (inside / "metrics.jsonl").unlink()
    (inside / "metrics.jsonl").symlink_to(outside / "metrics.jsonl")
    (inside / "model.safetensors").symlink_to(folder / "first" / "model.safetensors")
    found = Runs(runs).find()
    assert set(found) == {"inside"}
    assert found["inside"].metrics.losses == [] and not found["inside"].has_model


def test_a_folder_that_is_not_there_has_no_runs(tmp_path):
    assert Runs(tmp_path / "none").find() == {}


def test_settings_stand_side_by_side(folder):
    runs = list(Runs(folder).find().values())
    different, same = side_by_side(runs)
    assert {name for name, _ in different} == {"data.dim", "train.seed"}
    assert len(different) + len(same) == len(fields_of(runs[0].config))


def test_the_page_of_runs(client):
    page = client.get("/runs").text
    assert "deep/second" in page and "eigenvalues 3" in page
    one = client.get("/runs", params={"run": "first"}).text
    assert "2,000 of 10,000 examples" in one and "62.5" in one and "3x3" in one
    assert 'hx-trigger="every 3s"' in one, "a run in progress is asked for again"
    both = client.get("/runs/curves", params=[("run", "first"), ("run", "deep/second")])
    assert "<html" not in both.text and "data.dim" in both.text
    assert both.headers["hx-replace-url"] == "/runs?run=first&run=deep%2Fsecond"
    none = client.get("/runs/curves")
    assert "No run is chosen" in none.text


def test_an_unknown_run_is_refused_with_a_hint(client):
    answer = client.get("/runs", params={"run": "frist"})
    assert answer.status_code == 400 and "did you mean" in answer.text and "first" in answer.text


def test_samples_along_training_are_shown(tmp_path, made):
    sample = {"prediction": [[1.25, 2], [3, 4]], "solution": [[1, 2], [3, 4]], "reason": ""}
    wrong = {"prediction": None, "solution": [[1]], "reason": "too short"}
    made.run(tmp_path / "a", lines=[made.evaluation(10, 0.5, samples=[sample, wrong, "junk", {"prediction": 3}])])
    table = samples_of(Runs(tmp_path).find()["a"])
    assert table["rows"] == [(10, ["1.25     2\n   3     4", "too short", "", ""])]
    assert table["truth"][0] == "1  2\n3  4"


def test_a_run_keeps_predictions_along_the_way(tiny_run):
    run = Runs(tiny_run.folder.parent).find()[tiny_run.folder.name]
    table = samples_of(run)
    assert run.state == "finished" and run.has_model and run.metrics.damaged == 0
    assert [examples for examples, _ in table["rows"]] == [e["examples"] for e in run.metrics.evaluations]
    assert len(table["truth"]) == 3 and all(table["truth"]) and table["rows"][0][1] != table["rows"][-1][1]


def test_every_number_of_the_paper_part_leads_to_its_result(client):
    page = client.get("/paper").text
    assert "Table 6" in page and "style=" not in page and "data:" not in page
    links = set(re.findall(r'href="(/paper/results/[^"]+)"', page))
    assert len(links) >= 4
    for link in links:
        answer = client.get(link)
        assert answer.status_code == 200 and "<dt>Commit</dt>" in answer.text, link
    images = set(re.findall(r'src="(/paper/images/[^"]+)"', page))
    assert images and all(client.get(image).headers["content-type"] == "image/svg+xml" for image in images)
    table = client.get(min(links)).text.partition('href="/paper#')[2].partition('"')[0]
    assert f'id="{table}"' in page


def test_the_report_is_made_again_when_a_result_changes(tmp_path, monkeypatch):
    document = Document("laptop", [], [], [], [])
    gathered = []
    monkeypatch.setattr(hosting, "gather", lambda *arguments: gathered.append(1) or document)
    monkeypatch.setattr(hosting, "content", lambda document: f"version {len(gathered)}")
    hosted = hosting.Hosting({}, "laptop", tmp_path)
    assert [hosted.report(), hosted.report(), hosted.heatmap(), len(gathered)] == ["version 1", "version 1", "", 1]
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "new.json").write_text("{}")
    assert hosted.report() == "version 2"


def test_charts():
    chart = line_chart("t", [Line("a", [(0, 0), (100, 50), (200, float("nan"))])], is_share=True)
    assert chart.lines[0].path == "M48 202L408 106" and chart.lines[0].last == "50.0 %"
    assert line_chart("t", [Line("a", [])]) is None
    many = line_chart("t", [Line("a", [(k, k) for k in range(100_000)])])
    assert many.lines[0].path.count("L") < 300 and many.lines[0].last == "1e+05"
    infinite = np.array([1.0, 10.0, np.inf, np.nan])
    chart = scatter_chart(
        "t", {"a": (infinite, infinite), "none": (infinite[:0], infinite[:0])}, "x", "y", {"5 %": 0.05}
    )
    assert len(chart.lines) == 1 and chart.lines[0].path.count("h0") == 4 and "nan" not in chart.lines[0].path
    assert scatter_chart("t", {}, "x", "y") is None
    assert [nice_step(span) for span in (100, 3, 0.07, 0)] == [20, 1, 0.02, 1]
    assert [short_number(x) for x in (0, 0.05, 5_000, 12_000, 2_500_000, 1e-7, 1e12)] == [
        "0",
        "0.05",
        "5k",
        "12k",
        "2.5M",
        "1e-7",
        "1e12",
    ]


def test_less_than_all_is_never_written_as_all(made, tmp_path):
    made.run(tmp_path / "a", lines=[made.evaluation(10, 0.9996)])
    app = build_app(Runs(tmp_path), None, 8000)
    with TestClient(app, base_url="http://127.0.0.1:8000") as opened:
        page = opened.get("/runs").text
    assert page.count("99.96 %") >= 2 and "100.0" not in page
