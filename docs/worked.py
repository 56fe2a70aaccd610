"""Worked examples of the manual, computed: `python docs/worked.py` brings them up to date.

problems.md     each task with a small problem, its solution, its tokens, and how a prediction is judged
encodings.md    each encoding with numbers and a matrix
extending.md    the plugins of examples/
ensembles.md    each ensemble with its condition numbers; spectra.svg has the pictures

What stands between the two marks of each page is written here.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np

from learnalg.evaluation.figures import STYLE, as_svg, panels
from learnalg.files import write_whole
from learnalg.problems import TASKS, Task
from learnalg.problems.ensembles import ENSEMBLE_SUMMARIES, ENSEMBLES, Floats
from learnalg.reproduction.report.writing import between
from learnalg.tokens import ENCODINGS
from learnalg.tokens.tokenizer import Tokenizer

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
MARKS = "<!-- examples:begin -->", "<!-- examples:end -->"

# Small enough to be solved by hand. Two operands stand side by side.
INPUTS = {
    "transpose": [[1, 2, 3], [4, 5, 6]],
    "add": [[1, 2, 10, 20], [3, 4, 30, 40]],
    "matvec": [[1, 2, 10], [3, 4, 20]],
    "matmul": [[1, 2, 10, 20], [3, 4, 30, 40]],
    "eigenvalues": [[1, 2], [2, -2]],
    "eigenvectors": [[1, 2], [2, -2]],
    "singular_values": [[4, 0], [3, -5]],
    "svd": [[4, 0], [3, -5]],
    "inverse": [[1, 2], [3, 4]],
    "symmetric_inverse": [[1, 2], [2, 3]],
}
NUMBERS = (3.14, -6.02e23, 0.00123, 9.996, 1e-7, 0.0)
NUM, SIZE = 10_000, 5  # of an ensemble's matrices


def problems() -> str:
    return "\n\n".join(problem(name, TASKS[name]()) for name in TASKS)


def problem(name: str, task: Task) -> str:
    """One task on one small matrix; the prediction is the solution with its first coefficient 3 % too large."""
    given = np.array(INPUTS[name], dtype=float)[None]
    solution = task.solve(given)
    predicted = solution.copy()
    predicted[:, 0, 0] *= 1.03
    residual, reference = task.residual(given, solution, predicted)
    error = np.abs(residual).sum() / np.abs(reference).sum()
    options = [f"`{p.name}={p.default}`" for p in inspect.signature(TASKS[name]).parameters.values()]
    lines = [
        f"### {name}",
        "",
        f"{task.summary[0].upper() + task.summary[1:]}. {matrices_of(task)}"
        + (f" Options, with their defaults: {', '.join(options)}." if options else ""),
        "",
        *block("matrix", rows(given[0])),
        *block("solution", rows(solution[0])),
        *block("input", [words(Tokenizer("fp15").encode(given)[0], "fp15")]),
        *block("output", [words(Tokenizer("p1000").encode(solution)[0], "p1000")]),
        "",
        f"With its first coefficient 3 % too large the solution would have a relative error of {100 * error:.2g} %.",
    ]
    return "\n".join(lines)


def matrices_of(task: Task) -> str:
    if len(task.operands(2, 2)) > 1:
        return "The two operands stand side by side."
    return "Symmetric matrices." if task.symmetric else "Square matrices." if task.square else "Matrices of any shape."


def block(title: str, lines: list[str]) -> list[str]:
    return [f"    {title if k == 0 else '':<10}{line}" for k, line in enumerate(lines)]


def rows(matrix: Floats) -> list[str]:
    cells = [[f"{value + 0.0:.4g}" for value in row] for row in matrix]
    width = max(len(cell) for row in cells for cell in row)
    return ["  ".join(f"{cell:>{width}}" for cell in row) for row in cells]


def words(ids: Floats, encoding: str) -> str:
    tokens = Tokenizer(encoding).tokens
    return " ".join(tokens[k] for k in ids)


def encodings() -> str:
    head = ["encoding", "significant digits", "tokens a coefficient", "tokens"]
    sizes = [[f"`{name}`", str(e.digits), str(len(e.slots)), f"{len(e.tokens):,}"] for name, e in ENCODINGS.items()]
    numbers = [["", *ENCODINGS]]
    for value in NUMBERS:
        written = (" ".join(e.tokens[k] for k in e.encode(np.array(value))) for e in ENCODINGS.values())
        numbers.append([f"{value:g}", *written])
    matrix = np.array([[3.14, -6.02], [100, 0.5]])
    matrices = {name: words(Tokenizer(name).encode(matrix[None])[0], name) for name in ENCODINGS}
    return "\n".join(
        [
            markdown([head, *sizes]),
            "",
            *(f"    {line}".rstrip() for line in columns(numbers)),
            "",
            "A 2x2 matrix in each:",
            "",
            *block("matrix", rows(matrix)),
            *(line for name, text in matrices.items() for line in block(name, [text])),
        ]
    )


def columns(table: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
    return ["".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in table]


def with_files(text: str) -> str:
    """The page with each plugin between its marks. ```py: tests run the files, not the page."""
    for path in EXAMPLES.glob("*.py"):
        link = f"[examples/{path.name}](../examples/{path.name})"
        shown = f"{link}\n\n```py\n{path.read_text()}```"
        text = between(text, shown, (f"<!-- {path.stem}:begin -->", f"<!-- {path.stem}:end -->"))
    return text


def markdown(table: list[list[str]]) -> str:
    head, *body = table
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (head, ["---"] * len(head), *body)]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def symmetric_matrices(name: str) -> Floats:
    return ENSEMBLES[name](np.random.default_rng(0), NUM, SIZE, SIZE, True)


def short(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def ensembles() -> str:
    table = [["ensemble", "matrices", "condition number: median", "90 % are below", "all eigenvalues positive, %"]]
    for name in ENSEMBLES:
        values = np.linalg.eigvalsh(symmetric_matrices(name))
        sizes = np.abs(values)
        condition = sizes.max(axis=1) / sizes.min(axis=1)
        positive = 100 * (values > 0).all(axis=1).mean()
        shown = [short(np.median(condition)), short(np.quantile(condition, 0.9)), f"{positive:.0f}"]
        table.append([f"`{name}`", ENSEMBLE_SUMMARIES[name], *shown])
    return markdown(table)


def spectra() -> bytes:
    """A panel for each ensemble: the eigenvalues of all its matrices, in units of the coefficients' deviation."""
    import matplotlib

    edges = np.linspace(-8, 8, 81)
    with matplotlib.rc_context(STYLE | {"font.size": 9, "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure, axes = panels(len(ENSEMBLES), 3, 2.9, 1.45)
        for axis, name in zip(axes, ENSEMBLES, strict=True):
            values = np.linalg.eigvalsh(symmetric_matrices(name)).ravel()
            axis.stairs(np.histogram(values, edges)[0], edges, fill=True, color="#0072b2")
            axis.set_title(name, fontsize=10, loc="left")
            axis.set_yticks([])
            axis.grid(False)
            axis.spines["left"].set_visible(False)
        return as_svg(figure)


def write() -> list[Path]:
    """Answers the files that were not up to date."""
    pages = {DOCS / f"{page.__name__}.md": page for page in (problems, encodings, ensembles)}
    contents = {path: between(path.read_text(), page(), MARKS).encode() for path, page in pages.items()}
    contents[DOCS / "extending.md"] = with_files((DOCS / "extending.md").read_text()).encode()
    contents[DOCS / "spectra.svg"] = spectra()
    changed = [path for path, content in contents.items() if not path.is_file() or path.read_bytes() != content]
    for path in changed:
        write_whole(path, contents[path])
    return changed


if __name__ == "__main__":
    for path in write():
        print(path)
