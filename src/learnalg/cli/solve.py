"""Solve one problem with a model, beside NumPy's answer."""

from __future__ import annotations

import json
from dataclasses import dataclass

from learnalg.cli.flags import Files, Name, parse
from learnalg.cli.matrices import read_matrix
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Solve:
    """Solve one problem with a model, beside NumPy's answer."""

    model: Name  # a run's folder, a .safetensors or .pth file, or a released model
    matrices: Files  # .npy, .csv or .txt; two for add, matvec, matmul
    task: str = ""  # for models of several tasks
    device: str = "cpu"  # auto, cpu, cuda, cuda:1, mps
    json: bool = False  # print one JSON object


def run(arguments: list[str]) -> int:
    command = parse(Solve, "solve", load_plugins(arguments))
    operands = [read_matrix(path) for path in command.matrices]
    from learnalg.cli.terminal import print_solution
    from learnalg.training.devices import pick_device, prepare_cpu
    from learnalg.zoo.model import load

    prepare_cpu()
    model = load(command.model)
    model.module.to(pick_device(command.device))
    answer = model.explain(*operands, task=command.task)
    if command.json:
        lists = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in answer.items()}
        print(json.dumps(lists))
    else:
        print_solution(answer)
    return 0
