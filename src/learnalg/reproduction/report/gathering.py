"""What the report says, before it is written as HTML or Markdown: each table and figure with our numbers beside the
paper's, the runs behind them, and the kept models.

    >>> document = gather(RECIPES, "laptop", Path("."))
    >>> document.sections[5].runs["p1000-5-4-1"].commit
    'cda0c4be1f'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from learnalg.config import from_dict
from learnalg.training.flops import counted_flops
from learnalg.reproduction.tables import SCALES, Recipe, paper_numbers
from learnalg.reproduction.report.comparing import HIGHER, NEITHER, Comparison, compare, direction_of
from learnalg.reproduction.report.speedrun import PROBLEMS, TOLERANCES, load_results
from learnalg.reproduction.runner import load_computed, load_result
from learnalg.training.run import all_examples
from learnalg.reproduction.table import Number, Table, table_of

PARAMETERS = ("Tolerance %", "Error (sigma)")  # columns of numbers that name a row, and are no result
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
    figures: list[Path]
    is_recipe: bool = True

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
    def num_planned(self) -> int:
        return sum(number.is_planned for _, _, number in self.places())

    @property
    def num_ours(self) -> int:
        return sum(has_ours(number) for _, _, number in self.places())

    def num_marked(self, *marks: str) -> int:
        return sum(comparison.mark in marks for comparison in self.comparisons.values())

    def notes(self) -> dict[str, str]:
        """Notes of the numbers that we have -> their letters."""
        texts = dict.fromkeys(number.note for _, _, number in self.places() if number.note and has_ours(number))
        return {text: letter(k) for k, text in enumerate(texts)}


@dataclass(frozen=True)
class KeptModel:
    name: str
    problem: str
    layers: str
    parameters: str
    accuracy: tuple[str, ...]  # within 5, 2, 1 and 0.5 %
    paper: str
    measured: Measured


@dataclass(frozen=True)
class Document:
    scale: str
    sections: list[Section]
    kept: list[KeptModel]
    figures: list[Path] = field(default_factory=list)  # that belong to no section

    @property
    def newest(self) -> str:
        """The day of the newest result."""
        runs = [run for section in self.sections for run in section.runs.values()]
        return max((run.time for run in (*runs, *(model.measured for model in self.kept))), default="")[:10]


def gather(recipes: Mapping[str, Recipe], scale: str, root: Path) -> Document:
    """Tables of the paper that no recipe makes come with the paper's numbers alone."""
    paper_tables = [name for name, table in paper_numbers().items() if "rows" in table]
    names = list(dict.fromkeys((*paper_tables, *recipes)))
    sections = [_section(recipes[n], scale, root) if n in recipes else _paper_section(n) for n in names]
    return Document(scale, sections, kept_models(root / "results"), _other_figures(sections, scale, root / "results"))


def _other_figures(sections: list[Section], scale: str, folder: Path) -> list[Path]:
    """Those of analyses, which belong to no table, and to no other scale."""
    shown = {path for section in sections for path in section.figures}
    others = set(SCALES) - {scale}
    found = (path for path in folder.rglob("*.svg") if path not in shown)
    return sorted(path for path in found if not others & set(path.relative_to(folder).parts))


def _section(recipe: Recipe, scale: str, root: Path) -> Section:
    try:
        table = table_of(recipe, scale, root)
    except ValueError as error:
        raise ValueError(f"results of {recipe.name} at scale {scale}: {error}") from None
    directions: dict[tuple[int, int], int] = {}
    runs, missing = {}, {}
    for cell in recipe.cells_at(scale):
        result = load_result(recipe, scale, cell, root)
        if result is None:
            missing[cell.key] = cell.note
        else:
            runs[cell.key] = measured(result, cell.note)
        for shown in cell.shows:
            directions[place_of(table, shown.row, shown.column)] = direction_of(shown.measure)
    if recipe.computed:
        computed = load_computed(recipe, scale, root)
        if computed is None:
            missing[recipe.name] = "computed, needs no training"
        else:
            runs[recipe.name] = measured(computed, "computed, needs no training")
            for r, row in enumerate(computed["rows"]):
                directions |= {(r, c): HIGHER for c, place in enumerate(row) if place.get("is_share")}
    comparisons = {
        (r, c): compare(number, directions.get((r, c), NEITHER))
        for r, row in enumerate(table.rows)
        for c, number in enumerate(row)
        if has_ours(number)
    }
    title = paper_numbers().get(recipe.name, {}).get("title", recipe.title) if recipe.has_paper else recipe.title
    figures = sorted((root / "results" / recipe.name / scale).glob("*.svg"))
    return Section(table, title, num_labels(table), comparisons, runs, missing, figures)


