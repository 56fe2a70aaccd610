"""Curves in a terminal: a braille character has 2 x 4 dots.

>>> print(plot([Curve([0, 1, 2], [0, 50, 80], "green")], width=12, height=3, x_max=4, low=0, high=100))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # of the dots in a braille character
BLANK = 0x2800


@dataclass(frozen=True)
class Curve:
    x: Sequence[float]
    y: Sequence[float]
    style: str


def plot(curves: Sequence[Curve], width: int, height: int, x_max: float, low: float, high: float) -> Text:
    """Curves from x = 0 to x_max in so many characters. Where two meet, the first has its colour."""
    found = np.stack([dots(curve, width, height, x_max, low, high) for curve in curves])
    cells = found.reshape(len(curves), height, 4, width, 2)
    characters = (cells.any(axis=0) * BITS[None, :, None, :]).sum(axis=(1, 3)) + BLANK
    has_dots = cells.any(axis=(2, 4))
    owners = has_dots.argmax(axis=0)  # where there is none, the colour does not matter
    text = Text(no_wrap=True)
    for row in range(height):
        for column in range(width):
            text.append(chr(characters[row, column]), curves[owners[row, column]].style)
        text.append("\n" if row + 1 < height else "")
    return text


def dots(curve: Curve, width: int, height: int, x_max: float, low: float, high: float) -> NDArray[np.bool_]:
    """(4 height, 2 width): points of one column are averaged, columns between points are interpolated."""
    rows, columns = 4 * height, 2 * width
    x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
    if not len(x):
        return np.zeros((rows, columns), dtype=bool)
    at = np.clip(np.round(x / max(x_max, 1e-9) * (columns - 1)), 0, columns - 1).astype(int)
    counts = np.bincount(at, minlength=columns)
    means = np.bincount(at, weights=y, minlength=columns)[counts > 0] / counts[counts > 0]
    known = counts.nonzero()[0]
    every = np.arange(known[0], known[-1] + 1)
    share = np.clip((np.interp(every, known, means) - low) / max(high - low, 1e-12), 0, 1)
    row = np.round((1 - share) * (rows - 1)).astype(int)
    before = np.concatenate([row[:1], row[:-1]])
    # A steep line has no gaps: a column reaches to where the one before it ended.
    top, bottom = np.minimum(row, before + 1), np.maximum(row, before - 1)
    k = np.arange(rows)[:, None]
    found = np.zeros((rows, columns), dtype=bool)
    found[:, every] = (k >= top) & (k <= bottom)
    return found
