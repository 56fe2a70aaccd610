"""Figures of a failure anatomy, as SVG (paper, sections 4.5 and 4.6, in pictures).

TASK-accuracy.svg    accuracy against each number that may predict failure, with 95 % intervals
TASK-roc.svg         failures caught against false alarms, one curve a predictor
TASK-condition.svg   condition numbers of the right and of the failures, and the thresholds between them
TASK-vectors.svg     norms and dot products of predicted eigenvectors

matplotlib takes seconds to load and is loaded when the first figure is drawn; pyplot, with its global state, never is.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from learnalg.tokens.encoding import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from learnalg.evaluation.measurements import Examples

RIGHT, WRONG, QUIET = "#0072b2", "#d55e00", "#555555"  # told apart by colour-blind readers too
CURVES = (RIGHT, WRONG, "#009e73", "#cc79a7", "#222222")
STYLE: dict[Any, Any] = {  # matplotlib names all its settings in a type of their own
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "learnalg",  # the same numbers give the same file
}
SMALLEST = 1e-6  # where an excess of 0 over the condition number 1 stands on a logarithmic axis
MOST_COLUMNS = 3


def draw_figures(examples: Examples, found: dict[str, Any], failure: float) -> dict[str, bytes]:
    """File name -> SVG; what cannot be drawn (a ROC without failures) is not there."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figures = {
            "accuracy": _accuracy(found, failure),
            "roc": _roc(found),
            "condition": _condition(examples, found, failure),
            "vectors": _vectors(examples, failure),
        }
        return {f"{examples.task}-{name}.svg": as_svg(figure) for name, figure in figures.items() if figure is not None}