def _paper_section(name: str) -> Section:
    paper = paper_numbers()[name]
    rows = [[Number(paper=value) for value in row] for row in paper["rows"]]
    table = Table(name, paper["title"], paper["columns"], rows)
    return Section(table, paper["title"], num_labels(table), {}, {}, {}, [], is_recipe=False)


def place_of(table: Table, row: int | str, column: int | str) -> tuple[int, int]:
    """Row and column by number, of what a recipe names."""
    r = row if isinstance(row, int) else [labels[0].paper for labels in table.rows].index(row)
    return r, column if isinstance(column, int) else table.columns.index(column)


def num_labels(table: Table) -> int:
    """The first column names the rows; so do those after it that have words only, or parameters."""
    columns = list(zip(*table.rows, strict=True))
    for c, column in enumerate(columns[1:], start=1):
        is_words = all(isinstance(n.paper, str) and n.paper != "-" for n in column) and any(n.paper for n in column)
        if any(n.is_planned for n in column) or not (is_words or table.columns[c] in PARAMETERS):
            return c
    return len(columns)


def has_ours(number: Number) -> bool:
    return bool(number.ours or number.words)


def letter(index: int) -> str:
    """a .. z, aa, ab, .."""
    return (letter(index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)


def measured(result: dict[str, Any], note: str = "") -> Measured:
    made = result.get("provenance", {})
    tested = result.get("tested", {}).get("commit", "")
    machine = made.get("machine", {})
    where = [machine.get("cpu", ""), f"{machine['cores']} cores" if "cores" in machine else "", made.get("device", "")]
    return Measured(
        commit=short(made.get("commit", "")) + (f", tested at {short(tested)}" if tested else ""),
        seed=str(result.get("seed", "")),
        machine=", ".join(filter(None, where)),
        minutes=f"{result['seconds'] / 60:.1f}" if "seconds" in result else "",
        examples=_examples(result) if "examples" in result else "",
        flops=f"{_flops(result):.1e}" if "examples" in result else "",
        tested=f"{result['report']['num']:,}" if "report" in result else "",
        command=made.get("command", ""),
        note=note,
        time=made.get("time", ""),
    )


def short(commit: str) -> str:
    digits = commit.removesuffix("+")
    return digits[:COMMIT_DIGITS] + commit[len(digits) :]


def _examples(result: dict[str, Any]) -> str:
    origin = result.get("origin")
    of_them = f", of them {origin['examples']:,} for {origin['model']}" if origin else ""
    return f"{all_examples(result):,}{of_them}"


def _flops(result: dict[str, Any]) -> float:
    each = result.get("flops_per_example") or counted_flops(from_dict(result["config"]))
    return float(each) * float(result["examples"])


def kept_models(folder: Path) -> list[KeptModel]:
    found = []
    for name, result in load_results(folder).items():
        model, data, problem = result["config"]["model"], result["config"]["data"], PROBLEMS.get(name)
        shares = result["report"]["accuracy"]["l1"]
        is_exact = problem is not None and problem.table == "table-2"
        papers = " / ".join(f"{share:g}" for share in problem.accuracy()) if problem else ""
        found.append(
            KeptModel(
                name,
                problem.title if problem else f"{data['task'].replace('_', ' ')} {data['dim']}",
                f"{model['encoder_layers']}/{model['decoder_layers']}, {model['dim_model']} dimensions",
                f"{result['parameters']:,}",
                tuple(f"{100 * shares[tolerance]:.1f}" for tolerance in TOLERANCES),
                f"{papers} exact ({100 * shares['0.0']:.2f} ours)" if is_exact else papers,
                measured(result),
            )
        )
    return found
