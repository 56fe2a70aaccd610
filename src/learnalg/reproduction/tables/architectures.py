"""Other architectures: LSTM and GRU (tables 21 and 22), universal transformers (23 and 24)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from learnalg.config import RunConfig, replace_fields
from learnalg.config.presets import preset
from learnalg.reproduction.configs import (
    ADD_BUDGET,
    EIGENVALUES_BUDGET,
    along_row,
    assembled,
    by_tolerance,
    describe,
    fast,
    paper,
    released_cell,
    slug,
)
from learnalg.reproduction.experiment import Cell, Experiment
from learnalg.reproduction.tables.eigenvalues import TABLE_6, paper_cell

FIRST_COLUMN = 2

# LSTM and GRU: sums of 5x5 matrices by layers, hidden dimensions and dimensions of the embeddings (table 21), and
# eigenvalues by encoding, hidden dimensions and layers (table 22).
#
# At scale paper as many layers in the encoder as in the decoder. The paper names no encoding for sums: B1999, as its
# other sums, and 30 million examples (table 13). For eigenvalues it names no embeddings: 512 dimensions, and 60 million
# examples (table 14). At scale laptop one small LSTM and one small GRU, with ingredients that the paper's do not have:
# positions, number features, ordered tokens, gates that begin with long memories.

KINDS = ("lstm", "gru")
NUM_TOLERANCES = 4
SUMS = tuple((layers, hidden, embedding) for layers in (2, 4) for hidden in (1024, 2048) for embedding in (256, 512))
EIGENVALUES = tuple(
    (encoding, hidden, layers) for encoding in ("fp15", "p1000") for hidden in (1024, 2048) for layers in (4, 6, 8)
)
LAPTOP_EIGENVALUES = EIGENVALUES.index(("p1000", 1024, 4))
SMALL = "embedding_dim=128,memory=100"  # about as many tokens as two 5x5 matrices and their sum have


def recurrent_sums(scale: str) -> list[Cell]:
    found = []
    for k, kind in enumerate(KINDS):
        for column, (layers, hidden, embedding) in enumerate(SUMS if scale == "paper" else SUMS[:1]):
            key, note = slug(kind, f"{layers}-{hidden}-{embedding}"), ""
            if scale == "paper":
                sizes = recurrent(kind, hidden, embedding)
                config = paper("add", "5", f"{layers}/{layers}", "b1999", ADD_BUDGET, **sizes)
            else:
                config = small(kind, "add", "1/2", 160_000, "fp15/b1999", batch_size=32, eval_num=500)
                note = describe(config)
            found.append(Cell(key, config, by_tolerance(FIRST_COLUMN + column, NUM_TOLERANCES * k), note=note))
    return found


def recurrent_eigenvalues(scale: str) -> list[Cell]:
    found = []
    for k, kind in enumerate(KINDS):
        for column, (encoding, hidden, layers) in enumerate(EIGENVALUES):
            key = slug(kind, encoding, f"{hidden}-{layers}")
            shows = by_tolerance(FIRST_COLUMN + column, NUM_TOLERANCES * k)
            if scale == "paper":
                sizes = recurrent(kind, hidden, 512)
                config = paper("eigenvalues", "5", f"{layers}/{layers}", encoding, EIGENVALUES_BUDGET, **sizes)
                found.append(Cell(key, config, shows))
            elif column == LAPTOP_EIGENVALUES:
                config = small(kind, "eigenvalues", "2/1", 400_000, "fp15/p1000")
                found.append(Cell(key, config, shows, note=describe(config)))
    return found


def recurrent(kind: str, hidden: int, embedding: int) -> dict[str, Any]:
    return {"architecture": f"{kind}:embedding_dim={embedding}", "dim_model": hidden, "positions": "none"}


def small(kind: str, task: str, layers: str, examples: int, encoding: str, **changes: Any) -> RunConfig:
    """For two cores."""
    encoder, _, decoder = layers.partition("/")
    source, _, target = encoding.partition("/")
    fields: dict[str, Any] = {
        "task": task,
        "architecture": f"{kind}:{SMALL}",
        "encoder_layers": int(encoder),
        "decoder_layers": int(decoder),
        "input_encoding": source,
        "output_encoding": target,
        "examples": examples,
        "eval_every": examples // 10,
        "optimizer": "adam",
    }
    return replace_fields(preset("recurrent-1"), **(fields | changes))


# Universal transformers, sums of 10x10 matrices: one layer that is looped through, in the encoder, the decoder or both,
# with gates, with adaptive halting, or with neither.
#
# At scale paper B1999, 8 heads, 30 million examples (table 13); looped decoders have 512 dimensions and 4 loops, of
# which the paper says nothing. At scale laptop 64 dimensions, FP15/B1999, and the released 10x10 model as the
# baseline.

LOOPS = 4
SMALL_SUMS: dict[str, Any] = {"dim_model": 64, "batch_size": 32, "evals": 4, "eval_num": 200, "final_num": 2_000}
LOOPED_SUMS = (  # key, dimensions, loops of encoder and decoder, gate, in the paper's order
    ("encoder-256", 256, LOOPS, 1, "none"),
    ("encoder-512", 512, LOOPS, 1, "none"),
    ("encoder-256-gated", 256, LOOPS, 1, "copy"),
    ("encoder-512-gated", 512, LOOPS, 1, "copy"),
    ("encoder-256-act", 256, LOOPS, 1, "act"),
    ("encoder-512-act", 512, LOOPS, 1, "act"),
    ("decoder-512", 512, 1, LOOPS, "none"),
    ("both-512", 512, LOOPS, LOOPS, "none"),
)
LAPTOP_LOOPED = (0, 2, 4, 6, 7)  # rows


def looped_sums(scale: str) -> list[Cell]:
    found = []
    for row, (key, dimensions, encoder, decoder, gate) in enumerate(LOOPED_SUMS):
        loops: dict[str, Any] = {"architecture": looped(gate), "encoder_loops": encoder, "decoder_loops": decoder}
        shows = along_row(row, FIRST_COLUMN)
        if scale == "paper":
            config = paper("add", "10", "1/1", "b1999", ADD_BUDGET, dim_model=dimensions, **loops)
            found.append(Cell(key, config, shows))
        elif row in LAPTOP_LOOPED:
            config = fast("add", "10", "1/1", 60_000, "fp15/b1999", **(loops | SMALL_SUMS))
            found.append(Cell(f"10-{key}", config, shows, note=describe(config)))
    shows = along_row(len(LOOPED_SUMS), FIRST_COLUMN)
    if scale == "paper":
        config = paper("add", "10", "2/2", "b1999", ADD_BUDGET)
        return [*found, Cell("10-2-2", config, shows, home="table-3")]
    return [*found, released_cell("baseline-10", "add-10", "add", shows)]


def looped(gate: str) -> str:
    """The architecture, with its gate."""
    return "transformer" if gate == "none" else f"transformer:loop_gate={gate}"


# Universal transformers, eigenvalues of 5x5 matrices: one encoder layer, looped through 4 or 8 times.
#
# At scale paper 512 dimensions, 8 heads and 60 million examples (table 14); the baselines are runs of table 6, and kept
# there. At scale laptop the preset `fast-2` with one layer, FP15 in the input; the baselines are a released model
# and one of table 6.

LOOPED_EIGENVALUES = tuple(
    (encoding, loops, gate) for encoding in ("p1000", "fp15") for gate in ("none", "copy", "act") for loops in (4, 8)
)
BASELINES = {12: 1, 13: 3}  # row -> column of table 6, from 0


def looped_eigenvalues(scale: str) -> list[Cell]:
    found = []
    for row, (encoding, loops, gate) in enumerate(LOOPED_EIGENVALUES):
        fields: dict[str, Any] = {"architecture": looped(gate), "encoder_loops": loops}
        key, shows = slug(encoding, f"{loops}-{gate}"), along_row(row, FIRST_COLUMN)
        if scale == "paper":
            config = paper("eigenvalues", "5", "1/1", encoding, EIGENVALUES_BUDGET, **fields)
            found.append(Cell(key, config, shows))
        else:
            config = assembled("eigenvalues", "5", f"fp15/{encoding}", 100_000, encoder_layers=1, **fields)
            found.append(Cell(f"{key}-products", config, shows, note=describe(config)))
    if scale == "paper":
        for row, column in BASELINES.items():
            found.append(replace(paper_cell(column), shows=along_row(row, FIRST_COLUMN), home="table-6"))
        return found
    theirs = {cell.key: cell for cell in TABLE_6.cells_at("laptop")}
    for row, key in ((12, "p1000-5-4-1"), (13, "fp15-5-6-1")):
        found.append(replace(theirs[key], shows=along_row(row, FIRST_COLUMN), home=TABLE_6.name))
    return found


EXPERIMENTS = (
    Experiment("table-21", "Sums with LSTM and GRU", recurrent_sums),
    Experiment("table-22", "Eigenvalues with LSTM and GRU", recurrent_eigenvalues),
    Experiment("table-23", "Sums with universal transformers", looped_sums),
    Experiment("table-24", "Eigenvalues with universal transformers", looped_eigenvalues),
)
