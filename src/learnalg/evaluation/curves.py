"""Learning curves of several models in one figure: accuracy and loss on the validation split over training examples.

>>> draw_curves({"ev3": result.curve, "ev5": other.curve}, "0.05", "png")
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from learnalg.evaluation.figures import CURVES, STYLE, panels
from learnalg.evaluation.result import Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = ("-", "--", ":")  # more curves than colours


def draw_curves(curves: Mapping[str, Sequence[Point]], tolerance: str, kind: str) -> bytes:
    """As png or svg."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        content = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else {"Software": None}  # the same curves give the same file
        _figure(curves, tolerance).savefig(content, format=kind, dpi=150, metadata=metadata)
    return content.getvalue()


def _figure(curves: Mapping[str, Sequence[Point]], tolerance: str) -> Figure:
    figure, (accuracy, loss) = panels(2, 2, 5.2, 3.6)
    for k, (name, points) in enumerate(curves.items()):
        style: dict[str, Any] = {
            "color": CURVES[k % len(CURVES)],
            "ls": LINES[k // len(CURVES) % len(LINES)],
            "marker": ".",
            "lw": 1.4,
        }
        examples = [point.examples / 1000 for point in points]
        shares = [100 * _share(point, tolerance) for point in points]
        accuracy.plot(examples, shares, label=name.replace("_", " "), **style)
        loss.plot(examples, [point.loss for point in points], **style)
    accuracy.set(ylabel=f"accuracy at {100 * float(tolerance):g} %", ylim=(-3, 103))
    loss.set(ylabel="loss a token")
    for axis in (accuracy, loss):
        axis.set_xlabel("thousand training examples")
        axis.set_xlim(left=0)
    if curves:
        accuracy.legend(fontsize=8, loc="best")
    return figure


def _share(point: Point, tolerance: str) -> float:
    return next(iter(point.accuracy.values())).get(tolerance, float("nan"))
