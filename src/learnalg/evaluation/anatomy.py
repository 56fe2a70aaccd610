"""A failure anatomy for people: tables in the terminal, and a short text. Numbers to compare with, such as the
paper's, stand beside ours if the anatomy has them under "paper".

Both are made of the same grids, and those of `analysis.json` alone:

    >>> [grid.title for grid in grids(found)]
    ['Accuracy by tolerance, in %', 'What predicts failure', ...]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from learnalg.evaluation.figures import draw_figures, predictors_of
from learnalg.evaluation.measurements import Examples
from learnalg.evaluation.result import describe_matrices, percent, quoted
from learnalg.files import write_json, write_whole

SHORT = {  # so that the table fits into 80 columns
    "condition": "condition number",
    "gap": "spectrum gap",
    "norm": "norm of solution",
    "size": "size",
    "condition_of_h": "condition of H",
}


@dataclass(frozen=True)
class Grid:
    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    is_detail: bool = False  # for the text, not for the terminal


def number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}g}"


def grids(found: dict[str, Any]) -> list[Grid]:
    """All tables of one task, those first that say most."""
    made = [_accuracy(found), _predictors(found)]
    condition = _condition(found)
    if condition["best"] is not None or condition["paper"]:
        made.append(_thresholds(condition))
    if "vectors" in found:
        made.append(_vectors(found))
    made += [_bins(p) for name, p in predictors_of(found).items() if name.startswith("condition")]
    if len(found["by_dimension"]) > 1:
        made.append(_dimensions(found))
    return made


def _condition(found: dict[str, Any]) -> dict[str, Any]:
    """The paper's predictor: the condition number of H for eigenvectors, of the input otherwise."""
    condition: dict[str, Any] = (
        found["vectors"]["condition_of_h"] if "vectors" in found else found["drivers"]["condition"]
    )
    return condition


def _accuracy(found: dict[str, Any]) -> Grid:
    tolerances = list(found["accuracy"])
    paper, vectors = found.get("paper", {}), found.get("vectors", {})
    shares = {
        "right": ("accuracy", found["accuracy"]),
        "near the solution": ("distance_accuracy", found["distance_accuracy"]),
        "weak: H D H^T": ("weak_accuracy", vectors.get("weak_accuracy")),
        "eigenvalues alone": ("eigenvalue_accuracy", vectors.get("eigenvalue_accuracy")),
    }
    rows = []
    for label, (key, ours) in shares.items():
        if ours:
            rows.append((label, *(percent(ours[t]) for t in tolerances)))
            if key in paper:
                rows.append(("  the paper", *(percent(paper[key].get(t)) for t in tolerances)))
    header = ("tolerance", *(f"{100 * float(t):g} %" for t in tolerances))
    return Grid("Accuracy by tolerance, in %", header, rows)


def _predictors(found: dict[str, Any]) -> Grid:
    rows = []
    for name, predictor in predictors_of(found).items():
        best = predictor["best"] or {}
        fails_if = f"{'>' if predictor['side'] == 'large' else '<'} {best['threshold']:.5g}" if best else "-"
        shares = (percent(best.get(key)) for key in ("share_of_failures_caught", "share_of_right_let_through"))
        rows.append((SHORT[name], number(predictor["spearman"], 2), number(predictor["auc"]), fails_if, *shares))
    return Grid("What predicts failure", ("", "Spearman", "AUC", "fails if", "caught %", "let through %"), rows)


def _thresholds(condition: dict[str, Any]) -> Grid:
    marks = [("ours", condition["best"])] if condition["best"] is not None else []
    marks += [("paper's", mark) for mark in condition["paper"]]
    counts = ("failures_caught", "failures_missed", "false_alarms", "right_let_through")
    rows = [
        (
            f"{who}, {mark['threshold']:.5g}",
            *(f"{mark[key]:,}" for key in counts),
            percent(mark["share_predicted_rightly"]),
        )
        for who, mark in marks
    ]
    header = ("threshold", "caught", "missed", "false alarms", "let through", "rightly %")
    return Grid(f"Failure predicted by the {condition['what']}", header, rows)


def _vectors(found: dict[str, Any]) -> Grid:
    vectors, paper, rows = found["vectors"], found.get("paper", {}), []
    for name, what, words, key in (
        ("norms", "norm", "all norms within {} of 1, %", "norms_within"),
        ("dots", "dot product", "all dot products below {}, %", "dots_below"),
    ):
        groups = [vectors[name][group] for group in ("all", "failures")]
        for statistic, label in (("mean", "mean"), ("sd", "standard deviation")):
            rows.append((f"{what}, {label}", *(number(group[statistic], 4) for group in groups), "-"))
        for limit in groups[0]["share"]:
            said = percent(paper.get(key, {}).get(limit))
            rows.append((words.format(limit), *(percent(group["share"][limit]) for group in groups), said))
    return Grid(
        "Columns of the predicted H",
        ("", "all", "failures", "the paper, all"),
        rows,
    )


