"""Writes the report: index.html, and report.md with its figures; and what the documentation says of results: the
README's headline rows, the tables of docs/speedrun.md, docs/zoo.md and docs/linalg.md, the cards, and two figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from learnalg.files import write_whole
from learnalg.reproduction.experiment import Experiment
from learnalg.reproduction.report.faults import faults_table
from learnalg.reproduction.report.gathering import gather
from learnalg.reproduction.report.heatmap import heatmap
from learnalg.reproduction.report.markdown import figure_name, markdown
from learnalg.reproduction.report.page import page
from learnalg.reproduction.report.records import (
    PROBLEMS,
    headline_table,
    in_order,
    learning_curves,
    records_table,
    sizes_along_training,
)
from learnalg.reproduction.report.speeds import speed_table
from learnalg.reproduction.report.verdicts import refined_table, verdict_table
from learnalg.reproduction.results import released_results
from learnalg.reproduction.tables import EXPERIMENTS
from learnalg.zoo.cards import card, table_of_cards

README_MARKS = "<!-- results:begin -->", "<!-- results:end -->"
CARDS_MARKS = "<!-- cards:begin -->", "<!-- cards:end -->"
CARDS = "../src/learnalg/zoo"  # from docs/zoo.md
VERDICT_MARKS = "<!-- verdicts:begin -->", "<!-- verdicts:end -->"
REFINED_MARKS = "<!-- refined:begin -->", "<!-- refined:end -->"
SPEED_MARKS = "<!-- speeds:begin -->", "<!-- speeds:end -->"
FAULTS_MARKS = "<!-- faults:begin -->", "<!-- faults:end -->"
RECORDS_MARKS = "<!-- records:begin -->", "<!-- records:end -->"


def write_report(experiments: Mapping[str, Experiment], scale: str, root: Path, folder: Path) -> list[Path]:
    """From the results of `root`, into `folder`."""
    document = gather(experiments, scale, root)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {"index.html": page(document).encode(), "report.md": markdown(document, folder).encode()}
    contents |= {figure_name(section): section.figure for section in document.sections if section.figure}
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in ("index.html", "report.md")]


def write_docs(root: Path) -> list[Path]:
    """Answers the files that were not up to date."""
    results = released_results(root)
    readme, records, zoo = root / "README.md", root / "docs" / "speedrun.md", root / "docs" / "zoo.md"
    if not all(path.is_file() for path in (readme, records, zoo)):
        raise ValueError("no README.md, docs/speedrun.md and docs/zoo.md here: `learnalg docs` is for a checkout")
    linalg = root / "docs" / "linalg.md"
    out_of_distribution = gather({"table-12": EXPERIMENTS["table-12"]}, "laptop", root)
    section = next(section for section in out_of_distribution.sections if section.name == "table-12")
    headline = {name: results[name] for name in PROBLEMS if name in results}
    contents = {
        readme: between(readme.read_text(), headline_table(results), README_MARKS).encode(),
        records: between(
            between(records.read_text(), records_table(results), RECORDS_MARKS),
            refined_table(in_order(results)),
            REFINED_MARKS,
        ).encode(),
        zoo: between(zoo.read_text(), table_of_cards(in_order(results), CARDS), CARDS_MARKS).encode(),
        root / "docs" / "learning-curves.svg": learning_curves(headline),
        root / "docs" / "out-of-distribution.svg": heatmap(section, background="#fff").encode(),
    }
    by_size = sizes_along_training(in_order(results))
    contents |= {root / "docs" / "sizes.svg": by_size} if by_size else {}
    if linalg.is_file():
        text = between(linalg.read_text(), verdict_table(in_order(results)), VERDICT_MARKS)
        contents[linalg] = between(text, speed_table(in_order(results)), SPEED_MARKS).encode()
    faults = root / "docs" / "faults.md"
    if faults.is_file():
        contents[faults] = between(faults.read_text(), faults_table(root), FAULTS_MARKS).encode()
    cards = {name: root / "src" / "learnalg" / "zoo" / f"{name}.md" for name in results}
    contents |= {path: card(name, results[name]).encode() for name, path in cards.items() if path.is_file()}
    changed = [path for path, content in contents.items() if not path.is_file() or path.read_bytes() != content]
    for path in changed:
        write_whole(path, contents[path])
    return changed


def between(text: str, table: str, marks: tuple[str, str]) -> str:
    """The text with what stands between the two marks replaced; without the marks, as it is."""
    begin, end = marks
    if begin not in text or end not in text:
        return text
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{table}\n{end}{after}"
