"""Tables and figures of the paper, and our own."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from learnalg.cli.flags import Names, parse
from learnalg.cli.plugins import load_plugins

if TYPE_CHECKING:
    from learnalg.reproduction.tables import Recipe


@dataclass(frozen=True)
class Reproduce:
    """Run what a table or figure shows, and set the result beside the paper's. What was run already is not run again,
    what was stopped goes on. Results are kept in results/NAME/SCALE of the current folder."""

    names: Names = ()  # such as table-6; `--list` shows all
    scale: Literal["smoke", "laptop", "paper"] = "laptop"  # seconds; two cores; the paper's own models and budgets
    cells: tuple[str, ...] = ()  # only cells whose name is, or contains, one of these
    list: bool = False  # show each recipe: cells done, best result, the paper's, time left
    dry_run: bool = False  # print the plan, run nothing
    show: bool = False  # print the tables as they are, run nothing
    quiet: bool = False  # no progress


def run(arguments: list[str]) -> int:
    command = parse(Reproduce, "reproduce", load_plugins(arguments))
    from learnalg.reproduction.tables import RECIPES

    unknown = [name for name in command.names if name not in RECIPES]
    if unknown:
        raise ValueError(f"unknown recipe {', '.join(unknown)}; known: {', '.join(RECIPES)}")
    if not command.names and not command.list:
        raise ValueError(f"which table or figure? known: {', '.join(RECIPES)}")
    chosen = [RECIPES[name] for name in command.names or RECIPES]
    if command.list:
        _print_list(chosen, command.scale)
        return 0
    for recipe in chosen:
        _reproduce(recipe, command)
    return 0


def _reproduce(recipe: Recipe, command: Reproduce) -> None:
    from learnalg.reproduction.table import as_markdown, table_of

    root = Path()
    print(f"{recipe.name}: {recipe.title} ({command.scale})")
    if command.dry_run or command.scale == "paper":
        _print_plan(recipe, command)
    if not command.dry_run and not command.show:
        _run(recipe, command, root)
    if not command.dry_run:
        print(f"\n{as_markdown(table_of(recipe, command.scale, root))}\n")
        if recipe.figure:
            from learnalg.reproduction.report.drawing import save_figure

            drawn = save_figure(recipe, command.scale, root)
            print(f"figure: {drawn}\n" if drawn else "figure: nothing to draw yet\n")


def _run(recipe: Recipe, command: Reproduce, root: Path) -> None:
    """What is missing, with progress. A kept model that is not there yet, or a run begun under another recipe, is named
    and passed over."""
    from learnalg.cli.progress import watch
    from learnalg.reproduction.runner import (
        choose,
        compute,
        load_computed,
        load_result,
        missing_model,
        outdated,
        run_cell,
    )
    from learnalg.training.devices import InterruptedRunError, prepare_cpu

    prepare_cpu()
    if recipe.computed and load_computed(recipe, command.scale, root) is None:
        compute(recipe, command.scale, root)
        if load_computed(recipe, command.scale, root) is None:
            print("not run: the model that it needs is not there yet")
    for cell in choose(recipe, command.scale, command.cells):
        if load_result(recipe, command.scale, cell, root) is not None:
            continue
        missing = missing_model(recipe, command.scale, cell, root)
        if missing:
            print(f"{cell.key}: not run, the kept model {missing} has no result in results/{missing}.json")
            continue
        stale = outdated(recipe, command.scale, cell, root)
        if stale:
            print(f"{cell.key}: not run, {stale}")
            continue
        examples = cell.config.train.num_steps * cell.config.train.batch_size
        watching = nullcontext(None) if command.quiet or cell.kept else watch(cell.key, examples)
        try:
            with watching as watcher:
                run_cell(recipe, command.scale, cell, root, watcher)
        except InterruptedRunError as stop:
            again = f"learnalg reproduce {recipe.name} --scale {command.scale}"
            print(f"{cell.key}: {stop}; go on with: {again}", file=sys.stderr)
            raise SystemExit(128 + stop.number) from None


def _print_plan(recipe: Recipe, command: Reproduce) -> None:
    from learnalg.cli.progress import clock
    from learnalg.reproduction.runner import GPU_FLOPS, measured_rate, plan

    steps = plan(recipe, command.scale, Path(), command.cells)
    width = max((len(step.key) for step in steps), default=0) + 2
    for step in steps:
        print(f"  {step.key:<{width}}{step.state:<9}{step.examples:>13,} examples {step.flops:9.2e} FLOPs  {step.note}")
    flops, examples = sum(step.flops for step in steps), sum(step.examples for step in steps)
    print(
        f"left: {examples:,} examples, {flops:.2e} FLOPs: {clock(flops / measured_rate(Path()))} here, "
        f"{flops / GPU_FLOPS / 3600:.1f} hours on a GPU of {GPU_FLOPS / 1e12:g} TFLOP/s"
    )


def _print_list(recipes: list[Recipe], scale: str) -> None:
    from learnalg.reproduction.runner import plan
    from learnalg.reproduction.table import best_of, table_of

    row = "{:<22}{:>7}{:>9}{:>9}{:>15}  {}".format
    print(row("", "cells", "best", "paper's", "examples left", ""))
    for recipe in recipes:
        steps = plan(recipe, scale, Path())
        done = sum(step.state == "done" for step in steps)
        best, papers = ("", "") if recipe.computed else best_of(table_of(recipe, scale, Path()))
        left = sum(step.examples for step in steps)
        print(row(recipe.name, f"{done}/{len(steps)}", best, papers, f"{left:,}" if left else "", recipe.title))
    print("\nlearnalg reproduce NAME --dry-run says how long the rest takes.")
