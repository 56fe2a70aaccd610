"""docs/speedrun.md's table and its figure of learning curves, made from results/*.json and the paper's numbers."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnalg.config import from_dict
from learnalg.training.flops import counted_flops
from learnalg.reproduction.tables import paper_numbers
from learnalg.training.run import all_examples

BEGIN, END = "<!-- records:begin -->", "<!-- records:end -->"
TOLERANCES = ("0.05", "0.02", "0.01", "0.005")


@dataclass(frozen=True)
class Problem:
    """A problem of the paper: which column of which table has its accuracy, and from how many examples."""

    title: str
    table: str
    column: int
    bar: str  # what it should have at laptop scale, at the tolerances of the table, and from how many examples at most
    examples: str = ""  # as the paper says; '' where it does not
    row: int = 0  # of table-2, whose rows are encodings

    def accuracy(self) -> list[float]:
        rows = paper_numbers()[self.table]["rows"]
        if self.table == "table-2":
            return [rows[self.row][self.column]]
        return [row[self.column] for row in rows]


PROBLEMS = {
    "transpose-5": Problem("transposition 5x5", "table-2", 1, "99.9 (0.2 M)", row=2),
    "transpose-10": Problem("transposition 10x10", "table-2", 2, "99.9 (0.5 M)", row=2),
    "add-5-relations": Problem("sum 5x5", "table-3", 1, "100 / 100 / 100 / 99.9 (0.2 M)"),
    "add-10": Problem("sum 10x10", "table-3", 4, "100 / 100 / 100 / 99.9 (0.5 M)", "5 M to 99 %"),
    "matvec-5": Problem("matrix times vector 5x5", "table-4", 2, "100 / 100 / 99.9 / 99.5 (1 M)"),
    "matmul-5-longer": Problem("matrix product 5x5", "table-5", 2, "100 / 100 / 99.9 / 99 (2 M)"),
    "eigenvalues-5-products": Problem("eigenvalues 5x5", "table-6", 4, "100 / 99.9 / 99 / 90 (4 M)", "40 M to 99 %"),
    "eigenvalues-8": Problem("eigenvalues 8x8", "table-6", 5, "100 / 99 / 85 / 30 (6 M)", "60 M to 99 %"),
    "eigenvectors-5-precise": Problem("eigenvectors 5x5", "table-8", 4, "97 / 87 / 67 / 12 (8 M)", "50 M"),
    "singular-values-4": Problem("singular values 4x4", "table-10", 2, "100 / 99.8 / 86 / 41 (3 M)"),
    "svd-4-deeper": Problem("SVD 4x4", "table-10", 4, "98.9 / 95 / 75 / 6 (8 M)"),
    "inverse-5-digits": Problem("inverse 5x5", "table-9", 6, "90 / 81 / 60 / 24 (15 M)", "120 M to 75 %"),
}


def load_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Results by name: the paper's problems in its order, then others."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    return {name: found[name] for name in (*PROBLEMS, *found) if name in found}


def records_table(folder: Path) -> str:
    lines = [
        "| problem | recipe | examples | FLOPs | minutes | within 5 / 2 / 1 / 0.5 % | bar "
        "| the paper's | from | as good as the paper after |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    results = load_results(folder)
    for name, result in results.items():
        data, problem = result["config"]["data"], PROBLEMS.get(name)
        title = problem.title if problem else f"{data['task'].replace('_', ' ')} {data['dim']}x{data['dim']}"
        is_exact = problem is not None and problem.table == "table-2"
        shares = result["report"]["accuracy"]["l1"]
        ours = " / ".join(f"{100 * shares[t]:.1f}" for t in (("0.0",) if is_exact else TOLERANCES))
        papers = " / ".join(f"{share:g}" for share in problem.accuracy()) if problem else ""
        flops, minutes = spent(result, results)
        exact = " exact" if is_exact else ""
        bar, theirs, examples = (problem.bar, f"{papers}{exact}", problem.examples) if problem else ("", "", "")
        lines.append(
            f"| {title} | [{name}](../results/{name}.json) | {_examples(result)} | {flops:.1e} | {minutes:.1f} "
            f"| {ours}{exact} | {bar} | {theirs} | {examples} | {_reached(result, problem, results)} |"
        )
    return "\n".join(lines)


def spent(result: dict[str, Any], results: dict[str, dict[str, Any]], share: float = 1.0) -> tuple[float, float]:
    """FLOPs and minutes of a run, or of its first part, and of the runs whose weights it started from."""
    each = result.get("flops_per_example") or counted_flops(from_dict(result["config"]))
    flops, minutes = share * each * result["examples"], share * result["seconds"] / 60
    if "origin" in result:
        before = spent(results[result["origin"]["model"]], results)
        flops, minutes = flops + before[0], minutes + before[1]
    return flops, minutes


def _examples(result: dict[str, Any]) -> str:
    total = millions(all_examples(result))
    if "origin" not in result:
        return total
    return f"{total}, of them {millions(result['origin']['examples'])} for {result['origin']['model']}"


def millions(examples: int) -> str:
    return f"{examples / 1e6:.2f} M"


def _reached(result: dict[str, Any], problem: Problem | None, results: dict[str, dict[str, Any]]) -> str:
    """Examples, FLOPs and minutes after which the validation set was solved as well as the paper's test set."""
    if problem is None or not result.get("curve"):
        return ""
    wanted = problem.accuracy()
    if problem.table == "table-2":
        return ""  # the curve has no exact copies
    for point in result["curve"]:
        shares = [100 * point["accuracy"][t] for t in TOLERANCES]
        if all(share >= want for share, want in zip(shares, wanted, strict=True)):
            flops, minutes = spent(result, results, point["examples"] / result["examples"])
            examples = all_examples(result) - result["examples"] + point["examples"]
            return f"{millions(examples)}, {flops:.1e} FLOPs, {minutes:.0f} minutes"
    return "not reached"


