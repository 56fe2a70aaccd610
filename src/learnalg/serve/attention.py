"""Attention as a picture: a square for each query and key, the darker the more it looks there.

>>> picture(seen, head=0, rows=["V5", "V5", ...], columns=[...]).paths[7]
'M0 0h8v8h-8zM8 0h8...'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from learnalg.models.watching import Seen
from learnalg.problems.task import Floats

SHADES = 8  # of a square, up to the largest weight of the picture; nearly nothing leaves it empty
SIDE = 480  # of the picture, about
MOST_LABELS = 40
LETTER, SPACE = 6.7, 8  # pixels of a token's name
MOST_LINKS = 5


@dataclass(frozen=True)
class Picture:
    title: str
    size: int  # of a square
    width: int
    height: int
    left: int
    paths: list[str]  # of each shade, the faintest first
    rows: list[tuple[float, str]]  # place and token; empty where there is no room
    columns: list[tuple[float, str]]
    links: list[str]  # the strongest, in words
    largest: float


@dataclass(frozen=True)
class Place:
    """One attention of a model: where it is."""

    name: str
    text: str


def places(attention: Sequence[Seen]) -> list[Place]:
    """All that a model has, in the order of computation."""
    has_loops = {side: any(s.loop > 1 for s in attention if s.side == side) for side in ("encoder", "decoder")}
    return [
        Place(
            place_name(s),
            f"{s.side}{' to encoder' if s.is_cross else ''}, layer {s.layer}"
            + (f", loop {s.loop}" if has_loops[s.side] else ""),
        )
        for s in attention
    ]


def place_name(seen: Seen) -> str:
    return f"{seen.side}-{'cross' if seen.is_cross else 'self'}-{seen.layer}-{seen.loop}"


def find_place(attention: Sequence[Seen], name: str) -> Seen:
    """Of that name, or from the decoder to the encoder in its last layer."""
    named = [s for s in attention if place_name(s) == name]
    return named[0] if named else [s for s in attention if s.is_cross][-1]


def picture(seen: Seen, head: int | None, rows: list[str], columns: list[str], side: int = SIDE) -> Picture:
    """Of a head, counted from 0, or of the mean of all. `rows` are the queries' tokens, `columns` the keys'."""
    every = seen.weights_BHQL[0].double().cpu().numpy()
    weights: Floats = every.mean(axis=0) if head is None else every[head]
    num = max(weights.shape)
    has_labels = num <= MOST_LABELS and side == SIDE
    size = max(3, min(22, side // num))
    left = round(LETTER * max(map(len, (*rows, *columns)))) + SPACE if has_labels else 0
    largest = float(weights.max())
    shades = np.ceil(weights / largest * SHADES - 0.25).astype(int)
    paths = []
    for shade in range(1, SHADES + 1):
        places = np.argwhere(shades == shade) * size
        paths.append("".join(f"M{left + x} {left + y}h{size}v{size}h-{size}z" for y, x in places.tolist()))
    order = np.argsort(-weights, axis=None)[:MOST_LINKS]
    links = [
        f"{rows[q]} (place {q + 1}) looks at {columns[k]} (place {k + 1}): {100 * weights[q, k]:.0f} %"
        for q, k in zip(*np.unravel_index(order, weights.shape), strict=True)
    ]
    middle = left + size / 2
    return Picture(
        "all heads, mean" if head is None else f"head {head + 1}",
        size,
        left + size * weights.shape[1],
        left + size * weights.shape[0],
        left,
        paths,
        [(middle + size * k, text) for k, text in enumerate(rows)] if has_labels else [],
        [(middle + size * k, text) for k, text in enumerate(columns)] if has_labels else [],
        links,
        largest,
    )
