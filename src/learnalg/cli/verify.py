"""Results that are kept: `verify` evaluates weights again and compares with what their result says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from learnalg.cli.arguments import load_plugins, parse

# Another machine rounds sums in another order; now and then that turns a near tie between two words.
AGREEMENT = 0.002
MARGIN = 4.0  # deviations, on part of a test set: 15 shares are compared, and all should agree


@dataclass(frozen=True)
class Verify:
    """Evaluate the weights of a kept result again, on its own test set, and compare. A result is a JSON file in
    results/ whose weights are shipped with the package under the same name."""

    results: Annotated[tuple[Path, ...], tyro.conf.Positional]  # such as results/eigenvalues-3.json
    num: int = 0  # only the first examples of the test set, with a wider margin; 0: all


def run_verify(arguments: list[str]) -> int:
    """Check kept results."""
    command = parse(Verify, "verify", load_plugins(arguments))
    if not command.results:
        raise ValueError("which results? learnalg verify results/*.json")
    from learnalg.evaluation.evaluate import evaluate, wilson
    from learnalg.training.devices import prepare_cpu
    from learnalg.training.run import ZOO, load_model

    prepare_cpu()
    worst = 0
    for path in command.results:
        if not path.is_file():
            raise ValueError(f"{path}: no such file")
        kept = json.loads(path.read_text()).get("report", {})
        if "accuracy" not in kept:
            raise ValueError(f"{path} is no result of a run")
        config, model = load_model(ZOO / f"{path.stem}.safetensors")
        num = min(command.num or kept["num"], kept["num"])
        tolerances = tuple(float(t) for t in kept["accuracy"]["l1"])
        report = evaluate(model, config.data, num, kept["seed"], tolerances)
        agrees = True
        for norm, shares in report.accuracy.items():
            for tolerance, share in shares.items():
                claimed = kept["accuracy"][norm][tolerance]
                low, high = wilson(share, num, MARGIN) if num < kept["num"] else (share, share)
                agrees &= low - AGREEMENT <= claimed <= high + AGREEMENT
        shares_text = " / ".join(f"{100 * share:.1f}" for share in report.accuracy["l1"].values())
        claims_text = " / ".join(f"{100 * share:.1f}" for share in kept["accuracy"]["l1"].values())
        print(
            f"{path.stem}: {shares_text} on {num:,} examples, the result says {claims_text}: "
            f"{'agrees' if agrees else 'DIFFERS'}"
        )
        worst = max(worst, 0 if agrees else 1)
    return worst
