"""Records, from results/*.json and the paper's numbers: the README's headline rows, docs/speedrun.md's table, and the
figure of learning curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from learnalg.evaluation.result import Result, percent, quoted
from learnalg.reproduction.experiment import paper_numbers

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

    @property
    def is_exact(self) -> bool:
        """Transposition: the paper counts exact copies."""
        return self.table == "table-2"

    @property
    def papers(self) -> str:
        return " / ".join(f"{share:g}" for share in self.accuracy()) + (" exact" if self.is_exact else "")

    def accuracy(self) -> list[float]:
        rows = paper_numbers()[self.table]["rows"]
        if self.is_exact:
            return [rows[self.row][self.column]]
        return [row[self.column] for row in rows]


PROBLEMS = {
    "transpose-5": Problem("transposition 5x5", "table-2", 1, "99.9 (0.2 M)", row=2),
    "transpose-10": Problem("transposition 10x10", "table-2", 2, "99.9 (0.5 M)", row=2),
    "add-5": Problem("sum 5x5", "table-3", 1, "100 / 100 / 100 / 99.9 (0.2 M)"),
    "add-10": Problem("sum 10x10", "table-3", 4, "100 / 100 / 100 / 99.9 (0.5 M)", "5 M to 99 %"),
    "matvec-5": Problem("matrix-vector product 5x5", "table-4", 2, "100 / 100 / 99.9 / 99.5 (1 M)"),
    "matmul-5": Problem("matrix product 5x5", "table-5", 2, "100 / 100 / 99.9 / 99 (2 M)"),
    "eigenvalues-5": Problem("eigenvalues 5x5", "table-6", 4, "100 / 99.9 / 99 / 90 (4 M)", "40 M to 99 %"),
    "eigenvalues-8": Problem("eigenvalues 8x8", "table-6", 5, "100 / 99 / 85 / 30 (6 M)", "60 M to 99 %"),
    "eigenvectors-5": Problem("eigenvectors 5x5", "table-8", 4, "97 / 87 / 67 / 12 (8 M)", "50 M"),
    "singular-values-4": Problem("singular values 4x4", "table-10", 2, "100 / 99.8 / 86 / 41 (3 M)"),
    "svd-4": Problem("SVD 4x4", "table-10", 4, "98.9 / 95 / 75 / 6 (8 M)"),
    "inverse-5": Problem("inverse 5x5", "table-9", 6, "90 / 81 / 60 / 24 (15 M)", "120 M to 75 %"),
}


def in_order(results: Mapping[str, Result]) -> dict[str, Result]:
    """The paper's problems in its order, then others."""
    return {name: results[name] for name in (*PROBLEMS, *results) if name in results}


