"""Mutations of what is valid. CI takes a few under a fixed seed; `make fuzz` takes many, under a new seed each time."""

import copy
import json
import os
import random
from types import SimpleNamespace

import pytest

ROUNDS = int(os.environ.get("LEARNALG_FUZZ_ROUNDS", "1"))  # times the number of mutations in CI
SEED = int(os.environ.get("LEARNALG_FUZZ_SEED", "0"))

# What a file may have in place of what belongs there.
VALUES = (
    *(None, True, False, -1, 0, 1, 1.5, -0.0, 1e308, -1e308, 1e-320, 10**30, 10**400, float("nan"), float("inf")),
    *("", "x", "5", "1-2", "nan", "../x", "x" * 10_000, "<script>", "\x00", "\x1b[2J", "a\nb", "\ud800", "٣"),
    *([], {}, [None], [[]], [1], ["a", "b"], [-1, 10**30], {"a": 1}, {"0.05": 2}, {"0.05": None}, {"l1": {}}),
)
BYTES = (b"\xff" * 8, b"\0" * 8, b"9" * 8, b"[[[[[[[[", b"1e999999", b'-1\n-1\n""', b"\xef\xbb\xbf", b"{", b"(" * 60)


def places(value, at=()):
    yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*at, key))


def mutated_json(rng, value):
    """With one to three values replaced, left out or added."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        *above, last = rng.choice([place for place in places(value) if place] or [(None,)])
        if last is None:
            return rng.choice(VALUES)
        box = value
        for key in above:
            box = box[key]
        how = rng.random()
        if how < 0.7:
            box[last] = copy.deepcopy(rng.choice(VALUES))
        elif how < 0.85:
            del box[last]
        elif isinstance(box, dict):
            box[rng.choice(("", "x", f"{last}s"))] = copy.deepcopy(rng.choice(VALUES))
        else:
            box.append(copy.deepcopy(rng.choice(VALUES)))
    return value if rng.random() > 0.02 else rng.choice(VALUES)


def mutated_bytes(rng, content):
    """With up to 16 bits flipped, and parts cut out, repeated or put in."""
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        num = len(content)
        at, other = rng.randrange(num + 1), rng.randrange(num + 1)
        how = rng.randrange(6)
        if how == 0 and num:
            content[min(at, num - 1)] ^= 1 << rng.randrange(8)
        elif how == 1:
            del content[at:]
        elif how == 2:
            content[at:at] = rng.randbytes(rng.choice((1, 4, 64)))
        elif how == 3:
            del content[at : at + rng.choice((1, 8, 100))]
        elif how == 4:
            content[at:at] = content[other : other + rng.choice((1, 16, 200))]
        else:
            chosen = rng.choice(BYTES)
            content[at : at + len(chosen)] = chosen
    return bytes(content)


def as_json(value):
    return json.dumps(value).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="session")
def fuzz():
    """fuzz.rounds(n), fuzz.rng(name), fuzz.json(rng, value), fuzz.bytes(rng, content), fuzz.text(value)."""
    return SimpleNamespace(
        rounds=lambda num: num * ROUNDS,
        rng=lambda name: random.Random(f"{SEED} {name}"),
        json=mutated_json,
        bytes=mutated_bytes,
        text=as_json,
    )


@pytest.fixture(scope="session")
def refuses():
    """refuses(read, path): whether it is refused by a named error, in a line of its own; any other error is a bug."""

    def check(read, *arguments):
        try:
            read(*arguments)
        except (ValueError, OSError) as error:
            assert str(error)
            return True
        return False

    return check
