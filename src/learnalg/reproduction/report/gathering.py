"""What the report says, before it is written as HTML or Markdown: each table and figure with our numbers beside the
paper's, the runs behind them, and the released models.

    >>> document = gather(EXPERIMENTS, "laptop", Path("."))
    >>> document.sections[5].runs["p1000-5-4-1"].commit
    'cda0c4be1f'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from learnalg.evaluation.result import Result, percent
from learnalg.reproduction.experiment import Cell, Experiment, findings, paper_numbers, paper_table
from learnalg.reproduction.report.comparing import HIGHER, NEITHER, Comparison, compare, direction_of
from learnalg.reproduction.report.drawing import draw
from learnalg.reproduction.report.records import PROBLEMS, TOLERANCES, in_order, learning_curves
from learnalg.reproduction.results import has_results, load_computed, load_result, released_results
from learnalg.reproduction.table import Number, Table, counts, note_of, num_labels, table_of
from learnalg.zoo.cards import describe_network

COMMIT_DIGITS = 10


@dataclass(frozen=True)
class Measured:
    """How one run was made. '' where the result does not say."""

    commit: str = ""  # ends with '+' if the sources had changes
    seed: str = ""
    machine: str = ""
    minutes: str = ""
    examples: str = ""
    flops: str = ""
    tested: str = ""  # examples of the test set
    command: str = ""
    note: str = ""
    time: str = ""


@dataclass(frozen=True)
class Section:
    """A table or figure."""

    table: Table
    title: str
    num_labels: int  # columns that name the rows
    comparisons: dict[tuple[int, int], Comparison]  # by row and column, of all numbers that we have
    runs: dict[str, Measured]
    missing: dict[str, str]  # keys of runs that are planned and not run -> their notes
    figure: bytes | None = None  # SVG
    is_experiment: bool = True

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def heading(self) -> str:
        """'Table 6' of 'table-6', and names that are no table or figure as they are."""
        kind, _, number = self.name.partition("-")
        return f"{kind.capitalize()} {number}" if number.isdigit() else self.name.capitalize()

    def places(self) -> Iterable[tuple[int, int, Number]]:
        """All that is no label, with row and column."""
        for r, row in enumerate(self.table.rows):
            for c, number in enumerate(row[self.num_labels :], start=self.num_labels):
                yield r, c, number

    @property
    def counts(self) -> tuple[int, int]:
        """Measured, of the paper's numbers."""
        return counts(self.table)

    @property
    def finding(self) -> str:
        """One sentence of the paper's, one of ours; without the latter where nothing is measured at this scale."""
        said = findings().get(self.name, {})
        return " ".join(filter(None, (said.get("paper", ""), said.get("ours", "") if self.comparisons else "")))

    def num_marked(self, *marks: str) -> int:
        return sum(comparison.mark in marks for comparison in self.comparisons.values())

    def notes(self) -> dict[str, str]:
        """Notes of the numbers that we have -> their letters."""
        texts = dict.fromkeys(number.note for _, _, number in self.places() if number.note and number.is_ours)
        return {text: letter(k) for k, text in enumerate(texts)}


@dataclass(frozen=True)
class ReleasedModel:
    name: str
    problem: str
    network: str
    parameters: str
    accuracy: tuple[str, ...]  # at 5, 2, 1 and 0.5 % tolerance
    paper: str
    measured: Measured


@dataclass(frozen=True)
class PaperRun:
    """A run of the paper's own network, and its learning curve on the validation split."""

    name: str  # of its table and cell
    title: str  # of its table
    said: str  # network, optimiser, what it cost
    points: tuple[tuple[str, str, str], ...]  # examples, accuracy at 5 % tolerance, exact; of the test split at the end
    papers: str  # after how many examples the paper's was there


@dataclass(frozen=True)
class Document:
    scale: str
    sections: list[Section]
    released: list[ReleasedModel]
    paper_runs: list[PaperRun]
    figures: list[Path]  # of analyses
    curves: bytes | None = None  # SVG of the released models' learning curves

    @property
    def newest(self) -> str:
        """The day of the newest result."""
        runs = [run for section in self.sections for run in section.runs.values()]
        return max((run.time for run in (*runs, *(model.measured for model in self.released))), default="")[:10]


def gather(experiments: Mapping[str, Experiment], scale: str, root: Path) -> Document:
    """Tables of the paper that no experiment makes come with the paper's numbers alone."""
    paper_tables = [name for name, table in paper_numbers().items() if "rows" in table]
    names = list(dict.fromkeys((*paper_tables, *experiments)))
    sections = [section_of(experiments[n], scale, root) if n in experiments else _paper_section(n) for n in names]
    results = released_results(root)
    has_curves = any(result.curve for result in results.values())
    return Document(
        scale,
        sections,
        released_models(results),
        paper_runs(experiments, root),
        sorted((root / "results" / "analyses").rglob("*.svg")),
        learning_curves(results) if has_curves else None,
    )


