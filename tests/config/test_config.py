"""Configs: every bad value is refused by name where it is built, and dicts say the same as Python."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from learnalg.config import (
    DataConfig,
    MixConfig,
    ModelConfig,
    OptimConfig,
    RunConfig,
    StageConfig,
    TrainConfig,
    field_names,
    from_dict,
    replace_fields,
    to_dict,
)
from learnalg.config.presets import PRESETS

INF, NAN = float("inf"), float("nan")
FIRST = StageConfig(examples=1_000, dim="2-4", ensemble=("laplace",), rate=0.5)

REFUSED: list[tuple[dict[str, Any], str]] = [
    # Matrices.
    ({"ensemble": ()}, "ensemble: name one or more"),
    ({"amplitude": ()}, r"amplitude \(\)"),
    ({"amplitude": (1.0, 2.0, 3.0)}, r"amplitude \(1.0, 2.0, 3.0\)"),
    ({"amplitude": (0.0,)}, "amplitude .*0.0"),
    ({"amplitude": (-1.0,)}, "amplitude .*-1.0"),
    ({"amplitude": (5.0, 2.0)}, r"amplitude \(5.0, 2.0\)"),
    ({"amplitude": (INF,)}, "amplitude .*inf"),
    ({"amplitude": (NAN,)}, "amplitude .*nan"),
    ({"sigma_factor": 0.0}, "sigma_factor 0.0"),
    ({"noise": -0.1}, "noise -0.1"),
    ({"noise": 10.0}, "noise 10.0"),
    ({"noise": NAN}, "noise nan"),
    # The network.
    ({"encoder_layers": 0}, "encoder_layers 0"),
    ({"decoder_layers": -1}, "decoder_layers -1"),
    ({"encoder_loops": 0}, "encoder_loops 0"),
    ({"decoder_loops": -2}, "decoder_loops -2"),
    ({"products": -1}, "products -1"),
    ({"dim_model": 0}, "encoder: 0 dimensions"),
    ({"dim_model": (512, -8)}, "decoder: -8 dimensions"),
    ({"heads": 0}, "encoder: 512 dimensions and 0 heads"),
    ({"heads": 7}, "encoder: 7 heads do not divide 512"),
    ({"heads": (8, 5)}, "decoder: 5 heads do not divide 512"),
    ({"dim_model": (512, 100)}, "decoder: 8 heads do not divide 100"),
    ({"heads": (8, 8, 8)}, r"heads \(8, 8, 8\): one"),
    ({"dim_model": ()}, r"dim_model \(\): one"),
    ({"positions": ("grid", "grid", "place")}, "positions .*: one"),
    ({"ffn_factor": 0}, "ffn_factor 0"),
    ({"max_positions": 0}, "max_positions 0"),
    ({"dropout": 1.0}, "dropout 1.0"),
    ({"dropout": NAN}, "dropout nan"),
    ({"norm": "middle"}, "norm 'middle': must be one of post, pre"),
    ({"relations": "left"}, "relations 'left': must be one of none, learned, directed"),
    ({"output_bias": "word"}, "output_bias 'word': must be one of token, place, slot"),
    # The optimiser.
    ({"learning_rate": 0.0}, "learning_rate 0.0"),
    ({"learning_rate": -0.25}, "learning_rate -0.25"),
    ({"learning_rate": NAN}, "learning_rate nan"),
    ({"warmup_steps": -1}, "warmup_steps -1"),
    ({"clip": -1.0}, "clip -1.0"),
    ({"soft_width": -3.0}, "soft_width -3.0"),
    ({"beta2": 1.0}, "beta2 1.0"),
    ({"beta2": -0.1}, "beta2 -0.1"),
    # The budget.
    ({"seed": -1}, "seed -1"),
    ({"examples": 0}, "examples 0"),
    ({"examples": 1.5}, "examples 1.5: must be a whole number"),
    ({"examples": True}, "examples True: must be a whole number"),
    ({"batch_size": 0}, "batch_size 0"),
    ({"eval_every": 0}, "eval_every 0"),
    ({"eval_num": -5}, "eval_num -5"),
    ({"checkpoint_seconds": -1.0}, "checkpoint_seconds -1.0"),
    ({"stop_accuracy": 1.5}, "stop_accuracy 1.5"),
    ({"stop_tolerance": -0.25}, "stop_tolerance -0.25"),
    ({"workers": -1}, "workers -1"),
    ({"threads": -1}, "threads -1"),
    ({"precision": "fp8"}, "precision 'fp8'"),
    # What is mixed in.
    ({"mix_share": 2.0, "mix_dim": "3"}, "mix_share 2.0: a share from 0 to 1"),
    ({"mix_share": NAN, "mix_dim": "3"}, "mix_share nan"),
    ({"mix_share": 0.5, "mix_dim": "3", "mix_until": 1.5}, "mix_until 1.5"),
    ({"mix_share": 0.5}, "need mix_share, and mix_dim or mix_ensemble"),
    ({"mix_dim": "3"}, "need mix_share"),
    ({"mix_ensemble": ("laplace",)}, "need mix_share"),
    ({"mix_until": 0.5}, "mix_until 0.5: has no effect without mix_share"),
    ({"repeated_share": 1.01}, "repeated_share 1.01"),
    ({"repeated_share": 0.5, "pool": 0}, "pool 0"),
    ({"pool": 7}, "pool 7: has no effect without repeated_share"),
    # Stages.
    ({"stage": (FIRST,), "examples": 1_000}, "stages of 1,000 examples leave nothing of the run's 1,000"),
    ({"stage": ("first",)}, "stage .*'first'"),
]


@pytest.mark.parametrize(("changes", "complaint"), REFUSED)
def test_a_bad_value_is_refused_by_name(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        replace_fields(RunConfig(), **changes)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"examples": 0, "dim": "3"}, "examples 0"),
        ({"examples": 5, "rate": 0.0}, "rate 0.0"),
        ({"examples": 5}, "no other than the run"),
    ],
)
def test_a_bad_stage_is_refused_by_name(fields, complaint):
    with pytest.raises(ValueError, match=complaint):
        StageConfig(**fields)


@pytest.mark.parametrize(
    "changes",
    [
        {"amplitude": (1.0, 100.0), "ensemble": ("wigner", "laplace")},
        {"dim_model": (64, 48), "heads": (4, 3), "positions": ("place", "grid")},
        {"encoder_loops": 1, "decoder_loops": 100},
        {"noise": 0.0, "dropout": 0.0, "clip": 0.0, "workers": 0, "warmup_steps": 0, "beta2": 0.0},
        {"mix_share": 1.0, "mix_until": 0.0, "mix_dim": "2-22"},
        {"mix_share": 0.5, "mix_ensemble": ("well-conditioned", "log-uniform")},
        {"repeated_share": 1.0, "pool": 1},
        {"stage": (FIRST, StageConfig(1, dim="3")), "examples": 1_002},
    ],
)
def test_values_at_the_edge_are_allowed(changes):
    config = replace_fields(RunConfig(), **changes)
    parts = [config, config.data, config.model, config.optim, config.train, config.mix]
    found = {name: getattr(part, name) for part in parts for name in changes if hasattr(part, name)}
    assert found == changes


@pytest.mark.parametrize("build", [DataConfig, ModelConfig, OptimConfig, TrainConfig, MixConfig, RunConfig])
def test_configs_are_frozen_and_have_defaults(build):
    config = build()
    assert config == build()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(config, dataclasses.fields(config)[0].name, None)


def test_there_are_at_most_60_fields_and_no_two_of_one_name():
    assert len(set(field_names())) == len(field_names()) <= 60


@pytest.mark.parametrize(("examples", "steps"), [(1, 1), (64, 1), (65, 2), (640, 10)])
def test_the_last_step_may_be_larger_than_what_is_left(examples, steps):
    assert TrainConfig(examples=examples, batch_size=64).num_steps == steps


def test_one_value_is_that_of_both_sides():
    one, two = ModelConfig(dim_model=(64,)), ModelConfig(dim_model=(768, 512), heads=(8, 4), encoder_layers=2)
    assert (one.width("encoder"), one.width("decoder")) == (64, 64)
    assert (two.width("encoder"), two.width("decoder")) == (768, 512)
    assert (two.num_heads("encoder"), two.num_heads("decoder")) == (8, 4)
    assert (two.num_layers("encoder"), two.num_layers("decoder")) == (2, 1)


@pytest.mark.parametrize(
    ("init", "origin"),
    [
        ("", ("", "all")),
        ("svd-4", ("svd-4", "all")),
        ("svd-4:encoder", ("svd-4", "encoder")),
        ("C:\\runs\\a", ("C:\\runs\\a", "all")),
    ],
)
def test_a_run_starts_from_a_model_or_its_encoder(init, origin):
    assert TrainConfig(init=init).origin == origin


# Dicts.


def test_a_dict_says_all_of_a_config():
    config = replace_fields(PRESETS["fast-2"], task="transpose+add", amplitude=(1.0, 5.0), dim="3", stage=(FIRST,))
    for one in (*PRESETS.values(), config):
        assert from_dict(to_dict(one)) == one
        assert from_dict(json.loads(json.dumps(to_dict(one)))) == one


def test_a_dict_may_leave_out_what_is_default():
    assert from_dict({}) == RunConfig()
    assert from_dict({"train": {"seed": 7}}) == RunConfig(train=TrainConfig(seed=7))
    mix = {"mix_share": 0.5, "mix_dim": "3", "mix_ensemble": ["laplace"]}
    expected = MixConfig(mix_share=0.5, mix_dim="3", mix_ensemble=("laplace",))
    assert from_dict({"mix": mix}) == RunConfig(mix=expected)
    assert from_dict({"stage": [{"examples": 5, "dim": "3"}]}) == RunConfig(stage=(StageConfig(5, "3"),))


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"optimizer": {}}, "unknown table 'optimizer': did you mean 'optim'"),
        ({"data": 1}, "data is not a table"),
        ({"data": {"dims": "5"}}, "unknown key in data 'dims': did you mean 'dim'"),
        ({"train": {"Seed": 1}}, "unknown key in train 'Seed': did you mean 'seed'"),
        ({"train": {"examples": "many"}}, "examples 'many': must be a whole number"),
        ({"train": {"seed": None}}, "seed None: must be a whole number"),
        ({"optim": {"learning_rate": "0.1"}}, "learning_rate '0.1': must be a finite number"),
        ({"optim": {"clip": True}}, "clip True: must be a finite number"),
        ({"data": {"amplitude": 10.0}}, "amplitude 10.0: must be a tuple"),
        ({"data": {"amplitude": [1.0, "10"]}}, "amplitude .*each item a finite number"),
        ({"data": {"ensemble": "wigner"}}, "ensemble 'wigner': must be a tuple, each item text"),
        ({"data": {"symmetric": "false"}}, "symmetric 'false': must be true or false"),
        ({"model": {"heads": [7]}}, "7 heads"),
        ({"mix": {"mix_share": 0.5, "mix_dim": 3}}, "mix_dim 3: must be text"),
        ({"stage": {"examples": 5}}, "stage is not a list of tables"),
        ({"stage": [{"dim": "3"}]}, "stage needs examples"),
        ({"stage": [5]}, "stage 5 is not a table"),
        ({"stage": [{"examples": 5, "dims": "3"}]}, "unknown key in stage 'dims'"),
    ],
)
def test_a_bad_entry_of_a_dict_is_refused_by_name(values, complaint):
    with pytest.raises(ValueError, match=complaint):
        from_dict(values)


# Fields by their names.


def test_replace_fields_finds_fields_wherever_they_live():
    base = PRESETS["fast-2"]
    config = replace_fields(base, dim="3", heads=4, clip=2.0, seed=9, stage=(FIRST,))
    assert (config.data.dim, config.model.heads, config.optim.clip, config.train.seed) == ("3", (4,), 2.0, 9)
    assert config.stage == (FIRST,)
    assert replace_fields(config, dim="5", heads=(8,), clip=1.0, seed=1, stage=()) == base
    assert replace_fields(base) == base


def test_replace_fields_refuses_an_unknown_name():
    with pytest.raises(ValueError, match="unknown config field 'dims': did you mean 'dim'"):
        replace_fields(RunConfig(), dims="3", seed=1)
