"""Names of registry entries, with their options: 'p1000', 'balanced:digits=2', 'eigenvectors:order=ascending'.

    >>> make("task", "eigenvectors:order=ascending", TASKS)

Tasks, encodings, architectures, optimisers and schedules have such names. An entry of a registry is a function or a
class; its arguments that have a default are its options, checked by name and by type.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar, get_type_hints

Made = TypeVar("Made")


def split_name(text: str) -> tuple[str, dict[str, str]]:
    """'lstm:memory=100' -> ('lstm', {'memory': '100'})."""
    name, _, rest = text.partition(":")
    options = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise ValueError(f"{text!r}: options are written name:option=value,option=value")
        options[key] = value
    return name, options


def unknown(kind: str, name: str, known: Iterable[str], hint: str = "") -> ValueError:
    """The error for a name that does not exist: what may be meant, and what there is."""
    names = list(known)
    close = get_close_matches(name, names, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return ValueError(f"unknown {kind} {name!r}: {meant}known: {', '.join(names) or 'none'}{hint}")


def find(kind: str, text: str, registry: Mapping[str, Made], hint: str = "") -> Made:
    """The entry of that name."""
    name, _ = split_name(text)
    if name not in registry:
        raise unknown(kind, name, registry, hint)
    return registry[name]


def make(kind: str, text: str, registry: Mapping[str, Callable[..., Made]], *arguments: Any, hint: str = "") -> Made:
    """Calls the entry with these arguments and with its options."""
    entry = find(kind, text, registry, hint)
    return entry(*arguments, **options_of(kind, text, entry))


def options_of(kind: str, text: str, entry: Callable[..., Any]) -> dict[str, Any]:
    """The options in a name, of the types that the entry asks for."""
    name, options = split_name(text)
    allowed = [p.name for p in inspect.signature(entry).parameters.values() if p.default is not p.empty]
    hints = get_type_hints(entry.__init__ if inspect.isclass(entry) else entry) if options else {}
    typed = {}
    for key, value in options.items():
        if key not in allowed:
            raise unknown(f"option of {kind} {name!r}", key, allowed)
        typed[key] = _typed(f"{kind} {name!r}: {key}={value}", value, hints.get(key, str))
    return typed


def _typed(where: str, value: str, hint: Any) -> Any:
    try:
        if hint is bool:
            return {"true": True, "false": False}[value.lower()]
        if hint in (int, float):
            return hint(value)
        if hint == tuple[int, int]:
            low, _, high = value.partition(":")
            return int(low), int(high)
    except (ValueError, KeyError):
        wanted = {int: "a whole number", float: "a number", bool: "true or false"}.get(hint, "LOWEST:HIGHEST")
        raise ValueError(f"{where}: expected {wanted}") from None
    return value
