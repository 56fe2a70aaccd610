"""Our number against the paper's: a mark, the difference in words, and how far apart they are.

    >>> compare(Number(paper=100, ours=(96.5,)), HIGHER)
    Comparison(mark='▼', words='−3.5', step=-1)

Shares are compared by their difference in percentage points; examples, epochs and other amounts by their quotient.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from learnalg.reproduction.table import Number

HIGHER, LOWER, NEITHER = 1, -1, 0  # what is better: a higher share, a lower number of examples, neither
POINTS = (1.0, 5.0, 20.0)  # up to the first as good as the paper's, then a step each
QUOTIENTS = (1.05, 1.25, 2.0)  # the same for amounts, whichever is larger over the other
BETTER, WORSE, CLOSE, EQUAL = "▲", "▼", "≈", "="
MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True)
class Comparison:
    mark: str = ""
    words: str = ""
    step: int = 0  # -3 far worse .. 3 far better; 0 as good, or not to be compared


def direction_of(measure: str) -> int:
    """Whether a higher value of a measure (table.py) is better."""
    if measure.startswith("after/") or "accuracy/" in measure:
        return HIGHER
    if measure.startswith("reached/") or measure.endswith(("loss", "seconds", "examples")):
        return LOWER
    return NEITHER


def compare(number: Number, direction: int) -> Comparison:
    """No mark for what cannot be compared: words."""
    paper = number.paper
    if number.words:
        return Comparison(EQUAL) if number.words == str(paper) else Comparison()
    if not number.ours or isinstance(paper, bool) or not isinstance(paper, int | float):
        return Comparison()
    ours = statistics.fmean(number.ours)
    if math.isnan(ours):
        return Comparison(WORSE, "", -3) if direction == LOWER else Comparison()
    if direction == HIGHER:
        apart = round(ours - paper, number.digits)
        in_interval = number.interval is not None and number.interval[0] <= paper <= number.interval[1]
        step = 0 if in_interval else _step(abs(apart), POINTS)
        return _marked(f"{apart:+.{number.digits}f}", step if apart > 0 else -step, is_equal=apart == 0)
    if ours <= 0 or paper <= 0:
        return Comparison(EQUAL) if ours == paper else Comparison()
    quotient = ours / paper
    step = _step(max(quotient, 1 / quotient), QUOTIENTS)
    sign = direction if quotient > 1 else -direction
    if direction == NEITHER and step:
        return Comparison("", f"{TIMES}{quotient:.3g}")
    return _marked(f"{TIMES}{quotient:.3g}", sign * step, is_equal=ours == paper)


def _step(distance: float, bounds: tuple[float, ...]) -> int:
    return sum(distance > bound for bound in bounds)


def _marked(words: str, step: int, is_equal: bool) -> Comparison:
    if is_equal:
        return Comparison(EQUAL)
    mark = CLOSE if step == 0 else BETTER if step > 0 else WORSE
    return Comparison(mark, words.replace("-", MINUS), step)
