"""What experiments are made with: the paper's configs and ours in a line, and the places of a table's column.

    >>> paper("add", "10", "2/2", "b1999", 30_000_000).model.encoder_layers
    2
    >>> by_tolerance(3)  # column 3 of a table whose rows are the tolerances 5, 2, 1 and 0.5 %

An encoding is one name for both sides or two, as the paper writes them: 'fp15/p1000'.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from learnalg.config import MixConfig, RunConfig, StageConfig, replace_fields
from learnalg.config.presets import preset
from learnalg.evaluation.result import Origin
from learnalg.problem import Problem
from learnalg.reproduction.experiment import Cell, Shown
from learnalg.reproduction.results import released_result

TOLERANCES = ("0.05", "0.02", "0.01", "0.005")
SYMMETRIC = ("eigenvalues", "eigenvectors")  # tasks of symmetric matrices
EPOCH = 300_000  # examples (section 3)
MILLION = 1_000_000
EIGENVALUES_BUDGET = 60 * MILLION  # 5x5: 40 million to 99 % (section 4.4), 60 in the caption of table 14
ADD_BUDGET = 30 * MILLION  # caption of table 13


def paper(task: str, dim: str, layers: str, encoding: str, examples: int, **changes: Any) -> RunConfig:
    """The paper's model and optimiser; positions for longer sequences where 512 do not do."""
    fields = _common(task, dim, layers, encoding, examples) | {"eval_num": 10_000} | changes
    base = preset("paper-1")
    data = {name: fields.pop(name) for name in tuple(fields) if hasattr(base.data, name)}
    placed = replace_fields(base, **data)
    longest = max(Problem(placed.data).lengths)
    return replace_fields(placed, max_positions=max(base.model.max_positions, longest), **fields)


def fast(
    task: str, dim: str, layers: str, examples: int, encoding: str = "fp15/p1000", evals: int = 10, **changes: Any
) -> RunConfig:
    """The preset `fast-1`, with which most cells were run, evaluated `evals` times along the way."""
    fields = _common(task, dim, layers, encoding, examples) | {"eval_every": max(examples // evals, 1)}
    return replace_fields(preset("fast-1"), **(fields | changes))


def assembled(task: str, dim: str, encoding: str, examples: int, evals: int = 5, **changes: Any) -> RunConfig:
    """The preset `fast-2`, from scratch. Of square matrices the first sixth of the examples are smaller ones; symmetric
    matrices are read by their upper triangle."""
    source, _, target = encoding.partition("/")
    fields: dict[str, Any] = {
        "task": task,
        "dim": dim,
        "input_encoding": source,
        "output_encoding": target or source,
        "triangle": task in SYMMETRIC,
        "examples": examples,
        "eval_every": max(examples // evals, 1),
        "eval_num": 500,
    }
    if dim.isdigit() and int(dim) > 3:
        fields["stage"] = (StageConfig(examples=examples // 6, dim=f"2-{int(dim) - 1}"),)
    return replace_fields(preset("fast-2"), **(fields | changes))


def released_config(name: str, task: str) -> RunConfig:
    """What a released model was trained with; of one that is not there, what it would be like."""
    result = released_result(name)
    dim = name.partition("@")[0].rpartition("-")[2]
    return result.config if result else fast(task, dim, "4/1", preset("fast-1").train.examples)


def released_cell(key: str, name: str, task: str, shows: tuple[Shown, ...], **fields: Any) -> Cell:
    """A cell that is a released model."""
    result = released_result(name)
    config = released_config(name, task)
    return Cell(key, config, shows, released=name, note=describe(config, result.origin if result else None), **fields)


def fine_tune(name: str, task: str, examples: int, evals: int = 4, **changes: Any) -> tuple[RunConfig, str]:
    """The config of a cell that starts from a released model, and what a reader must know of it."""
    known = replace(released_config(name, task), mix=MixConfig(), stage=())
    fields: dict[str, Any] = {"examples": examples, "eval_every": max(examples // evals, 1), "init": name}
    config = replace_fields(known, **(fields | changes))
    result = released_result(name)
    return config, describe(config, Origin(name, "all", result.all_examples if result else 0))


def describe(config: RunConfig, origin: Origin | None = None) -> str:
    """What a reader must know of a model that is not the paper's."""
    data, model, mix = config.data, config.model, config.mix
    encodings = f"{data.input_encoding}/{data.output_encoding}".upper()
    layers = f"{model.encoder_layers}/{model.decoder_layers} layers of {model.dim_model[0]} dimensions"
    if model.encoder_loops > 1:
        layers += f", the encoder's applied {model.encoder_loops} times"
    if model.products:
        layers += ", with products"
    said = f"{encodings}, {layers}, {config.train.examples:,} examples"
    parts = []
    if config.stage:
        parts.append(f"the first {sum(stage.examples for stage in config.stage):,} of other sizes")
    if mix.mix_share:
        what = f"of size {mix.mix_dim}" if mix.mix_dim else ", ".join(mix.mix_ensemble)
        parts.append(f"{round(mix.mix_share * mix.mix_until * config.train.examples):,} of them {what}")
    if parts:
        said += f" ({'; '.join(parts)})"
    if origin is not None:
        said += f", fine-tuned from {origin.model} ({origin.examples:,} examples)"
    return said


def _common(task: str, dim: str, layers: str, encoding: str, examples: int) -> dict[str, Any]:
    encoder, _, decoder = layers.partition("/")
    source, _, target = encoding.partition("/")
    return {
        "task": task,
        "dim": dim,
        "encoder_layers": int(encoder),
        "decoder_layers": int(decoder),
        "input_encoding": source,
        "output_encoding": target or source,
        "examples": examples,
    }


def by_tolerance(column: int, first_row: int = 0) -> tuple[Shown, ...]:
    """A column with a row for each tolerance."""
    return tuple(Shown(first_row + k, column, f"report/accuracy/l1/{t}") for k, t in enumerate(TOLERANCES))


def along_row(row: int, first_column: int) -> tuple[Shown, ...]:
    """A row with a column for each tolerance."""
    return tuple(Shown(row, first_column + k, f"report/accuracy/l1/{t}") for k, t in enumerate(TOLERANCES))


def at_size(dim: str, column: int) -> tuple[Shown, ...]:
    """A column with a row for each tolerance, of a test named by its size."""
    return tuple(Shown(k, column, f"tests/{dim}/accuracy/l1/{t}") for k, t in enumerate(TOLERANCES))


def slug(*words: str) -> str:
    """A cell's key: slug('P10', '6/6') is 'p10-6-6'."""
    text = "-".join(words).lower()
    return "-".join(text.replace("/", "-").replace("_", "-").replace("+", "-").replace(",", "").split())
