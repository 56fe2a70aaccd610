"""What there is to choose from. Without a kind: all that is listed without torch, which takes a second to load."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from learnalg.cli.plugins import load_plugins
from learnalg.naming import unknown

Lines = dict[str, str]  # name -> summary


def _first_lines(registry: Mapping[str, Any]) -> Lines:
    return {name: ((entry.__doc__ or "").strip().splitlines() or [""])[0] for name, entry in registry.items()}


def tasks() -> Lines:
    from learnalg.problems import LETTERS, TASKS

    several = f"several at once, also by the paper's letters {''.join(LETTERS)}"
    return {name: entry().summary for name, entry in TASKS.items()} | {"transpose+add": several}


def encodings() -> Lines:
    from learnalg.tokens import ENCODINGS

    return {
        name: f"tokens a coefficient: {len(e.slots)}, vocabulary: {len(e.tokens):,}" for name, e in ENCODINGS.items()
    }


def ensembles() -> Lines:
    from learnalg.problems.ensembles import ENSEMBLE_SUMMARIES, ENSEMBLES

    return {name: ENSEMBLE_SUMMARIES.get(name, "") for name in ENSEMBLES}


def architectures() -> Lines:
    from learnalg.models import MODELS

    return _first_lines(MODELS)


def embeddings() -> Lines:
    from learnalg.models.embeddings import EMBEDDINGS

    return _first_lines(EMBEDDINGS)


def positions() -> Lines:
    from learnalg.models.embeddings import POSITIONS

    return _first_lines(POSITIONS)


def optimizers() -> Lines:
    from learnalg.training.optim import OPTIMIZERS

    return _first_lines(OPTIMIZERS)


def schedules() -> Lines:
    from learnalg.training.optim import SCHEDULES

    return _first_lines(SCHEDULES)


def presets() -> Lines:
    from learnalg.config.presets import PRESETS

    return {
        name: f"{c.model.encoder_layers}/{c.model.decoder_layers} layers, {c.model.width('encoder')} dimensions, "
        f"{c.optim.optimizer.partition(':')[0]}, batch size {c.train.batch_size}"
        for name, c in PRESETS.items()
    }


def recipes() -> Lines:
    from learnalg.recipes import recipes, summary

    return {name: summary(path) for name, path in recipes().items()}


def models() -> Lines:
    from learnalg.evaluation.result import percent
    from learnalg.zoo.catalog import index

    rows = {"model": ("problem", "sizes", "accuracy at 5 / 2 / 1 / 0.5 %", "trained on")}
    for entry in index():
        data, result = entry.problem.config, entry.result
        matrices = "+".join(data.ensemble) + (", symmetric" if data.symmetric else "")
        accuracy = " / ".join(percent(share) for share in entry.accuracy)
        trained = f"{matrices}, {result.all_examples / 1e6:.2f} M examples"
        rows[entry.name] = data.task, data.dim, accuracy, trained
    widths = [max(map(len, column)) + 2 for column in zip(*rows.values(), strict=True)]
    return {
        name: "".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for name, row in rows.items()
    }


WITHOUT_TORCH = (tasks, encodings, ensembles, presets, recipes, models)
WITH_TORCH = (architectures, embeddings, positions, optimizers, schedules)
KINDS: dict[str, Callable[[], Lines]] = {kind.__name__: kind for kind in (*WITHOUT_TORCH, *WITH_TORCH)}
ALSO = {"zoo": "models"}


def run(arguments: list[str]) -> int:
    arguments = [ALSO.get(kind, kind) for kind in load_plugins(arguments)]
    if any(a in ("-h", "--help") for a in arguments):
        print(f"usage: learnalg list [KIND ...] [--plugin FILE]\n\nWhat there is to choose from: {', '.join(KINDS)}.")
        return 0
    for kind in arguments:
        if kind not in KINDS:
            raise unknown("kind", kind, KINDS)
    for kind in arguments or [kind.__name__ for kind in WITHOUT_TORCH]:
        if len(arguments) != 1:
            print(f"{kind}:")
        lines = KINDS[kind]()
        width = max(18, *map(len, lines)) + 2
        for name, summary in lines.items():
            print(f"{name:<{width}}{summary}".rstrip())
    if not arguments:
        print(f"\n`learnalg list KIND` also lists {', '.join(kind.__name__ for kind in WITH_TORCH)}.")
    return 0
