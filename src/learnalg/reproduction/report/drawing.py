"""The paper's figures, drawn from results as SVG: accuracy in three norms, learning curves, spectra.

    >>> svg = draw(EXPERIMENTS["figure-3"], "laptop", Path("."))

matplotlib takes seconds to load, and is loaded when a figure is drawn; pyplot, with its global state, never is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnalg.evaluation import figures
from learnalg.evaluation.figures import as_svg, panels
from learnalg.evaluation.result import Point, Result
from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.results import load_computed, load_result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#222222")  # told apart by all readers
STYLE = figures.STYLE | {"font.size": 9}
NORMS = {"l1": "L1", "l2": "L2", "linf": "L-infinity"}  # in a curve -> name
MOST_COLUMNS = 4
Results = list[tuple[Cell, Result]]
Curve = tuple[Point, ...]


def draw(experiment: Experiment, scale: str, root: Path) -> bytes | None:
    """Draws what there is; None if there is nothing yet."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        if experiment.computed:
            computed = load_computed(experiment, scale, root)
            figure = None if computed is None else COMPUTED_FIGURES[experiment.figure](computed)
        else:
            loaded = ((cell, load_result(experiment, scale, cell, root)) for cell in experiment.cells_at(scale))
            results = [(cell, result) for cell, result in loaded if result is not None]
            figure = CURVE_FIGURES[experiment.figure](results) if results else None
        if figure is None:
            return None
        return as_svg(figure)


def norms(results: Results) -> Figure:
    """A panel for each problem: accuracy at 5 % tolerance in each norm that its curve has."""
    figure, axes = panels(len(results), min(len(results), MOST_COLUMNS), 3.0, 2.6)
    for axis, (cell, result) in zip(axes, results, strict=True):
        curve = result.curve
        for color, (key, name) in zip(COLORS, NORMS.items(), strict=False):
            if all(key in point.accuracy for point in curve):  # results of before have L1 only
                shares = [100 * point.accuracy[key]["0.05"] for point in curve]
                axis.plot(_examples(curve), shares, color=color, label=name, marker=_marker(curve), markersize=3)
        axis.set_title(str(cell.shows[0].row), fontsize=10)
        axis.set_ylim(-3, 103)
        axis.set_xlabel("examples, thousands")
    for axis in axes[::MOST_COLUMNS]:
        axis.set_ylabel("accuracy at 5 %, in %")
    axes[0].legend()
    return figure


def curves(results: Results) -> Figure:
    """A row for each problem, with the loss and the accuracies at 5 and 1 % tolerance; a line for each model."""
    problems = list(dict.fromkeys(_problem(cell) for cell, _ in results))
    figure, axes = panels(3 * len(problems), 3, 3.6, 2.5)
    for k, problem in enumerate(problems):
        loss, wide, narrow = axes[3 * k : 3 * k + 3]
        for color, (cell, result) in zip(COLORS, _of(results, problem), strict=False):
            curve = result.curve
            label, marker = str(cell.shows[0].row).removeprefix(f"{problem}, "), _marker(curve)
            style: dict[str, Any] = {"color": color, "marker": marker, "markersize": 3, "label": label}
            loss.plot(_examples(curve), [point.loss for point in curve], **style)
            for axis, tolerance in ((wide, "0.05"), (narrow, "0.01")):
                axis.plot(_examples(curve), [100 * point.accuracy["l1"][tolerance] for point in curve], **style)
        loss.set_ylabel(f"{problem}\nloss a token")
        for axis, name in ((wide, "accuracy at 5 %, in %"), (narrow, "accuracy at 1 %, in %")):
            axis.set_ylim(-3, 103)
            axis.set_ylabel(name)
        loss.legend()
    for axis in axes[-3:]:
        axis.set_xlabel("examples, thousands")
    return figure


def _problem(cell: Cell) -> str:
    return str(cell.shows[0].row).partition(", ")[0]


def _of(results: Results, problem: str) -> Results:
    return [(cell, result) for cell, result in results if _problem(cell) == problem]


def _examples(curve: Curve) -> list[float]:
    return [point.examples / 1_000 for point in curve]


def _marker(curve: Curve) -> str:
    """A curve of few points shows them: one point alone is no line."""
    return "o" if len(curve) <= 20 else ""


def spectra(computed: dict[str, Any]) -> Figure:
    """A row for each law of the coefficients, a column for each size; the semicircle over each histogram."""
    histograms = computed["histograms"]
    laws = list(dict.fromkeys(histogram["law"] for histogram in histograms))
    columns = len(histograms) // len(laws)
    figure, axes = panels(len(histograms), columns, 2.6, 2.0)
    for k, (axis, histogram) in enumerate(zip(axes, histograms, strict=True)):
        edges, counts, sigma = np.array(histogram["edges"]), np.array(histogram["counts"]), histogram["expected"]
        density = counts / (computed["matrices"] * histogram["n"] * np.diff(edges))
        axis.stairs(density, edges, fill=True, color=COLORS[0], alpha=0.6)
        x = np.linspace(-2 * sigma, 2 * sigma, 200)
        axis.plot(x, np.sqrt(np.maximum(4 * sigma**2 - x**2, 0)) / (2 * np.pi * sigma**2), color=COLORS[1], linewidth=1)
        axis.set_yticks([])
        axis.grid(False)
        axis.spines["left"].set_visible(False)
        if k < columns:
            axis.set_title(f"{histogram['n']}x{histogram['n']}", fontsize=10)
        if k % columns == 0:
            axis.set_ylabel(histogram["law"])
    figure.supxlabel("eigenvalues; the line is the semicircle of that deviation", fontsize=9)
    return figure


CURVE_FIGURES: dict[str, Callable[[Results], Figure]] = {"norms": norms, "curves": curves}
COMPUTED_FIGURES: dict[str, Callable[[dict[str, Any]], Figure]] = {"spectra": spectra}
