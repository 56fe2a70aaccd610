"""Why a model fails: `analyse` looks at its predictions as matrices."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from learnalg.cli.arguments import load_plugins, parse
from learnalg.cli.domain import Domain


@dataclass(frozen=True)
class Analyse:
    """Failure anatomy of a model: what is wrong with its wrong predictions, and which numbers foretell them, beside
    the paper's. With --out also as analysis.json, analysis.md and figures."""

    model: Annotated[Path, tyro.conf.Positional]  # a run's folder, a .safetensors file or a shipped model's name
    num: int = 10_000  # examples of the test set
    seed: int = 0  # of the test set
    tolerance: float = 0.05  # an error of so much or more is a failure
    out: Path | None = None  # a new folder for analysis.json, analysis.md and the figures
    domain: Domain = field(default_factory=Domain)
    beam: int = 1  # width of the beam; 1 is greedy decoding
    device: str = "cpu"  # where to run: auto, cpu, cuda, mps
    constrained: bool = False  # decode within the grammar of matrices only
    json: bool = False  # print one JSON object


def run_analyse(arguments: list[str]) -> int:
    """Why a model fails."""
    command = parse(Analyse, "analyse", load_plugins(arguments))
    from learnalg.evaluation.analysis import analyse, check_tolerance
    from learnalg.evaluation.evaluate import check_arguments, evaluate
    from learnalg.evaluation.measurements import collect
    from learnalg.training.devices import pick_device, prepare_cpu
    from learnalg.reproduction.report import print_analysis, save_analysis
    from learnalg.training.run import load_model, provenance

    check_tolerance(command.tolerance)
    check_arguments(command.num, command.seed, (command.tolerance,), ("l1",), command.beam)
    out = command.out
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out} exists already: choose another --out")
    prepare_cpu()
    device = pick_device(command.device)
    config, model = load_model(command.model)
    model.to(device)
    data = command.domain.of(config)
    kept: list[dict[str, Any]] = []
    evaluate(
        model,
        data,
        command.num,
        command.seed,
        (command.tolerance,),
        ("l1",),
        beam_width=command.beam,
        constrained=command.constrained,
        keep=kept,
    )
    examples = collect(data, kept)
    analysis = {
        "model": command.model.resolve().name.removesuffix(".safetensors"),
        "num": command.num,
        "seed": command.seed,
        "tolerance": command.tolerance,
        "beam": command.beam,
        "constrained": command.constrained,
        "trained_on": asdict(config.data),
        "data": asdict(data),
        "provenance": provenance(),
        "tasks": analyse(data, examples, command.tolerance, trained=config.data),
    }
    if out is not None:
        save_analysis(out, analysis, examples)
    if command.json:
        print(json.dumps(analysis))
    else:
        print_analysis(analysis)
        if out is not None:
            print(f"\nsaved to {out}: analysis.md, analysis.json and figures")
    return 0
