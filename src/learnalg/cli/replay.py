"""Take one step of a run again, to see why it was not finite."""

from __future__ import annotations

from dataclasses import dataclass

from learnalg.cli.flags import Folder, Number, parse
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Replay:
    """Take one step of a run again, from its last checkpoint before it, and show the loss, the gradient and the
    parameters. Nothing is written. A run of several processes is replayed in one, equal to rounding."""

    run: Folder  # the run's folder
    step: Number  # which step, from 1, as in metrics.jsonl and in errors
    num: int = 10  # parameters shown, those that are not finite first


def run(arguments: list[str]) -> int:
    command = parse(Replay, "replay", load_plugins(arguments))
    from rich.console import Console
    from rich.table import Table

    from learnalg.training.replay import replay

    found = replay(command.run, command.step)
    (num, source), (_, target) = found.shapes
    print(f"step {found.step}: batch {found.batch}, seed {found.seed}, replayed from {found.start}")
    share = f"learning-rate share {found.learning_rate_share:.3g}"
    print(f"{num} examples, {source} tokens in, {target} out; {share}")
    print(f"loss {found.loss:.4g} a token, norm of the gradient {found.gradient:.4g}")
    print(f"not finite: {found.outcome}" if found.outcome else "all numbers are finite")
    table = Table()
    table.add_column("parameter")
    for title in ("largest weight", "gradient", "weight after"):
        table.add_column(title, justify="right")
    for p in found.parameters[: command.num]:
        table.add_row(p.name, *(f"{value:.4g}" for value in (p.weight, p.gradient, p.moved)))
    Console(highlight=False).print(table)
    return 0
