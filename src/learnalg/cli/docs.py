"""Bring up to date what the documentation says of results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from learnalg.cli.flags import parse


@dataclass(frozen=True)
class Docs:
    """Write what the README and docs/ say of results anew from results/, in a checkout. Nothing else changes."""


def run(arguments: list[str]) -> int:
    parse(Docs, "docs", arguments)
    from learnalg.reproduction.docs import write_docs

    for path in write_docs(Path()):
        print(path)
    return 0
