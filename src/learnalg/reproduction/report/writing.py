"""Writes the report: index.html and report.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from learnalg.training.checkpoint import write_whole
from learnalg.reproduction.tables import Recipe
from learnalg.reproduction.report.gathering import gather
from learnalg.reproduction.report.markdown import markdown
from learnalg.reproduction.report.page import page
from learnalg.reproduction.report.speedrun import learning_curves, load_results


def write_report(recipes: Mapping[str, Recipe], scale: str, root: Path, folder: Path) -> list[Path]:
    """From what results/ in `root` has, into `folder`."""
    document = gather(recipes, scale, root)
    has_curves = any(result.get("curve") for result in load_results(root / "results").values())
    curves = learning_curves(root / "results") if has_curves else None
    folder.mkdir(parents=True, exist_ok=True)
    contents = {"index.html": page(document, curves), "report.md": markdown(document, folder)}
    for name, text in contents.items():
        write_whole(folder / name, text.encode())
    return [folder / name for name in contents]