def section_of(experiment: Experiment, scale: str, root: Path) -> Section:
    try:
        table = table_of(experiment, scale, root)
    except ValueError as error:
        raise ValueError(f"results of {experiment.name} at scale {scale}: {error}") from None
    directions: dict[tuple[int, int], int] = {}
    runs, missing = {}, {}
    for cell in experiment.cells_at(scale):
        result = load_result(experiment, scale, cell, root)
        if result is None:
            missing[cell.key] = cell.note
        else:
            runs[cell.key] = measured(result, note_of(cell, result))
        for shown in cell.shows:
            directions[place_in(table, shown.row, shown.column)] = direction_of(shown.measure)
    if experiment.computed:
        computed = load_computed(experiment, scale, root)
        if computed is None:
            missing[experiment.name] = "computed, needs no training"
        else:
            runs[experiment.name] = measured_by(computed["provenance"], note="computed, needs no training")
            for r, row in enumerate(computed["rows"]):
                directions |= {(r, c): HIGHER for c, place in enumerate(row) if place.get("is_share")}
    comparisons = {
        (r, c): compare(number, directions.get((r, c), NEITHER))
        for r, row in enumerate(table.rows)
        for c, number in enumerate(row)
        if number.is_ours
    }
    papers = paper_numbers().get(experiment.name, {}) if experiment.has_paper else {}
    title = papers.get("title", experiment.title)
    figure = draw(experiment, scale, root) if experiment.figure else None
    return Section(table, title, num_labels(table), comparisons, runs, missing, figure)


def _paper_section(name: str) -> Section:
    paper = paper_numbers()[name]
    rows = [[Number(paper=value) for value in row] for row in paper["rows"]]
    table = Table(name, paper["title"], paper["columns"], rows)
    return Section(table, paper["title"], num_labels(table), {}, {}, {}, is_experiment=False)


def place_in(table: Table, row: int | str, column: int | str) -> tuple[int, int]:
    """Row and column by number, of what an experiment names."""
    r = row if isinstance(row, int) else [labels[0].paper for labels in table.rows].index(row)
    return r, column if isinstance(column, int) else table.columns.index(column)


def letter(index: int) -> str:
    """a .. z, aa, ab, .."""
    return (letter(index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)


def measured(result: Result, note: str = "") -> Measured:
    of_them = f", of them {result.origin.examples:,} for {result.origin.model}" if result.origin else ""
    made = measured_by(result.provenance, note)
    return replace(
        made,
        seed=str(result.config.train.seed),
        minutes=f"{result.all_seconds / 60:.1f}",
        examples=f"{result.all_examples:,}{of_them}",
        flops=f"{result.all_flops:.1e}",
        tested=f"{result.report.num:,}",
    )


def measured_by(provenance: dict[str, Any], note: str = "") -> Measured:
    tested = provenance.get("tested", {}).get("commit", "")
    machine = provenance.get("machine", {})
    cores = f"{machine['cores']} cores" if "cores" in machine else ""
    return Measured(
        commit=short(provenance.get("commit", "")) + (f", tested at {short(tested)}" if tested else ""),
        machine=", ".join(filter(None, (machine.get("cpu", ""), cores, provenance.get("device", "")))),
        command=provenance.get("command", ""),
        note=note,
        time=provenance.get("time", ""),
    )


def short(commit: str) -> str:
    digits = commit.removesuffix("+")
    return digits[:COMMIT_DIGITS] + commit[len(digits) :]


def paper_runs(experiments: Mapping[str, Experiment], root: Path) -> list[PaperRun]:
    """Each once, in the table that keeps it."""
    found = []
    for experiment in experiments.values():
        if not experiment.has_paper or not has_results(experiment, "paper", root):
            continue
        for cell in experiment.cells_at("paper"):
            result = None if cell.home else load_result(experiment, "paper", cell, root)
            if result is not None:
                found.append(_paper_run(experiment, cell, result))
    return found


def _paper_run(experiment: Experiment, cell: Cell, result: Result) -> PaperRun:
    def shares(accuracy: Mapping[str, float]) -> tuple[str, str]:
        at_5, exact = accuracy["0.05"], accuracy.get("0.0")
        return percent(at_5), "" if exact is None else percent(exact)

    points = [(f"{point.examples:,}", *shares(point.accuracy["l1"])) for point in result.curve]
    points.append((f"test split, {result.report.num:,}", *shares(result.report.accuracy["l1"])))
    made, train, optim = measured(result), result.config.train, result.config.optim
    said = [describe_network(result.config.model), optim.optimizer, f"batches of {train.batch_size}", train.precision]
    said += [f"seed {train.seed}", f"{made.examples} examples", f"{made.flops} FLOPs"]
    said += [f"{made.minutes} minutes on {made.machine}"]
    rows = paper_table(experiment.name)[1]
    needed = [
        round(rows[shown.row][shown.column] / shown.factor)
        for shown in cell.shows
        if shown.measure.startswith("reached/") and isinstance(shown.row, int) and isinstance(shown.column, int)
    ]
    papers = f"The paper's needed {needed[0]:,} examples." if needed else "The paper does not say how many it needed."
    return PaperRun(
        f"{experiment.name}, {cell.key}", experiment.title, f"{', '.join(said)}. {result.note}", tuple(points), papers
    )


def released_models(results: Mapping[str, Result]) -> list[ReleasedModel]:
    found = []
    for name, result in in_order(results).items():
        problem = PROBLEMS.get(name)
        shares = result.report.accuracy["l1"]
        papers = problem.papers if problem else ""
        found.append(
            ReleasedModel(
                name,
                problem.title if problem else f"{result.config.data.task.replace('_', ' ')} {result.config.data.dim}",
                describe_network(result.config.model),
                f"{result.parameters:,}",
                tuple(percent(shares[tolerance]) for tolerance in TOLERANCES),
                f"{papers} ({100 * shares['0.0']:.2f} ours)" if problem and problem.is_exact else papers,
                measured(result),
            )
        )
    return found
