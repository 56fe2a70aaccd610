"""Numbers to tokens and back (paper, section 2.1 and appendix A). A new encoding is a file and a line here.

Besides the names there are general forms: 'positional:base=10,digits=4,exponents=-20:20',
'balanced:digits=2', 'floating:digits=3,exponents=-20:25'.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from learnalg.naming import make, split_name, unknown
from learnalg.tokens.balanced import Balanced
from learnalg.tokens.encoding import Encoding, Slot
from learnalg.tokens.floating import FloatingPoint
from learnalg.tokens.positional import Positional

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
    if split_name(name)[0] not in FAMILIES:  # the short names have no options
        raise unknown("encoding", name, (*ENCODINGS, *FAMILIES))
    return make("encoding", name, FAMILIES)
