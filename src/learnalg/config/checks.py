"""Values are checked where they are built: conditions with their message, and types of a dataclass's fields."""

from __future__ import annotations

import dataclasses
import sys
import typing
from typing import Any, Literal


def need(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


_KINDS = {int: "a whole number", float: "a finite number", bool: "true or false", str: "text"}


def check_types(config: Any) -> None:
    """Refuses a value that is not of its field's type, whether it came from a flag, a file or Python."""
    hints = typing.get_type_hints(type(config))
    for entry in dataclasses.fields(config):
        value, hint = getattr(config, entry.name), hints[entry.name]
        items = typing.get_args(hint)
        if typing.get_origin(hint) is Literal:
            need(value in items, f"{entry.name} {value!r}: must be one of {', '.join(items)}")
        elif typing.get_origin(hint) is tuple:
            is_right = isinstance(value, tuple) and all(is_a(item, items[0]) for item in value)
            need(
                is_right,
                f"{entry.name} {value!r}: must be a tuple, each item {_KINDS.get(items[0], items[0].__name__)}",
            )
        elif hint in _KINDS:
            need(is_a(value, hint), f"{entry.name} {value!r}: must be {_KINDS[hint]}")


def is_a(value: Any, kind: type) -> bool:
    """Numbers are those that a machine has: a file may hold a whole number of thousands of digits."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    if kind is int:
        return type(value) is int and -(2**63) <= value < 2**63
    return type(value) is kind if kind is bool else isinstance(value, kind)
