"""What a sweep varies: a field and its values, as one writes them.

    >>> Dimension.parse("dim_model=64,128", config)  # one of these; 256/128: the encoder's and the decoder's
    >>> Dimension.parse("learning_rate=log:1e-4:1e-2", config)  # a range, here on a logarithmic scale
    >>> Dimension.parse("optimizer=muon:learning_rate={log:0.005:0.05}", config)  # a range inside a name with options

Choices are set apart by commas, or by | where a value has commas itself.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from learnalg.config import RunConfig
from learnalg.naming import unknown

if TYPE_CHECKING:
    from optuna.trial import Trial

TABLES = ("model", "optim", "mix")  # whose fields may be varied: they leave what is compared as it is; and of others
OTHERS = ("triangle", "input_encoding", "output_encoding", "batch_size", "precision")
RANGE = re.compile(r"(log:)?([-+.\de]+):([-+.\de]+)")
DIGITS = 4  # of a number from a range


def fields_to_vary() -> dict[str, Any]:
    """Name -> type of one value."""
    found = {}
    for table, kind in typing.get_type_hints(RunConfig).items():
        if table == "stage":
            continue
        for name, hint in typing.get_type_hints(kind).items():
            if table in TABLES or name in OTHERS:
                found[name] = typing.get_args(hint)[0] if typing.get_origin(hint) is tuple else hint
    return found


@dataclass(frozen=True)
class Dimension:
    field: str
    text: str  # as it was given
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    template: str = "{}"  # around a number from a range

    @classmethod
    def parse(cls, said: str, config: RunConfig) -> Dimension:
        name, equals, text = said.partition("=")
        table, dot, bare = name.rpartition(".")
        known = fields_to_vary()
        if not equals or not text:
            raise ValueError(f"--vary {said!r}: write FIELD=VALUE,VALUE or FIELD=LOW:HIGH or FIELD=log:LOW:HIGH")
        if bare not in known:
            raise unknown("field to vary", bare, known)
        if dot and table not in (f.name for f in dataclasses.fields(config) if hasattr(getattr(config, f.name), bare)):
            raise ValueError(f"--vary {said!r}: {bare} is no field of {table}")
        found = cls._of_text(bare, text)
        for value in found.extremes():
            found.value(value)  # refused where it is no value of the field's type
        return found

    @classmethod
    def _of_text(cls, field: str, text: str) -> Dimension:
        inner = re.fullmatch(r"([^{}]*)\{([^{}]*)\}([^{}]*)", text)
        template = f"{inner[1]}{{}}{inner[3]}" if inner else "{}"
        bounds = RANGE.fullmatch(inner[2] if inner else text)
        if bounds:
            low, high, is_log = _number(text, bounds[2]), _number(text, bounds[3]), bool(bounds[1])
            if not low < high or (is_log and low <= 0):
                raise ValueError(f"--vary {field}={text}: need LOW < HIGH, and LOW > 0 on a logarithmic scale")
            if fields_to_vary()[field] is int and (low, high) != (int(low), int(high)):
                raise ValueError(f"--vary {field}={text}: {field} is a whole number")
            return cls(field, text, low=low, high=high, log=is_log, template=template)
        if inner:
            raise ValueError(f"--vary {field}={text}: in braces stands a range, LOW:HIGH or log:LOW:HIGH")
        choices = tuple(text.split("|" if "|" in text else ","))
        if len(choices) < 2 or len(set(choices)) < len(choices) or "" in choices:
            raise ValueError(f"--vary {field}={text}: need two or more different values")
        return cls(field, text, choices)

    @property
    def is_whole(self) -> bool:
        return fields_to_vary()[self.field] is int and self.template == "{}"

    def extremes(self) -> tuple[Any, ...]:
        """Values that a config must be able to have: all choices, or the ends of a range."""
        return self.choices or tuple(int(end) if self.is_whole else end for end in (self.low, self.high))

    def suggest(self, trial: Trial) -> Any:
        """Optuna's choice: a text, or a number from the range."""
        if self.choices:
            return trial.suggest_categorical(self.field, self.choices)
        if self.is_whole:
            return trial.suggest_int(self.field, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(self.field, self.low, self.high, log=self.log)

    def value(self, chosen: Any) -> Any:
        """What the config's field gets for it."""
        kind = fields_to_vary()[self.field]
        if not self.choices:
            if self.is_whole:
                return chosen
            number = float(f"{chosen:.{DIGITS}g}")
            return self.template.format(f"{number:g}") if kind is str else number
        values = tuple(_typed(self.field, kind, part) for part in _sides(kind, chosen))
        return values if len(values) > 1 else values[0]


def _sides(kind: Any, text: str) -> list[str]:
    """256/128: the encoder's and the decoder's."""
    return text.split("/") if kind is int else [text]


def _typed(field: str, kind: Any, text: str) -> Any:
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError(f"{field} {text!r}: must be true or false")
        return text == "true"
    if kind is int or kind is float:
        number = _number(f"{field}={text}", text)
        if kind is int and number != int(number):
            raise ValueError(f"{field} {text!r}: expected a whole number")
        return kind(number)
    return text


def _number(where: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{where}: {text!r} is no number") from None
