"""Choices within the preset `fast`, on 4x4 eigenvalues at the ablation's size and budget: what the words of P10, P1000
and B1999 should know of their number, soft targets against the Number Token Loss, and curricula.

One seed: differences of a few percent mean nothing. All are without ordered outputs: the first row is the ablation's
`fast without ordered outputs`.

Measured at scale laptop: 22 of 22 cells, the highest number 3.2.
"""

from __future__ import annotations

from typing import Any

from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.reproduction.tables.ablation import base, shows
from learnalg.reproduction.experiment import Cell, Recipe

PROBLEM = "eigenvalues 4x4"
EMBEDDINGS = {"lookup": "nothing", "features": "their own value", "number": "the whole number"}
VARIANTS: dict[str, dict[str, Any]] = {
    "fast": {},
    **{
        f"{encoding.upper()} in, words know {what}": {"input_encoding": encoding, "input_embedding": embedding}
        for encoding in ("p10", "p1000", "b1999")
        for embedding, what in EMBEDDINGS.items()
    },
    "FP15 in, values and learned rows": {"input_embedding": "features+rows"},
    "B1999 out": {"output_encoding": "b1999"},
    "hard targets": {"soft_width": 0.0},
    "soft targets shrink from 3 to 0.5": {"soft_width_end": 0.5},
    "Number Token Loss, weight 3": {"soft_width": 0.0, "number_loss": 3.0},
    "Number Token Loss, weight 30": {"soft_width": 0.0, "number_loss": 30.0},
    "3x3 matrices at first": {"easy_share": 0.7, "easy_until": 0.4, "easy_dim": "3"},
    "2x2 and 3x3 matrices mixed in": {"easy_share": 0.3, "easy_dim": "2-3"},
    "wide spectra mixed in": {"easy_share": 0.3, "easy_ensemble": ("log-uniform",)},
    "a quarter of examples from 5,000": {"repeated_share": 0.25, "pool": 5_000},
    "batch 64": {"batch_size": 64},
    "batch 128": {"batch_size": 128},
}


def cells(scale: str) -> list[Cell]:
    found = []
    for variant, changes in VARIANTS.items():
        config = replace_fields(preset("fast"), **base(PROBLEM, 1) | {"output_embedding": "lookup"} | changes)
        key = "-".join(variant.lower().replace(",", "").split())
        found.append(Cell(key, config, shows(PROBLEM, variant)))
    return found


RECIPE = Recipe("comparisons", "Choices within the preset fast", cells, has_paper=False)
