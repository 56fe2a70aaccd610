"""Tokens to numbers."""

from __future__ import annotations

import numpy as np

from learnalg.cli.encode import encoding_and_items


def run(arguments: list[str]) -> int:
    encoding, tokens = encoding_and_items("decode", "TOKEN", arguments)
    ids = {token: k for k, token in enumerate(encoding.tokens)}
    strange = [token for token in tokens if token not in ids]
    if strange:
        raise ValueError(f"{strange[0]!r} is not a token of this encoding")
    width = len(encoding.slots)
    if len(tokens) % width:
        raise ValueError(f"{len(tokens)} tokens: a number has {width}")
    values, is_number = encoding.decode(np.array([ids[token] for token in tokens], dtype=np.int64).reshape(-1, width))
    if not is_number.all():
        wrong = int(np.argmin(is_number))
        raise ValueError(f"{' '.join(tokens[wrong * width : (wrong + 1) * width])!r} is not a number")
    for value in values:
        print(f"{value:.6g}")
    return 0
