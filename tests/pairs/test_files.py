"""Files of pairs: what is written is read again, and each row that is no pair is named."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from learnalg.pairs import Block, read_pairs, write_pairs

RNG = np.random.default_rng(1)
PAIR = '{"input": [[1, 2], [3, 4]], "output": [[5.5]]}\n'
both = pytest.mark.parametrize("ending", ["jsonl", "parquet"])


def block(num, shapes, output, rows, task=""):
    return Block(
        task, tuple(RNG.normal(size=(num, *shape)) for shape in shapes), RNG.normal(size=(num, *output)), np.array(rows)
    )


def as_rows(blocks):
    """row -> task and matrices."""
    return {
        int(row): (one.task, *(stack[k].tolist() for stack in (*one.inputs, one.output)))
        for one in blocks
        for k, row in enumerate(one.rows)
    }


@both
@pytest.mark.parametrize("name", ["one", "several", "tasks"])
def test_what_is_written_is_read_again(tmp_path, ending, name):
    batches = {
        "one": [
            [block(2, [(2, 3)], (1, 1), [0, 2]), block(1, [(1, 1)], (4, 2), [1])],
            [block(1, [(2, 3)], (1, 1), [0])],
        ],
        "several": [[block(3, [(2, 2), (2, 1)], (2, 1), [2, 0, 1])]],
        "tasks": [[block(1, [(2, 2)], (2, 2), [1], "a"), block(2, [(2, 2), (2, 1)], (2, 1), [0, 2], "b")]],
    }[name]
    path = tmp_path / f"pairs.{ending}"
    write_pairs(path, {"seed": 7}, batches)
    expected, offset = {}, 1
    for blocks in batches:
        expected |= {offset + row: pair for row, pair in as_rows(blocks).items()}
        offset += sum(len(one.rows) for one in blocks)
    found = as_rows(read_pairs(path))
    head = 1 if ending == "jsonl" else 0  # the first line of JSON is the header
    assert {row - head: pair for row, pair in found.items()} == expected
    if ending == "jsonl":
        assert json.loads(path.read_text().splitlines()[0]) == {"learnalg": {"seed": 7}}
    else:
        assert json.loads(pq.read_schema(path).metadata[b"learnalg"]) == {"seed": 7}


def test_parquet_of_other_programs(tmp_path):
    """Fixed and large lists, whole numbers, single precision, several chunks."""
    inputs = pa.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], pa.list_(pa.list_(pa.int32(), 2), 2))
    output = pa.array([[[0.5]], [[2.5]]], pa.large_list(pa.large_list(pa.float32())))
    table = pa.table({"input": inputs, "output": output, "note": ["a", "b"]})
    pq.write_table(pa.concat_tables([table, table]), tmp_path / "a.parquet", row_group_size=1)
    (found,) = read_pairs(tmp_path / "a.parquet")
    np.testing.assert_array_equal(found.inputs[0][3], [[5, 6], [7, 8]])
    np.testing.assert_array_equal(found.output.ravel(), [0.5, 2.5, 0.5, 2.5])


REFUSED = {
    "no JSON": "line 3: Expecting value",
    "[1, 2]": "line 3: expected an object with output, and input or inputs",
    '{"input": [[1]]}': "line 3: expected an object with output",
    '{"input": [[1]], "inputs": [[[1]]], "output": [[1]]}': "line 3: expected an object",
    '{"input": [[1]], "output": [[1]], "wieght": 2}': "line 3: 'wieght' is none of input, inputs, output, task",
    '{"input": [[1]], "output": [[1]], "task": 2}': "line 3: 'task' is none of",
    '{"input": [1, 2], "output": [[1]]}': "line 3: [1, 2] is no matrix, which is a list of rows",
    '{"input": [], "output": [[1]]}': "line 3: [] is no matrix",
    '{"inputs": [], "output": [[1]]}': "line 3: inputs is no list of matrices",
    '{"input": [[1, 2], [3]], "output": [[1]]}': "line 3: the rows of [[1, 2], [3]] differ in length",
    '{"input": [[1, 2], [3, "4"]], "output": [[1]]}': "line 3: [[1, 2], [3, '4']] is no matrix of numbers",
    '{"input": [[1, 2], [3, null]], "output": [[1]]}': "line 3: [[1, 2], [3, None]] is no matrix of numbers",
    '{"input": [[1, 2], [3, [4]]], "output": [[1]]}': "line 3: the rows of [[1, 2], [3, [4]]] differ in length",
    '{"input": [[1, 2], [3, NaN]], "output": [[1]]}': "line 3: input has NaN or infinity",
    '{"input": [[1, 2], [3, 4]], "output": [[-Infinity]]}': "line 3: output has NaN or infinity",
    '{"input": [[1, 2], [3, 1' + "0" * 400 + ']], "output": [[1]]}': "line 3: [[1, 2], [3, 1",
    '{"inputs": [[[1]], [[1], [2]]], "output": [[1]]}': "line 3: inputs of 1x1 and 2x1 need the same number of rows",
    "[" * 100_000: "line 3: ",
}


@pytest.mark.parametrize("line", REFUSED, ids=range(len(REFUSED)))
def test_a_line_that_is_no_pair_is_named(tmp_path, line):
    (tmp_path / "a.jsonl").write_text(f"{PAIR}\n{line}\n{PAIR}")
    with pytest.raises(ValueError) as refused:
        read_pairs(tmp_path / "a.jsonl")
    assert str(refused.value).startswith(f"{tmp_path}/a.jsonl, {REFUSED[line]}")


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"input": [[[1.0]], [[1.0], [2.0, 3.0]]], "output": [[[1.0]]] * 2}, ", row 2: input is no matrix"),
        ({"input": [[[1.0]], []], "output": [[[1.0]]] * 2}, ", row 2: input is no matrix"),
        ({"input": [[[1.0]], [[]]], "output": [[[1.0]]] * 2}, ", row 2: input is no matrix"),
        ({"input": [[[1.0]], None], "output": [[[1.0]]] * 2}, ", row 2: input is missing"),
        ({"input": [[[1.0]], [None]], "output": [[[1.0]]] * 2}, ": a matrix of input has no rows in places"),
        ({"input": [[[1.0]], [[None]]], "output": [[[1.0]]] * 2}, ": input has double or nothing in places"),
        ({"input": [[["a"]]], "output": [[[1.0]]]}, ": input has string or nothing"),
        ({"input": [[1.0]], "output": [[[1.0]]]}, ": input has double: expected lists of rows"),
        ({"input": [[[1.0]], [[np.nan]]], "output": [[[1.0]]] * 2}, ", row 2: input has NaN"),
        ({"output": [[[1.0]]]}, " has the columns output: expected output, and input or inputs"),
    ],
)
def test_a_row_of_parquet_that_is_no_pair_is_named(tmp_path, columns, complaint):
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(ValueError) as refused:
        read_pairs(tmp_path / "a.parquet")
    assert str(refused.value).startswith(f"{tmp_path}/a.parquet{complaint}")


def test_files_that_are_none(tmp_path):
    (tmp_path / "empty.jsonl").write_text('{"learnalg": {}}\n')
    (tmp_path / "words.parquet").write_text("no Parquet")
    for name, complaint in (
        ("empty.jsonl", "has no pairs"),
        ("words.parquet", "is no Parquet file"),
        ("missing.jsonl", "no such file"),
        ("pairs.csv", "ends in .jsonl or .parquet"),
    ):
        with pytest.raises(ValueError, match=complaint):
            read_pairs(tmp_path / name)


def test_an_interruption_leaves_nothing(tmp_path):
    def batches():
        yield [block(2, [(1, 1)], (1, 1), [0, 1])]
        raise KeyboardInterrupt

    for ending in ("jsonl", "parquet"):
        with pytest.raises(KeyboardInterrupt):
            write_pairs(tmp_path / f"a.{ending}", {}, batches())
    assert list(tmp_path.iterdir()) == []
