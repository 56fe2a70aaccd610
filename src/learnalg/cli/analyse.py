"""Why a model fails: its predictions as matrices."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from learnalg.cli.domain import Decoding, Domain
from learnalg.cli.flags import Name, parse
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Analyse:
    """Why a model fails: what is wrong with its wrong predictions, and which quantities predict failure, beside the
    paper's analysis. --out writes analysis.json, analysis.md and figures."""

    model: Name  # a run's folder, a .safetensors or .pth file, or a released model
    num: int = 10_000  # examples of the test set
    seed: int = 0  # seed of the test set
    tolerance: float = 0.05  # a relative error of at least this is a failure
    out: Path | None = None  # a new folder for the files
    domain: Domain = field(default_factory=Domain)
    decoding: Decoding = field(default_factory=Decoding)
    json: bool = False  # print one JSON object


def run(arguments: list[str]) -> int:
    command = parse(Analyse, "analyse", load_plugins(arguments))
    from learnalg.cli.bars import status
    from learnalg.evaluation.analysis import analyse, check_tolerance
    from learnalg.evaluation.anatomy import print_analysis, save_analysis
    from learnalg.evaluation.evaluate import check_arguments
    from learnalg.evaluation.measurements import collect
    from learnalg.reproduction.claims import THRESHOLDS, numbers_for
    from learnalg.training.run import provenance

    check_tolerance(command.tolerance)
    check_arguments(command.num, command.seed, (command.tolerance,), ("l1",), command.decoding.beam)
    out = command.out
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out} exists already: choose another --out")
    config, predictions = command.decoding.predictions(command.model, command.domain, command.num, command.seed)
    problem = predictions.problem
    with status("measuring what predicts failure"):
        examples = collect(predictions)
        tasks = analyse(problem, examples, command.tolerance, THRESHOLDS)
    for task, found in tasks.items():
        found["paper"] = numbers_for(task, config.data, problem.config)
    analysis = {
        "model": Path(command.model).resolve().name.removesuffix(".safetensors"),
        "num": command.num,
        "seed": command.seed,
        "tolerance": command.tolerance,
        "beam": command.decoding.beam,
        "constrained": command.decoding.constrained,
        "trained_on": asdict(config.data),
        "data": asdict(problem.config),
        "provenance": provenance(),
        "tasks": tasks,
    }
    if out is not None:
        with status("drawing figures"):
            save_analysis(out, analysis, examples)
    if command.json:
        print(json.dumps(analysis))
    else:
        print_analysis(analysis)
        if out is not None:
            print(f"\nsaved to {out}: analysis.md, analysis.json and figures")
    return 0
