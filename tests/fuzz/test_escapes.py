"""What a result, a run or a card says is shown as text: in the page, in the report, in Markdown and in notebooks."""

import dataclasses
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from learnalg.cli import main
from learnalg.config import to_dict
from learnalg.evaluation.result import Origin, Result
from learnalg.files import results_folder
from learnalg.reproduction.report.gathering import gather
from learnalg.reproduction.report.hosting import Hosting
from learnalg.reproduction.report.markdown import markdown
from learnalg.reproduction.report.page import page
from learnalg.reproduction.report.records import records_table
from learnalg.reproduction.results import cell_path
from learnalg.reproduction.tables import EXPERIMENTS
from learnalg.serve.app import build_app
from learnalg.serve.runs import Runs
from learnalg.zoo import catalog
from learnalg.zoo.cards import card, table_of_cards
from learnalg.zoo.hub import hub_card

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)> [a](javascript:alert(3)) | \"'>`\n\\[b](javascript:x)"
PORT = 8000


class Tags(HTMLParser):
    """The tags and the handlers of a page, as a browser reads it."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found += [tag, *(name for name, _ in attributes if name.startswith("on"))]
        self.found += [
            value for name, value in attributes if name in ("href", "src") and "javascript:" in (value or "")
        ]


def is_harmless(text, allowed_scripts=0):
    found = Tags(text).found
    assert found.count("script") == allowed_scripts, text[:2000]
    assert not [name for name in found if name.startswith("on") or "javascript:" in name]
    return "alert(1)" in text


def is_harmless_markdown(text):
    assert not re.search(r"<(script|img)", text)
    for at in re.finditer(r"\]\(javascript", text):  # every bracket is escaped, by an odd number of backslashes
        before = text[: at.start()]
        assert (len(before) - len(before.rstrip("\\"))) % 2 == 1
    return "alert(1)" in text


def made_evil(result):
    """Its texts that nobody checks, all evil."""
    provenance = {
        "time": EVIL, "commit": EVIL, "command": EVIL, "device": EVIL, "uncommitted": EVIL,
        "machine": {"cpu": EVIL, "cores": EVIL, "system": EVIL}, "versions": {EVIL: EVIL}, "tested": {"commit": EVIL},
    }  # fmt: skip
    config = result.config
    data = replace(config.data, task=EVIL, dim=EVIL, ensemble=(EVIL,), input_encoding=EVIL, output_encoding=EVIL)
    model = replace(config.model, architecture=EVIL, input_embedding=EVIL, output_embedding=EVIL)
    config = replace(config, data=data, model=model, train=replace(config.train, init=EVIL, device=EVIL, logger=EVIL))
    report = result.report
    report = replace(
        report,
        task=EVIL,
        split=EVIL,
        malformed={EVIL: 3},
        by_dimension={EVIL: next(iter(report.by_dimension.values()))} if report.by_dimension else {},
        data=report.data | {"dim": EVIL, "ensemble": [EVIL]},
    )
    curve = tuple(replace(point, by_dimension={EVIL: point.accuracy["l1"]}) for point in result.curve)
    return replace(
        result, config=config, report=report, provenance=provenance, origin=Origin(EVIL, EVIL), note=EVIL,
        released=EVIL, sha256=EVIL, curve=curve, tests={EVIL: report},
    )  # fmt: skip


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """It is read from a file like any other: nothing here is refused."""
    path = tmp_path_factory.mktemp("evil") / "evil.json"
    made_evil(Result.read(results_folder() / "eigenvalues.json")).write(path)
    return Result.read(path)


def test_cards(evil, tiny_run):
    assert is_harmless_markdown(card(EVIL, evil))
    assert is_harmless_markdown(table_of_cards({"name": evil}, "folder"))
    assert is_harmless_markdown(records_table({"name": evil}))
    import torch

    valid = replace(evil, config=tiny_run.config)
    text = hub_card("a name", tiny_run.config, torch.nn.Linear(1, 1), replace(evil.report), EVIL, valid, EVIL)
    header, body = text.split("\n---\n", 1)
    assert is_harmless_markdown(body)
    assert "\n\\[b]" not in header  # within the quotes of YAML a line does not end


@pytest.fixture
def root(tmp_path, evil, monkeypatch):
    """All results of two tables, evil."""
    monkeypatch.setattr("learnalg.reproduction.results.results_folder", lambda: tmp_path / "results")
    for name in ("table-6", "table-2"):
        for cell in EXPERIMENTS[name].cells("laptop"):
            tests = evil.tests | dict.fromkeys(cell.tests, evil.report)
            replace(evil, tests=tests).write(cell_path(EXPERIMENTS[name], "laptop", cell, tmp_path))
    return tmp_path


def test_the_report(root):
    document = gather({name: EXPERIMENTS[name] for name in ("table-6", "table-2")}, "laptop", root)
    assert is_harmless(page(document))
    assert is_harmless_markdown(markdown(document, root))


def test_the_page(tmp_path, evil, tiny_run):
    """A run of an evil name with evil files, in every part of the page that shows it."""
    name = "<img src=x onerror=alert(2)>"
    folder = tmp_path / "runs" / name
    folder.mkdir(parents=True)
    shares = dict.fromkeys(("0.05", "0.02", "0.01", "0.005"), 0.5)
    samples = [{"solution": [[EVIL]], "prediction": None, "reason": EVIL}]
    line = {"step": 1, "examples": 9, "seconds": 1.0, "valid_loss": 1.0, "accuracy": {"l1": shares}, "samples": samples}
    line |= {"by_dimension": {EVIL: shares}, "loss": 1.0, "examples_per_second": 9.0}
    (folder / "metrics.jsonl").write_text(json.dumps(line) + "\n" + json.dumps(line | {"examples": 19}) + "\n")
    (folder / "config.json").write_text(json.dumps(to_dict(evil.config)))
    (folder / "provenance.json").write_text(json.dumps([evil.provenance]))
    evil.write(folder / "result.json")
    damaged = tmp_path / "runs" / "damaged"
    damaged.mkdir()
    (damaged / "config.json").write_text(json.dumps({EVIL: 1}))
    paper = Hosting({"table-6": EXPERIMENTS["table-6"]}, "laptop", tmp_path)
    app = build_app(Runs(tmp_path / "runs"), paper, PORT)
    seen = 0
    with TestClient(app, base_url=f"http://127.0.0.1:{PORT}", raise_server_exceptions=False) as client:
        for path, values in {
            "/runs": [{}, {"run": name}, {"run": [name, "damaged"]}, {"run": "damaged"}, {"run": EVIL}],
            "/runs/curves": [{"run": name}, {"run": [name, "damaged"]}],
            "/try": [{}, {"task": EVIL}, {"model": EVIL}, {"matrix": EVIL}],
            "/explore": [{}, {"model": f"runs/{name}"}, {"model": EVIL}, {"ensemble": EVIL}],
            "/paper": [{}],
            "/paper/results/" + quote(EVIL, safe=""): [{}],
        }.items():
            for parameters in values:
                answer = client.get(path, params=parameters)
                assert answer.status_code in (200, 400, 404, 422), (path, parameters, answer.text)
                seen += is_harmless(answer.text, 2 if "<html" in answer.text else 0)  # our own two
    assert seen >= 5


def test_compare_and_notebooks(tmp_path, evil, tiny_run, monkeypatch, capsys):
    for name in ("<script>alert(1)<", "other"):
        folder = tmp_path / name
        folder.mkdir()
        config = tiny_run.config if name == "other" else evil.config
        (folder / "config.json").write_text(json.dumps(to_dict(config)))
        evil.write(folder / "result.json")
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "<script>alert(1)<", "other", "--out", "page.html"]) == 0
    assert is_harmless((tmp_path / "page.html").read_text())
    assert "\x1b" not in capsys.readouterr().out
    entry = catalog.Entry("<script>alert(1)</script>", dataclasses.replace(evil, config=tiny_run.config))
    monkeypatch.setattr(catalog, "index", lambda: [entry])
    assert is_harmless(catalog.Names([entry.name])._repr_html_())
