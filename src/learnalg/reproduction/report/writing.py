"""Writes the report: index.html, and report.md with its figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from learnalg.files import write_whole
from learnalg.reproduction.experiment import Experiment
from learnalg.reproduction.report.gathering import gather
from learnalg.reproduction.report.markdown import figure_name, markdown
from learnalg.reproduction.report.page import page


def write_report(experiments: Mapping[str, Experiment], scale: str, root: Path, folder: Path) -> list[Path]:
    """From the results of `root`, into `folder`."""
    document = gather(experiments, scale, root)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {"index.html": page(document).encode(), "report.md": markdown(document, folder).encode()}
    contents |= {figure_name(section): section.figure for section in document.sections if section.figure}
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in ("index.html", "report.md")]
