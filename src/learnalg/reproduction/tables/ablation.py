"""What each ingredient of the assembled preset `fast-2` does: each is removed in turn, with everything else unchanged,
for 5x5 eigenvalues, 4x4 eigenvectors and 4x4 inverses, at one budget, three seeds.

The base has all ingredients; smaller matrices are mixed in, and symmetric matrices are read by their upper triangle.
Soft targets raise the cross-entropy: compare them by accuracy. `docs/ablation.md` has the ablation of the first preset.
"""

from __future__ import annotations

from typing import Any

from learnalg.config import RunConfig, replace_fields
from learnalg.config.presets import preset
from learnalg.reproduction.configs import slug
from learnalg.reproduction.experiment import Cell, Experiment, Shown

SEEDS = (1, 2, 3)
BUDGET = 100_000  # examples

SYMMETRIC: dict[str, Any] = {"triangle": True}
PROBLEMS: dict[str, dict[str, Any]] = {
    "eigenvalues 5x5": {"task": "eigenvalues", "dim": "5", "mix_dim": "2-4"} | SYMMETRIC,
    "eigenvectors 4x4": {"task": "eigenvectors", "dim": "4", "mix_dim": "2-3", "output_encoding": "b1999"} | SYMMETRIC,
    "inverse 4x4": {"task": "inverse", "dim": "4", "mix_dim": "2-3", "output_encoding": "b1999"},
}

# What the network is without an ingredient.
REMOVED: dict[str, dict[str, Any]] = {
    "number features": {"input_embedding": "lookup"},
    "grid and place positions": {"positions": "learned"},
    "pre-norm block": {"norm": "post"},
    "bias by place": {"output_bias": "token"},
    "Muon": {"optimizer": "adam", "learning_rate": 5e-4, "beta2": 0.999, "clip": 5.0},
    "linear cool-down": {"schedule": "constant"},
    "soft targets": {"soft_width": 0.0},
    "ordered outputs": {"output_embedding": "lookup"},
    "relations": {"relations": "none"},
    "products": {"products": 0},
    "loops": {"encoder_loops": 1},
    "triangle": {"triangle": False},
    "smaller sizes mixed in": {"mix_share": 0.0, "mix_dim": ""},
}


def config(problem: str, seed: int, **changes: Any) -> RunConfig:
    base = {"mix_share": 0.5, "examples": BUDGET, "eval_every": BUDGET, "final_num": 2_000, "seed": seed}
    return replace_fields(preset("fast-2"), **base | PROBLEMS[problem] | changes)


def cells(scale: str) -> list[Cell]:
    found = []
    for seed in SEEDS:
        for problem, fields in PROBLEMS.items():
            found.append(cell(problem, "all ingredients", config(problem, seed)))
            for name, changes in REMOVED.items():
                if name != "triangle" or fields.get("triangle"):
                    found.append(cell(problem, f"without {name}", config(problem, seed, **changes)))
    return found


def cell(problem: str, variant: str, config: RunConfig) -> Cell:
    shows = (
        Shown(variant, f"{problem}, accuracy at 5 %", "report/accuracy/l1/0.05"),
        Shown(variant, f"{problem}, loss", "report/loss", factor=1.0, digits=2),
    )
    return Cell(slug(problem, variant, str(config.train.seed)), config, shows)


EXPERIMENTS = (Experiment("ablation", "What each ingredient does", cells, has_paper=False),)
