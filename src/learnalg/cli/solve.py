"""Solve matrices from files or from standard input, with a proof of each answer."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from learnalg.cli.flags import Name, Names, parse
from learnalg.cli.matrices import is_matrix_file, read_matrices
from learnalg.cli.plugins import load_plugins
from learnalg.problems import parse_tasks
from learnalg.problems.task import Floats

if TYPE_CHECKING:
    from learnalg.certify.solution import Solution

NOT_PROVEN = 1  # exit code


@dataclass(frozen=True)
class Solve:
    """Solve matrices, beside NumPy's answers. Without MODEL, --task says what to solve, and the released model that
    fits answers. In a pipe, the answers come as numbers. The exit code is 1 where an answer is not trusted (with
    --refine: not certified), and standard error says which."""

    model: Name = ""  # a run's folder, a .safetensors or .pth file, or a released model
    matrices: Names = field(kw_only=True)  # .npy, .npz, .csv, .txt, or - for standard input; add, matvec, matmul: two
    task: str = ""  # without MODEL, and for models of several tasks
    out: Path | None = None  # write the answers to this .npy, .npz, .csv or .txt file; .npz has their proofs too
    json: bool = False  # print one JSON object a problem or stack
    refine: bool = False  # continue from the prediction to rounding error, and certify
    fallback: bool = False  # with --refine: NumPy's answer where none is certified
    rescale: bool = True  # leave matrices at their scale, even if it is not that of the training
    allow_outside: bool = False  # accept sizes that the model was not trained for
    device: str = "cpu"  # auto, cpu, cuda, cuda:1, mps


def run(arguments: list[str]) -> int:
    command = parse(Solve, "solve", load_plugins(arguments))
    name, files = command.model, command.matrices
    if is_matrix_file(name):
        name, files = "", (name, *files)
    if not name and not is_matrix_file(files[0]):
        raise ValueError("the following arguments are required: MATRICES (see learnalg solve --help)")
    if not name and not command.task:
        raise ValueError(f"solve {' '.join(files)}: which MODEL? or --task, and the released model that fits answers")
    if command.fallback and not command.refine:
        raise ValueError("--fallback has no effect without --refine")
    from learnalg.cli.answers import check_out, write_answers

    if command.out is not None:
        check_out(command.out)
    arrays = [(key, file, array) for file in files for key, array in read_matrices(file).items()]
    with warnings.catch_warnings(record=True) as noticed:
        num, answer = _solver(command, name)
        solutions = _solved(arrays, num, answer)
    for text in dict.fromkeys(str(warning.message) for warning in noticed):
        print(f"learnalg: {text}", file=sys.stderr)
    if command.out is not None:
        write_answers(command.out, solutions)
    _say(command, solutions)
    return _judge(solutions)


def _solver(command: Solve, name: str) -> tuple[int, Callable[..., Solution]]:
    """How many matrices a problem has, and what solves it."""
    from learnalg import linalg
    from learnalg.training.devices import pick_device, prepare_cpu

    prepare_cpu()
    rescale, allow_outside = command.rescale, command.allow_outside
    if name:
        model = linalg.load(name)
        model.module.to(pick_device(command.device))
        task = model.problem.tasks[model.problem.find_task(command.task)]
    else:
        (task,) = parse_tasks(command.task)

    def solve(first: Floats, *others: Floats) -> Solution:
        if first.ndim < 2:
            raise ValueError(f"expected an m x n matrix or a stack of them, got the shape {first.shape}")
        operands = (first, *(a[..., None] if a.ndim == first.ndim - 1 else a for a in others))  # a vector is a column
        if task[0] in ("inverse", "symmetric_inverse"):
            linalg.check_regular(first)
        if name:
            found = model.solve(*operands, task=command.task, rescale=rescale, allow_outside=allow_outside)
        else:
            found = linalg.solve(command.task, *operands, rescale=rescale, allow_outside=allow_outside)
        return found.refined(command.fallback) if command.refine else found

    return len(task[1].operands(1, 1)), solve


def _solved(arrays: list[tuple[str, str, Floats]], num: int, solve: Callable[..., Solution]) -> dict[str, Solution]:
    """`num` arrays at a time are a problem, or a stack of problems."""
    solutions: dict[str, Solution] = {}
    if len(arrays) % num:
        raise ValueError(f"{arrays[-1][1]}: a problem takes {num} matrices, and there are {len(arrays)}")
    for k in range(0, len(arrays), num):
        keys, files, operands = zip(*arrays[k : k + num], strict=True)
        if keys[0] in solutions:
            raise ValueError(f"{files[0]}: another problem has the name {keys[0]!r} already")
        try:
            solutions[keys[0]] = solve(*operands)
        except ValueError as error:
            raise ValueError(f"{' '.join(dict.fromkeys(files))}: {error}") from None
    return solutions


def _say(command: Solve, solutions: dict[str, Solution]) -> None:
    from learnalg.cli.answers import as_json, as_text, print_answer

    if command.json:
        for name, solution in solutions.items():
            print(json.dumps(as_json(name, solution)))
    elif command.out is not None:
        num = sum(solution.trusted.size for solution in solutions.values())
        trusted = sum(int(solution.trusted.sum()) for solution in solutions.values())
        print(f"{command.out}: {num:,} answers, {trusted:,} trusted")
    elif sys.stdout.isatty():
        for name, solution in solutions.items():
            print_answer(name, solution)
    else:
        print("\n".join(as_text(solution.matrix) for solution in solutions.values()), end="")


def _judge(solutions: dict[str, Solution]) -> int:
    from learnalg.cli.answers import doubts, is_proven

    for name, solution in solutions.items():
        for line in doubts(name, solution):
            print(f"learnalg: {line}", file=sys.stderr)
    return 0 if all(is_proven(solution) for solution in solutions.values()) else NOT_PROVEN
