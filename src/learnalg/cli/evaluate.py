"""Evaluate and solve."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from learnalg.cli.arguments import load_plugins, parse
from learnalg.cli.domain import Domain
from learnalg.problems.matrices import read_matrix


@dataclass(frozen=True)
class Evaluate:
    """Test a model on a fixed test set, in its domain or out of it. The set depends on --seed and the data's flags
    only, and shares no example with any training."""

    model: Annotated[Path, tyro.conf.Positional]  # a run's folder, a .safetensors file or a shipped model's name
    num: int = 10_000  # examples of the test set
    seed: int = 0  # of the test set
    tolerances: tuple[float, ...] = (0.05, 0.02, 0.01, 0.005)  # 0 asks for the exact solution
    norms: tuple[str, ...] = ("l1", "l2", "linf")  # l1, l2, linf, l2-squared
    domain: Domain = field(default_factory=Domain)
    beam: int = 1  # width of the beam; 1 is greedy decoding
    device: str = "cpu"  # where to run: auto, cpu, cuda, mps
    constrained: bool = False  # decode within the grammar of matrices only
    json: bool = False  # print one JSON object
    save: Path | None = None  # write inputs, solutions and predictions to this .npz file


def run_evaluate(arguments: list[str]) -> int:
    """Test a model."""
    command = parse(Evaluate, "evaluate", load_plugins(arguments))
    from learnalg.evaluation.evaluate import check_arguments, evaluate, save_predictions
    from learnalg.training.devices import pick_device, prepare_cpu
    from learnalg.reproduction.report import print_report
    from learnalg.training.run import load_model

    check_arguments(command.num, command.seed, command.tolerances, command.norms, command.beam)
    if command.save is not None and command.save.exists():
        raise ValueError(f"{command.save} exists already")
    if command.save is not None and not command.save.parent.is_dir():
        raise ValueError(f"--save {command.save}: there is no folder {command.save.parent}")
    prepare_cpu()
    device = pick_device(command.device)
    config, model = load_model(command.model)
    model.to(device)
    data = command.domain.of(config)
    keep: list[Any] | None = [] if command.save is not None else None
    report = evaluate(
        model,
        data,
        command.num,
        command.seed,
        command.tolerances,
        command.norms,
        beam_width=command.beam,
        constrained=command.constrained,
        keep=keep,
    )
    if command.json:
        print(json.dumps(asdict(report)))
    else:
        print_report(asdict(report))
    if command.save is not None and keep is not None:
        save_predictions(command.save, data, keep)
    return 0


@dataclass(frozen=True)
class Solve:
    """Solve one problem with a model, beside NumPy's answer."""

    model: Annotated[Path, tyro.conf.Positional]  # a run's folder, a .safetensors file or a shipped model's name
    matrices: Annotated[tuple[Path, ...], tyro.conf.Positional]  # .npy, .csv or .txt; two for add, matvec, matmul
    task: str = ""  # for models of several tasks
    json: bool = False  # print one JSON object


def run_solve(arguments: list[str]) -> int:
    """Solve with a model."""
    command = parse(Solve, "solve", load_plugins(arguments))
    operands = [read_matrix(path) for path in command.matrices]
    from learnalg.zoo.model import load
    from learnalg.training.devices import prepare_cpu
    from learnalg.reproduction.report import print_solution

    prepare_cpu()
    answer = load(command.model).explain(*operands, task=command.task)
    if command.json:
        print(
            json.dumps({name: value.tolist() if hasattr(value, "tolist") else value for name, value in answer.items()})
        )
    else:
        print_solution(answer)
    return 0
