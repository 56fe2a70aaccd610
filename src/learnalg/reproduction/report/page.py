"""The report as one HTML page that needs nothing else: no script, no font, no request; `page.css` is put into it.

    >>> page(gather(EXPERIMENTS, "laptop", Path(".")))
    '<!DOCTYPE html>...'

Figures are data URIs and not inlined SVG: matplotlib names its parts alike in each file, and ids are a page's.
"""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from learnalg.reproduction.experiment import paper_numbers
from learnalg.reproduction.report.comparing import BETTER, CLOSE, EQUAL, MINUS, TIMES, WORSE, Comparison
from learnalg.reproduction.report.gathering import Document, PaperRun, ReleasedModel, Section
from learnalg.reproduction.report.heatmap import heatmap
from learnalg.reproduction.report.tables import (
    PAPER_RUNS,
    POINTS,
    details_html,
    element,
    folded,
    link,
    runs_html,
    scrolling,
    table_html,
    tint,
)

STYLE = Path(__file__).with_name("page.css")
HEATMAPS = ("table-12",)
TITLE = "Linear algebra with transformers, reproduced"


def page(document: Document) -> str:
    body = element("main", content(document))
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        + element("title", TITLE)
        + element("style", STYLE.read_text())
    )
    return "<!DOCTYPE html>\n" + element("html", element("head", head) + element("body", body), lang="en") + "\n"


def content(document: Document) -> str:
    """What stands in the page."""
    return (
        element("header", element("h1", TITLE) + _about(document))
        + _legend()
        + _contents(document)
        + "".join(_section(section, document.scale) for section in document.sections)
        + _paper_runs(document.paper_runs)
        + _curves(document.curves)
        + _released(document.released)
        + _other_figures(document.figures)
    )


def _about(document: Document) -> str:
    counts = [section.counts for section in document.sections if section.name in paper_numbers()]
    ours, papers = (sum(column) for column in zip(*counts, strict=True))
    newest = f"; the newest result is of {escape(document.newest)}" if document.newest else ""
    return element(
        "p",
        "The tables and figures of F. Charton, <i>Linear algebra with transformers</i> (2022), with our numbers beside "
        f"the paper's. Scale {element('b', escape(document.scale))}: {ours:,} of the paper's {papers:,} "
        f"numbers are measured{newest}.",
    )


def _legend() -> str:
    samples = (
        (Comparison(BETTER, "+7.0", 2), "93.0", "better than the paper's"),
        (Comparison(CLOSE, f"{MINUS}0.4"), "85.6", "as good: within a point, or the paper's within our interval"),
        (Comparison(WORSE, f"{MINUS}24.0", -3), "62.0", "worse; the deeper the colour, the further apart"),
    )
    rows = "".join(
        element(
            "li",
            element(
                "span",
                element("span", ours, class_="ours")
                + element("span", element("span", "86.0", class_="paper") + f" {c.mark} {c.words}", class_="beneath"),
                class_=f"sample {tint(c)}".strip(),
            )
            + f" {words}",
        )
        for c, ours, words in samples
    )
    return element(
        "section",
        element("h2", "How to read the tables", id="reading")
        + element(
            "p",
            "Ours stands above, the paper's small and grey beneath it, with the difference: percentage points for "
            f"shares, a quotient ({TIMES}) for examples and other amounts. A grey number alone is the paper's: we have "
            'planned no run. <i class="absent">not run</i> is planned and not measured yet; <i>never</i> was not '
            "reached in the run. ± is the standard deviation over seeds. A number leads to its run: commit (with + if "
            "the sources had changes), seed, machine, time, command.",
        )
        + element("ul", rows, class_="legend")
        + '<p class="switch"><label><input type="checkbox" id="intervals"> Show 95 % intervals (Wilson) in the '
        "tables</label>; they also appear when the pointer rests on a number, and in print.</p>",
        aria_labelledby="reading",
    )


def _contents(document: Document) -> str:
    heads = ("", "", "measured", f"{BETTER} better", f"{CLOSE} as good", f"{WORSE} worse", "")
    names = ("Section", "Title", *heads[2:-1], "Share of the paper's numbers")
    head = "".join(
        element("th", shown or element("span", name, class_="unseen"), scope="col")
        for shown, name in zip(heads, names, strict=True)
    )
    rows = []
    for section in document.sections:
        counts = (
            "{} of {}".format(*section.counts) if section.counts[1] else "",
            *(
                str(section.num_marked(*marks)) if section.counts[0] else ""
                for marks in ((BETTER,), (CLOSE, EQUAL), (WORSE,))
            ),
        )
        name = element("th", link(section.name, escape(section.heading)), scope="row")
        cells = element("td", escape(section.table.title)) + "".join(element("td", n) for n in counts)
        rows.append(element("tr", name + cells + element("td", _bar(section))))
    others = {
        PAPER_RUNS: bool(document.paper_runs),
        "Learning curves": bool(document.curves),
        "Released models": bool(document.released),
        "Figures": bool(document.figures),
    }
    more = ", ".join(link(_identifier(name), name) for name, is_there in others.items() if is_there)
    table = element("table", element("thead", element("tr", head)) + element("tbody", "".join(rows)), class_="contents")
    return element(
        "nav",
        element("h2", "Contents", id="contents")
        + scrolling(table, "Contents")
        + (element("p", f"Then: {more}.") if more else ""),
        aria_labelledby="contents",
    )


