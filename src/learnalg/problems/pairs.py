"""A map that is known by its examples alone: the pairs of a file (`learnalg train --data FILE`).

    >>> pairs(output="1x1").output_shape(3, 3)      # a number of each matrix, its determinant perhaps
    (1, 1)

Its options are the shapes of a file, in which a size is m, n (those of the first matrix) or a number. Nothing else is
known of it: no solution but those in the file, and no proof.
"""

from __future__ import annotations

import re

import numpy as np

from learnalg.problems.task import Floats, Shape, Task

NAME = "pairs"


def pairs(columns: str = "n", output: str = "mxn") -> Task:
    """`columns` of each operand, as in n;1 of a matrix and a vector; all operands have m rows."""
    if not re.fullmatch(r"n(;(m|n|\d+))*", columns):
        raise ValueError(f"task option columns={columns}: n, then one of m, n or a number for each further operand")
    if not re.fullmatch(r"(m|n|\d+)x(m|n|\d+)", output):
        raise ValueError(f"task option output={output}: rows x columns, each of them m, n or a number")

    def operands(m: int, n: int) -> tuple[Shape, ...]:
        return tuple((m, _size(text, m, n)) for text in columns.split(";"))

    def output_shape(m: int, n: int) -> Shape:
        rows, cols = output.split("x")
        return _size(rows, m, n), _size(cols, m, n)

    def unknown(inputs: Floats) -> Floats:
        m, total = inputs.shape[1:]
        fits = (n for n in range(1, total + 1) if sum(cols for _, cols in operands(m, n)) == total)
        return np.full((len(inputs), *output_shape(m, next(fits, total))), np.nan)

    return Task("the pairs of a file", solve=unknown, operands=operands, output_shape=output_shape)


def _size(text: str, m: int, n: int) -> int:
    return {"m": m, "n": n}.get(text) or int(text)


def shapes_as_options(sizes: list[Shape], operands: list[tuple[Shape, ...]], outputs: list[Shape]) -> str:
    """The name of the task whose problems of these sizes have these operands and outputs: 'pairs:output=1x1'."""
    columns = [
        _fitting(sizes, [shapes[k][1] for shapes in operands], f"the columns of matrix {k + 1}")
        for k in range(len(operands[0]))
    ]
    output = [_fitting(sizes, [shape[axis] for shape in outputs], f"the {what} of the output") for axis, what in AXES]
    options = []
    if columns != ["n"]:
        options.append(f"columns={';'.join(columns)}")
    if output != ["m", "n"]:
        options.append(f"output={'x'.join(output)}")
    return ":".join(filter(None, (NAME, ",".join(options))))


AXES = ((0, "rows"), (1, "columns"))


def _fitting(sizes: list[Shape], found: list[int], what: str) -> str:
    """m, n or a number that gives all sizes found; n of n columns even where m = n."""
    names = {"m": [m for m, _ in sizes], "n": [n for _, n in sizes], str(found[0]): [found[0]] * len(sizes)}
    order = ("n", "m", str(found[0])) if "columns" in what else ("m", "n", str(found[0]))
    for name in order:
        if names[name] == found:
            return name
    raise ValueError(f"of problems of several sizes, {what} must be m, n or a fixed number, where the first is m x n")
