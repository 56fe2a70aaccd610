"""The report: what was measured beside the paper's numbers, as a page and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from learnalg.cli.flags import parse
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Report:
    """Write the report: every table and figure of the paper with our numbers beside it, from results/ of the current
    folder and of the package, as one HTML page that needs no network (index.html) and as Markdown (report.md)."""

    out: Path = Path("report")  # folder to write to
    scale: Literal["smoke", "laptop", "paper"] = "laptop"  # which results: see `learnalg reproduce --help`


def run(arguments: list[str]) -> int:
    command = parse(Report, "report", load_plugins(arguments))
    if command.out.exists() and not command.out.is_dir():
        raise ValueError(f"--out {command.out} is not a folder")
    from learnalg.cli.bars import status
    from learnalg.reproduction.report.writing import write_report
    from learnalg.reproduction.tables import EXPERIMENTS

    with status("drawing the paper's tables and figures"):
        paths = write_report(EXPERIMENTS, command.scale, Path(), command.out)
    print(*paths, sep="\n")
    return 0