def _bar(section: Section) -> str:
    """Better, as good and worse as shares of the paper's numbers; what is left was not run."""
    whole = section.counts[1] if section.name in paper_numbers() else 0
    if not whole:
        return ""
    numbers = {
        "better": section.num_marked(BETTER),
        "close": section.num_marked(CLOSE, EQUAL),
        "worse": section.num_marked(WORSE),
    }
    drawn, start = "", 0.0
    for kind, num in numbers.items():
        share = round(100 * num / whole, 1)
        drawn += element("rect", class_=kind, x=f"{start:g}", width=f"{share:g}", height=10) if num else ""
        start += share
    words = ", ".join(f"{num} {'as good' if kind == 'close' else kind}" for kind, num in numbers.items())
    shape = {"viewBox": "0 0 100 10", "preserveAspectRatio": "none"}
    return element("svg", drawn, class_="bar", role="img", aria_label=f"{words}, of {whole}", **shape)


def _section(section: Section, scale: str) -> str:
    command = f"learnalg reproduce {section.name} --scale {scale}"
    parts = [element("h2", escape(f"{section.heading}: {section.table.title}"), id=section.name)]
    parts += [element("p", escape(section.finding), class_="finding")] if section.finding else []
    parts += [_image(section.figure, f"{section.heading}: {section.title}")] if section.figure else []
    parts.append(table_html(section))
    if section.name in HEATMAPS and any(number.is_ours for _, _, number in section.places()):
        parts.append(element("figure", scrolling(heatmap(section), f"{section.heading}, heat map")))
    parts.append(details_html(section))
    up = link("contents", "Contents")
    made = element("code", escape(command)) if section.is_experiment else ""
    parts.append(element("p", made + up, class_="foot"))
    return element("section", "".join(parts), aria_labelledby=section.name)


def _image(svg: bytes, caption: str) -> str:
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    image = f'<img alt="{escape(caption)}" src="{source}">'
    return element("figure", scrolling(image, caption) + element("figcaption", escape(caption)))


def _identifier(heading: str) -> str:
    return heading.lower().replace(" ", "-").replace("'", "")


def _paper_runs(runs: list[PaperRun]) -> str:
    if not runs:
        return ""
    parts = [element("h2", PAPER_RUNS, id=_identifier(PAPER_RUNS))]
    head = element("tr", "".join(element("th", name, scope="col") for name in POINTS))
    for run in runs:
        rows = (
            element("tr", element("th", examples, scope="row") + "".join(element("td", share) for share in shares))
            for examples, *shares in run.points
        )
        caption = element(
            "caption", f"<b>{escape(run.name)}.</b> {escape(run.title)}: accuracy on the validation split"
        )
        table = element("table", caption + element("thead", head) + element("tbody", "".join(rows)), class_="released")
        parts += [scrolling(table, run.name), element("p", escape(f"{run.said} {run.papers}"), class_="notes")]
    return element("section", "".join(parts), aria_labelledby=_identifier(PAPER_RUNS))


def _curves(curves: bytes | None) -> str:
    if not curves:
        return ""
    caption = "Accuracy of each released model on the validation split against examples, at 5, 2, 1 and 0.5 % tolerance"
    content = element("h2", "Learning curves", id="learning-curves") + _image(curves, caption)
    return element("section", content, aria_labelledby="learning-curves")


def _released(models: list[ReleasedModel]) -> str:
    if not models:
        return ""
    names = ("Model", "Problem", "Network", "Parameters", "Examples", "5 %", "2 %", "1 %", "0.5 %", "The paper's")
    head = element("tr", "".join(element("th", name, scope="col") for name in names))
    rows = []
    for model in models:
        measures = (model.problem, model.network, model.parameters, model.measured.examples)
        name = element("th", link(f"run-{model.name}", escape(model.name)), scope="row")
        cells = "".join(element("td", escape(value)) for value in (*measures, *model.accuracy, model.paper))
        rows.append(element("tr", name + cells))
    caption = element(
        "caption", "Released models: accuracy (L1 norm) on the test split at each tolerance, in %, and the paper's"
    )
    table = element("table", caption + element("thead", head) + element("tbody", "".join(rows)), class_="released")
    runs = runs_html({f"run-{model.name}": (model.name, model.measured) for model in models}, "Runs of released models")
    content = scrolling(table, "Released models") + folded("How they were trained", runs)
    heading = element("h2", "Released models", id="released-models")
    return element("section", heading + content, aria_labelledby="released-models")


def _other_figures(paths: list[Path]) -> str:
    if not paths:
        return ""
    figures = "".join(_image(path.read_bytes(), f"{path.parent.name}: {path.stem}") for path in paths)
    return element("section", element("h2", "Figures", id="figures") + figures, aria_labelledby="figures")
