"""Measure the speed of this machine."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal

from learnalg.cli.flags import parse
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Bench:
    """Measure the speed of this machine's CPU: examples a second in the data stream, training and decoding, FLOPs an
    example, the share of the speed of matrix products, and how much faster a training step is than a plain one (fp32,
    not compiled, Adam)."""

    rounds: int = 5  # measurements of each case; the median is shown
    cases: str = ""  # only cases whose name contains this text
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # precision of training; auto: as `learnalg train` chooses
    json: bool = False  # print one JSON object


def run(arguments: list[str]) -> int:
    command = parse(Bench, "bench", load_plugins(arguments))
    from learnalg.cli.bars import status
    from learnalg.config import replace_fields
    from learnalg.training.run import provenance
    from learnalg.training.speed import CASES, measure

    chosen = {
        name: replace_fields(config, precision=command.precision)
        for name, config in CASES.items()
        if command.cases in name
    }
    if command.rounds < 1:
        raise ValueError(f"rounds {command.rounds}: must be at least 1")
    if not chosen:
        raise ValueError(f"no case has {command.cases!r} in its name; cases: {', '.join(map(repr, CASES))}")
    with status(f"measuring {len(chosen)} cases, {command.rounds} rounds"):
        rates, speeds = measure(chosen, command.rounds)
    if command.json:
        found = {"rates": rates, "speeds": [asdict(speed) for speed in speeds]}
        print(json.dumps(found | {"provenance": provenance()}, indent=1))
        return 0
    print(
        ", ".join(f"{precision} {rate / 1e9:.1f} GFLOP/s" for precision, rate in rates.items()), "in matrix products\n"
    )
    row = "{:<32}{:>10}{:>10}{:>10}{:>11}{:>8}{:>10}".format
    print(row("examples a second", "data", "training", "decoding", "MFLOP/ex.", "share", "to plain"))
    for s in speeds:
        rates_text = (f"{rate:,.0f}" for rate in (s.data, s.training, s.decoding, s.flops / 1e6))
        print(row(s.name, *rates_text, f"{s.share:.0%}", f"{s.gain:.2f} x"))
    return 0
