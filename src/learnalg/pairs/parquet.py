"""Pairs in Parquet: columns `input` (lists of lists of numbers) or `inputs` (lists of these), `output`, and `task`.

Nested lists are offsets beside one long array, so whole columns become stacks of matrices at once. pyarrow is the extra
`data`. What made a file is in the metadata of its schema, under `learnalg`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from learnalg.files import json_text, whole_file
from learnalg.pairs.block import HEADER, Block, Ints, where
from learnalg.problems.task import Floats


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'learnalg[data]', or use .jsonl") from None
    return pyarrow


def read_parquet(path: Path) -> list[Block]:
    pa = _pyarrow()
    try:
        _check_size(path, pa.parquet.read_metadata(path))
        table = pa.parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is no Parquet file: {str(error).splitlines()[0]}") from None
    names = set(table.column_names)
    if "output" not in names or ("input" in names) == ("inputs" in names):
        raise ValueError(f"{path} has the columns {', '.join(sorted(names))}: expected output, and input or inputs")
    num = len(table)
    if not num:
        return []
    columns = {name: table[name].combine_chunks() for name in ("input", "inputs", "output", "task") if name in names}
    for name, column in columns.items():
        if column.null_count:
            raise ValueError(f"{where(path, int(np.argmax(column.is_null())) + 1)}: {name} is missing")
    output = _Matrices(path, "output", columns["output"], np.arange(num))
    if "input" in columns:
        counts, inputs = np.ones(num, dtype=np.int64), _Matrices(path, "input", columns["input"], np.arange(num))
    else:
        counts, flat = _open(path, "inputs", columns["inputs"])
        inputs = _Matrices(path, "inputs", flat, np.repeat(np.arange(num), counts))
    task_names, tasks = np.unique(columns["task"].to_pylist() if "task" in columns else [""] * num, return_inverse=True)
    first = np.cumsum(counts) - counts  # of a row's inputs
    blocks = []
    for kind in np.unique(np.stack([tasks, counts], axis=1), axis=0):
        rows = np.flatnonzero((tasks == kind[0]) & (counts == kind[1]))
        parts = [inputs.shapes[first[rows] + k] for k in range(kind[1])] + [output.shapes[rows]]
        _, same = np.unique(np.concatenate(parts, axis=1), axis=0, return_inverse=True)
        for k in range(same.max() + 1):
            chosen = rows[same == k]
            stacks = tuple(inputs.stack(first[chosen] + operand) for operand in range(kind[1]))
            blocks.append(Block(str(task_names[kind[0]]), stacks, output.stack(chosen), chosen + 1))
    return blocks


MOST_NUMBERS = 2**28  # of a file: 2 GB


def _check_size(path: Path, metadata: Any) -> None:
    """What is packed may be a thousand times larger."""
    groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
    num = sum(group.column(k).num_values for group in groups for k in range(group.num_columns))
    if num > MOST_NUMBERS:
        raise ValueError(f"{path} has {num:,} numbers: at most {MOST_NUMBERS:,}")


class _Matrices:
    """A column of matrices: the shape of each, and all their numbers in one array. `owners` are their rows."""

    def __init__(self, path: Path, name: str, column: Any, owners: Ints) -> None:
        num_rows, lines = _open(path, name, column)
        num_cols, numbers = _open(path, name, lines)
        self.first = np.cumsum(num_rows) - num_rows  # line of each matrix
        cols = num_cols[np.minimum(self.first, len(num_cols) - 1)]
        wrong = (num_rows == 0) | (cols == 0)
        wrong[np.repeat(np.arange(len(num_rows)), num_rows)[num_cols != np.repeat(cols, num_rows)]] = True
        if wrong.any():
            row = int(owners[wrong.argmax()]) + 1
            raise ValueError(f"{where(path, row)}: {name} is no matrix, whose rows have the same length")
        if numbers.null_count or not _is_number(numbers.type):
            raise ValueError(f"{path}: {name} has {numbers.type} or nothing in places: expected numbers")
        self.shapes = np.stack([num_rows, cols], axis=1)
        self.starts = np.cumsum(num_rows * cols) - num_rows * cols
        self.numbers = numbers.to_numpy(zero_copy_only=False).astype(np.float64)

    def stack(self, chosen: Ints) -> Floats:
        """Those matrices, which have one shape."""
        rows, cols = self.shapes[chosen[0]]
        return self.numbers[self.starts[chosen][:, None] + np.arange(rows * cols)].reshape(-1, rows, cols)


def _open(path: Path, name: str, column: Any) -> tuple[Ints, Any]:
    """The lengths of lists, and what is in them, one after the other."""
    pa = _pyarrow()
    import pyarrow.compute as pc

    if not any(test(column.type) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)):
        raise ValueError(f"{path}: {name} has {column.type}: expected lists of rows, each a list of numbers")
    if column.null_count:
        raise ValueError(f"{path}: a matrix of {name} has no rows in places")
    return pc.list_value_length(column).to_numpy(zero_copy_only=False).astype(np.int64), pc.list_flatten(column)


def _is_number(kind: Any) -> bool:
    types = _pyarrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind))


def write_parquet(path: Path, header: dict[str, Any], batches: Iterable[list[Block]]) -> None:
    pa = _pyarrow()
    metadata = {HEADER: json_text(header, str(path))}
    with whole_file(path) as file, ExitStack() as stack:
        writer: Any = None
        for blocks in batches:
            table = pa.concat_tables([_table(block) for block in blocks])
            table = table.take(np.argsort(np.concatenate([block.rows for block in blocks])))
            if writer is None:
                schema = table.schema.with_metadata(metadata)
                writer = stack.enter_context(pa.parquet.ParquetWriter(file, schema))
            writer.write_table(table.replace_schema_metadata(metadata))


def _table(block: Block) -> Any:
    pa = _pyarrow()
    if not block.has_several:
        columns = {"input": _nested(block.inputs[0])}
    else:
        num, count = len(block.rows), len(block.inputs)
        widths = np.tile([matrices.shape[2] for matrices in block.inputs], num)
        rows = block.inputs[0].shape[1]
        numbers = np.concatenate([matrices.reshape(num, -1) for matrices in block.inputs], axis=1).ravel()
        lines = _lists(np.repeat(widths, rows), numbers)
        columns = {"inputs": _lists(np.full(num, count), _lists(np.full(num * count, rows), lines))}
    columns["output"] = _nested(block.output)
    if block.task:
        columns["task"] = pa.array([block.task] * len(block.rows))
    return pa.table(columns)


def _nested(stack: Floats) -> Any:
    num, rows, cols = stack.shape
    return _lists(np.full(num, rows), _lists(np.full(num * rows, cols), stack.ravel()))


def _lists(lengths: Ints, content: Any) -> Any:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return _pyarrow().ListArray.from_arrays(offsets, content)
