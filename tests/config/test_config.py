"""Configs: every bad value is refused by name where it is built, and files and dicts say the same as Python."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnalg.config import (
    CurriculumConfig,
    DataConfig,
    ModelConfig,
    OptimConfig,
    RunConfig,
    TrainConfig,
    from_dict,
    replace_fields,
    to_dict,
)
from learnalg.config.presets import PRESETS, preset, read_config

every_preset = pytest.mark.parametrize("name", PRESETS)

JOINT = {"task": "cotraining"}
INF, NAN = float("inf"), float("nan")

REFUSED: list[tuple[dict[str, Any], str]] = [
    # The problem.
    ({"task": "determinant"}, "'determinant'"),
    ({"task": ""}, "unknown task ''"),
    ({"subset": ("TA",)}, "subset is for --task cotraining, not for eigenvalues"),
    ({**JOINT}, "not none"),
    ({**JOINT, "subset": ("T",)}, "not T"),
    ({**JOINT, "subset": ("TAT",)}, "not TAT"),
    ({**JOINT, "subset": ("add", "add")}, "not add add"),
    ({**JOINT, "subset": ("add", "determinant")}, "'determinant'"),
    ({**JOINT, "subset": ("TAX",)}, "TAX"),
    ({**JOINT, "subset": ("TA",), "task_options": ("order=ascending",)}, "no task options"),
    ({"task_options": ("ascending",)}, "'ascending': expected name=value"),
    ({"task_options": ("sort=ascending",)}, "no option 'sort'"),
    ({"task_options": ("order=up",)}, "order=up"),
    ({"task": "add", "task_options": ("order=ascending",)}, "add has no option 'order'"),
    # Dimensions.
    ({"dim": ""}, "''"),
    ({"dim": "five"}, "'five'"),
    ({"dim": "5x"}, "'5x'"),
    ({"dim": "-5"}, "'-5'"),
    ({"dim": "0"}, "'0'"),
    ({"dim": "8-5"}, "'8-5'"),
    ({"dim": "5x8-6", "task": "transpose"}, "'5x8-6'"),
    ({"dim": "101", "max_positions": 10**6}, "'101'.*100"),
    ({"dim": "5x4"}, "eigenvalues needs square matrices: dim '5x4'"),
    ({"dim": "5-6x5-6"}, "eigenvalues needs square matrices: dim '5-6x5-6'"),
    ({"dim": "5x4", "task": "inverse"}, "inverse needs square"),
    ({"dim": "5x4", **JOINT, "subset": ("TE",)}, "eigenvalues needs square"),
    ({"dim": "5x4", "task": "transpose", "symmetric": True}, "transpose needs square"),
    ({"task": "matvec", "symmetric": True}, "matvec has operands that cannot be symmetric"),
    # Matrices.
    ({"ensemble": ("wishart",)}, "wishart"),
    ({"ensemble": ("wigner", "wishart")}, "wishart"),
    ({"ensemble": ()}, "ensemble"),
    ({"ensemble": ("wigner", "laplace"), "ensemble_weights": (1.0,)}, r"\(1.0,\)"),
    ({"ensemble": ("wigner", "laplace"), "ensemble_weights": (1.0, 0.0)}, r"\(1.0, 0.0\)"),
    ({"ensemble": ("wigner", "laplace"), "ensemble_weights": (1.0, -2.0)}, r"\(1.0, -2.0\)"),
    ({"amplitude": ()}, r"amplitude \(\)"),
    ({"amplitude": (1.0, 2.0, 3.0)}, r"amplitude \(1.0, 2.0, 3.0\)"),
    ({"amplitude": (0.0,)}, "amplitude .*0.0"),
    ({"amplitude": (-1.0,)}, "amplitude .*-1.0"),
    ({"amplitude": (5.0, 2.0)}, r"amplitude \(5.0, 2.0\)"),
    ({"amplitude": (INF,)}, "amplitude .*inf"),
    ({"amplitude": (NAN,)}, "amplitude .*nan"),
    ({"sigma_factor": 0.0}, "sigma factor 0.0"),
    ({"sigma_factor": -1.0}, "sigma factor -1.0"),
    ({"noise": -0.1}, "noise -0.1"),
    ({"noise": 10.0}, "noise 10.0"),
    ({"noise": NAN}, "noise nan"),
    ({"input_encoding": "p11"}, "'p11'"),
    ({"output_encoding": "b2000"}, "'b2000'"),
    ({"output_encoding": "positional:base=1"}, "base=1"),
    # The network.
    ({"encoder_layers": 0}, "encoder_layers 0"),
    ({"decoder_layers": -1}, "decoder_layers -1"),
    ({"dim_model": 0}, "dim_model 0"),
    ({"heads": 0}, "heads 0"),
    ({"ffn_factor": 0}, "ffn_factor 0"),
    ({"max_positions": 0}, "max_positions 0"),
    ({"heads": 7}, "encoder: 7 heads do not divide 512"),
    ({"encoder_heads": 3}, "encoder: 3 heads do not divide 512"),
    ({"decoder_heads": 5}, "decoder: 5 heads do not divide 512"),
    ({"decoder_dim": 100}, "decoder: 8 heads do not divide 100"),
    ({"encoder_dim": -8}, "encoder: -8 dimensions"),
    ({"decoder_heads": -8}, "-8 heads"),
    ({"dropout": 1.0}, "dropout 1.0"),
    ({"dropout": -0.1}, "dropout -0.1"),
    ({"dropout": NAN}, "dropout nan"),
    ({"embedding_dim": -1}, "embedding_dim -1"),
    ({"encoder_loops": 0}, "encoder_loops 0"),
    ({"decoder_loops": -2}, "decoder_loops -2"),
    ({"loop_gate": "lstm"}, "loop_gate 'lstm'.*none, copy, act"),
    ({"ponder_cost": -0.01}, "ponder_cost -0.01"),
    # The optimiser.
    ({"learning_rate": 0.0}, "learning_rate"),
    ({"learning_rate": NAN}, "learning_rate"),
    ({"muon_learning_rate": -1.0}, "learning_rate"),
    ({"warmup_steps": -1}, "warmup_steps -1"),
    ({"schedule_steps": -2}, "schedule_steps -2"),
    ({"min_learning_rate": -1e-5}, "min_learning_rate -1e-05"),
    ({"weight_decay": -0.1}, "weight_decay -0.1"),
    ({"clip": -1.0}, "clip -1.0"),
    ({"clip": NAN}, "clip nan"),
    ({"soft_width": -3.0}, "soft_width -3.0"),
    ({"number_loss": -1.0}, "number_loss -1.0"),
    ({"number_loss": NAN}, "number_loss nan"),
    ({"cooldown": 0.0}, "cooldown 0.0"),
    ({"cooldown": 1.5}, "cooldown 1.5"),
    ({"beta1": 1.0}, "beta"),
    ({"beta2": -0.1}, "beta"),
    # The budget.
    ({"seed": -1}, "seed -1"),
    ({"examples": 0}, "examples 0"),
    ({"batch_size": 0}, "batch_size 0"),
    ({"eval_every": 0}, "eval_every 0"),
    ({"eval_num": -5}, "eval_num -5"),
    ({"checkpoint_seconds": -1.0}, "checkpoint_seconds -1.0"),
    ({"stop_accuracy": 1.5}, "stop_accuracy 1.5"),
    ({"workers": -1}, "workers -1"),
    ({"threads": -1}, "threads -1"),
    # The curriculum.
    ({"easy_share": 2.0, "easy_dim": "3"}, "easy_share 2.0: a share from 0 to 1"),
    ({"easy_share": -0.1, "easy_dim": "3"}, "easy_share -0.1"),
    ({"easy_share": NAN, "easy_dim": "3"}, "easy_share nan"),
    ({"easy_until": 1.5}, "easy_until 1.5"),
    ({"easy_until": -0.5}, "easy_until -0.5"),
    ({"repeated_share": 1.01}, "repeated_share 1.01"),
    ({"repeated_share": -1.0}, "repeated_share -1.0"),
    ({"pool": 0}, "pool 0"),
    ({"pool": 1.5}, "pool 1.5"),
    ({"easy_share": 0.5}, "easy_share, and easy_dim, easy_ensemble or"),
    ({"easy_dim": "3"}, "need easy_share"),
    ({"easy_grows": True}, "easy_grows: say from what"),
    ({"easy_spread": 0.5}, "easier examples need easy_share"),
    ({"easy_spread": 1.5}, "easy_spread 1.5: a power from 0 to 1"),
    ({"easy_spread": -0.5, "easy_share": 1.0}, "easy_spread -0.5: a power from 0 to 1"),
    ({"spread": -0.1}, "spread -0.1: a power from 0 to 1"),
    ({"spread": 1.5}, "spread 1.5: a power from 0 to 1"),
    ({"memory": 1}, "memory 1: 0, or at least 2"),
    ({"memory": 100, "bias": False}, "memory 100: .* needs --bias"),
    ({"easy_ensemble": ("laplace",)}, "need easy_share"),
    ({"easy_share": 0.5, "easy_dim": "8-5"}, "'8-5'"),
    ({"easy_share": 0.5, "easy_dim": "3x4"}, "eigenvalues needs square matrices: dim '3x4'"),
    ({"easy_share": 0.5, "easy_ensemble": ("wishart",)}, "wishart"),
    (
        {"easy_share": 0.5, "easy_ensemble": ("positive",), "task": "transpose", "dim": "2x3"},
        "'positive' draws square matrices",
    ),
    ({"easy_share": 0.5, "easy_dim": "3-23"}, "longest input has 531 tokens.*max_positions 512"),
    ({"easy_share": 0.5, "easy_dim": "5", "dim": "3", "max_positions": 26}, "longest input has 27 tokens"),
    # The whole.
    ({"dim": "23"}, "longest input has 531 tokens.*max_positions 512"),
    ({"dim": "10", "input_encoding": "p10", "max_positions": 501}, "longest input has 502 tokens.*max_positions 501"),
    ({"dim": "13", "task": "transpose", "max_positions": 509}, "longest output has 510 tokens.*max_positions 509"),
]


@pytest.mark.parametrize(("changes", "complaint"), REFUSED)
def test_a_bad_value_is_refused_by_name(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        replace_fields(PRESETS["paper"], **changes)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"learning_rate": -0.25}, "-0.25"),
        ({"muon_learning_rate": -0.25}, "-0.25"),
        ({"beta1": 1.25}, "1.25"),
        ({"beta2": -0.25}, "-0.25"),
        ({"encoder_dim": -16}, "-16"),
        ({"decoder_heads": -16}, "-16"),
        ({"eps": -0.25}, "eps"),
        ({"stop_tolerance": -0.25}, "stop_tolerance"),
        ({"ensemble_weights": (NAN,)}, "nan"),
        ({"norm": "middle"}, "middle"),
        ({"optimizer": "sgd"}, "sgd"),
        ({"precision": "fp8"}, "fp8"),
        ({"dim": "3x4", "task": "transpose", "ensemble": ("positive",)}, "positive"),
        ({"dim": "5-0"}, "5-0"),
        ({"dim": "60", "task": "add", "max_positions": 20_000}, "60|120"),
        ({"dim": "50", "task": "svd", "max_positions": 20_000}, "50|101"),
    ],
)
def test_a_bad_value_should_be_refused_by_name(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        replace_fields(PRESETS["paper"], **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {**JOINT, "subset": ("TADMEFI",)},
        {**JOINT, "subset": ("transpose", "svd")},
        {"dim": "5-8"},
        {"dim": "6x4", "task": "singular_values"},
        {"dim": "1"},
        {"dim": "5x5"},  # square, however it is written
        {"dim": "22"},  # 486 tokens
        {"dim": "13", "task": "transpose", "max_positions": 510},
        {"task_options": ("order=ascending",)},
        {"ensemble": ("wigner", "laplace"), "ensemble_weights": (1.0, 3.0), "amplitude": (1.0, 100.0)},
        {"encoder_dim": 64, "decoder_dim": 48, "encoder_heads": 4, "decoder_heads": 3},
        {"embedding_dim": 1, "encoder_loops": 1, "decoder_loops": 100, "loop_gate": "act", "ponder_cost": 0.0},
        {"noise": 0.0, "dropout": 0.0, "cooldown": 1.0, "clip": 0.0, "workers": 0, "warmup_steps": 0},
        {"input_encoding": "positional:base=10,digits=4,exponents=-20:20"},
        {"easy_share": 1.0, "easy_until": 0.0, "easy_dim": "2-22"},
        {"easy_share": 0.5, "easy_dim": "5", "dim": "3", "max_positions": 27},
        {"easy_share": 0.5, "easy_ensemble": ("well-conditioned", "log-uniform")},
        {"repeated_share": 1.0, "pool": 1},
        {"pool": 7, "easy_until": 0.3},  # of no use, and no harm
    ],
)
def test_values_at_the_edge_are_allowed(changes):
    config = to_dict(replace_fields(PRESETS["paper"], **changes))
    flat = {name: value for part in config.values() for name, value in part.items()}
    assert flat.items() >= changes.items()


@pytest.mark.parametrize("build", [DataConfig, ModelConfig, OptimConfig, TrainConfig, CurriculumConfig, RunConfig])
def test_configs_are_frozen_and_have_defaults(build):
    config = build()
    assert config == build()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(config, dataclasses.fields(config)[0].name, None)


def test_no_two_parts_have_a_field_of_the_same_name():
    names = [
        f.name for part in dataclasses.fields(RunConfig) for f in dataclasses.fields(getattr(RunConfig(), part.name))
    ]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("task", "dim", "encodings", "lengths"),
    [
        ("eigenvalues", "5", ("fp15", "p1000"), (2 + 25, 2 + 3 * 5 + 1)),
        ("add", "10", ("b1999", "b1999"), (2 + 2 * 200, 2 + 2 * 100 + 1)),
        ("matvec", "4x5", ("p10", "fp15"), (2 + 5 * 24, 2 + 5 + 1)),
        ("inverse", "2-5", ("fp15", "p1000"), (2 + 25, 2 + 3 * 25 + 1)),
        ("transpose", "2-3x4-5", ("fp15", "p10"), (2 + 15, 2 + 5 * 15 + 1)),
        ("svd", "4x2", ("p1000", "fp15"), (2 + 3 * 8, 2 + 7 * 2 + 1)),
    ],
)
def test_lengths_are_those_of_the_longest_example(task, dim, encodings, lengths):
    config = DataConfig(task=task, dim=dim, input_encoding=encodings[0], output_encoding=encodings[1])
    assert config.lengths == lengths


def test_joint_training_has_the_longest_of_its_tasks_and_a_task_token():
    config = DataConfig(task="cotraining", subset=("TAE",), dim="4", input_encoding="fp15", output_encoding="fp15")
    assert config.lengths == (3 + 32, 3 + 16 + 1)
    assert [t.task_names for t in config.tokenizers] == [("transpose", "add", "eigenvalues")] * 2
    assert [t.task_names for t in DataConfig().tokenizers] == [(), ()]


def test_letters_and_names_are_the_same_subset():
    letters, names = (
        DataConfig(**JOINT, subset=("TA", "I")),
        DataConfig(**JOINT, subset=("transpose", "add", "inverse")),
    )
    assert [name for name, _ in letters.tasks] == [name for name, _ in names.tasks] == ["transpose", "add", "inverse"]


@pytest.mark.parametrize(("options", "expected"), [((), [3, 2, 1]), (("order=ascending",), [1, 2, 3])])
def test_task_options_reach_the_task(options, expected):
    ((name, task),) = DataConfig(task_options=options).tasks
    assert name == "eigenvalues"
    np.testing.assert_allclose(task.solve(np.diag([2.0, 3.0, 1.0])[None]).ravel(), expected)


@pytest.mark.parametrize(("examples", "steps"), [(1, 1), (64, 1), (65, 2), (640, 10)])
def test_the_last_step_may_be_larger_than_what_is_left(examples, steps):
    assert TrainConfig(examples=examples, batch_size=64).num_steps == steps


def test_sizes_of_one_side_go_before_those_of_both():
    model = ModelConfig(dim_model=512, heads=8, encoder_dim=768, decoder_heads=4)
    assert (model.width("encoder"), model.num_heads("encoder")) == (768, 8)
    assert (model.width("decoder"), model.num_heads("decoder")) == (512, 4)


def test_words_of_recurrent_models_are_as_wide_as_their_side_unless_said_otherwise():
    assert ModelConfig(encoder_dim=768).words_width("encoder") == 768
    assert ModelConfig(encoder_dim=768).words_width("decoder") == 512
    assert ModelConfig(encoder_dim=768, embedding_dim=256).words_width("encoder") == 256


@every_preset
def test_a_preset_is_found_by_its_name(name):
    assert preset(name) is PRESETS[name]


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match=r"'quick'.*paper"):
        preset("quick")


@every_preset
def test_a_dict_says_all_of_a_config(name):
    config = replace_fields(PRESETS[name], task="cotraining", subset=("TA",), amplitude=(1.0, 5.0), dim="3")
    for one in (PRESETS[name], config):
        assert from_dict(to_dict(one)) == one
        assert from_dict(json.loads(json.dumps(to_dict(one)))) == one


def test_a_dict_may_leave_out_what_is_default():
    assert from_dict({}) == RunConfig()
    assert from_dict({"train": {"seed": 7}}) == RunConfig(train=TrainConfig(seed=7))
    curriculum = {"easy_share": 0.5, "easy_dim": "3", "easy_ensemble": ["laplace"]}
    expected = CurriculumConfig(easy_share=0.5, easy_dim="3", easy_ensemble=("laplace",))
    assert from_dict({"curriculum": curriculum}) == RunConfig(curriculum=expected)


BAD_ENTRIES: list[tuple[dict[str, Any], str]] = [
    ({"data": {"dimension": "5"}}, "dimension"),
    ({"train": {"Seed": 1}}, "Seed"),
    ({"train": {"examples": "many"}}, "examples"),
    ({"train": {"seed": None}}, "seed"),
    ({"optim": {"learning_rate": "fast"}}, "learning_rate"),
    ({"optim": {"learning_rate": "0.1"}}, "learning_rate"),
    ({"optim": {"clip": True}}, "clip"),
    ({"data": {"amplitude": 10.0}}, "amplitude"),
    ({"data": {"amplitude": [1.0, "10"]}}, "amplitude"),
    ({"model": {"norm": "middle"}}, "middle"),
    ({"optim": {"schedule": "step"}}, "step"),
    ({"data": {"task": "determinant"}}, "determinant|data"),
    ({"data": {"noise": -1.0}}, "noise|data"),
    ({"model": {"heads": 7}}, "heads|model"),
    ({"curriculum": {"easy": 0.5}}, "unknown key curriculum.easy"),
    ({"curriculum": {"easy_ensemble": "laplace"}}, "easy_ensemble"),
    ({"curriculum": {"easy_share": 0.5, "easy_dim": 3}}, "easy_dim"),
]


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        *BAD_ENTRIES,
        ({"data": {"task": "determinant"}}, "'determinant'"),
        ({"data": {"noise": -1.0}}, "noise -1.0"),
        ({"model": {"heads": 7}}, "7 heads"),
        ({"data": {"dim": "30"}}, "max_positions"),
        ({"train": {"examples": 1.5}}, "examples"),
        ({"train": {"examples": "7"}}, "examples"),
        ({"train": {"examples": True}}, "examples"),
        ({"model": {"bias": "false"}}, "bias"),
        ({"data": {"ensemble": "wigner"}}, "ensemble"),
    ],
)
def test_a_bad_entry_of_a_dict_is_refused_by_name(values, complaint):
    with pytest.raises(ValueError, match=complaint):
        from_dict(values)


@pytest.mark.parametrize(("values", "complaint"), BAD_ENTRIES)
def test_a_bad_entry_of_a_file_is_refused_by_name(values, complaint, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match=complaint):
        read_config(path, PRESETS["paper"])


def test_an_unknown_part_of_a_dict_is_refused():
    with pytest.raises(ValueError, match="optimizer"):
        from_dict({"optimizer": {}})


TOML = """
[data]
task = "cotraining"
subset = ["TA"]
dim = "2-4"
amplitude = [1, 5.5]

