"""Numbers to tokens."""

from __future__ import annotations

import sys

import numpy as np

from learnalg.cli.flags import take
from learnalg.cli.plugins import load_plugins
from learnalg.tokens import ENCODINGS, Encoding, get_encoding


def run(arguments: list[str]) -> int:
    encoding, numbers = encoding_and_items("encode", "NUMBER", arguments)
    try:
        values = np.array([float(number) for number in numbers])
    except ValueError as error:
        raise ValueError(f"not a number: {str(error).rpartition(': ')[2]}") from None
    for ids in encoding.encode(values):
        print(" ".join(encoding.tokens[k] for k in ids))
    return 0


def encoding_and_items(command: str, what: str, arguments: list[str]) -> tuple[Encoding, list[str]]:
    """Not parsed by flags.py: '-6.02e23', '-' and '-602' are values here."""
    arguments = load_plugins(arguments)
    if any(a in ("-h", "--help") for a in arguments):
        known = ", ".join(ENCODINGS)
        print(
            f"usage: learnalg {command} [--encoding NAME] {what} ...\n\nOne number a line; without any {what}, "
            f"reads them from standard input.\nEncodings (default p1000): {known},\n"
            "and general forms: positional:base=10,digits=4,exponents=-20:20, balanced:digits=2, floating:digits=2"
        )
        raise SystemExit(0)
    name, items = take(arguments, "--encoding")
    flag = next((item for item in items if item.startswith("--")), None)
    if flag is not None:
        raise ValueError(f"unknown flag {flag}; learnalg {command} has --encoding and --plugin")
    return get_encoding(name or "p1000"), items or sys.stdin.read().split()
