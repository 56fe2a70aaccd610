"""Flags from dataclasses: the name of a field is a flag, its type says what the flag takes, its comment is the help.

    >>> parse(Verify, "verify", ["eigenvalues-8", "--num", "1e3"])
    Verify(models=('eigenvalues-8',), num=1000)

A field of another dataclass is a group of flags. Given values are kept apart from defaults, so that a preset, a recipe
or the config of another model can stand in between.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from learnalg.naming import unknown

Command = TypeVar("Command")

_POSITIONAL = "positional"
Name = Annotated[str, _POSITIONAL]  # arguments without a flag
Names = Annotated[tuple[str, ...], _POSITIONAL]
Number = Annotated[int, _POSITIONAL]
Folder = Annotated[Path, _POSITIONAL]
Folders = Annotated[tuple[Path, ...], _POSITIONAL]
Files = Annotated[tuple[Path, ...], _POSITIONAL]

EXAMPLES = {int: "N", float: "X", str: "NAME", Path: "PATH"}
NOTES = "[ ] shows the default. --plugin FILE runs a Python file first, which may add tasks, encodings, architectures, \
optimizers or schedules."


@dataclass(frozen=True)
class Flag:
    """A field as a flag."""

    field: str
    hint: Any  # its type, of one item where it takes several
    several: bool
    positional: bool
    required: bool
    default: Any
    help: str

    @property
    def text(self) -> str:
        return "--" + self.field.replace("_", "-")


def parse(command: type[Command], name: str, arguments: list[str]) -> Command:
    """The command's dataclass, with the given values. `--help` prints all flags and exits."""
    return build(command, said_in(command, name, arguments))


def said_in(
    command: type, name: str, arguments: list[str], first: tuple[str, ...] = (), default: Any = None
) -> dict[str, Any]:
    """Field -> value, of the given flags. Help shows the fields `first` first, and the values of `default`."""
    parser = _Parser(name, command, first, default)
    if any(argument in ("-h", "--help") for argument in arguments):
        parser.print_help()
        raise SystemExit(0)
    return parser.read(arguments)


def build(kind: Any, said: dict[str, Any], default: Any = None) -> Any:
    """A dataclass with the given values; others come from `default`, or are its own defaults."""
    hints = typing.get_type_hints(kind)
    values = {}
    for field in dataclasses.fields(kind):
        known = getattr(default, field.name) if default is not None else None
        if dataclasses.is_dataclass(hints[field.name]):
            values[field.name] = build(hints[field.name], said, known)
        elif field.name in said:
            values[field.name] = said[field.name]
        elif default is not None:
            values[field.name] = known
    return kind(**values)