def headline_table(results: Mapping[str, Result]) -> str:
    """The paper's problems: minutes and examples are of all runs behind a model."""
    lines = [
        "| problem | model | examples | minutes | accuracy | the paper's accuracy |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, problem in PROBLEMS.items():
        if name in results:
            result = results[name]
            lines.append(
                f"| {problem.title} | [{name}](results/{name}.json) | {millions(result.all_examples)} "
                f"| {result.all_seconds / 60:.0f} | {_ours(result, problem)} | {problem.papers} |"
            )
    return "\n".join(lines)


def records_table(results: Mapping[str, Result]) -> str:
    lines = [
        "| problem | model | examples | FLOPs | minutes | accuracy at 5 / 2 / 1 / 0.5 % | bar "
        "| the paper's | from | as good as the paper after |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, result in in_order(results).items():
        data, problem = result.config.data, PROBLEMS.get(name)
        size = f"{data.dim}x{data.dim}" if data.dim.isdigit() else data.dim
        title = problem.title if problem else quoted(f"{data.task.replace('_', ' ')} {size}")
        bar, papers, examples = (problem.bar, problem.papers, problem.examples) if problem else ("", "", "")
        lines.append(
            f"| {title} | [{name}](../results/{name}.json) | {_examples(result)} | {result.all_flops:.1e} "
            f"| {result.all_seconds / 60:.1f} | {_ours(result, problem)} | {bar} | {papers} | {examples} "
            f"| {_reached(result, problem)} |"
        )
    return "\n".join(lines)


def _ours(result: Result, problem: Problem | None) -> str:
    shares = result.report.accuracy["l1"]
    if problem and problem.is_exact:
        return f"{percent(shares['0.0'])} exact"
    return " / ".join(percent(shares[t]) for t in TOLERANCES)


def _examples(result: Result) -> str:
    total = millions(result.all_examples)
    return (
        f"{total}, of them {millions(result.origin.examples)} for {quoted(result.origin.model)}"
        if result.origin
        else total
    )


def millions(examples: int) -> str:
    return f"{examples / 1e6:.2f} M"


def _reached(result: Result, problem: Problem | None) -> str:
    """Examples, FLOPs and minutes after which the validation split was solved as well as the paper's test set."""
    if problem is None or not result.curve or problem.is_exact:  # the curve has no exact copies
        return ""
    for point in result.curve:
        shares = [100 * point.accuracy["l1"][t] for t in TOLERANCES]
        if all(share >= wanted for share, wanted in zip(shares, problem.accuracy(), strict=True)):
            left = 1 - point.examples / result.examples
            flops = result.all_flops - left * result.flops_per_example * result.examples
            minutes = (result.all_seconds - left * result.seconds) / 60
            examples = result.all_examples - result.examples + point.examples
            return f"{millions(examples)}, {flops:.1e} FLOPs, {minutes:.0f} minutes"
    return "not reached"


def learning_curves(results: Mapping[str, Result]) -> bytes:
    """A small panel for each model, as one SVG: accuracy on the validation split against examples."""
    panels = {
        name: {
            f"at {100 * float(t):g} %": [(p.examples, p.accuracy["l1"][t]) for p in result.curve] for t in TOLERANCES
        }
        for name, result in in_order(results).items()
        if result.curve
    }
    return _draw(panels, "Blues_r", columns=4)


def sizes_along_training(results: Mapping[str, Result]) -> bytes | None:
    """A panel for each model of several sizes: accuracy at 1 % tolerance of each square size on the validation split,
    against examples. None if no curve has sizes."""
    panels = {}
    for name, result in results.items():
        sizes = {size for point in result.curve for size in point.by_dimension}
        square = sorted(int(size.split("x")[0]) for size in sizes if len(set(size.split("x"))) == 1)
        lines = {f"{n}x{n}": [p for p in result.curve if f"{n}x{n}" in p.by_dimension] for n in square}
        if lines:
            before = f", after {result.origin.examples / 1e6:.2f} M examples" if result.origin else ""
            panels[name + before] = {
                size: [(p.examples, p.by_dimension[size]["0.01"]) for p in points] for size, points in lines.items()
            }
    return _draw(panels, "viridis", columns=2) if panels else None


def _draw(panels: Mapping[str, Mapping[str, list[tuple[int, float]]]], colors: str, columns: int) -> bytes:
    """As one SVG: a panel for each name, a line for each label, of examples and shares."""
    import matplotlib

    from learnalg.evaluation import figures
    from learnalg.reproduction.report.drawing import STYLE

    columns = min(columns, len(panels))
    with matplotlib.rc_context(STYLE | {"font.size": 8}):
        figure, axes = figures.panels(len(panels), columns, 11 / 4 if columns > 2 else 4.5, 2.3 if columns > 2 else 3.0)
        for axis, (name, lines) in zip(axes, panels.items(), strict=True):
            for k, (label, points) in enumerate(lines.items()):
                color = matplotlib.colormaps[colors](0.05 + 0.9 * k / max(len(lines), 2))
                examples, shares = [e / 1000 for e, _ in points], [100 * share for _, share in points]
                axis.plot(examples, shares, color=color, marker=".", ms=3, lw=1.2, label=label)
            axis.set_title(name, fontsize=9, loc="left")
            axis.set_ylim(-3, 103)
            axis.set_xlim(left=0)
        for axis in axes[::columns]:
            axis.set_ylabel("accuracy, %")
        for axis in axes[-columns:]:
            axis.set_xlabel("thousand examples")
        axes[0].legend(fontsize=7, loc="best")
        return figures.as_svg(figure)
