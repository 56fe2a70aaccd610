"""Eigenvalues of larger matrices with deeper decoders: accuracy at 5 % tolerance, and millions of examples until 99 %
of them.

The runs are those of table 19 that fit, which keeps them: the base configuration of each depth, FP15/P1000; for 12x12
with 8 layers the only one there, FP15/FP15. Scale paper only, since two cores are far from all of it.
"""

from __future__ import annotations

from learnalg.reproduction.experiment import Cell, Experiment, Shown, paper_table
from learnalg.reproduction.tables.table_19 import large_cell, sample_size

SIZES = ("8x8", "10x10", "12x12")  # rows
DECODERS = ("8/640/10/P1000", "12/768/12/P1000", "24/1024/16/P1000")  # columns
EXCEPTIONS = {("12x12", "8/640/10/P1000"): "8/645/15/FP15"}


def cells(scale: str) -> list[Cell]:
    if scale == "laptop":
        return []
    rows = paper_table("table-7")[1]
    found = []
    for row, size in enumerate(SIZES):
        for k, base in enumerate(DECODERS):
            decoder, column = EXCEPTIONS.get((size, base), base), 1 + len(DECODERS) + k
            shows: tuple[Shown, ...] = (Shown(row, 1 + k, "report/accuracy/l1/0.05"),)
            if rows[row][column] != "-":
                shows += (sample_size(row, column),)
            found.append(large_cell(f"E:1/512/8/FP15 D:{decoder}", size, shows, home="table-19"))
    return found


EXPERIMENT = Experiment("table-7", "Eigenvalues with deeper models", cells)
