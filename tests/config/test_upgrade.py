"""Configs of version 1: those of released models build today's networks; what cannot be expressed is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import torch
from safetensors import safe_open

from learnalg.config import RunConfig, StageConfig, from_dict
from learnalg.config.upgrade import upgrade
from learnalg.models import build, sides
from learnalg.models.weights import FORMAT, OLD_FORMAT
from learnalg.problem import Problem
from learnalg.zoo.load import find_model, released

# The defaults of version 1: the paper's.
OLD: dict[str, Any] = {
    "data": {
        "task": "eigenvalues",
        "subset": [],
        "task_options": [],
        "dim": "5",
        "ensemble": ["iid-uniform"],
        "ensemble_weights": [],
        "spread": 1.0,
    },
    "model": {
        "architecture": "transformer",
        "encoder_layers": 6,
        "decoder_layers": 1,
        "dim_model": 512,
        "encoder_dim": 0,
        "decoder_dim": 0,
        "heads": 8,
        "encoder_heads": 0,
        "decoder_heads": 0,
        "embedding_dim": 0,
        "memory": 0,
        "positions": "learned",
        "encoder_positions": "",
        "relations": False,
        "relation_start": 0.0,
        "products": 0,
        "product_norm": "matrix",
        "norm": "post",
        "norm_kind": "layer",
        "activation": "relu",
        "qk_norm": False,
        "bias": True,
        "zero_init": False,
        "tied": True,
        "output_bias": "word",
        "cross_query": "sequential",
        "encoder_loops": 4,
        "decoder_loops": 1,
        "loop_gate": "none",
        "ponder_cost": 0.01,
    },
    "optim": {
        "optimizer": "adam",
        "learning_rate": 1e-4,
        "muon_learning_rate": 0.02,
        "schedule": "constant",
        "min_learning_rate": 0.0,
        "schedule_steps": 0,
        "cooldown": 0.5,
        "weight_decay": 0.0,
        "beta1": 0.9,
        "eps": 1e-8,
        "prior_bias": False,
        "number_loss": 0.0,
        "soft_width_end": 0.0,
    },
    "train": {"examples": 3_000_000, "init_part": "all"},
    "curriculum": {
        "easy_share": 0.0,
        "easy_until": 1.0,
        "easy_dim": "",
        "easy_ensemble": [],
        "easy_spread": 1.0,
        "easy_grows": False,
        "repeated_share": 0.0,
        "pool": 10_000,
    },
}
PRE = {"norm": "pre", "qk_norm": True, "bias": False, "zero_init": True}


def old(**tables: dict[str, Any]) -> dict[str, Any]:
    values = copy.deepcopy(OLD)
    for table, fields in tables.items():
        values[table] |= fields
    return values


def upgraded(**tables: dict[str, Any]) -> RunConfig:
    return from_dict(json.loads(json.dumps(upgrade(old(**tables)))))


@pytest.mark.parametrize("name", released())
def test_the_weights_of_a_released_model_fit_its_config(name):
    with safe_open(find_model(name), framework="numpy") as file:
        metadata = file.metadata()
        shapes = {key: tuple(file.get_slice(key).get_shape()) for key in file.keys()}  # noqa: SIM118
    values = json.loads(metadata["config"])
    assert metadata["format"] in (FORMAT, OLD_FORMAT)
    config = from_dict(upgrade(values) if metadata["format"] == OLD_FORMAT else values)
    with torch.device("meta"):
        model = build(config.model, *sides(Problem(config.data)))
    assert {key: tuple(tensor.shape) for key, tensor in model.state_dict().items()} == shapes


def test_the_papers_defaults_are_todays():
    assert upgraded() == RunConfig()
    assert from_dict(upgrade({})) == RunConfig()


def test_upgrading_leaves_its_argument_alone():
    values = old()
    upgrade(values)
    assert values == OLD


@pytest.mark.parametrize(
    ("table", "fields", "new"),
    [
        ("data", {"task": "cotraining", "subset": ["TADM"]}, {"task": "TADM"}),
        ("data", {"task": "cotraining", "subset": ["add", "svd"]}, {"task": "add+svd"}),
        ("data", {"task": "eigenvectors", "task_options": ["sign=lapack"]}, {"task": "eigenvectors:sign=lapack"}),
        ("model", {"dim_model": 768, "decoder_dim": 512}, {"dim_model": (768, 512)}),
        ("model", {"encoder_heads": 4, "decoder_heads": 4}, {"heads": (4,)}),
        ("model", {"positions": "grid", "encoder_positions": "place"}, {"positions": ("place", "grid")}),
        ("model", {"relations": True}, {"relations": "learned"}),
        ("model", {"relations": True, "relation_start": 12.0}, {"relations": "directed"}),
        ("model", {"products": 4, "product_norm": "token"}, {"architecture": "transformer:product_norm=token"}),
        ("model", {"product_norm": "token"}, {"architecture": "transformer", "products": 0}),
        ("model", {"cross_query": "input"}, {"architecture": "transformer:cross_query=input"}),
        ("model", {"architecture": "universal"}, {"architecture": "transformer", "encoder_loops": 4}),
        ("model", {"architecture": "universal", "loop_gate": "act"}, {"architecture": "transformer:loop_gate=act"}),
        ("model", {"architecture": "universal", "encoder_loops": 1, "loop_gate": "act"}, {"encoder_loops": 1}),
        ("model", {"architecture": "gru", "embedding_dim": 256}, {"architecture": "gru:embedding_dim=256"}),
        (
            "model",
            {"architecture": "lstm", "heads": 4, "memory": 9, "embedding_dim": 8},
            {"architecture": "lstm:embedding_dim=8,memory=9", "heads": (8,), "encoder_loops": 1},
        ),
        ("model", PRE, {"norm": "pre"}),
        ("optim", {"optimizer": "muon", "muon_learning_rate": 0.01}, {"optimizer": "muon:learning_rate=0.01"}),
        ("optim", {"optimizer": "adamw", "weight_decay": 0.1}, {"optimizer": "adamw:weight_decay=0.1"}),
        ("optim", {"schedule": "linear", "cooldown": 0.7}, {"schedule": "linear:cooldown=0.7"}),
        (
            "optim",
            {"schedule": "cosine", "min_learning_rate": 1e-05, "schedule_steps": 7},
            {"schedule": "cosine:lowest=1e-05,period=7"},
        ),
        ("curriculum", {"repeated_share": 0.25, "pool": 50}, {"repeated_share": 0.25, "pool": 50}),
        (
            "curriculum",
            {"easy_share": 0.5, "easy_until": 0.8, "easy_dim": "2-3"},
            {"mix_share": 0.5, "mix_until": 0.8, "mix_dim": "2-3"},
        ),
        ("curriculum", {"easy_share": 0.4, "easy_ensemble": ["laplace"]}, {"mix_ensemble": ("laplace",)}),
    ],
)
def test_a_field_of_version_1_is_todays(table, fields, new):
    part = getattr(upgraded(**{table: fields}), "mix" if table == "curriculum" else table)
    assert {name: getattr(part, name) for name in new} == new


def test_a_bias_by_place_and_its_start_at_the_frequencies_are_one():
    assert upgraded(model={"output_bias": "place"}, optim={"prior_bias": True}).model.output_bias == "place"


def test_sizes_that_grow_are_stages():
    config = upgraded(
        train={"examples": 90_000},
        curriculum={"easy_share": 1.0, "easy_until": 0.5, "easy_dim": "2-4", "easy_grows": True},
    )
    assert config.stage == tuple(StageConfig(15_000, dim=str(n)) for n in (2, 3, 4))
    assert not config.mix.mix_share


@pytest.mark.parametrize(
    ("table", "fields", "complaint"),
    [
        ("data", {"spread": 0.5}, "data.spread = 0.5"),
        ("data", {"ensemble_weights": [1.0, 2.0]}, "data.ensemble_weights"),
        ("model", {"norm_kind": "rms"}, "model.norm_kind = 'rms'"),
        ("model", {"tied": False}, "model.tied = False"),
        ("model", {"qk_norm": True}, "model.qk_norm = True with norm 'post'"),
        ("model", {"norm": "pre"}, "with norm 'pre'"),
        ("model", {"relations": True, "relation_start": 5.0}, "model.relation_start = 5.0"),
        ("optim", {"prior_bias": True}, "optim.prior_bias"),
        ("optim", {"number_loss": 1.0}, "optim.number_loss = 1.0"),
        ("curriculum", {"easy_spread": 0.5}, "curriculum.easy_spread = 0.5"),
        ("curriculum", {"easy_share": 0.5, "easy_dim": "2-3", "easy_grows": True}, "curriculum.easy_grows"),
    ],
)
def test_what_today_cannot_express_is_refused(table, fields, complaint):
    with pytest.raises(ValueError, match=f"{complaint}.*has no place in this"):
        upgrade(old(**{table: fields}))
