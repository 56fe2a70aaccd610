"""Plugins: Python files that add tasks, encodings or architectures to the registries before a command runs."""

from __future__ import annotations

import importlib.util
import traceback
from pathlib import Path

from learnalg.cli.flags import take

_LOADED: list[Path] = []


def load_plugins(arguments: list[str]) -> list[str]:
    """Runs the files given by --plugin; returns the other arguments."""
    while True:
        name, arguments = take(arguments, "--plugin")
        if not name:
            return arguments
        path = Path(name).resolve()
        spec = importlib.util.spec_from_file_location(f"learnalg_plugin_{path.stem}", path)
        if not path.is_file() or spec is None or spec.loader is None:
            raise ValueError(f"plugin {name}: no such Python file")
        _LOADED.append(path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def plugins_in(arguments: list[str]) -> list[str]:
    """The --plugin flags, to repeat them in another command."""
    said: list[str] = []
    value, arguments = take(arguments, "--plugin")
    while value:
        said += ["--plugin", value]
        value, arguments = take(arguments, "--plugin")
    return said


class PluginErrors:
    """Errors of whatever kind that a plugin caused become a ValueError of one line; a mistake of ours keeps its
    traceback."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        message = blame(error) if isinstance(error, Exception) else ""
        if message:
            raise ValueError(message) from None


def blame(error: Exception) -> str:
    """The message for an error that a plugin caused, when it was loaded or later; '' for all others."""
    places: list[tuple[str, int | None]]
    if isinstance(error, SyntaxError):
        # Of a file with null bytes Python names neither file nor line.
        places = [(error.filename or str(next(iter(_LOADED[-1:]), "")), error.lineno)]
    else:
        places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    for name, line in reversed(places):
        if Path(name) in _LOADED:
            text = " ".join(str(error).split())
            return f"plugin {Path(name).name}, line {line}: {type(error).__name__}: {text}"
    return ""
