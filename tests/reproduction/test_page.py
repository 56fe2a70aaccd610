"""The report: one page that is whole in itself, and Markdown with the same numbers, from results made by hand."""

import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.evaluation.result import Point, Report, Result
from learnalg.reproduction import results as results_module
from learnalg.reproduction.experiment import Cell, Experiment, Shown, findings, paper_numbers
from learnalg.reproduction.report.comparing import (
    BETTER,
    CLOSE,
    EQUAL,
    HIGHER,
    LOWER,
    NEITHER,
    WORSE,
    compare,
    direction_of,
)
from learnalg.reproduction.report.gathering import gather, letter, short
from learnalg.reproduction.report.markdown import markdown
from learnalg.reproduction.report.page import STYLE, page
from learnalg.reproduction.report.tables import Heading, headings
from learnalg.reproduction.report.writing import write_report
from learnalg.reproduction.table import Number, Table, as_markdown, num_labels, table_of
from learnalg.reproduction.tables import EXPERIMENTS as PAPER

VOID = {"meta", "img", "input", "br"}
EVIL = '<script>alert("1")</script> & more'
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><title>drawn</title></svg>'


def by_tolerance(column):
    tolerances = ("0.05", "0.02", "0.01", "0.005")
    return tuple(Shown(row, column, f"report/accuracy/l1/{t}") for row, t in enumerate(tolerances))


def made_up(scale):
    """Table 10: the first column of numbers is run, the second planned only, the others are not planned."""
    config = preset("fast-1")
    return [
        Cell("values-p10", config, by_tolerance(1), note=EVIL),
        Cell("values-p1000", config, by_tolerance(2), note="smaller"),
    ]


def mine(scale):
    def cell(seed, variant):
        shows = (
            Shown(variant, "accuracy at 5 %", "report/accuracy/l1/0.05"),
            Shown(variant, "loss", "report/loss", 1.0, 2),
        )
        return Cell(f"{variant}-{seed}", preset("fast-1"), shows)

    return [cell(seed, variant) for seed in (1, 2) for variant in ("fast", "slow")]


EXPERIMENTS = {
    "table-10": Experiment("table-10", "Singular <values>", made_up),
    "own": Experiment("own", "Our own", mine, has_paper=False, figure="curves"),
}


TOLERANCES = ("0.05", "0.02", "0.01", "0.005")


def report(shares, num=1000, loss=0.25):
    accuracy = {"l1": dict(zip(TOLERANCES, shares, strict=True)) | {"0.0": 0.0}}
    parts = {"interval": {}, "distance_accuracy": {}, "malformed": {}, "by_dimension": {}, "by_task": {}}
    return Report("svd", num, 0, "test", 1.0, accuracy, loss=loss, seconds=1.0, **parts)


def result(shares, seed=1, note="", tests=None):
    provenance = {
        "time": "2026-01-02T03:04:05Z",
        "commit": "0123456789abcdef+",
        "command": "learnalg reproduce 'a<b'",
        "machine": {"cpu": "some CPU", "cores": 2, "system": "Linux"},
        "device": "cpu",
    }
    curve = tuple(Point(k, 1.0, {norm: dict.fromkeys(TOLERANCES, 0.5) for norm in ("l1", "l2")}) for k in (1000, 2000))
    config = replace_fields(preset("fast-1"), seed=seed)
    made = report(shares, loss=0.25 * seed)
    return Result(config, 1, 123_456, 90.0, 5, 1e6, made, provenance, curve=curve, tests=tests or {}, note=note)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(results_module, "results_folder", lambda: tmp_path / "nothing")  # what the package carries
    for name, key, values in (
        ("table-10", "values-p10", result((1.0, 0.9, 0.842, 0.5), note=EVIL)),
        ("own", "fast-1", result((0.5, 0, 0, 0), seed=1)),
        ("own", "fast-2", result((0.7, 0, 0, 0), seed=2)),
    ):
        values.write(tmp_path / "results" / name / "laptop" / f"{key}.json")
    (tmp_path / "results/own/laptop/stale.svg").write_bytes(SVG)  # of no result
    (tmp_path / "results/analyses/model").mkdir(parents=True)
    (tmp_path / "results/analyses/model/roc.svg").write_bytes(SVG)
    return tmp_path


