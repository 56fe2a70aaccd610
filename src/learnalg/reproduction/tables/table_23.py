"""Sums of 10x10 matrices with universal transformers: one layer that is looped through, in the encoder, the decoder or
both, with gates, with adaptive halting, or with neither.

At scale paper B1999, 8 heads, 30 million examples (table 13); looped decoders have 512 dimensions and 4 loops, of which
the paper says nothing. At scale laptop 5x5 matrices, the three variants of the looped encoder.

Time on two cores, at 60 GFLOP/s: smoke seconds, laptop 5 minutes, paper 4.6 years.

Measured at scale laptop: 4 of 4 cells, the highest number 100.0 where the paper has 15.
"""

from __future__ import annotations

from typing import Any

from learnalg.reproduction.making import ADD_BUDGET, along_row, describe, fast, kept_config, paper
from learnalg.reproduction.experiment import Cell, Recipe

LOOPS = 4
# key, dimensions, loops of encoder and decoder, gate, in the paper's order
ROWS = (
    ("encoder-256", 256, LOOPS, 1, "none"),
    ("encoder-512", 512, LOOPS, 1, "none"),
    ("encoder-256-gated", 256, LOOPS, 1, "copy"),
    ("encoder-512-gated", 512, LOOPS, 1, "copy"),
    ("encoder-256-act", 256, LOOPS, 1, "act"),
    ("encoder-512-act", 512, LOOPS, 1, "act"),
    ("decoder-512", 512, 1, LOOPS, "none"),
    ("both-512", 512, LOOPS, LOOPS, "none"),
)
BASELINE = 8  # row
LAPTOP = (0, 2, 4)  # rows
FIRST_COLUMN = 2


def cells(scale: str) -> list[Cell]:
    found = []
    for row, (key, dimensions, encoder, decoder, gate) in enumerate(ROWS):
        loops: dict[str, Any] = {"encoder_loops": encoder, "decoder_loops": decoder, "loop_gate": gate}
        loops["architecture"] = "universal"
        shows = along_row(row, FIRST_COLUMN)
        if scale == "paper":
            found.append(
                Cell(key, paper("add", "10", "1/1", "b1999", ADD_BUDGET, dim_model=dimensions, **loops), shows)
            )
        elif row in LAPTOP:
            loops["output_embedding"] = "lookup"
            config = fast("add", "5", "1/1", 40_000, dim_model=64, batch_size=32, evals=4, **loops)
            found.append(Cell(key, config, shows, note=f"5x5 matrices, {describe(config)}"))
    shows = along_row(BASELINE, FIRST_COLUMN)
    if scale == "paper":
        config = paper("add", "10", "2/2", "b1999", ADD_BUDGET)
        found.append(Cell("10-2-2", config, shows, home="table-3"))
    else:
        config = kept_config("add-5", "add")
        found.append(Cell("baseline", config, shows, kept="add-5", note=f"5x5 matrices, {describe(config)}"))
    return found


RECIPE = Recipe("table-23", "Sums with universal transformers", cells)
