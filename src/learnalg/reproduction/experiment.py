"""What an experiment is: the runs behind a table or figure, and where in it each number stands.

    Experiment("table-6", "Eigenvalues", cells=cells)

An experiment knows configs only; `learnalg.reproduction.runner` trains, tests and writes results. Scales: `paper` has
the paper's models, sizes and budgets; `laptop` has our networks and what two cores can do; `smoke` is made from `paper`
by making everything tiny, and shows that the whole way works.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from learnalg.config import RunConfig, replace_fields
from learnalg.naming import split_name

SCALES = ("smoke", "laptop", "paper")
PAPER_NUMBERS = Path(__file__).with_name("paper.toml")
FINDINGS = Path(__file__).with_name("findings.toml")


@dataclass(frozen=True)
class Shown:
    """Where a measured number stands. With the paper's table behind it, row and column count from 0 in its rows and
    columns as paper.toml has them; without, they are names."""

    row: int | str
    column: int | str
    measure: str  # what of the cell's result, see table.py: 'report/accuracy/l1/0.05', 'reached/0.05/0.99', 'seconds'
    factor: float = 100.0  # shares are shown in percent
    digits: int = 1  # after the point


@dataclass(frozen=True)
class Cell:
    """One run, or one released model, and what it is tested on besides its own test set."""

    key: str  # names its file: letters, digits, hyphens, dots
    config: RunConfig
    shows: tuple[Shown, ...]
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)  # name -> changes of the data's fields
    tolerances: tuple[float, ...] = ()  # of these tests, besides the usual ones
    home: str = ""  # the experiment that has this cell too, and keeps its run and result: it is run once
    init: str = ""  # key of the cell whose weights it starts from; a released model stands in the config
    released: str = ""  # the released model that is this cell: nothing is trained
    note: str = ""  # what a reader must know, such as a budget below the paper's

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", self.key):
            raise ValueError(f"cell {self.key!r}: a key has small letters, digits, hyphens and dots")


@dataclass(frozen=True)
class Experiment:
    name: str  # 'table-6'
    title: str
    cells: Callable[[str], list[Cell]] | None = None  # by scale: 'laptop' or 'paper'
    computed: str = ""  # for what needs no training: the name of a function of learnalg.reproduction.computed
    has_paper: bool = True  # the paper's table of this name is shown beside
    note: str = ""  # below the table: where ours must differ from the paper's
    figure: str = ""  # what draws it: the name of a function of learnalg.reproduction.report.drawing

    def cells_at(self, scale: str) -> list[Cell]:
        if scale not in SCALES:
            raise ValueError(f"unknown scale {scale!r}; known: {', '.join(SCALES)}")
        if self.cells is None:
            return []
        if scale != "smoke":
            return self.cells(scale)
        whole = self.cells("paper")
        chosen = whole if len(whole) <= 2 else [whole[0], whole[-1]]
        origins = [cell for cell in whole if cell.key in {c.init for c in chosen} and cell not in chosen]
        return [tiny(cell) for cell in (*origins, *chosen)]


def tiny(cell: Cell) -> Cell:
    """The same cell with a network, matrices and a budget that take a second."""
    data, model, mix = cell.config.data, cell.config.model, cell.config.mix
    small_dim = re.sub(r"\d+", lambda digits: str(min(int(digits[0]), 2)), data.dim)
    name, options = split_name(model.architecture)
    options = {option: "8" if option == "embedding_dim" else value for option, value in options.items()}
    config = replace_fields(
        cell.config,
        dim=small_dim,
        architecture=":".join(filter(None, (name, ",".join(f"{k}={v}" for k, v in options.items())))),
        encoder_layers=min(model.encoder_layers, 2),
        decoder_layers=min(model.decoder_layers, 2),
        dim_model=tuple(min(dim, 16) for dim in model.dim_model),
        heads=model.heads if "embedding_dim" in options else (2,) * len(model.heads),  # a recurrent network has none
        encoder_loops=min(model.encoder_loops, 2),
        decoder_loops=min(model.decoder_loops, 2),
        max_positions=64,
        warmup_steps=min(cell.config.optim.warmup_steps, 2),
        examples=4 * 8,
        batch_size=8,
        eval_every=4 * 8,
        eval_num=8,
        final_num=20,
        mix_dim="1" if mix.mix_dim else "",
        precision="fp32",  # 'auto' would measure first
    )
    tests = {
        name: {k: small_dim if k == "dim" else value for k, value in changes.items()}
        for name, changes in cell.tests.items()
    }
    return replace(cell, config=config, tests=tests, released="")


@cache
def findings() -> dict[str, dict[str, str]]:
    """What each table shows: `paper`, and, where something is measured, `ours`."""
    return tomllib.loads(FINDINGS.read_text())


@cache
def paper_numbers() -> dict[str, Any]:
    return tomllib.loads(PAPER_NUMBERS.read_text())


def paper_table(name: str) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of a table as the paper has it; of what it says in its text, a line for each number."""
    table = paper_numbers()[name]
    if "rows" in table:
        return table["columns"], table["rows"]
    return ["", "paper"], [[text_label(key), value] for key, value in table.items() if key != "title"]


def text_label(key: str) -> str:
    """'accuracy_at_0_5' of the numbers in the paper's text is 'accuracy at 0.5 %'."""
    words = re.sub(r"_0_(\d)", r" 0.\1", key).replace("_", " ")
    is_percent = "_at_" in key or key.startswith("unit_norms")
    return f"{words} %" if is_percent else words
