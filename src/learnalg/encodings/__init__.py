"""Numbers to tokens and back (paper, section 2.1 and appendix A). A new scheme is a file and a line here.

Besides the names, general forms can be written out: 'positional:base=10,digits=4,exponents=-20:20',
'balanced:digits=2', 'floating:digits=3,exponents=-20:25'.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from learnalg.encodings.balanced import Balanced
from learnalg.encodings.encoding import Encoding, Slot
from learnalg.encodings.floating import FloatingPoint
from learnalg.encodings.positional import Positional

__all__ = ["ENCODINGS", "FAMILIES", "Encoding", "Slot", "get_encoding"]

ENCODINGS: dict[str, Encoding] = {
    "p10": Positional(10),
    "p100": Positional(100, digits=2),
    "p1000": Positional(1000),
    "p10000": Positional(10000, digits=4),
    "b1999": Balanced(),
    "fp15": FloatingPoint(),
}

FAMILIES: dict[str, Callable[..., Encoding]] = {
    "positional": Positional,
    "balanced": Balanced,
    "floating": FloatingPoint,
}


def get_encoding(name: str) -> Encoding:
    # Not cached: a name may be added to ENCODINGS at any time. A general form is built once.
    return ENCODINGS[name] if name in ENCODINGS else _general_form(name)


@cache
def _general_form(name: str) -> Encoding:
    family, _, options = name.partition(":")
    if family not in FAMILIES:
        raise ValueError(
            f"unknown encoding {name!r}; known: {', '.join(ENCODINGS)}, "
            "and general forms such as positional:base=10,digits=4,exponents=-20:20"
        )
    try:
        arguments = dict(_option(part) for part in options.split(",")) if options else {}
        return FAMILIES[family](**arguments)
    except (ValueError, TypeError) as error:
        raise ValueError(f"encoding {name!r}: {error}") from None


def _option(part: str) -> tuple[str, Any]:
    key, _, value = part.partition("=")
    if key == "exponents":
        lowest, _, highest = value.partition(":")
        return key, (int(lowest), int(highest))
    return key, int(value)
