"""What the Paper part shows. Who knows the paper's tables gives it (cli/serve.py): nothing here does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from learnalg.evaluation.result import Result


@dataclass(frozen=True)
class Source:
    """Behind a number: the result of a run, or what was computed without training."""

    name: str
    table: str  # where the number stands, as in the address of the page
    file: str  # of the result
    result: Result | None
    text: str = ""  # of the file, where there is no result of a run


class Paper(Protocol):
    @property
    def style(self) -> str:
        """The report's style sheet, which is the page's as well."""

    def report(self) -> str:
        """The report's content as HTML. Its numbers lead to /paper/results/ID, its figures to /paper/images/NAME."""

    def image(self, name: str) -> bytes | None:
        """A figure of the report as SVG."""

    def source(self, identifier: str) -> Source | None: ...

    def heatmap(self) -> str:
        """Accuracy out of distribution as SVG; '' where nothing is measured."""
