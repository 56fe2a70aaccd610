"""Count the parameters of a model, by part."""

from __future__ import annotations

import json
from dataclasses import dataclass

from learnalg.cli.flags import build, said_in
from learnalg.cli.plugins import load_plugins
from learnalg.config import DataConfig, ModelConfig
from learnalg.config.presets import preset


@dataclass(frozen=True)
class Params:
    """Count the parameters of a model, by part."""

    data: DataConfig
    model: ModelConfig
    preset: str = "paper"  # `learnalg list presets`
    json: bool = False  # print one JSON object


def run(arguments: list[str]) -> int:
    arguments = load_plugins(arguments)
    said = said_in(Params, "params", arguments, default=None)
    base = preset(said.get("preset", "paper"))
    data, config = build(DataConfig, said, base.data), build(ModelConfig, said, base.model)
    from learnalg.models import count_parameters, sides
    from learnalg.problem import Problem

    parts = count_parameters(config, *sides(Problem(data)))
    parts["total"] = sum(parts.values())
    if said.get("json"):
        print(json.dumps(parts))
    else:
        for part, count in parts.items():
            print(f"{part:<20}{count:>14,}")
    return 0
