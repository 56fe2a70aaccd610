"""Write problems and their solutions to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from learnalg.cli.flags import Folder, build, said_in
from learnalg.cli.plugins import load_plugins
from learnalg.config import DataConfig

if TYPE_CHECKING:
    from learnalg.data import Batch
    from learnalg.pairs import Block
    from learnalg.problem import Problem

VERSION = 1  # of the header


@dataclass(frozen=True)
class Export:
    """Write problems and their solutions to a file of pairs, .jsonl or .parquet. Inputs are rounded as a model reads
    them, solutions are exact. The file says what made it, and the same flags give the same pairs."""

    file: Folder  # .jsonl or .parquet
    num: int = 10_000  # pairs
    seed: int = 1  # seed of the pairs
    split: str = "all"  # train, valid, test: those that learnalg trains on, validates with, tests with; all: of each
    recipe: str = ""  # the problem of a recipe: `learnalg list recipes`, or a .toml file
    data: DataConfig = field(default_factory=DataConfig)


def run(arguments: list[str]) -> int:
    said = said_in(Export, "export", load_plugins(arguments))
    base = DataConfig()
    if said.get("recipe"):
        from learnalg.recipes import find_recipe, read_recipe

        base = read_recipe(find_recipe(said["recipe"])).data
    command: Export = build(Export, {name: value for name, value in said.items() if name not in _DATA})
    data: DataConfig = build(DataConfig, said, base)
    from learnalg.cli.bars import bar
    from learnalg.data import fixed_set
    from learnalg.pairs import check_ending, write_pairs
    from learnalg.problem import Problem

    check_ending(command.file)
    if command.file.exists():
        raise ValueError(f"{command.file} exists already")
    if not command.file.parent.is_dir():
        raise ValueError(f"{command.file}: there is no folder {command.file.parent}")
    if data.data:
        raise ValueError(f"--data {data.data}: its pairs are in a file already")
    if command.num < 1 or command.seed < 0:
        raise ValueError(f"--num {command.num}, --seed {command.seed}: need a pair, and a seed that is not negative")
    problem = Problem(data)
    batches = fixed_set(problem, command.num, command.seed, command.split)
    header = {
        "version": VERSION,
        "num": command.num,
        "seed": command.seed,
        "split": command.split,
        "config": {name: value for name, value in asdict(data).items() if name != "data"},
    }
    with bar(f"{command.file}", command.num) as done:
        write_pairs(command.file, header, _blocks(problem, batches, done))
    print(f"{command.file}: {command.num:,} pairs of {data.task}, dim {data.dim}")
    return 0


_DATA = set(DataConfig.__dataclass_fields__)


def _blocks(problem: Problem, batches: Iterator[Batch], done: Callable[[int], None]) -> Iterator[list[Block]]:
    """Of each batch, with the operands apart again."""
    import numpy as np

    from learnalg.pairs import Block

    num, has_several = 0, len(problem.tasks) > 1
    for batch in batches:
        blocks = []
        for group in batch.groups:
            name, task = problem.tasks[group.task]
            widths = [cols for _, cols in task.operands(*group.dims)]
            operands = tuple(np.split(group.inputs, np.cumsum(widths)[:-1], axis=2))
            blocks.append(Block(name if has_several else "", operands, group.solutions, group.rows))
        yield blocks
        num += len(batch)
        done(num)