def _bins(predictor: dict[str, Any]) -> Grid:
    rows = [(f"{number(part['low'], 5)} to {number(part['high'], 5)}", *_summary(part)) for part in predictor["bins"]]
    return Grid(f"By {predictor['what']}", ("", *SUMMARY), rows, is_detail=True)


def _dimensions(found: dict[str, Any]) -> Grid:
    rows = [(size, *_summary(part)) for size, part in found["by_dimension"].items()]
    return Grid("By dimension", ("", *SUMMARY), rows)


SUMMARY = ("examples", "accuracy, %", "95 %", "median error, %")


def _summary(part: dict[str, Any]) -> tuple[str, ...]:
    low, high = part["interval"]
    error = "-" if part["median_error"] is None else f"{100 * part['median_error']:.3g}"
    return f"{part['num']:,}", percent(part["accuracy"]), f"{percent(low)} to {percent(high)}", error


def sentences(found: dict[str, Any], analysis: dict[str, Any]) -> list[str]:
    """What a table cannot say."""
    num, failures = found["num"], found["failures"]
    said = [
        f"{failures:,} of {num:,} predictions fail: "
        f"their relative error (L1) is {100 * analysis['tolerance']:g} % or more."
    ]
    if found["without_matrix"]:
        reasons = [f"{reason}: {count:,}" for reason, count in found["malformed"].items()]
        other = found["without_matrix"] - sum(found["malformed"].values())
        reasons += [f"another shape or task: {other:,}"] if other else []
        said.append(
            f"{found['without_matrix']:,} of them are no matrix of the right shape ({', '.join(reasons)}) "
            "and are left out wherever a matrix is measured."
        )
    encoding = analysis["data"]["output_encoding"]
    said.append(
        f"The solution itself, rounded as {encoding} writes it, would fail on {found['rounded_solution_fails']:,}; "
        f"{found['failures_by_rounding']:,} of the failures are among these."
    )
    condition, paper = _condition(found), found.get("paper", {})
    if condition["no_roc"]:
        said.append(f"There is no ROC: {condition['no_roc']}.")
    elif condition["right_98_below"] is not None and condition["failures_98_above"] is not None:
        limits = []
        for words, key in (("right are at or below", "right_98_below"), ("failures at or above", "failures_98_above")):
            beside = f" (the paper: {paper[key]:g})" if key in paper else ""
            limits.append(f"98 % of the {words} {condition[key]:.5g}{beside}")
        said.append(f"By the {condition['what']}: {', '.join(limits)}.")
    if paper:
        said.append(f"The paper's numbers: {paper['measured_on']}.")
    return said


def title_of(analysis: dict[str, Any]) -> str:
    matrices = describe_matrices(analysis["data"])
    return f"{analysis['model']}: {matrices}, {analysis['num']:,} examples, seed {analysis['seed']}"


def save_analysis(folder: Path, analysis: dict[str, Any], parts: list[Examples]) -> None:
    """Figures, analysis.md and, last, analysis.json: where it is, all are."""
    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[str, bytes] = {}
    for examples in parts:
        figures |= draw_figures(examples, analysis["tasks"][examples.task], analysis["tolerance"])
    for name, content in figures.items():
        write_whole(folder / name, content)
    write_whole(folder / "analysis.md", markdown(analysis, figures).encode())
    write_json(folder / "analysis.json", analysis)


def markdown(analysis: dict[str, Any], figures: Iterable[str] = ()) -> str:
    """The text, with the figures of those names beside it."""
    lines = ["# Failure anatomy", "", f"{quoted(title_of(analysis))}.", ""]
    for task, found in analysis["tasks"].items():
        lines += [f"## {task}", "", " ".join(sentences(found, analysis)), ""]
        for grid in grids(found):
            lines += [f"### {grid.title}", "", *_markdown_table(grid), ""]
        lines += [f"![{name.removesuffix('.svg')}]({name})\n" for name in figures if name.startswith(f"{task}-")]
    lines += [
        "Thresholds are those that catch the largest share of failures beyond their share of false alarms, on these "
        f"same examples. Commit {analysis['provenance']['commit'] or 'unknown'}, {analysis['provenance']['time']}.",
    ]
    return "\n".join(lines) + "\n"


def _markdown_table(grid: Grid) -> list[str]:
    lines = (grid.header, ("---", *["---:"] * (len(grid.header) - 1)), *grid.rows)
    return ["| " + " | ".join(line) + " |" for line in lines]


def print_analysis(analysis: dict[str, Any]) -> None:
    console = Console(highlight=False)
    print(title_of(analysis))
    for task, found in analysis["tasks"].items():
        print(f"\n{task}", *sentences(found, analysis), sep="\n")
        for grid in grids(found):
            if not grid.is_detail:
                table = Table(title=grid.title, title_justify="left", title_style="")
                for k, name in enumerate(grid.header):
                    table.add_column(name, justify="right" if k else "left")
                for row in grid.rows:
                    table.add_row(*row)
                console.print(table)
