"""Sums of 10x10 matrices with universal transformers: one layer that is looped through, in the encoder, the decoder or
both, with gates, with adaptive halting, or with neither.

At scale paper B1999, 8 heads, 30 million examples (table 13); looped decoders have 512 dimensions and 4 loops, of which
the paper says nothing. At scale laptop 5x5 matrices, the three variants of the looped encoder.
"""

from __future__ import annotations

from typing import Any

from learnalg.reproduction.configs import ADD_BUDGET, along_row, describe, fast, paper
from learnalg.reproduction.experiment import Cell, Experiment

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
SIZE = "5x5"  # at scale laptop


def looped(gate: str) -> str:
    """The architecture, with its gate."""
    return "transformer" if gate == "none" else f"transformer:loop_gate={gate}"


def cells(scale: str) -> list[Cell]:
    found = []
    for row, (key, dimensions, encoder, decoder, gate) in enumerate(ROWS):
        loops: dict[str, Any] = {"encoder_loops": encoder, "decoder_loops": decoder}
        loops["architecture"] = looped(gate)
        shows = along_row(row, FIRST_COLUMN)
        if scale == "paper":
            found.append(
                Cell(key, paper("add", "10", "1/1", "b1999", ADD_BUDGET, dim_model=dimensions, **loops), shows)
            )
        elif row in LAPTOP:
            loops["output_embedding"] = "lookup"
            config = fast("add", "5", "1/1", 40_000, dim_model=64, batch_size=32, evals=4, **loops)
            found.append(Cell(key, config, shows, note=describe(config), size=SIZE))
    shows = along_row(BASELINE, FIRST_COLUMN)
    if scale == "paper":
        config = paper("add", "10", "2/2", "b1999", ADD_BUDGET)
        found.append(Cell("10-2-2", config, shows, home="table-3"))
    else:
        config = fast("add", "5", "1/1", 200_000, output_embedding="lookup")
        found.append(Cell("baseline", config, shows, note=describe(config), size=SIZE))
    return found


EXPERIMENT = Experiment("table-23", "Sums with universal transformers", cells)
