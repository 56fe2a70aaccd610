"""Presets do not move: each version is written down here, and a name without a version is the newest."""

from __future__ import annotations

import pytest

from learnalg.config import RunConfig, replace_fields
from learnalg.config.presets import PRESETS, full_name, preset
from learnalg.models import build, sides
from learnalg.problem import Problem, check_lengths

# Fields of each preset that are not the default. A changed network or optimiser is a new version, not a change here.
SAID = {
    "paper-1": {"schedule": "cosine:lowest=1e-5,period=4000000"},
    "fast-1": {
        "encoder_layers": 4,
        "dim_model": (128,),
        "heads": (4,),
        "input_embedding": "features",
        "output_embedding": "ordered",
        "positions": ("grid",),
        "norm": "pre",
        "output_bias": "place",
        "optimizer": "muon:learning_rate=0.02",
        "learning_rate": 3e-3,
        "schedule": "linear:cooldown=0.7",
        "warmup_steps": 50,
        "beta2": 0.99,
        "clip": 1.0,
        "soft_width": 3.0,
        "examples": 400_000,
        "eval_every": 50_000,
    },
}
SAID["fast-2"] = SAID["fast-1"] | {
    "encoder_loops": 2,
    "heads": (8,),
    "positions": ("place", "grid"),
    "relations": "learned",
    "products": 32,
    "batch_size": 32,
    "examples": 300_000,
    "eval_every": 20_000,
}
SAID["fast-3"] = SAID["fast-2"] | {"output_bias": "slot"}
SAID["copy-1"] = SAID["fast-1"] | {
    "encoder_layers": 1,
    "dim_model": (64,),
    "input_embedding": "lookup",
    "output_embedding": "lookup",
    "soft_width": 0.0,
}
SAID["recurrent-1"] = SAID["fast-1"] | {
    "architecture": "lstm:embedding_dim=128,memory=100",
    "encoder_layers": 2,
    "dim_model": (256,),
    "heads": (8,),
    "batch_size": 32,
}

every_preset = pytest.mark.parametrize("name", PRESETS)


@every_preset
def test_a_preset_does_not_move(name):
    assert PRESETS[name] == replace_fields(RunConfig(), **SAID[name])


@every_preset
def test_a_preset_builds_a_model_that_its_problem_fits(name):
    problem = Problem(PRESETS[name].data)
    check_lengths(problem, PRESETS[name])
    assert sum(p.numel() for p in build(PRESETS[name].model, *sides(problem)).parameters()) > 10**6


@pytest.mark.parametrize(
    ("name", "full"),
    [("paper", "paper-1"), ("fast", "fast-3"), ("fast-1", "fast-1"), ("recurrent", "recurrent-1"), ("quick", "quick")],
)
def test_a_name_without_a_version_is_the_newest(name, full):
    assert full_name(name) == full
    if full in PRESETS:
        assert preset(name) is PRESETS[full]


@pytest.mark.parametrize(("name", "meant"), [("fsat", "fast"), ("fast-9", "fast-3|fast-2|fast-1"), ("quick", "paper")])
def test_an_unknown_preset_is_refused(name, meant):
    with pytest.raises(ValueError, match=f"unknown preset '{name}'.*({meant})"):
        preset(name)
