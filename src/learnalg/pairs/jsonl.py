"""Pairs as JSON, a line each:

{"learnalg": {"seed": 1, "config": {...}}}          the first line, if learnalg has written the file
{"input": [[1.0, 2.0], [3.0, 4.0]], "output": [[-2.0]]}
{"inputs": [[[1.0]], [[2.0]]], "output": [[3.0]], "task": "add"}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from learnalg.files import json_text, whole_file
from learnalg.pairs.block import HEADER, Block, where
from learnalg.problems.task import Floats, Shape

KEYS = ("input", "inputs", "output", "task")


def read_jsonl(path: Path) -> list[Block]:
    found: dict[Any, list[tuple[int, list[Any]]]] = {}  # task and shapes -> rows with their matrices
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                if number == 1 and isinstance(row, dict) and HEADER in row:
                    continue
                task, matrices = _fields(row)
                found.setdefault((task, *map(_shape, matrices)), []).append((number, matrices))
            except json.JSONDecodeError as error:
                raise ValueError(f"{where(path, number)}: {error}") from None
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{where(path, number)}: {error}") from None
    return [_block(path, key, rows) for key, rows in found.items()]


def _fields(row: Any) -> tuple[str, list[Any]]:
    """The task, and all matrices of a row, the output last."""
    if not isinstance(row, dict) or "output" not in row or ("input" in row) == ("inputs" in row):
        raise ValueError("expected an object with output, and input or inputs")
    wrong = [key for key in row if key not in KEYS]
    if wrong or not isinstance(row.get("task", ""), str):
        raise ValueError(f"{wrong[0] if wrong else 'task'!r} is none of {', '.join(KEYS)}, of which task is text")
    inputs = row["inputs"] if "inputs" in row else [row["input"]]
    if not isinstance(inputs, list) or not inputs:
        raise ValueError("inputs is no list of matrices")
    return row.get("task", ""), [*inputs, row["output"]]


def _shape(matrix: Any) -> Shape:
    """By its first row."""
    if not isinstance(matrix, list) or not matrix or not isinstance(matrix[0], list) or not matrix[0]:
        raise ValueError(f"{str(matrix)[:40]} is no matrix, which is a list of rows of numbers")
    return len(matrix), len(matrix[0])


def _block(path: Path, key: Any, rows: list[tuple[int, list[Any]]]) -> Block:
    task, *shapes = key
    try:
        *inputs, output = (_array([matrices[k] for _, matrices in rows], shape) for k, shape in enumerate(shapes))
    except ValueError:  # which row was it?
        for number, matrices in rows:
            for matrix, shape in zip(matrices, shapes, strict=True):
                try:
                    _array([matrix], shape)
                except ValueError as error:
                    raise ValueError(f"{where(path, number)}: {error}") from None
        raise
    return Block(task, tuple(inputs), output, np.array([number for number, _ in rows]))


def _array(matrices: list[Any], shape: Shape) -> Floats:
    try:
        array = np.array(matrices)
    except ValueError:
        raise ValueError(f"the rows of {str(matrices[0])[:40]} differ in length") from None
    if array.shape != (len(matrices), *shape) or array.dtype.kind not in "iuf":
        raise ValueError(f"{str(matrices[0])[:40]} is no matrix of numbers")
    return array.astype(np.float64)


def write_jsonl(path: Path, header: dict[str, Any], batches: Iterable[list[Block]]) -> None:
    with whole_file(path) as file:
        file.write(f"{json_text({HEADER: header}, str(path))}\n".encode())
        for blocks in batches:
            lines = [""] * sum(len(block.rows) for block in blocks)
            for block in blocks:
                for place, line in zip(block.rows.tolist(), _lines(block), strict=True):
                    lines[place] = line
            file.write("".join(lines).encode())


def _lines(block: Block) -> list[str]:
    task = {"task": block.task} if block.task else {}
    inputs = [matrices.tolist() for matrices in block.inputs]
    named = ({"inputs": row} if block.has_several else {"input": row[0]} for row in zip(*inputs, strict=True))
    rows = zip(named, block.output.tolist(), strict=True)
    return [json.dumps(entry | {"output": output} | task) + "\n" for entry, output in rows]