def learning_curves(folder: Path) -> bytes:
    """One small figure for each result, as one SVG: accuracy on the validation set against examples."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    results = {name: result for name, result in load_results(folder).items() if result.get("curve")}
    cols = 4
    rows = -(-len(results) // cols)
    with matplotlib.rc_context({"svg.hashsalt": "learnalg", "font.size": 8, "axes.spines.top": False}):
        figure, axes = plt.subplots(rows, cols, figsize=(11, 2.3 * rows), squeeze=False, sharey=True)
        for axis in axes.flat[len(results) :]:
            axis.set_axis_off()
        for axis, (name, result) in zip(axes.flat, results.items(), strict=False):
            examples = [point["examples"] / 1000 for point in result["curve"]]
            for shade, tolerance in zip((0.95, 0.72, 0.5, 0.28), TOLERANCES, strict=True):
                shares = [100 * point["accuracy"][tolerance] for point in result["curve"]]
                label = f"within {100 * float(tolerance):g} %"
                axis.plot(examples, shares, color=plt.get_cmap("Blues")(shade), marker=".", ms=3, lw=1.2, label=label)
            axis.set_title(name, fontsize=9, loc="left")
            axis.set_ylim(-3, 103)
            axis.set_xlim(left=0)
            axis.grid(axis="y", lw=0.3)
            axis.spines["right"].set_visible(False)
        for axis in axes[:, 0]:
            axis.set_ylabel("% of matrices")
        for axis in axes.flat[max(len(results) - cols, 0) : len(results)]:
            axis.set_xlabel("thousand examples")
        axes.flat[0].legend(frameon=False, fontsize=7, loc="lower right")
        figure.tight_layout()
        content = io.BytesIO()
        figure.savefig(content, format="svg", metadata={"Date": None})
        plt.close(figure)
    return content.getvalue()
