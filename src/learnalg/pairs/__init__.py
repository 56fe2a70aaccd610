"""Files of pairs: matrices, and the output that a model has to write for them.

    >>> blocks = read_pairs(Path("pairs.jsonl"))
    >>> blocks[0].inputs[0].shape, blocks[0].output.shape       # pairs of the same shapes are a block
    ((1000, 2, 2), (1000, 1, 1))

A file is JSONL or Parquet, by its ending. A row has `input`, a matrix as a list of rows, or `inputs`, several with the
same number of rows; `output`, a matrix; and `task`, where the file has several.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from learnalg.pairs.block import Block
from learnalg.pairs.jsonl import read_jsonl, write_jsonl
from learnalg.pairs.parquet import read_parquet, write_parquet

__all__ = ["ENDINGS", "Block", "check_ending", "check_size", "read_pairs", "write_pairs"]

ENDINGS = (".jsonl", ".parquet")
MOST_TEXT = 2**29  # bytes


def check_ending(path: Path) -> None:
    if path.suffix not in ENDINGS:
        raise ValueError(f"{path}: a file of pairs ends in {' or '.join(ENDINGS)}")


def check_size(path: Path) -> None:
    """Of text, before anything is read: its numbers take several times as much."""
    size = path.stat().st_size
    if path.suffix == ".jsonl" and size > MOST_TEXT:
        raise ValueError(f"{path} has {size:,} bytes: at most {MOST_TEXT:,}; Parquet takes less")


def read_pairs(path: Path) -> list[Block]:
    """ValueError names the first row that is no pair."""
    check_ending(path)
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    check_size(path)
    blocks = read_jsonl(path) if path.suffix == ".jsonl" else read_parquet(path)
    if not blocks:
        raise ValueError(f"{path} has no pairs")
    for block in blocks:
        block.check(path)
    return blocks


def write_pairs(path: Path, header: dict[str, Any], batches: Iterable[list[Block]]) -> None:
    """The header says what made the pairs. The rows of a batch are in the order of their blocks' `rows`."""
    check_ending(path)
    write = write_jsonl if path.suffix == ".jsonl" else write_parquet
    write(path, header, batches)
