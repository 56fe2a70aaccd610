"""Pairs of one task and the same shapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnalg.problems.task import Floats, Shape

Ints = NDArray[np.int64]
HEADER = "learnalg"  # the key of what made a file


@dataclass(frozen=True)
class Block:
    task: str  # "" where the file names none
    inputs: tuple[Floats, ...]  # (num, m, n) each
    output: Floats  # (num, rows, cols)
    rows: Ints  # (num,): of the file, from 1; or of a batch that is written, from 0

    @property
    def operands(self) -> tuple[Shape, ...]:
        return tuple((m, n) for _, m, n in (matrices.shape for matrices in self.inputs))

    @property
    def has_several(self) -> bool:
        """Whether a row is written with `inputs`: in a file of several tasks all are."""
        return len(self.inputs) > 1 or bool(self.task)

    def check(self, path: Path) -> None:
        """Refuses what is no number, and operands that cannot stand side by side."""
        for name, matrices in (*(("input", side) for side in self.inputs), ("output", self.output)):
            self.refuse(path, ~np.isfinite(matrices).all(axis=(1, 2)), f"{name} has NaN or infinity")
        if len({m for m, _ in self.operands}) > 1:
            shapes = " and ".join(f"{m}x{n}" for m, n in self.operands)
            raise ValueError(f"{where(path, int(self.rows.min()))}: inputs of {shapes} need the same number of rows")

    def refuse(self, path: Path, wrong: Any, why: str) -> None:
        """Names the first row of the file that is wrong, (num,), if there is one."""
        if wrong.any():
            raise ValueError(f"{where(path, int(self.rows[wrong].min()))}: {why}")


def where(path: Path, row: int) -> str:
    return f"{path}, {'line' if path.suffix == '.jsonl' else 'row'} {row}"
