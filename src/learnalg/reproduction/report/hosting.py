"""The report as a part of a page that is served: its numbers lead to results of their own, its figures are files.

    >>> Hosting(EXPERIMENTS, "laptop", Path(".")).source("run-table-6-p1000-5-4-1").result.sha256

It is gathered again when a result has changed.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from learnalg.evaluation.result import Result
from learnalg.files import results_folder
from learnalg.reproduction.experiment import Experiment
from learnalg.reproduction.report.gathering import gather, section_of
from learnalg.reproduction.report.heatmap import heatmap
from learnalg.reproduction.report.page import HEATMAPS, STYLE, content
from learnalg.reproduction.results import cell_path, known_path, load_result, released_result, result_path
from learnalg.serve.paper import Source

RUN = re.compile(r'href="#run-([^"]+)"')
FIGURE = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')


@dataclass
class Hosting:
    experiments: Mapping[str, Experiment]
    scale: str
    root: Path
    lock: Lock = field(default_factory=Lock)
    stamp: tuple[int, int] = (-1, 0)
    html: str = ""
    images: dict[str, bytes] = field(default_factory=dict)

    @property
    def style(self) -> str:
        return STYLE.read_text()

    def report(self) -> str:
        self._refresh()
        return self.html

    def heatmap(self) -> str:
        known = [self.experiments[name] for name in HEATMAPS if name in self.experiments]
        sections = [section_of(experiment, self.scale, self.root) for experiment in known]
        return "".join(heatmap(section) for section in sections if section.comparisons)

    def image(self, name: str) -> bytes | None:
        return self.images.get(name)

    def source(self, identifier: str) -> Source | None:
        """Of a run as the report names it: NAME, or TABLE-KEY."""
        released = released_result(identifier, self.root) if self._is_released(identifier) else None
        if released is not None:
            return self._found(identifier, "released-models", self.root / "results" / f"{identifier}.json", released)
        for experiment in self.experiments.values():
            if not identifier.startswith(f"{experiment.name}-"):
                continue
            key = identifier.removeprefix(f"{experiment.name}-")
            if experiment.computed and key == experiment.name:
                path = result_path(experiment, self.scale, experiment.name, self.root)
                return self._found(experiment.name, experiment.name, path, None)
            for cell in experiment.cells_at(self.scale):
                if cell.key == key:
                    result = load_result(experiment, self.scale, cell, self.root)
                    path = cell_path(experiment, self.scale, cell, self.root)
                    if cell.released and not cell.tests and known_path(path, self.root) is None:
                        path = self.root / "results" / f"{cell.released}.json"
                    name = f"{experiment.name}, {cell.key}"
                    return None if result is None else self._found(name, experiment.name, path, result)
        return None

    def _is_released(self, name: str) -> bool:
        return any(path.stem == name for folder in self._folders() for path in folder.glob("*.json"))

    def _found(self, name: str, table: str, path: Path, result: Result | None) -> Source | None:
        known = known_path(path, self.root)
        if known is None:
            return None
        shown = path.relative_to(self.root).as_posix()
        return Source(name, table, shown, result, "" if result else known.read_text())

    def _folders(self) -> list[Path]:
        return [folder for folder in (self.root / "results", results_folder()) if folder.is_dir()]

    def _refresh(self) -> None:
        with self.lock:
            times = [path.stat().st_mtime_ns for folder in self._folders() for path in folder.rglob("*.json")]
            stamp = len(times), max(times, default=0)
            if stamp == self.stamp:
                return
            document = gather(self.experiments, self.scale, self.root)
            self.html = FIGURE.sub(self._as_file, RUN.sub(r'href="/paper/results/\1"', content(document)))
            self.stamp = stamp

    def _as_file(self, match: re.Match[str]) -> str:
        image = base64.b64decode(match[1])
        name = f"{hashlib.sha256(image).hexdigest()[:16]}.svg"
        self.images[name] = image
        return f'src="/paper/images/{name}" loading="lazy"'
