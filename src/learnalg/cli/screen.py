"""A run in a terminal: one picture that follows it.

 eigenvalues 3, runs/ev3 ━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━━━ 51,200 / 100,000
 loss 1.217   learning rate 0.0021   940 examples/s   0:52 left

The learning curve, the last evaluations, and a few predictions beside the truth stand below. What does not fit into the
terminal's height is left out, from the bottom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from learnalg.cli.plot import Curve, plot
from learnalg.cli.texts import log_line, tolerance_name
from learnalg.evaluation.result import Point, Report, percent
from learnalg.evaluation.samples import Sample
from learnalg.training.watcher import Log, Silent

WIDEST, TALLEST = 110, 10  # characters; rows of a plot
SHOWN = 4  # evaluations
GOOD = 0.05  # a relative error below this is green


class Screen(Silent):
    """Keeps what a run says, and draws it when rich asks."""

    def __init__(self, title: str, total: int, curve: Sequence[Point] = ()) -> None:
        self.title, self.total, self.examples = title, total, 0
        self.line, self.notice = "starting", ""
        self.losses: list[tuple[int, float]] = []  # of training
        self.curve, self.reports = list(curve), list[tuple[int, Report]]()
        self.samples: list[Sample] = []
        self.final: tuple[int, int] | None = None  # examples of the final evaluation: done, of

    def on_log(self, log: Log) -> None:
        self.examples, self.notice, self.line = log.examples, log.notice, log_line(log)
        self.losses.append((log.examples, log.loss))

    def on_evaluation(self, examples: int, report: Report) -> None:
        self.curve.append(Point(examples, report.loss, report.accuracy))
        self.reports.append((examples, report))

    def on_samples(self, samples: list[Sample]) -> None:
        self.samples = samples

    def on_final_evaluation(self, num: int, split: str = "validation") -> None:
        self.final, self.line, self.notice = (0, num), f"final evaluation on the {split} split", ""

    def on_evaluated(self, done: int) -> None:
        if self.final:
            self.final = (done, self.final[1])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = min(options.max_width, WIDEST), console.size.height - 1
        parts: list[tuple[RenderableType, int]] = [(self._head(width), 2 + bool(self.notice))]
        below = [part for part in (self._evaluations(), self._samples(width)) if part[1]]
        room = height - parts[0][1] - sum(lines for _, lines in below) - 2  # a plot has a title and an axis
        rows = min(max(room, 4), TALLEST, height - parts[0][1] - 2)
        if rows > 1 and (self.curve or len(self.losses) > 1):
            parts.append((self._plots(width, rows), rows + 2))
        left = height - sum(lines for _, lines in parts)
        for part, lines in below:
            if lines <= left:
                parts.append((part, lines))
                left -= lines
        for k, (part, _) in enumerate(parts):
            yield from ("", part) if k and left >= len(parts) - 1 else (part,)

    def _head(self, width: int) -> RenderableType:
        done, of = self.final or (self.examples, self.total)
        count = f"{done:,} / {of:,}"
        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=of, completed=done, width=max(width - len(self.title) - len(count) - 2, 8))
        row.add_row(Text(self.title, style="bold"), bar, count)
        return Group(row, Text(self.line), *([Text(self.notice, style="yellow")] if self.notice else []))

    def _plots(self, width: int, rows: int) -> RenderableType:
        """Accuracy at the widest and the narrowest tolerance, and the losses."""
        x_max = max(self.total, *(point.examples for point in self.curve), 1)
        points = [point.examples for point in self.curve]
        shares = [next(iter(point.accuracy.values())) for point in self.curve]
        tolerances = [key for key in (shares[-1] if shares else ()) if float(key) > 0]
        chosen = dict(zip(("green", "cyan"), dict.fromkeys(tolerances[:1] + tolerances[-1:]), strict=False))
        accuracy = [Curve(points, [100 * s[key] for s in shares], style) for style, key in chosen.items()]
        legend = Text.assemble(
            "accuracy in %:" if chosen else "accuracy: not evaluated yet",
            *((f" at {tolerance_name(key)}", style) for style, key in chosen.items()),
        )
        training = Curve([x for x, _ in self.losses], [_log(y) for _, y in self.losses], "dim")
        validation = Curve(points, [_log(point.loss) for point in self.curve], "magenta")
        heights = [*training.y, *validation.y]
        low, high = min(heights), max(heights)
        columns = (width - 18) // 2
        grid = Table.grid(padding=(0, 2))
        grid.add_row(
            _panel(legend, plot(accuracy or [Curve([], [], "")], columns, rows, x_max, 0, 100), "100", "0", x_max),
            _panel(
                Text.assemble("loss: ", ("validation ", "magenta"), ("training", "dim")),
                plot([validation, training], columns, rows, x_max, low, high),
                f"{math.exp(high):.3g}",
                f"{math.exp(low):.3g}",
                x_max,
            ),
        )
        return grid

    def _evaluations(self) -> tuple[RenderableType, int]:
        if not self.reports:
            return "", 0
        tolerances = [key for key in next(iter(self.reports[-1][1].accuracy.values())) if float(key) > 0]
        table = Table.grid(padding=(0, 2))
        for _ in range(len(tolerances) + 3):
            table.add_column(justify="right")
        table.add_row("examples", *map(tolerance_name, tolerances), "well-formed", "loss", style="dim")
        for examples, report in self.reports[-SHOWN:]:
            shares = next(iter(report.accuracy.values()))
            cells = [percent(shares[key]) for key in tolerances]
            table.add_row(f"{examples:,}", *cells, percent(report.well_formed), f"{report.loss:.3f}")
        return table, 1 + len(self.reports[-SHOWN:])

    def _samples(self, width: int) -> tuple[RenderableType, int]:
        if not self.samples:
            return "", 0
        shapes = {sample.solution.shape for sample in self.samples}
        is_cut = any(min(shape) > 1 for shape in shapes)
        heading = f"first examples of the validation set{': first row of the solution' if is_cut else ''}"
        table = Table.grid(padding=(0, 1))
        table.add_column(style="dim")
        most = max((width - 22) // 9, 1)
        for sample in self.samples:
            truth, shown = _coefficients(sample.solution, most), f"{100 * sample.error:.1f} %"
            cells = [f"{value:>8.4g}" for value in truth]
            if sample.prediction is None:
                guess, style = Text(f"no matrix: {sample.reason}", style="red"), ""
                table.add_row("predicted", guess)
            else:
                style = "green" if sample.error < GOOD else "red"
                guess = Text(" ".join(f"{value:>8.4g}" for value in _coefficients(sample.prediction, most)))
                table.add_row("predicted", Text.assemble(guess, "  ", (f"off by {shown}", style)))
            table.add_row("truth", Text(" ".join(cells)))
        return Group(Text(heading, style="dim"), table), 1 + 2 * len(self.samples)


def _log(loss: float) -> float:
    return math.log(max(loss, 1e-9))


def _coefficients(matrix: object, most: int) -> list[float]:
    """The first row of a matrix, or a column."""
    rows = getattr(matrix, "tolist")()  # noqa: B009
    first = [row[0] for row in rows] if len(rows[0]) == 1 else rows[0]
    return first[:most]


def _panel(title: Text, drawing: Text, high: str, low: str, x_max: int) -> RenderableType:
    """A plot with its axes."""
    lines = drawing.split("\n")
    title.truncate(len(lines[0]), overflow="ellipsis")
    labels = [high, *[""] * (len(lines) - 2), low]
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", min_width=4, style="dim")
    table.add_row("", title)
    for label, line in zip(labels, lines, strict=True):
        table.add_row(label, line)
    end = f"{x_max:,}"
    table.add_row("", Text("0" + end.rjust(len(lines[0]) - 1), style="dim"))
    return table