class _Parser(argparse.ArgumentParser):
    """argparse, with errors that are ValueErrors of one line."""

    def __init__(self, name: str, command: type, first: tuple[str, ...], default: Any) -> None:
        description = " ".join((command.__doc__ or "").split())
        super().__init__(
            prog=f"learnalg {name}", description=description, epilog=NOTES, add_help=False, allow_abbrev=False,
            argument_default=argparse.SUPPRESS, formatter_class=_Formatter,
        )  # fmt: skip
        self.flags: dict[str, Flag] = {}
        self.main = self.add_argument_group("flags")
        groups = list(_groups(command, default))
        ordered = {flag.field: flag for _, flags in groups for flag in flags}
        own = [*first, *(flag.field for title, flags in groups if not title for flag in flags)]
        for field in dict.fromkeys(own):
            self._add(self.main, ordered.pop(field))
        for title, flags in groups:
            left = [flag for flag in flags if flag.field in ordered]
            group = self.add_argument_group(title) if left else self.main
            for flag in left:
                self._add(group, flag)
        positional = " ".join(flag.field.upper() for flag in self.flags.values() if flag.positional)
        self.usage = f"%(prog)s {positional + ' ' if positional else ''}[flags]"

    def _add(self, group: Any, flag: Flag) -> None:
        self.flags[flag.field] = flag
        text = flag.help
        if flag.default not in (None, "", ()) and flag.hint is not bool and not flag.required:
            text += f" [{_shown(flag.default)}]"
        options: dict[str, Any] = {"help": text.replace("%", "%%")}
        if flag.positional:
            nargs = ("+" if flag.required else "*") if flag.several else None if flag.required else "?"
            group.add_argument(flag.field, metavar=flag.field.upper(), nargs=nargs, **options)
        elif flag.hint is bool:
            opposite = flag.text.replace("--", "--no-", 1)
            for text, value in ((flag.text, True), (opposite, False)):  # help shows the form that changes the default
                shown = options["help"] if value != bool(flag.default) else argparse.SUPPRESS
                group.add_argument(text, action="store_const", const=value, dest=flag.field, help=shown)
        else:
            if typing.get_origin(flag.hint) is Literal:
                metavar = "{" + ",".join(typing.get_args(flag.hint)) + "}"
            else:
                metavar = EXAMPLES[flag.hint]
            group.add_argument(
                flag.text, dest=flag.field, metavar=metavar, nargs="+" if flag.several else None, **options
            )

    def read(self, arguments: list[str]) -> dict[str, Any]:
        known, rest = self.parse_known_args(arguments)
        wrong = [argument for argument in rest if argument.startswith("-")]
        if wrong:
            texts = [flag.text for flag in self.flags.values() if not flag.positional]
            name = wrong[0].partition("=")[0]
            error = unknown("flag", name, texts)
            raise ValueError(str(error).partition("known:")[0].strip(" :") + f" (see {self.prog} --help)")
        if rest:
            raise ValueError(f"unexpected argument {rest[0]!r} (see {self.prog} --help)")
        said = {}
        for field, value in vars(known).items():
            flag = self.flags[field]
            if flag.positional and value == [] and not flag.required:
                continue
            said[field] = tuple(_typed(flag, item) for item in value) if flag.several else _typed(flag, value)
        return said

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message.removeprefix('argument ')} (see {self.prog} --help)")


class _Formatter(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34)


def _groups(command: Any, default: Any, title: str = "") -> Iterator[tuple[str, list[Flag]]]:
    """The flags of a dataclass, then those of the dataclasses in it, each group with its title."""
    hints, comments = typing.get_type_hints(command, include_extras=True), _comments(command)
    own, nested = [], []
    for field in dataclasses.fields(command):
        hint, is_positional = hints[field.name], False
        value = getattr(default, field.name) if default is not None else _default_of(field)
        if typing.get_origin(hint) is Annotated:
            hint, is_positional = typing.get_args(hint)[0], True
        if dataclasses.is_dataclass(hint):
            nested.append((hint, value))
            continue
        arguments = [item for item in typing.get_args(hint) if item is not type(None)]
        is_several = typing.get_origin(hint) is tuple
        if dataclasses.is_dataclass(arguments[0] if arguments else None):
            continue  # a list of tables, such as the stages of a recipe, is not a flag
        if is_several or type(None) in typing.get_args(hint):
            hint = arguments[0]
        is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        own.append(Flag(field.name, hint, is_several, is_positional, is_required, value, comments.get(field.name, "")))
    yield title, own
    for hint, value in nested:
        text = " ".join(inspect.cleandoc(hint.__doc__ or "").split())
        yield from _groups(hint, value, text.partition(".")[0][:1].lower() + text.partition(".")[0][1:])


def _default_of(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _comments(kind: type) -> dict[str, str]:
    """Field -> the comment at the end of its line."""
    return dict(re.findall(r"^    (\w+): .*?  # (.*)$", inspect.getsource(kind), re.MULTILINE))


def _shown(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _typed(flag: Flag, value: Any) -> Any:
    name = flag.field if flag.positional else flag.text
    if flag.hint is int:
        return _whole(name, value)
    if flag.hint is float:
        try:
            return float(value)
        except ValueError:
            raise ValueError(f"{name} {value!r}: expected a number") from None
    if typing.get_origin(flag.hint) is Literal and value not in typing.get_args(flag.hint):
        raise unknown(f"value of {name}", value, typing.get_args(flag.hint))
    return Path(value) if flag.hint is Path else value


def _whole(name: str, text: str) -> int:
    """1000, 1_000 or 1e3."""
    try:
        number = Decimal(text)
        if number == number.to_integral_value():
            return int(number)
    except (InvalidOperation, OverflowError):
        pass
    raise ValueError(f"{name} {text!r}: expected a whole number")


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
