"""Test a model on a fixed test set."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from learnalg.cli.domain import Domain
from learnalg.cli.flags import Name, parse
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Evaluate:
    """Test a model on a fixed test set, in distribution or out of it. The set depends on --seed and on the flags of
    its matrices only, and shares no example with any training."""

    model: Name  # a run's folder, a .safetensors file or a released model
    num: int = 10_000  # examples of the test set
    seed: int = 0  # of the test set
    tolerances: tuple[float, ...] = (0.05, 0.02, 0.01, 0.005)  # 0 asks for the exact solution
    norms: tuple[str, ...] = ("l1", "l2", "linf")  # l1, l2, linf, l2-squared
    domain: Domain = field(default_factory=Domain)
    beam: int = 1  # width of the beam; 1 is greedy decoding
    device: str = "cpu"  # auto, cpu, cuda, cuda:1, mps
    constrained: bool = False  # decode within the grammar of matrices only
    json: bool = False  # print one JSON object
    save: Path | None = None  # write inputs, solutions and predictions to this .npz file


def run(arguments: list[str]) -> int:
    command = parse(Evaluate, "evaluate", load_plugins(arguments))
    from learnalg.cli.terminal import print_report
    from learnalg.evaluation.evaluate import check_arguments, predictions_of, report_of, save_predictions
    from learnalg.training.devices import pick_device, prepare_cpu
    from learnalg.zoo.load import load_model

    check_arguments(command.num, command.seed, command.tolerances, command.norms, command.beam)
    if command.save is not None and command.save.exists():
        raise ValueError(f"{command.save} exists already")
    if command.save is not None and not command.save.parent.is_dir():
        raise ValueError(f"--save {command.save}: there is no folder {command.save.parent}")
    prepare_cpu()
    device = pick_device(command.device)
    config, model = load_model(command.model)
    problem = command.domain.of(config)
    predictions = predictions_of(
        model.to(device), problem, command.num, command.seed, "test", command.beam, command.constrained
    )
    report = report_of(predictions, command.tolerances, command.norms)
    if command.json:
        print(json.dumps(asdict(report)))
    else:
        print_report(report)
    if command.save is not None:
        save_predictions(command.save, predictions)
    return 0
