"""Matrices from files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from learnalg.problems.task import Floats


def read_matrix(path: Path) -> Floats:
    """A matrix from a .npy file, or from text with commas or blanks between the numbers of a row."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    try:
        if path.suffix == ".npy":
            array = np.load(path, allow_pickle=False)
            if not isinstance(array, np.ndarray):
                raise ValueError("it is an archive of several arrays")
            return array
        text = path.read_text()
        if not text.strip():
            raise ValueError("it is empty")
        return np.loadtxt(text.replace(",", " ").splitlines(), ndmin=2)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} holds no matrix: {str(error).splitlines()[0]}") from None
