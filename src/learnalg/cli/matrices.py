"""Matrices and stacks of matrices from files and from standard input.

    >>> read_matrices("pair.npz")       # name -> array, in the order of the file
    {'a': array([[1., 2.], [3., 4.]]), 'b': array([[0., 1.], [1., 0.]])}

Text has commas or blanks between the numbers of a row; an empty line ends a matrix, so that several make a stack.
Arrays are read without pickle, and only after their header fits the size of their file.
"""

from __future__ import annotations

import io
import math
import sys
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO

import numpy as np

from learnalg.certify.solution import place
from learnalg.problems.task import Floats

STDIN = "-"
TEXT = (".csv", ".txt")
ENDINGS = (".npy", ".npz", *TEXT)
MOST_BYTES = 2**30  # of all arrays
MOST_TEXT = 2**26  # bytes of a text, whose lines take ten times as much
MOST_HEADER = 1_000  # characters of an array's header, which is parsed
DAMAGED = (ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)
NO_HEADER = (SyntaxError, TokenError, TypeError, OverflowError, RecursionError)  # what NumPy's reader of headers raises


def is_matrix_file(name: str) -> bool:
    """By its name: what solve reads, and no model."""
    return name == STDIN or Path(name).suffix in ENDINGS


def read_matrices(name: str) -> dict[str, Floats]:
    """Of a file, or of standard input: an archive has several arrays, all else one, which has the name of its file."""
    if name != STDIN and not Path(name).is_file():
        raise ValueError(f"{name}: no such file")
    try:
        if name == STDIN:
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
            arrays = _read(io.BytesIO(content), len(content), "stdin", "")
        else:
            path = Path(name)
            with path.open("rb") as file:
                arrays = _read(file, path.stat().st_size, path.stem, path.suffix)
        for array in arrays.values():
            _check(array)
    except DAMAGED as error:
        what = "standard input" if name == STDIN else name
        raise ValueError(f"{what} holds no matrix: {(str(error).splitlines() or ['damaged'])[0]}") from None
    return {key: array.astype(np.float64) for key, array in arrays.items()}


def _read(file: BinaryIO, size: int, name: str, ending: str) -> dict[str, Floats]:
    """The kind is that of the name's ending, or else that of the first bytes."""
    if size > MOST_BYTES and ending != ".npz":
        raise ValueError(f"it has {size / 2**30:.1f} GB, more than {MOST_BYTES / 2**30:.0f}")
    start = file.read(6)
    file.seek(0)
    if ending == ".npz" or (not ending and start.startswith(b"PK")):
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
                raise ValueError(f"it has more than {MOST_BYTES / 2**30:.0f} GB")
            return {entry.filename.removesuffix(".npy"): _member(archive, entry) for entry in archive.infolist()}
    if ending == ".npy" or (not ending and start.startswith(b"\x93NUMPY")):
        return {name: _read_npy(file, size)}
    if size > MOST_TEXT:
        raise ValueError(f"it is a text of {size:,} bytes, more than {MOST_TEXT:,}")
    return {name: _parse(file.read().decode())}


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Floats:
    try:
        with archive.open(entry) as file:
            return _read_npy(file, entry.file_size)  # type: ignore[arg-type]
    except DAMAGED as error:
        raise ValueError(f"{entry.filename}: {error}") from None


def _read_npy(file: BinaryIO, size: int) -> Floats:
    """Nothing is allocated before the header is seen to fit the size of the file."""
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"version {version} of the format is for arrays with named fields")
    try:
        shape, _, dtype = readers[version](file, max_header_size=MOST_HEADER)
    except NO_HEADER as error:
        raise ValueError(f"its header is damaged ({type(error).__name__})") from None
    if dtype.hasobject:
        raise ValueError("it has Python objects, and a pickle is never loaded: expected real numbers")
    has, says = size - file.tell(), math.prod(shape) * dtype.itemsize
    if says != has:
        raise ValueError(f"its header says {says:,} bytes of numbers, and the file has {has:,}")
    if size > MOST_BYTES:
        raise ValueError(f"it has {size / 2**30:.1f} GB, more than {MOST_BYTES / 2**30:.0f}")
    file.seek(0)
    array: Floats = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _parse(text: str) -> Floats:
    lines = [line.partition("#")[0].replace(",", " ").strip() for line in text.splitlines()]
    rows = np.array([bool(line) for line in lines])
    if not rows.any():
        raise ValueError("it is empty")
    numbers = np.loadtxt([line for line in lines if line], ndmin=2)
    starts = rows & ~np.concatenate([[False], rows[:-1]])  # rows that begin a matrix
    counts = np.bincount(np.cumsum(starts)[rows] - 1)
    if (counts != counts[0]).any():
        other = int((counts != counts[0]).argmax())
        raise ValueError(f"matrix {other} has {counts[other]} rows, and matrix 0 has {counts[0]}: a stack has one size")
    return numbers.reshape(len(counts), counts[0], -1) if len(counts) > 1 else numbers


def _check(array: Floats) -> None:
    if array.dtype.kind not in "biuf":
        raise ValueError(f"expected real numbers, it has {array.dtype}")
    lead = array.shape[:-2]
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=(-2, -1)[max(0, 2 - array.ndim) :]))
    if len(wrong):
        raise ValueError(f"{f'matrix{place(wrong[0], lead)}' if lead else 'it'} has NaN or infinity")
