"""Flags: tyro makes them from dataclasses; a few come before it."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import re
from pathlib import Path
from typing import Any, TypeVar

import tyro

Command = TypeVar("Command")

PLUGIN_HELP = "--plugin FILE runs a Python file first that adds a task, an encoding or an architecture."


def parse(command: type[Command], name: str, arguments: list[str], default: Command | None = None) -> Command:
    """tyro, with an error of one line."""
    said = io.StringIO()
    given: dict[str, Any] = {} if default is None else {"default": default}
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(
                command,
                prog=f"learnalg {name}",
                description=f"{inspect.cleandoc(command.__doc__ or '')} {PLUGIN_HELP}",
                args=arguments,
                config=(tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes),
                **given,
            )
    except SystemExit as stop:
        if not stop.code:
            raise
        message = getattr(stop.__context__, "message", "") or _message(said.getvalue())
        flag = re.search(r"Error parsing (--[\w-]+)", said.getvalue())
        message = f"{flag[1]}: {message}" if flag else message
        raise ValueError(f"{message} (see learnalg {name} --help)") from None


def _message(drawn: str) -> str:
    """tyro draws a box, of lines or of hyphens: a title, the message, a rule, advice."""
    lines = [line.strip("│ ") for line in drawn.splitlines()[1:]]
    if lines and set(lines[0]) == {"-"}:  # below the title, where there are no box characters
        del lines[0]
    end = next((k for k, line in enumerate(lines) if line and set(line) <= set("─-╰╯")), len(lines))
    return " ".join(lines[:end])


def take(arguments: list[str], flag: str) -> tuple[str, list[str]]:
    """Takes one flag with its value out of the arguments; '' if it is not there."""
    for k, argument in enumerate(arguments):
        if argument == flag:
            if k + 1 == len(arguments):
                raise ValueError(f"{flag} needs a value")
            return arguments[k + 1], arguments[:k] + arguments[k + 2 :]
        if argument.startswith(flag + "="):
            return argument.partition("=")[2], arguments[:k] + arguments[k + 1 :]
    return "", arguments


def flags_of(arguments: list[str], flag: str) -> list[str]:
    """All of one flag with their values, to be said again."""
    said: list[str] = []
    value, arguments = take(arguments, flag)
    while value:
        said += [flag, value]
        value, arguments = take(arguments, flag)
    return said


def load_plugins(arguments: list[str]) -> list[str]:
    """Runs the files given by --plugin, which add tasks, encodings or architectures to the registries."""
    while True:
        path, arguments = take(arguments, "--plugin")
        if not path:
            return arguments
        spec = importlib.util.spec_from_file_location(f"learnalg_plugin_{Path(path).stem}", path)
        if not Path(path).is_file() or spec is None or spec.loader is None:
            raise ValueError(f"plugin {path}: no such Python file")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except (SyntaxError, ImportError) as error:
            raise ValueError(f"plugin {path}: {error}") from None
