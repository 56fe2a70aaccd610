"""Answers of `learnalg solve`: tables for people, numbers for pipes and files, JSON for programs."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from learnalg.certify.show import percent_above, verdict
from learnalg.certify.solution import Solution, flat, place
from learnalg.cli.matrices import ENDINGS
from learnalg.files import write_whole
from learnalg.problems.task import Floats

Solutions = dict[str, Solution]  # by the names of their problems
MOST_SHOWN = 10  # of a stack, in a terminal


def doubts(name: str, solution: Solution) -> list[str]:
    """What a user of the answers must know, a line each; nothing where all is proven."""
    if solution.is_certified is None or solution.fell_back is None:
        return _counted(name, ~solution.trusted, "not trusted: no proof of an error below 5 %")
    lines = _counted(name, ~solution.is_certified & ~solution.fell_back, "not certified")
    return lines + _counted(name, solution.fell_back, "NumPy's, since the model's could not be certified")


def is_proven(solution: Solution) -> bool:
    """Whether the answers are what was asked for: trusted, or with --refine certified, or NumPy's with --fallback."""
    if solution.is_certified is None or solution.fell_back is None:
        return bool(solution.trusted.all())
    return bool((solution.is_certified | solution.fell_back).all())


def _counted(name: str, rows: Any, what: str) -> list[str]:
    rows = np.asarray(rows)
    if not rows.any():
        return []
    if not rows.shape:
        return [f"{name}: the answer is {what}"]
    num, first = int(rows.sum()), place(int(rows.argmax()), rows.shape)
    return [f"{name}: {num:,} of {rows.size:,} answers {'is' if num == 1 else 'are'} {what}; the first is{first}"]


# For programs.


def as_json(name: str, solution: Solution) -> dict[str, Any]:
    known = {
        "name": name,
        "task": solution.task,
        "model": solution.model,
        "seen": np.concatenate(solution.seen, axis=-1),
        "answer": solution.matrix,
        "residual": solution.residual,
        "trusted": solution.trusted,
        "well_formed": solution.well_formed,
        "confidence": solution.confidence,
        "expected": solution.expected,
        "error": solution.error,
        "certified": solution.is_certified,
        "certified_residual": solution.certified_residual,
        "steps": solution.steps,
        "fell_back": solution.fell_back,
        "seconds": solution.seconds,
    }
    return {key: _plain(value) for key, value in known.items() if value is not None}


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity: these are null."""
    array = np.asarray(value)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        plain = array.astype(object)
        plain[~np.isfinite(array)] = None
        return plain.tolist()
    return array.tolist()


# For pipes and files.


def as_text(stack: Floats, delimiter: str = " ") -> str:
    """A line for each row, an empty line between the matrices of a stack: what solve reads too."""
    matrices = flat(stack).tolist()
    return "\n".join("".join(delimiter.join(map(repr, row)) + "\n" for row in matrix) for matrix in matrices)


def check_out(path: Path) -> None:
    if path.suffix not in ENDINGS:
        raise ValueError(f"--out {path}: must end in one of {', '.join(ENDINGS)}")
    if path.exists():
        raise ValueError(f"{path} exists already")
    if not path.parent.is_dir():
        raise ValueError(f"--out {path}: there is no folder {path.parent}")


def write_answers(path: Path, solutions: Solutions) -> None:
    """.npz has the answers with what is known of them; .npy, .csv and .txt have the answers of one problem or stack."""
    if path.suffix != ".npz" and len(solutions) > 1:
        raise ValueError(f"--out {path}: {len(solutions)} problems need an archive, .npz")
    content = io.BytesIO()
    if path.suffix == ".npz":
        np.savez(content, allow_pickle=False, **_arrays(solutions))
    else:
        (solution,) = solutions.values()
        if path.suffix == ".npy":
            np.save(content, solution.matrix, allow_pickle=False)
        else:
            content.write(as_text(solution.matrix, {".csv": ","}.get(path.suffix, " ")).encode())
    write_whole(path, content.getvalue())


def _arrays(solutions: Solutions) -> dict[str, Any]:
    kept = {
        "answer": "matrix",
        "residual": "residual",
        "trusted": "trusted",
        "confidence": "confidence",
        "model": "model",
        "certified": "is_certified",
        "fell_back": "fell_back",
    }
    return {
        key if len(solutions) == 1 else f"{name}.{key}": getattr(solution, field)
        for name, solution in solutions.items()
        for key, field in kept.items()
        if getattr(solution, field) is not None
    }


# For people.


def print_answer(name: str, solution: Solution) -> None:
    if solution.shape:
        _print_stack(name, solution)
        return
    matrices = {
        "the model saw": _matrix(np.concatenate(solution.seen, axis=-1)),
        "the model predicts" if solution.is_certified is None else "refined": _matrix(solution.matrix),
    }
    is_known = bool(np.isfinite(solution.expected).all())
    if is_known:
        matrices["NumPy says"] = _matrix(solution.expected)
    print(f"{solution.task} of {name} by {solution.model}")
    _print_beside(matrices)
    error = ""
    if is_known:
        is_ratio = np.isfinite(solution.error)
        error = (
            f"error {100 * float(solution.error):.2g} % (L1)" if is_ratio else "the solution is zero, the answer is not"
        )
        error += ", "
    print(f"{error}{verdict(solution)}, {solution.seconds * 1e3:.0f} ms")


def _print_beside(matrices: dict[str, str]) -> None:
    console = Console(highlight=False)
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


def _print_stack(name: str, solution: Solution) -> None:
    refined = solution.is_certified is not None
    table = Table()
    for title in ("", "answer", "certified" if refined else "trusted", "error below", "confidence"):
        table.add_column(title, no_wrap=True)
    places = list(np.ndindex(solution.shape))
    for where in places[:MOST_SHOWN]:
        bound = float(solution.residual[where])
        table.add_row(
            ", ".join(map(str, where)),
            _matrix(_row(solution.matrix[where])),
            "yes" if (solution.is_certified if refined else solution.trusted)[where] else "no",  # type: ignore[index]
            f"{percent_above(100 * bound)} %" if np.isfinite(bound) else "?",
            f"{float(solution.confidence[where]):.2f}",
            end_section=solution.matrix.shape[-1] > 1,
        )
    print(f"{solution.task} of {name}: {len(places):,} problems, {int(np.sum(solution.trusted)):,} answers are trusted")
    Console(highlight=False).print(table)
    if len(places) > MOST_SHOWN:
        print(f"and {len(places) - MOST_SHOWN:,} more: --out FILE or --json has all", file=sys.stdout)


def _row(matrix: Floats) -> Floats:
    """A column takes less room as a row."""
    return matrix.T if matrix.shape[1] == 1 else matrix


def _matrix(matrix: Floats) -> str:
    cells = [[f"{value:.4g}" for value in row] for row in matrix]
    width = max(len(cell) for row in cells for cell in row)
    return "\n".join("  ".join(f"{cell:>{width}}" for cell in row) for row in cells)
