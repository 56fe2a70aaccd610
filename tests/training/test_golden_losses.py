"""Golden losses: 50 steps of each architecture, encoding family and optimiser at a fixed seed, on one thread.

A refactoring must not change what is learned. Losses are compared to rounding: CPUs add in different orders, and in 50
steps the difference grows to some 1e-4. To write them anew, on purpose: `python tests/training/test_golden_losses.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from learnalg.config import RunConfig, StageConfig, replace_fields
from learnalg.data import TrainingData
from learnalg.training.loop import settle
from learnalg.training.step import new_state, train_step

GOLDEN = Path(__file__).parents[1] / "golden" / "losses.json"
STEPS, SHOWN = 50, (1, 2, 5, 10, 20, 50)

SMALL: dict[str, Any] = {
    "dim": "2",
    "encoder_layers": 2,
    "decoder_layers": 1,
    "dim_model": 32,
    "heads": 4,
    "warmup_steps": 5,
    "learning_rate": 1e-3,
    "examples": 50 * 16,
    "batch_size": 16,
    "threads": 1,
    "precision": "fp32",
    "device": "cpu",
    "seed": 3,
}
FAST: dict[str, Any] = SMALL | {
    "input_embedding": "features",
    "output_embedding": "ordered",
    "positions": "grid",
    "relations": "learned",
    "products": 4,
    "norm": "pre",
    "output_bias": "place",
    "optimizer": "muon:learning_rate=0.02",
    "learning_rate": 3e-3,
    "schedule": "linear:cooldown=0.7",
    "beta2": 0.99,
    "clip": 1.0,
    "soft_width": 3.0,
}
LOOPED: dict[str, Any] = FAST | {"encoder_loops": 2, "positions": ("place", "grid")}
CASES: dict[str, dict[str, Any]] = {
    "paper": SMALL,
    "paper, p10": SMALL | {"input_encoding": "p10", "output_encoding": "p10"},
    "paper, p1000, adamw": SMALL
    | {"input_encoding": "p1000", "output_encoding": "p1000", "optimizer": "adamw:weight_decay=0.01"},
    "paper, b1999, cosine": SMALL
    | {"task": "add", "input_encoding": "b1999", "output_encoding": "b1999", "schedule": "cosine"},
    "paper, query of the layer's input, dropout": SMALL
    | {"architecture": "transformer:cross_query=input", "dropout": 0.1},
    "paper, sides that differ": SMALL | {"dim_model": (48, 32), "heads": (6, 4)},
    "loops, copy": SMALL | {"architecture": "transformer:loop_gate=copy", "encoder_loops": 3},
    "loops, act, decoder": SMALL
    | {"architecture": "transformer:loop_gate=act", "encoder_loops": 2, "decoder_loops": 2},
    "lstm": SMALL | {"task": "add", "architecture": "lstm:embedding_dim=16,memory=20", "positions": "none", "heads": 8},
    "gru": SMALL | {"task": "add", "architecture": "gru:embedding_dim=16", "positions": "none", "heads": 8},
    "fast": FAST,
    "fast, looped, triangle": LOOPED | {"triangle": True, "dim": "3"},
    "fast, decades, heads that look, four digits": LOOPED
    | {
        "task": "inverse",
        "output_encoding": "p10000",
        "output_embedding": "decades",
        "relations": "directed",
        "decoder_layers": 2,
        "soft_width": 10.0,
    },
    "fast, joint training": LOOPED | {"task": "transpose+add+matmul", "output_encoding": "b1999"},
    "fast, operands, variable rectangles": FAST | {"task": "add", "dim": "2-3x2-3", "positions": "operands"},
    "fast, stages": LOOPED
    | {"dim": "4", "stage": (StageConfig(200, dim="2-3"), StageConfig(200, "3", ("laplace",), 0.5))},
    "fast, sizes mixed in": LOOPED | {"dim": "4", "mix_share": 0.5, "mix_until": 0.8, "mix_dim": "2-3"},
    "fast, other ensembles mixed in": LOOPED
    | {"task": "svd", "symmetric": True, "mix_share": 0.4, "mix_ensemble": ("near-ties", "near-zeros")},
    "fast, repeated": FAST | {"repeated_share": 0.25, "pool": 50},
    "fast, noise": FAST | {"noise": 0.05, "ensemble": ("laplace", "gaussian"), "amplitude": (1.0, 100.0)},
}


def losses(fields: dict[str, Any]) -> list[float]:
    """The mean loss a token of the steps SHOWN."""
    torch.use_deterministic_algorithms(True)
    config = settle(replace_fields(RunConfig(), **fields), torch.device("cpu"))
    state, data = new_state(config, torch.device("cpu")), TrainingData(config)
    found = []
    for index in range(STEPS):
        state.loss_sum, state.loss_tokens = 0.0, 0
        train_step(state, data.batch(index))
        found.append(state.loss_sum / state.loss_tokens)
    torch.use_deterministic_algorithms(False)
    return [found[step - 1] for step in SHOWN]


@pytest.mark.parametrize("name", CASES)
def test_what_is_learned_is_what_was_learned(name: str) -> None:
    golden = json.loads(GOLDEN.read_text())["losses"]
    assert losses(CASES[name]) == pytest.approx(golden[name], rel=2e-3)


def test_every_golden_loss_has_its_case() -> None:
    assert set(json.loads(GOLDEN.read_text())["losses"]) == set(CASES)


if __name__ == "__main__":
    found = {name: [round(loss, 5) for loss in losses(fields)] for name, fields in CASES.items()}
    GOLDEN.write_text(json.dumps({"steps": SHOWN, "losses": found}, indent=1) + "\n")
