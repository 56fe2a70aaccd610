"""How fast are answers, beside NumPy's? A Markdown table of milliseconds.

    python benchmarks/solve.py                       # all released models
    python benchmarks/solve.py eigenvalues-5 --threads 1

One call is `model.solve(A)` (with the proof of its error), and the function of learnalg.linalg with that model; the
stack is one call for many problems. All are of the test split, of the largest size that the model was trained for, and
all are timed in turn, NumPy too, so that a busy moment of the machine affects all of them. The first of each is not
counted. Medians go to results/solve-speed/NAME.json, and from there to docs/linalg.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import learnalg
from learnalg import linalg
from learnalg.data import fixed_set
from learnalg.files import checksum
from learnalg.problem import elsewhere
from learnalg.training.run import provenance
from learnalg.zoo.index import find_model
from learnalg.zoo.model import Model
from learnalg.zoo.speed import SolveSpeed, speed_file

Function = Callable[..., Any]
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def turned(a: np.ndarray) -> np.ndarray:
    return a.swapaxes(-1, -2)


# Of a task: our function and NumPy's. Models multiply M^T.
FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "transpose": (linalg.transpose, lambda a: np.matrix_transpose(a).copy()),
    "add": (linalg.add, np.add),
    "matvec": (lambda a, x, **k: linalg.matvec(turned(a), x[..., 0], **k), lambda a, x: turned(a) @ x),
    "matmul": (lambda a, b, **k: linalg.matmul(turned(a), b, **k), lambda a, b: turned(a) @ b),
    "eigenvalues": (linalg.eigvalsh, np.linalg.eigvalsh),
    "eigenvectors": (linalg.eigh, np.linalg.eigh),
    "singular_values": (linalg.svdvals, np.linalg.svdvals),
    "svd": (linalg.svd, np.linalg.svd),
    "inverse": (linalg.inv, np.linalg.inv),
}


def problems(model: Model, num: int) -> tuple[np.ndarray, ...]:
    """The operands of so many problems of the largest size, (num, rows, cols) each."""
    m, n = model.problem.dims.rows[1], model.problem.dims.cols[1]
    problem = elsewhere(model.config, dim=f"{m}" if m == n else f"{m}x{n}")
    columns = np.cumsum([cols for _, cols in problem.tasks[0][1].operands(m, n)])[:-1]
    inputs = np.concatenate([group.inputs for batch in fixed_set(problem, num, 0) for group in batch.groups])
    return tuple(np.split(inputs, columns, axis=2))


def seconds(work: Function, operands: Iterable[np.ndarray], clock: str) -> float:
    now = CLOCKS[clock]
    begun = now()
    work(*operands)
    return now() - begun


def measure(name: str, num: int, calls: int, stacks: int, clock: str) -> SolveSpeed:
    model = learnalg.load(name)
    operands = problems(model, num)
    ours, numpys = FUNCTIONS[model.problem.tasks[0][0]]
    variants: dict[str, Function] = {"one": model.solve, "function": partial(ours, model=model), "numpy_one": numpys}
    taken: dict[str, list[float]] = {key: [] for key in (*variants, "stack", "numpy_stack")}
    for k in range(calls + 1):
        for key, work in variants.items():
            taken[key].append(seconds(work, [operand[k] for operand in operands], clock))
    for _ in range(stacks + 1):
        for key, work in (("stack", model.solve), ("numpy_stack", numpys)):
            taken[key].append(seconds(work, operands, clock) / num)
    medians: dict[str, Any] = {key: 1000 * statistics.median(values[1:]) for key, values in taken.items()}
    dims = model.problem.dims.rows[1], model.problem.dims.cols[1]
    return SolveSpeed(
        model=name,
        sha256=checksum(find_model(name)),
        dims=dims,
        clock=clock,
        threads=torch.get_num_threads(),
        num=num,
        provenance=provenance(),
        **medians,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="released models; all if not given")
    parser.add_argument("--num", type=int, default=10_000, help="problems in a stack")
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--stacks", type=int, default=3)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="processor: where other work runs beside")
    parser.add_argument("--threads", type=int, help="those of torch if not given")
    parser.add_argument("--out", type=Path, help="a folder in place of results/solve-speed")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    warnings.simplefilter("ignore", linalg.UntrustedWarning)
    from learnalg.reproduction.report.speeds import HEAD, row

    print(*HEAD, sep="\n")
    for name in arguments.models or learnalg.released():
        found = measure(name, arguments.num, arguments.calls, arguments.stacks, arguments.clock)
        found.write(arguments.out / f"{name}.json" if arguments.out else speed_file(name))
        print(row(found), flush=True)


if __name__ == "__main__":
    main()
