"""What there is: lists, encodings at work, parameter counts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnalg.cli.arguments import load_plugins, parse, take
from learnalg.config import ModelConfig
from learnalg.tokens import ENCODINGS, Encoding, get_encoding
from learnalg.problems.ensembles import ENSEMBLE_SUMMARIES, ENSEMBLES
from learnalg.config.presets import PRESETS, preset, recipes
from learnalg.problems import COTRAINING, TASKS, get_task


def run_list(arguments: list[str]) -> int:
    """What there is to choose from."""

    def architectures(which: str) -> dict[str, str]:
        import learnalg.models as models

        registry: dict[str, Any] = getattr(models, which)
        return {name: ((entry.__doc__ or "").strip().splitlines() or [""])[0] for name, entry in registry.items()}

    several = f"several at once, mixed per example: --task {COTRAINING} --subset TADM"
    kinds: dict[str, Callable[[], dict[str, str]]] = {
        "tasks": lambda: {name: get_task(name).summary for name in TASKS} | {COTRAINING: several},
        "encodings": lambda: {
            name: f"tokens a coefficient: {len(e.slots)}, vocabulary: {len(e.tokens):,}" for name, e in ENCODINGS.items()
        },
        "ensembles": lambda: {name: ENSEMBLE_SUMMARIES.get(name, "") for name in ENSEMBLES},
        "architectures": lambda: architectures("MODELS"),
        "embeddings": lambda: architectures("EMBEDDINGS"),
        "positions": lambda: architectures("POSITIONS"),
        "norms": lambda: architectures("NORMS"),
        "recipes": lambda: {
            name: path.read_text().partition("\n")[0].removeprefix("# ") for name, path in recipes().items()
        },
        "presets": lambda: {
            name: f"{c.model.encoder_layers}/{c.model.decoder_layers} layers, {c.model.dim_model} dimensions, "
            f"{c.optim.optimizer}, batch {c.train.batch_size}"
            for name, c in PRESETS.items()
        },
    }
    arguments = load_plugins(arguments)
    if any(a in ("-h", "--help") for a in arguments):
        print(f"usage: learnalg list [{'|'.join(kinds)}] [--plugin FILE]\n\nWhat there is to choose from.")
        return 0
    for kind in arguments or list(kinds):
        if kind not in kinds:
            raise ValueError(f"unknown list {kind!r}; known: {', '.join(kinds)}")
        if len(arguments) != 1:
            print(f"{kind}:")
        for name, summary in kinds[kind]().items():
            print(f"{name:<20}{summary}".rstrip())
    return 0


def run_encode(arguments: list[str]) -> int:
    """Numbers to tokens."""
    encoding, numbers = _encoding_and_words("encode", "NUMBER", arguments)
    try:
        values = np.array([float(number) for number in numbers])
    except ValueError as error:
        raise ValueError(f"not a number: {str(error).rpartition(': ')[2]}") from None
    for ids in encoding.encode(values):
        print(" ".join(encoding.tokens[k] for k in ids))
    return 0


def run_decode(arguments: list[str]) -> int:
    """Tokens to numbers."""
    encoding, words = _encoding_and_words("decode", "TOKEN", arguments)
    index = {word: k for k, word in enumerate(encoding.tokens)}
    unknown = [word for word in words if word not in index]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no word of this encoding")
    width = len(encoding.slots)
    if len(words) % width:
        raise ValueError(f"{len(words)} tokens: a number has {width}")
    values, is_number = encoding.decode(np.array([index[word] for word in words]).reshape(-1, width))
    if not is_number.all():
        wrong = int(np.argmin(is_number))
        raise ValueError(f"{' '.join(words[wrong * width : (wrong + 1) * width])!r} is not a number")
    for value in values:
        print(f"{value:.6g}")
    return 0


def _encoding_and_words(command: str, what: str, arguments: list[str]) -> tuple[Encoding, list[str]]:
    """Not by tyro: '-6.02e23', '-' and '-602' are values here, not flags."""
    arguments = load_plugins(arguments)
    if any(a in ("-h", "--help") for a in arguments):
        known = ", ".join(ENCODINGS)
        print(
            f"usage: learnalg {command} [--encoding NAME] {what} ...\n\nOne number a line; without any {what}, "
            f"reads them from standard input.\nEncodings (default p1000): {known},\n"
            "and general forms: positional:base=10,digits=4,exponents=-20:20, balanced:digits=2, floating:digits=2"
        )
        raise SystemExit(0)
    name, words = take(arguments, "--encoding")
    flag = next((word for word in words if word.startswith("--")), None)
    if flag is not None:
        raise ValueError(f"unknown flag {flag}; learnalg {command} has --encoding and --plugin")
    return get_encoding(name or "p1000"), words or sys.stdin.read().split()


@dataclass(frozen=True)
class Params:
    """Count the parameters of a model, by part. Defaults are the paper's; --preset fast gives those of fast."""

    model: ModelConfig
    input_encoding: str = "fp15"  # `learnalg list encodings`
    output_encoding: str = "p1000"  # `learnalg list encodings`
    json: bool = False  # print one JSON object


def run_params(arguments: list[str]) -> int:
    """Count parameters."""
    arguments = load_plugins(arguments)
    chosen, arguments = take(arguments, "--preset")
    command = parse(Params, "params", arguments, Params(model=preset(chosen or "paper").model))
    from learnalg.models import count_parameters, side_of
    from learnalg.tokens.tokenizer import Tokenizer

    source, target = side_of(Tokenizer(command.input_encoding)), side_of(Tokenizer(command.output_encoding))
    parts = count_parameters(command.model, source, target)
    parts["total"] = sum(parts.values())
    if command.json:
        print(json.dumps(parts))
    else:
        for part, count in parts.items():
            print(f"{part:<20}{count:>14,}")
    return 0