def predictors_of(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The predictors that vary: drivers, then, for eigenvectors, the condition number of H."""
    known = found["drivers"] | ({"condition_of_h": found["vectors"]["condition_of_h"]} if "vectors" in found else {})
    return {name: predictor for name, predictor in known.items() if len(predictor["bins"]) > 1}


def _new(num: int, width: float = 4.2, height: float = 3.4) -> tuple[Figure, list[Axes]]:
    return panels(num, 2 if num == 4 else min(num, MOST_COLUMNS), width, height)


def panels(num: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    rows = -(-num // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, [figure.add_subplot(rows, columns, k + 1) for k in range(num)]


def as_svg(figure: Figure) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()


def _accuracy(found: dict[str, Any], failure: float) -> Figure | None:
    predictors = predictors_of(found)
    if not predictors:
        return None
    figure, axes = _new(len(predictors))
    for axis, (name, predictor) in zip(axes, predictors.items(), strict=True):
        bins = [part for part in predictor["bins"] if part["median"] is not None]
        place = _place(name, np.array([part["median"] for part in bins]))
        share = 100 * np.array([part["accuracy"] for part in bins])
        low, high = 100 * np.array([part["interval"] for part in bins]).T
        # Rounding may put a share of 0 or 1 a hair outside of its own interval.
        spread = np.maximum([share - low, high - share], 0)
        axis.errorbar(place, share, yerr=spread, color=RIGHT, marker="o", markersize=4, capsize=2)
        if name != "gap":
            set_log(axis, place)
        axis.set_ylim(-3, 103)
        axis.set_xlabel(_label(name, predictor))
        axis.set_ylabel(f"accuracy at {100 * failure:g} %, in %")
    return figure


def _roc(found: dict[str, Any]) -> Figure | None:
    predictors = {name: p for name, p in predictors_of(found).items() if p["roc"] is not None}
    if not predictors:
        return None
    figure, (axis,) = _new(1, 5.0, 5.4)
    axis.plot([0, 100], [0, 100], color=QUIET, linewidth=0.8, linestyle=":")
    for color, (name, predictor) in zip(CURVES, predictors.items(), strict=False):
        curve = {key: 100 * np.array(values) for key, values in predictor["roc"].items()}
        label = f"{predictor['side']} {predictor['what']}: {predictor['auc']:.3f}"
        axis.plot(curve["false_alarms"], curve["caught"], color=color, label=label)
        best = predictor["best"]
        if best is not None and name.startswith("condition"):
            point = 100 - 100 * best["share_of_right_let_through"], 100 * best["share_of_failures_caught"]
            axis.plot(*point, "o", color=color)
            words = f"at {best['threshold']:.5g}"
            axis.annotate(words, point, xytext=(7, -12), textcoords="offset points", color=color)
    axis.set_xlabel("false alarms, in % of the right ones")
    axis.set_ylabel("failures caught, in %")
    axis.set_aspect("equal")
    figure.legend(title="area under the curve", loc="outside lower center")
    return figure


def _condition(examples: Examples, found: dict[str, Any], failure: float) -> Figure | None:
    """Each histogram is of shares, since failures may be few."""
    name = "condition_of_h" if examples.vectors else "condition"
    predictor = predictors_of(found).get(name)
    if predictor is None:
        return None
    scores = examples.vectors[name] if examples.vectors else examples.drivers[name]
    usable = np.isfinite(scores)
    place, failed = _place(name, scores[usable]), ~(examples.errors < failure)[usable]
    figure, (axis,) = _new(1, 6.4, 4.2)
    _two_histograms(axis, place[~failed], place[failed], np.geomspace(place.min(), place.max() * 1.0001, 41))
    set_log(axis, place)
    axis.set_xlabel(_label(name, predictor))
    marks = [("--", "our threshold", predictor["best"])] + [(":", "the paper's", mark) for mark in predictor["paper"]]
    for style, who, mark in marks:
        if mark is not None:
            label = f"{who}, {mark['threshold']:.5g}"
            axis.axvline(float(_place(name, np.array(mark["threshold"]))), color=QUIET, linestyle=style, label=label)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _vectors(examples: Examples, failure: float) -> Figure | None:
    if not examples.vectors or not examples.has_matrix.any():
        return None
    figure, axes = _new(2)
    failed = ~(examples.errors < failure)
    panels = {"norms": (1.0, 0.1, "norm of a column of H"), "dots": (0.0, 0.2, "dot product of successive columns")}
    for axis, (name, (centre, reach, label)) in zip(axes, panels.items(), strict=True):
        edges = np.linspace(centre - reach, centre + reach, 42)  # an odd number of bins: one lies on the centre
        groups = (examples.vectors[name][rows] for rows in (~failed, failed))
        right, wrong = (np.clip(group[~np.isnan(group)], edges[0], edges[-1]) for group in groups)
        _two_histograms(axis, right, wrong, edges)
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.set_xlabel(f"{label}\n(the outermost bars count all beyond)")
        axis.legend(loc="upper left", bbox_to_anchor=(0.0, 1.18), ncols=2)
    return figure


def _two_histograms(axis: Axes, right: Floats, wrong: Floats, edges: Floats) -> None:
    for values, color, label in ((right, RIGHT, "right"), (wrong, WRONG, "failures")):
        if values.size:
            weights = np.full(values.size, 100 / values.size)
            axis.hist(
                values, edges.tolist(), weights=weights, color=color, alpha=0.55, label=f"{label} ({values.size:,})"
            )
    axis.set_ylabel("share of each, in %")


def set_log(axis: Axes, values: Floats) -> None:
    """Labels 1, 2, 5, 10 over a few decades, powers of ten over many."""
    from matplotlib.ticker import LogLocator, NullFormatter

    is_wide = values.max() > 300 * values.min()
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0,) if is_wide else (1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_formatter(NullFormatter())


def _place(name: str, values: Floats) -> Floats:
    """Where a score stands on its axis: an orthogonal H has the condition number 1, and 1.04 is far from it."""
    return np.maximum(values - 1, SMALLEST) if name == "condition_of_h" else values


def _label(name: str, predictor: dict[str, Any]) -> str:
    return predictor["what"] + (f",\nminus 1 (the left end: {SMALLEST:g} or less)" if name == "condition_of_h" else "")
