"""Charts as numbers that a template writes as SVG: lines of learning curves, points of errors.

    >>> chart = line_chart("loss", [Line("ev3", [(100, 2.0), (200, 1.5)])], x_label="examples")
    >>> chart.lines[0].path
    'M48 10L...'

Nothing is drawn with inline styles: the page forbids them. Colours are classes, so that a chart follows dark mode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from learnalg.evaluation.result import percent
from learnalg.problems.task import Floats

WIDTH, HEIGHT = 420, 240
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 10, 38  # margins
MOST_POINTS = 300  # of a line: more than there are pixels for
NUM_COLORS = 7

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    name: str
    points: Points
    color: int = 0  # 0 to NUM_COLORS - 1
    is_dashed: bool = False


@dataclass(frozen=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True)
class Drawn:
    name: str
    path: str
    color: int
    is_dashed: bool = False
    last: str = ""  # the last value, in words
    dots: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Axis:
    """From values to pixels, linear or by decades."""

    low: float
    high: float
    start: float
    stop: float
    is_log: bool = False

    def place(self, values: Floats) -> Floats:
        low, high = self.low, self.high
        if self.is_log:
            values, low, high = np.log10(np.maximum(values, 1e-300)), math.log10(low), math.log10(high)
        share = (values - low) / (high - low if high > low else 1.0)
        return np.round(self.start + np.clip(share, 0, 1) * (self.stop - self.start), 1)

    def ticks(self) -> list[Tick]:
        if self.is_log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            step = max(1, math.ceil((last - first) / 6))
            values = [10.0**k for k in range(first, last + 1, step)]
        else:
            step_size = nice_step(self.high - self.low)
            first = math.ceil(self.low / step_size - 1e-9)
            values = [k * step_size for k in range(first, math.floor(self.high / step_size + 1e-9) + 1)]
        return [Tick(float(self.place(np.array(value))), short_number(value)) for value in values]


@dataclass(frozen=True)
class Chart:
    title: str
    x_label: str
    y_label: str
    lines: tuple[Drawn, ...]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    bottom: int = HEIGHT - BOTTOM
    right: int = WIDTH - RIGHT
    top: int = TOP
    marks: tuple[Tick, ...] = field(default=())  # horizontal lines with a name


def nice_step(span: float) -> float:
    """1, 2 or 5 times a power of ten, for about five ticks."""
    if span <= 0 or not math.isfinite(span):
        return 1.0
    rough = span / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)


def short_number(value: float) -> str:
    """0.01, 25, 50k, 1.2M; powers of ten where zeros would not be read."""
    size = abs(value)
    if size >= 1e6 and size < 1e9:
        return f"{value / 1e6:.3g}M"
    if size >= 1e3 and size < 1e6:
        return f"{value / 1e3:.3g}k"
    return (
        f"{value:.3g}"
        if size == 0 or 1e-3 <= size < 1e3
        else f"{value:.0e}".replace("+", "").replace("e0", "e").replace("e-0", "e-")
    )


def thinned(points: Points) -> Floats:
    """(num, 2): at most MOST_POINTS, the last among them; finite ones only."""
    array: Floats = np.array(points, dtype=np.float64).reshape(-1, 2)
    array = array[np.isfinite(array).all(axis=1)]
    if len(array) <= MOST_POINTS:
        return array
    return array[np.unique(np.linspace(0, len(array) - 1, MOST_POINTS).round().astype(int))]


def line_chart(
    title: str,
    lines: Sequence[Line],
    x_label: str = "examples",
    y_label: str = "",
    is_share: bool = False,
    x_end: float = 0.0,
) -> Chart | None:
    """None where there is nothing to draw. Shares are in percent. `x_end`: where the axis ends at least, so that
    several agree."""
    kept = [(line, thinned(line.points)) for line in lines]
    kept = [(line, points) for line, points in kept if len(points)]
    if not kept:
        return None
    whole = np.concatenate([points for _, points in kept])
    low, high = (0.0, 100.0) if is_share else (float(whole[:, 1].min()), float(whole[:, 1].max()))
    if high <= low:
        low, high = low - 0.5, high + 0.5
    margin = 0.0 if is_share else 0.04 * (high - low)
    x = Axis(0.0, max(x_end, float(whole[:, 0].max())) or 1.0, LEFT, WIDTH - RIGHT)
    y = Axis(low - margin, high + margin, HEIGHT - BOTTOM, TOP)
    drawn = []
    for line, points in kept:
        xs, ys = x.place(points[:, 0]), y.place(points[:, 1])
        dots = tuple(zip(xs.tolist(), ys.tolist(), strict=True)) if len(points) <= 30 else ()
        last = f"{percent(points[-1, 1] / 100)} %" if is_share else f"{points[-1, 1]:.3g}"
        drawn.append(Drawn(line.name, path_of(xs, ys), line.color, line.is_dashed, last, dots))
    return Chart(title, x_label, y_label, tuple(drawn), x.ticks(), y.ticks())


def path_of(xs: Floats, ys: Floats) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))


def dots_of(xs: Floats, ys: Floats) -> str:
    """Points as one path of strokes without length: round ends make them dots, in a tenth of the bytes."""
    return "".join(f"M{x:g} {y:g}h0" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))


def scatter_chart(
    title: str,
    groups: dict[str, tuple[Floats, Floats]],
    x_label: str,
    y_label: str,
    marks: dict[str, float] | None = None,
) -> Chart | None:
    """Points by group, over decades on both axes. What is zero or less stands at the lower end, what is infinite at
    the upper one."""
    both = [np.concatenate([pair[k] for pair in groups.values()]) for k in (0, 1)] if groups else []
    if not both or not len(both[0]):
        return None
    x, y = (
        _log_axis(values, start, stop)
        for values, start, stop in (
            (both[0], LEFT, WIDTH - RIGHT),
            (np.concatenate([both[1], list((marks or {}).values())]), HEIGHT - BOTTOM, TOP),
        )
    )
    drawn = [
        Drawn(name, dots_of(x.place(_inside(xs, x)), y.place(_inside(ys, y))), k)
        for k, (name, (xs, ys)) in enumerate(groups.items())
        if len(xs)
    ]
    lines = tuple(Tick(float(y.place(np.array(value))), name) for name, value in (marks or {}).items())
    return Chart(title, x_label, y_label, tuple(drawn), x.ticks(), y.ticks(), marks=lines)


def _log_axis(values: Floats, start: float, stop: float) -> Axis:
    known = values[np.isfinite(values) & (values > 0)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.1, 10.0)
    low = max(low, high * 1e-8)  # rounding must not stretch the axis
    return Axis(10 ** (math.log10(low) - 0.15), 10 ** (math.log10(high) + 0.15), start, stop, is_log=True)


def _inside(values: Floats, axis: Axis) -> Floats:
    return np.clip(np.nan_to_num(values, nan=axis.high, posinf=axis.high), axis.low, axis.high)