[optim]
learning_rate = 1  # a whole number is a number too

[model]
bias = false
"""
AS_JSON = {
    "data": {"task": "cotraining", "subset": ["TA"], "dim": "2-4", "amplitude": [1, 5.5]},
    "optim": {"learning_rate": 1},
    "model": {"bias": False},
}


@every_preset
@pytest.mark.parametrize(("file", "text"), [("run.toml", TOML), ("run.json", json.dumps(AS_JSON))])
def test_a_file_changes_only_what_it_says(name, file, text, tmp_path):
    path = tmp_path / file
    path.write_text(text)
    changes = {
        "task": "cotraining",
        "subset": ("TA",),
        "dim": "2-4",
        "amplitude": (1.0, 5.5),
        "learning_rate": 1.0,
        "bias": False,
    }
    base = replace_fields(PRESETS[name], seed=42)
    assert read_config(path, base) == replace_fields(base, **changes)


@pytest.mark.parametrize(("file", "text"), [("run.toml", ""), ("run.json", "{}")])
def test_an_empty_file_changes_nothing(file, text, tmp_path):
    path = tmp_path / file
    path.write_text(text)
    assert read_config(path, PRESETS["fast"]) == PRESETS["fast"]


@every_preset
def test_a_saved_config_is_read_whatever_the_base(name, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(to_dict(PRESETS[name])))
    for base in PRESETS.values():
        assert read_config(path, base) == PRESETS[name]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[dat]\ndim = '5'", "unknown table 'dat'"),
        ("seed = 1", "unknown table 'seed'"),
        ("data = 1", "'data'"),
        ("[train]\nsed = 1", "sed"),
        ("[train]\nseed = 'one'", "seed"),
        ("[train", "Expected"),  # not TOML
    ],
)
def test_a_file_with_unknown_names_is_refused(text, complaint, tmp_path):
    path: Path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=complaint):
        read_config(path, PRESETS["paper"])


def test_a_json_file_that_is_no_object_is_refused(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("[1, 2]")
    with pytest.raises(ValueError, match=r"run\.json"):
        read_config(path, PRESETS["paper"])


def test_replace_fields_finds_fields_wherever_they_live():
    base = PRESETS["fast"]
    config = replace_fields(base, dim="3", heads=4, clip=2.0, seed=9)
    assert (config.data.dim, config.model.heads, config.optim.clip, config.train.seed) == ("3", 4, 2.0, 9)
    assert replace_fields(config, dim="5", heads=8, clip=1.0, seed=1) == base
    assert replace_fields(base) == base


def test_replace_fields_refuses_unknown_names_all_at_once():
    with pytest.raises(ValueError, match="dims, lr"):
        replace_fields(PRESETS["fast"], dims="3", seed=1, lr=1e-3)
