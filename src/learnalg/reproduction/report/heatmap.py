"""A table of shares as a heat map: ours above, the paper's below, one scale of colours; a string of SVG."""

from __future__ import annotations

import statistics
from html import escape
from itertools import groupby

from learnalg.reproduction.report.gathering import Section
from learnalg.reproduction.report.tables import DASH, SEPARATOR, element
from learnalg.reproduction.table import Number

LABEL, WIDTH, HEIGHT, HEAD, GAP = 190, 58, 28, 52, 34  # pixels
LIGHT, DARK = (239, 243, 248), (8, 64, 129)  # the colours of 0 and 100 %
TURN = 55.0  # per cent from which white text is easier to read than black


def heatmap(section: Section, background: str = "") -> str:
    """`background` is a colour for where the figure stands alone."""
    names = section.table.columns[1:]
    panel = HEAD + HEIGHT * len(section.table.rows)
    width, height = LABEL + WIDTH * len(names), 2 * panel + GAP + 4
    title = f"{section.heading} as a heat map: {section.title}"
    behind = element("rect", width=width, height=height, fill=background) if background else ""
    drawn = behind + _panel(section, "ours", 0) + _panel(section, "the paper's", panel + GAP)
    return element(
        "svg",
        element("title", escape(title)) + drawn,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


def _panel(section: Section, whose: str, top: int) -> str:
    drawn = [_text(0, top + HEAD - 10, whose, weight="bold")]
    x = LABEL
    for group, names in groupby(section.table.columns[1:], key=lambda name: name.rpartition(SEPARATOR)[0]):
        leaves = [name.rpartition(SEPARATOR)[2] for name in names]
        drawn.append(_text(x + WIDTH * len(leaves) // 2, top + HEAD - 26, group, anchor="middle"))
        for leaf in leaves:
            drawn.append(_text(x + WIDTH // 2, top + HEAD - 10, leaf, anchor="middle"))
            x += WIDTH
    for r, row in enumerate(section.table.rows):
        y = top + HEAD + HEIGHT * r
        drawn.append(_text(0, y + HEIGHT // 2 + 4, str(row[0].paper)))
        for c, number in enumerate(row[1:]):
            drawn.append(_square(LABEL + WIDTH * c, y, _share(number, whose)))
    return "".join(drawn)


def _share(number: Number, whose: str) -> float | None:
    if whose == "ours":
        return statistics.fmean(number.ours) if number.ours else None
    return float(number.paper) if isinstance(number.paper, int | float) else None


def _square(x: int, y: int, share: float | None) -> str:
    middle = x + WIDTH // 2
    if share is None:  # an outline: white would be 0 %
        box = _box(x, y, fill="none", stroke="currentColor", stroke_dasharray="2 3", stroke_opacity="0.5")
        return box + _text(middle, y + HEIGHT // 2 + 4, DASH, anchor="middle")
    part = min(max(share / 100, 0.0), 1.0)
    red, green, blue = (round(a + part * (b - a)) for a, b in zip(LIGHT, DARK, strict=True))
    ink = "#fff" if share >= TURN else "#111"
    text = _text(middle, y + HEIGHT // 2 + 4, f"{share:.0f}", anchor="middle", fill=ink)
    return _box(x, y, fill=f"rgb({red},{green},{blue})") + text


def _box(x: int, y: int, **attributes: str) -> str:
    return element("rect", x=x + 1, y=y + 1, width=WIDTH - 2, height=HEIGHT - 2, rx=2, **attributes)


def _text(x: int, y: int, text: str, anchor: str = "start", weight: str = "", fill: str = "currentColor") -> str:
    return element("text", escape(text), x=x, y=y, text_anchor=anchor, font_weight=weight, fill=fill, font_size=12)