class Reader(HTMLParser):
    """Reads a page: mistakes in its nesting, ids, links, and the text of each table's cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.mistakes, self.ids, self.links, self.sources = [], [], [], [], []
        self.tables, self.cell, self.tags = [], None, set()
        self.feed(text)
        self.close()
        self.mistakes += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.add(tag)
        if len(attributes) != len(attrs):
            self.mistakes.append(f"<{tag}> has an attribute twice")
        if "id" in attributes:
            self.ids.append(attributes["id"])
        self.links += [value for key, value in attrs if key == "href"]
        self.links += [f"#{value}" for key, value in attrs if key in ("aria-labelledby", "for")]
        self.sources += [value for key, value in attrs if key in ("src", "srcset", "action", "data", "poster")]
        if tag == "table":
            self.tables.append({"class": attributes.get("class"), "rows": [], "caption": "", "section": self.ids[-1]})
        elif tag == "tr":
            self.tables[-1]["rows"].append([])
        elif tag in ("td", "th"):
            self.cell = {"tag": tag, "text": "", "parts": {}} | attributes
            self.tables[-1]["rows"][-1].append(self.cell)
        if tag not in VOID:
            self.open.append(tag if tag != "span" else f"span {attributes.get('class', '')}")

    def handle_endtag(self, tag):
        if not self.open or self.open[-1].split()[0] != tag:
            self.mistakes.append(f"</{tag}> within {self.open}")
        else:
            self.open.pop()
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell["text"] += data
            inner = next((tag.split()[1] for tag in reversed(self.open) if tag.startswith("span ")), "")
            self.cell["parts"][inner] = self.cell["parts"].get(inner, "") + data
        elif self.open and self.open[-1] == "caption":
            self.tables[-1]["caption"] += data


def written(root):
    return page(gather(EXPERIMENTS, "laptop", root))


def numbers(read, name):
    (table,) = [t for t in read.tables if t["class"] == "numbers" and t["section"] == name]
    return table


def test_the_page_is_well_formed(root):
    read = Reader(written(root))
    assert read.mistakes == []
    assert len(set(read.ids)) == len(read.ids)


def test_the_page_needs_nothing_else(root):
    text = written(root)
    read = Reader(text)
    assert read.links and all(link.startswith("#") for link in read.links)
    assert not {link[1:] for link in read.links} - set(read.ids)
    assert read.sources and all(source.startswith("data:") for source in read.sources)
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)
    assert not read.tags & {"script", "link", "iframe", "object"}


def test_what_results_say_is_escaped(root):
    text = written(root)
    assert "<script" not in text and "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; more" in text
    assert "Singular &lt;values&gt;" in text and "Singular <values>" not in text
    assert "learnalg reproduce &#x27;a&lt;b&#x27;" in text


def test_ours_and_the_papers_stand_in_their_places(root):
    table = numbers(Reader(written(root)), "table-10")
    body = [row for row in table["rows"] if any(cell["tag"] == "td" for cell in row)]
    paper = paper_numbers()["table-10"]["rows"]
    assert len(body) == len(paper) == 4
    for row, (cells, papers, ours) in enumerate(zip(body, paper, ("100.0", "90.0", "84.2", "50.0"), strict=True)):
        assert [cell["tag"] for cell in cells] == ["th", "td", "td", "td", "td"]
        assert cells[0]["text"] == str(papers[0]) and cells[0]["scope"] == "row"
        assert cells[1]["parts"]["ours"] == ours, row
        assert cells[1]["parts"]["paper"] == str(papers[1])
        assert cells[2]["parts"]["absent"] == "not run" and cells[2]["parts"]["paper"] == str(papers[2])
        for cell, value in zip(cells[3:], papers[3:], strict=True):  # not planned: the paper's alone
            assert "not run" not in cell["text"] and cell["parts"] == {"unseen": "paper ", "paper": str(value)}
    marks = [cells[1]["parts"].get("difference", "").strip() for cells in body]
    assert marks == [EQUAL, f"{WORSE} −8.5", f"{CLOSE} −0.3", f"{BETTER} +8.9"]  # noqa: RUF001
    assert [cells[1].get("class", "") for cells in body] == ["", "worse-2", "", "better-2"]


def test_intervals_are_shown_to_the_pointer_and_in_print(root):
    cell = numbers(Reader(written(root)), "table-10")["rows"][3][1]
    assert cell["parts"]["ours"] == "90.0"
    assert cell["title"] == "95 % interval 88.0–91.7" and cell["parts"]["interval"] == "88.0–91.7"  # noqa: RUF001
    assert re.search(r"@media print \{.*\.interval \{ display: block", STYLE.read_text(), re.S)


def test_seeds_are_a_mean_with_a_spread(root):
    rows = numbers(Reader(written(root)), "own")["rows"]
    assert rows[1][1]["text"].startswith("60.0 ± 14.1") and rows[2][1]["text"] == "not run"
    assert "interval" not in rows[1][1]["parts"]


def test_a_number_leads_to_how_it_was_measured(root):
    text = written(root)
    read = Reader(text)
    assert 'href="#run-table-10-values-p10"' in text and "run-table-10-values-p10" in read.ids
    (runs,) = [t for t in read.tables if t["class"] == "runs" and "Table 10" in t["caption"]]
    assert [cell["text"] for cell in runs["rows"][1]] == [
        *("values-p10", "0123456789+", "1", "some CPU, 2 cores, cpu", "1.5", "123,456", "1.2e+11", "1,000"),
        *("learnalg reproduce 'a<b'", EVIL),
    ]
    assert "Planned and not run: <code>values-p1000</code> (smaller)." in text


def test_a_note_is_a_footnote(root):
    text = written(root)
    assert 'href="#note-table-10-a"' in text and '<li id="note-table-10-a"><b>a</b> &lt;script' in text


def test_the_contents_name_every_section_and_count(root):
    read = Reader(written(root))
    (contents,) = [t for t in read.tables if t["class"] == "contents"]
    rows = {row[0]["text"]: [cell["text"] for cell in row[2:]] for row in contents["rows"][1:]}
    assert {f"Table {k}" for k in range(1, 30)} <= set(rows)
    assert rows["Table 10"] == ["4 of 16", "1", "2", "1", ""]
    assert rows["Table 3"] == ["0 of 48", "", "", "", ""]


def test_bars_are_shares_of_the_papers_numbers(root):
    html = written(root)
    assert 'aria-label="1 better, 2 as good, 1 worse, of 16"' in html
    assert '<rect class="better" x="0" width="6.2" height="10"></rect><rect class="close" x="6.2" width="12.5"' in html


def test_what_a_table_shows_is_said_beside_it(root):
    assert set(findings()) == set(PAPER) - {"ablation"}
    html = written(root)
    assert escape(findings()["table-10"]["paper"] + " " + findings()["table-10"]["ours"]) in html
    assert escape(findings()["table-3"]["ours"]) not in html, "nothing of table 3 is measured there"


def test_figures_are_drawn_from_results_and_never_read(root):
    document = gather(EXPERIMENTS, "laptop", root)
    own = next(section for section in document.sections if section.name == "own")
    assert own.figure is not None and own.figure != SVG and b"</svg>" in own.figure
    assert [path.name for path in document.figures] == ["roc.svg"]
    assert len(Reader(page(document)).sources) == 2
    shares = result((0.1, 0, 0, 0)).curve
    changed = Result.read(root / "results/own/laptop/fast-1.json")
    changed = replace(changed, curve=(*shares, replace(shares[-1], examples=9_000)))
    changed.write(root / "results/own/laptop/fast-1.json")
    again = gather(EXPERIMENTS, "laptop", root)
    assert next(section for section in again.sections if section.name == "own").figure != own.figure


def test_learning_curves_of_released_models_are_on_the_page(root):
    result((0.9, 0.5, 0.1, 0.0)).write(root / "results" / "svd-4.json")
    text = written(root)
    assert "learning-curves" in Reader(text).ids and "released-models" in Reader(text).ids


def test_the_papers_own_network_stands_with_its_curve(root):
    assert "The paper's own network" not in markdown(gather(EXPERIMENTS, "laptop", root), root)
    shares = ((300_000, 0.25), (600_000, 0.961))
    curve = tuple(Point(k, 1.0, {"l1": {"0.05": share, "0.0": share / 2}}) for k, share in shares)
    made = replace(result((0.97, 0, 0, 0), note="one <seed>"), curve=curve)
    experiments = EXPERIMENTS | {name: PAPER[name] for name in ("table-16", "table-2")}
    made.write(root / "results/table-16/paper/b1999-2-2-256.json")
    made.write(root / "results/table-2/paper/p1000-5.json")
    document = gather(experiments, "laptop", root)
    text, read = markdown(document, root), Reader(page(document))
    points = [["300,000", "25.0", "12.5"], ["600,000", "96.1", "48.0"], ["test split, 1,000", "97.0", "0.0"]]
    for title in ("Sums by size of the model: epochs", "Transposition, exact copies"):
        (table,) = [t for t in read.tables if f"{title}: accuracy on the validation split" in t["caption"]]
        assert [[cell["text"] for cell in row] for row in table["rows"][1:]] == points
    assert text.count("\n| 300,000 | 25.0 | 12.5 |\n| 600,000 | 96.1 | 48.0 |") == 2
    papers = paper_numbers()["table-16"]["rows"][1][3]
    assert f"one &lt;seed> The paper's needed {round(300_000 * papers):,} examples." in text
    assert "one &lt;seed> The paper does not say how many it needed." in text
    assert read.mistakes == [] and "the-papers-own-network" in read.ids


def test_a_note_of_a_whole_table_stands_below_it(root):
    document = gather({"table-1": PAPER["table-1"]}, "laptop", root)
    assert "-6.02e23 is too large for FP15" in page(document)
    assert "which are 2,200" in markdown(document, root)
    assert "FP-NaN" in as_markdown(table_of(PAPER["table-1"], "laptop", root))


def test_every_table_has_a_caption_and_its_headings_a_scope(root):
    for table in Reader(written(root)).tables:
        assert table["caption"] or table["class"] == "contents"
        assert all("scope" in cell for row in table["rows"] for cell in row if cell["tag"] == "th")


def test_every_row_of_a_table_is_as_wide_as_its_headings(root):
    for table in Reader(written(root)).tables:
        taken = {}  # (row, column), by cells that span rows
        for r, row in enumerate(table["rows"]):
            c = 0
            for cell in row:
                while (r, c) in taken:
                    c += 1
                for dr in range(int(cell.get("rowspan", 1))):
                    for dc in range(int(cell.get("colspan", 1))):
                        assert (r + dr, c + dc) not in taken
                        taken[r + dr, c + dc] = True
        widths = [sum(row == r for row, _ in taken) for r in range(len(table["rows"]))]
        assert len(set(widths)) == 1 and max(row for row, _ in taken) == len(table["rows"]) - 1, table["caption"]


def test_out_of_distribution_is_a_heat_map_too(tmp_path):
    shows = (Shown(0, 1, "tests/t/accuracy/l1/0.02"),)
    experiment = Experiment("table-12", "Out", lambda scale: [Cell("wigner", preset("fast-1"), shows, {"t": {}})])
    assert "as a heat map" not in page(gather({"table-12": experiment}, "laptop", tmp_path))
    made = result((0, 0, 0, 0), tests={"t": report((0.5, 0.37, 0, 0), num=100)})
    made.write(tmp_path / "results/table-12/laptop/wigner.json")
    text = page(gather({"table-12": experiment}, "laptop", tmp_path))
    (drawn,) = re.findall(r"<svg xmlns.*?</svg>", text, re.S)  # bars are SVG too
    ours, _, papers = drawn.partition("the paper&#x27;s</text>")
    share = r"<rect[^>]*></rect><text[^>]*>(\d+)</text>"
    assert re.findall(share, ours) == ["37"]
    flat = [str(value) for row in paper_numbers()["table-12"]["rows"] for value in row[1:]]
    assert re.findall(share, papers) == flat
    assert Reader(text).mistakes == []


def test_an_empty_folder_gives_the_papers_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(results_module, "results_folder", lambda: tmp_path / "nothing")
    paths = write_report(EXPERIMENTS, "laptop", tmp_path, tmp_path / "new/report")
    assert [path.name for path in paths] == ["index.html", "report.md"]
    read = Reader(paths[0].read_text())
    assert read.mistakes == [] and not {link[1:] for link in read.links} - set(read.ids)
    assert len([t for t in read.tables if t["class"] == "numbers"]) == 31
    assert "released-models" not in read.ids and read.sources == []


def test_the_markdown_says_the_same_numbers(root):
    document = gather(EXPERIMENTS, "laptop", root)
    text = markdown(document, root / "report")
    read = Reader(page(document))
    for section in document.sections:
        part = text.partition(f"## {section.heading}: ")[2].partition("\n## ")[0]
        lines = [line[2:-2].split(" | ") for line in part.splitlines() if line.startswith("|")]
        width = len(section.table.columns)
        lines = lines[2 : 2 + len(section.table.rows)]
        body = [r for r in numbers(read, section.name)["rows"] if any(cell["tag"] == "td" for cell in r)]
        for cells, line in zip(body, lines, strict=True):
            assert len(line) == width
            shown = [cell for cell in cells if cell["tag"] == "td"]
            for cell, said in zip(shown, line[len(line) - len(shown) :], strict=True):
                for part_name in ("ours", "absent", "interval", "difference"):
                    assert cell["parts"].get(part_name, "").strip() in said
                paper = cell["parts"].get("paper", "")
                assert not paper or f"({paper}" in said.replace("\\", "")
    assert "| 0.5 | 50.0<sup>a</sup> \\[46.9–53.1\\] (41.1, ▲ +8.9) | not run (39.8) | (0) | (6.3) |" in text  # noqa: RUF001
    assert "0123456789+" in text and "<script" not in text
    assert "![Own](own.svg)" in text


@pytest.mark.parametrize(
    ("number", "direction", "mark", "words", "step"),
    [
        (Number(100, (100.0,)), HIGHER, EQUAL, "", 0),
        (Number(100, (99.0,)), HIGHER, CLOSE, "−1.0", 0),  # noqa: RUF001
        (Number(100, (98.9,)), HIGHER, WORSE, "−1.1", -1),  # noqa: RUF001
        (Number(50, (70.0,)), HIGHER, BETTER, "+20.0", 2),
        (Number(50, (70.1,)), HIGHER, BETTER, "+20.1", 3),
        (Number(50, (60.0, 80.0)), HIGHER, BETTER, "+20.0", 2),
        (Number(50, (53.0,), interval=(49.0, 57.0)), HIGHER, CLOSE, "+3.0", 0),
        (Number(50, (53.0,), interval=(50.5, 57.0)), HIGHER, BETTER, "+3.0", 1),
        (Number(10, (5.0,)), LOWER, BETTER, "×0.5", 2),  # noqa: RUF001
        (Number(10, (30.0,)), LOWER, WORSE, "×3", -3),  # noqa: RUF001
        (Number(10, (10.4,)), LOWER, CLOSE, "×1.04", 0),  # noqa: RUF001
        (Number(10, (float("nan"),)), LOWER, WORSE, "", -3),
        (Number(10, (30.0,)), NEITHER, "", "×3", 0),  # noqa: RUF001
        (Number(2_276_171, (2_276_171.0,)), NEITHER, EQUAL, "", 0),
        (Number("-", (30.0,)), LOWER, "", "", 0),
        (Number("[314]", words="[314]"), NEITHER, EQUAL, "", 0),
        (Number("[314]", words="[315]"), NEITHER, "", "", 0),
        (Number(3), HIGHER, "", "", 0),
    ],
)
def test_comparisons(number, direction, mark, words, step):
    compared = compare(number, direction)
    assert (compared.mark, compared.words, compared.step) == (mark, words, step)


def test_what_is_better():
    better_high = ("report/accuracy/l1/0.05", "tests/laplace/accuracy/l1/0.02", "after/18000000/0.05")
    assert {direction_of(measure) for measure in better_high} == {HIGHER}
    assert {direction_of(measure) for measure in ("reached/0.05/0.99", "report/loss", "seconds", "examples")} == {LOWER}
    assert direction_of("parameters") == NEITHER


def test_columns_are_grouped_as_in_the_paper():
    names = ["T", "Fixed / 5x5 / P10 / 6/6", "Fixed / 5x5 / FP15 / 6/1", "Fixed / 8x8 / P10 / 6/1", "Any / 5-10"]
    assert headings(names) == [
        [Heading("T", rows=4), Heading("Fixed", 3), Heading("Any")],
        [Heading("5x5", 2), Heading("8x8"), Heading("5-10", rows=3)],
        [Heading("P10"), Heading("FP15"), Heading("P10")],
        [Heading("6/6"), Heading("6/1"), Heading("6/1")],
    ]
    assert headings(["Encoding", "Tokens / coefficient"]) == [[Heading("Encoding"), Heading("Tokens / coefficient")]]


@pytest.mark.parametrize(
    ("name", "labels"), [("table-3", 1), ("table-11", 2), ("table-19", 3), ("table-26", 1), ("table-29", 2)]
)
def test_columns_that_name_the_rows(name, labels):
    paper = paper_numbers()[name]
    assert num_labels(Table(name, "", paper["columns"], [[Number(v) for v in row] for row in paper["rows"]])) == labels


def test_small_texts():
    assert [letter(k) for k in (0, 25, 26, 27, 52)] == ["a", "z", "aa", "ab", "ba"]
    assert (short("0123456789abc"), short("0123456789abc+"), short("")) == ("0123456789", "0123456789+", "")


def test_a_result_that_lacks_a_number_is_named(root):
    made = replace(result((0, 0, 0, 0)), report=replace(report((0, 0, 0, 0)), accuracy={"l1": {"0.05": 1.0}}))
    made.write(root / "results/table-10/laptop/values-p10.json")
    with pytest.raises(ValueError, match=r"results of table-10 at scale laptop: a result has no report/"):
        gather(EXPERIMENTS, "laptop", root)


def luminance(color):
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_text_has_contrast_on_every_ground():
    roots = re.findall(r":root \{(.*?)\}", STYLE.read_text(), re.S)
    assert len(roots) == 3  # light, dark, print
    for declared in roots:
        colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", declared))
        for ground in ("ground", "soft", *(f"{kind}-{k}" for kind in ("better", "worse") for k in (1, 2, 3))):
            for ink in ("ink", "quiet", "link"):
                low, high = sorted((luminance(colors[ground]), luminance(colors[ink])))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (ground, ink)


def test_the_table_is_the_one_that_reproduce_prints(root):
    section = next(s for s in gather(EXPERIMENTS, "laptop", root).sections if s.name == "table-10")
    assert section.table == table_of(EXPERIMENTS["table-10"], "laptop", root)


def test_the_command_writes_both_files(tmp_path, monkeypatch, capsys):
    from learnalg.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["report", "--out", "here", "--scale", "smoke"]) == 0
    assert capsys.readouterr().out.split() == [str(Path("here/index.html")), str(Path("here/report.md"))]
    assert Reader(Path("here/index.html").read_text()).mistakes == []
    Path("file").write_text("")
    assert main(["report", "--out", "file"]) == 2
    assert "--out file is not a folder" in capsys.readouterr().err
