"""What recipes are made with: the paper's configs and ours in a line, and the places of a table's column.

    >>> paper("add", "10", "2/2", "b1999", 30_000_000).model.encoder_layers
    2
    >>> by_tolerance(3)  # column 3 of a table whose rows are the tolerances 5, 2, 1 and 0.5 %

An encoding is one name for both sides or two, as the paper writes them: 'fp15/p1000'.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from learnalg.config import CurriculumConfig, RunConfig, replace_fields
from learnalg.config.presets import find_recipe, preset, read_config, recipes, starts_from
from learnalg.reproduction.experiment import Cell, Shown

TOLERANCES = ("0.05", "0.02", "0.01", "0.005")
EPOCH = 300_000  # examples (section 3)
MILLION = 1_000_000
EIGENVALUES_BUDGET = 60 * MILLION  # 5x5: 40 million to 99 % (section 4.4), 60 in the caption of table 14
ADD_BUDGET = 30 * MILLION  # caption of table 13


def paper(task: str, dim: str, layers: str, encoding: str, examples: int, **changes: Any) -> RunConfig:
    """The paper's model and optimiser; positions for longer sequences where 512 do not do."""
    fields = _common(task, dim, layers, encoding, examples) | {"eval_num": 10_000} | changes
    base = preset("paper")
    data = {name: fields.pop(name) for name in tuple(fields) if hasattr(base.data, name)}
    room = replace_fields(base, max_positions=10_000, **data)  # enough for the paper's longest
    longest = max(room.data.lengths)
    return replace_fields(room, max_positions=max(base.model.max_positions, longest), **fields)


def fast(
    task: str, dim: str, layers: str, examples: int, encoding: str = "fp15/p1000", evals: int = 10, **changes: Any
) -> RunConfig:
    """The preset `fast`, looked at `evals` times along the way; with 4 heads, without relations and products, as
    most cells were run before these came."""
    fields = _common(task, dim, layers, encoding, examples) | {"eval_every": max(examples // evals, 1)}
    return replace_fields(preset("fast"), **({"heads": 4, "relations": False, "products": 0} | fields | changes))


def kept_config(name: str, task: str) -> RunConfig:
    """Of a model of the zoo, as its own recipe has it; of one without a recipe so far, what it would be like."""
    if name in recipes():
        return read_config(find_recipe(name), preset("fast"))
    return fast(task, name.rpartition("-")[2], "4/1", preset("fast").train.examples)


def origin(name: str, task: str) -> Cell:
    """A model of the zoo that other cells start from; it shows nothing itself."""
    return Cell(f"from-{name}", kept_config(name, task), (), kept=name)


def go_on(name: str, task: str, examples: int, evals: int = 4, **changes: Any) -> tuple[RunConfig, str]:
    """The config of a cell that starts from a model of the zoo, and what a reader must know of it."""
    whole = replace(kept_config(name, task), curriculum=CurriculumConfig())
    fields: dict[str, Any] = {"examples": examples, "eval_every": max(examples // evals, 1), "init_part": "all"}
    config = replace_fields(whole, **(fields | changes))
    return config, f"{describe(config)} that follow {whole.train.examples:,} of {name}"


def describe(config: RunConfig, kept: str = "") -> str:
    """What a reader must know of a model that is not the paper's; `kept` is its name in the zoo."""
    data, model = config.data, config.model
    encodings = f"{data.input_encoding}/{data.output_encoding}".upper()
    layers = f"{model.encoder_layers}/{model.decoder_layers} layers of {model.dim_model} dimensions"
    if model.architecture == "universal":
        layers += f", the encoder's gone through {model.encoder_loops} times"
    if model.products:
        layers += ", with products"
    init = starts_from(find_recipe(kept)) if kept in recipes() else ""
    after = f" that follow those of {init}" if init else ""
    easy = config.curriculum
    num_easy = round(easy.easy_share * easy.easy_until * config.train.examples)
    size = f"of size {easy.easy_dim}" if easy.easy_dim else ""
    power = f"{easy.easy_spread:g}{' to 1' if easy.easy_grows else ''}"
    spread = f"with singular values to the power of {power}" if easy.easy_spread < 1 else ""
    ensemble = f"of {', '.join(easy.easy_ensemble)}" if easy.easy_ensemble else ""
    how = ", ".join(filter(None, (size, ensemble, spread)))
    easier = f" ({num_easy:,} of them {how})" if num_easy and how else ""
    return f"{encodings}, {layers}, {config.train.examples:,} examples{easier}{after}"


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


def epochs_to(row: int, column: int, share: str) -> Shown:
    """Epochs until so many were within 5 %."""
    return Shown(row, column, f"reached/0.05/{share}", factor=1 / EPOCH)


def slug(*words: str) -> str:
    """A cell's key: slug('P10', '6/6') is 'p10-6-6'."""
    text = "-".join(words).lower()
    return "-".join(text.replace("/", "-").replace("_", "-").replace("+", "-").replace(",", "").split())
