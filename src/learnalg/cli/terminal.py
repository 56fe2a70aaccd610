"""Evaluations and solutions as tables in the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def describe_matrices(data: dict[str, Any]) -> str:
    amplitude = "-".join(f"{a:g}" for a in data["amplitude"])
    matrices = f"dim {data['dim']}, {'+'.join(data['ensemble'])}, A={amplitude}"
    matrices += f", sigma x {data['sigma_factor']:g}" if data["sigma_factor"] != 1 else ""
    spread = data.get("spread", 1)  # results of before do not have it
    matrices += f", singular values to the power of {spread:g}" if spread != 1 else ""
    return matrices + (f", noise {data['noise']:g}" if data["noise"] else "")


def print_report(report: dict[str, Any]) -> None:
    console = Console(highlight=False)
    tolerances = list(next(iter(report["accuracy"].values())))
    matrices = describe_matrices(report["data"])
    print(f"{report['task']}, {matrices}: accuracy in %, {report['num']:,} examples, seed {report['seed']}")
    table = Table()
    table.add_column("")
    for tolerance in tolerances:
        table.add_column("exact" if float(tolerance) == 0 else f"{100 * float(tolerance):g} %", justify="right")
    for norm, shares in report["accuracy"].items():
        table.add_row(norm, *(percent(shares[t]) for t in tolerances))
        intervals = [report["interval"][norm][t] for t in tolerances]
        table.add_row("  95 %", *(f"{percent(low)}-{percent(high)}" for low, high in intervals), style="dim")
    for norm, shares in report["distance_accuracy"].items():
        table.add_row(f"{norm}, distance to the solution", *(percent(shares[t]) for t in tolerances))
    for name in ("by_task", "by_dimension"):
        if len(report[name]) > 1:
            table.add_section()
            for key, part in report[name].items():
                table.add_row(f"{key}  ({part['num']:,})", *(percent(part["accuracy"]["l1"][t]) for t in tolerances))
    console.print(table)
    malformed = ", ".join(f"{reason}: {count}" for reason, count in report["malformed"].items())
    print(
        f"well-formed {percent(report['well_formed'])} %{f' ({malformed})' if malformed else ''}, "
        f"loss {report['loss']:.3f} a token, {report['seconds']:.1f} s"
    )


def print_solution(answer: dict[str, Any]) -> None:
    console = Console(highlight=False)
    matrices = {
        "the model saw": _matrix(answer["seen"]),
        "the model says": _matrix(answer["prediction"]),
        "NumPy says": _matrix(answer["solution"]),
    }
    print(answer["task"])
    widths = [max(len(name), *map(len, text.splitlines())) + 3 for name, text in matrices.items()]
    if sum(widths) < console.width:
        table = Table()
        for name in matrices:
            table.add_column(name, no_wrap=True)
        table.add_row(*matrices.values())
        console.print(table)
    else:  # too wide to stand side by side
        for name, text in matrices.items():
            print(f"{name}:\n{text}")
    error = (
        "the solution is zero, the answer is not" if answer["error"] is None else f"{100 * answer['error']:.2f} % (L1)"
    )
    print(f"error {error}, {answer['seconds'] * 1e3:.0f} ms")


def _matrix(matrix: np.ndarray) -> str:
    cells = [[f"{value:.4g}" for value in row] for row in matrix]
    width = max(len(cell) for row in cells for cell in row)
    return "\n".join("  ".join(f"{cell:>{width}}" for cell in row) for row in cells)
