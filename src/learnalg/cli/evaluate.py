"""Test a model on a fixed test set."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from learnalg.cli.domain import Decoding, Domain
from learnalg.cli.flags import Name, parse
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Evaluate:
    """Test a model on a fixed test set, in distribution or out of it. The set depends on --seed and on the flags of
    its matrices only, and shares no example with any training."""

    model: Name  # a run's folder, a .safetensors or .pth file, or a released model
    num: int = 10_000  # examples of the test set
    seed: int = 0  # seed of the test set
    tolerances: tuple[float, ...] = (0.05, 0.02, 0.01, 0.005)  # of the relative error; 0 asks for the exact solution
    norms: tuple[str, ...] = ("l1", "l2", "linf")  # l1, l2, linf, l2-squared
    domain: Domain = field(default_factory=Domain)
    decoding: Decoding = field(default_factory=Decoding)
    json: bool = False  # print one JSON object
    save: Path | None = None  # write inputs, solutions and predictions to this .npz file


def run(arguments: list[str]) -> int:
    command = parse(Evaluate, "evaluate", load_plugins(arguments))
    from learnalg.cli.terminal import print_report
    from learnalg.evaluation.evaluate import check_arguments, report_of, save_predictions

    check_arguments(command.num, command.seed, command.tolerances, command.norms, command.decoding.beam)
    if command.save is not None and command.save.exists():
        raise ValueError(f"{command.save} exists already")
    if command.save is not None and not command.save.parent.is_dir():
        raise ValueError(f"--save {command.save}: there is no folder {command.save.parent}")
    _, predictions = command.decoding.predictions(command.model, command.domain, command.num, command.seed)
    report = report_of(predictions, command.tolerances, command.norms)
    if command.json:
        print(json.dumps(asdict(report)))
    else:
        print_report(report)
    if command.save is not None:
        save_predictions(command.save, predictions)
    return 0
