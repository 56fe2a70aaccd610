"""Regenerate the tables and figures of the documentation from results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from learnalg.cli.flags import parse


@dataclass(frozen=True)
class Docs:
    """Regenerate the tables and figures of README.md and docs/ from results/. Needs a checkout."""


def run(arguments: list[str]) -> int:
    parse(Docs, "docs", arguments)
    from learnalg.cli.bars import status
    from learnalg.reproduction.report.writing import write_docs

    with status("drawing tables and figures"):
        paths = write_docs(Path())
    print(*paths, sep="\n")
    return 0
