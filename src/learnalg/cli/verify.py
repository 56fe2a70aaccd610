"""Evaluate released models again and compare with what their results say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from learnalg.cli.flags import Names, parse
from learnalg.cli.plugins import load_plugins
from learnalg.config import RunConfig, to_dict
from learnalg.evaluation.result import Report, Result, percent, wilson
from learnalg.files import checksum, load_tensors
from learnalg.naming import unknown
from learnalg.zoo.index import ZOO, find_model, released, result_of

# Another machine rounds sums in another order; now and then that turns a near tie between two tokens.
AGREEMENT = 0.002
MARGIN = 4.0  # standard deviations, on part of a test set: 15 shares are compared, and all should agree


@dataclass(frozen=True)
class Verify:
    """Evaluate released models again, each on the test set of its result, and compare: accuracy, config, numbers of
    parameters and of examples, SHA-256. Exit code 1 if anything differs."""

    models: Names = ()  # released models, or their results NAME.json; none: all that are released
    num: int = 0  # only so many examples of each test set, with a wider margin; 0: all


def run(arguments: list[str]) -> int:
    command = parse(Verify, "verify", load_plugins(arguments))
    if command.num < 0:
        raise ValueError(f"num {command.num}: must not be negative")
    from learnalg.training.devices import prepare_cpu

    prepare_cpu()
    results = [(name, _result_file(name)) for name in command.models or released()]
    return max([_verify(Path(name).stem, path, command.num) for name, path in results], default=0)


def _result_file(name: str) -> Path:
    """Of a released model, by its name or that of its result."""
    path = Path(name)
    if path.suffix == ".json" and not path.is_file():
        raise ValueError(f"{name}: no such file")
    if path.stem not in released():
        raise unknown("released model", name, released())
    path = path if path.suffix == ".json" else result_of(find_model(name))
    if not path.is_file():
        raise ValueError(f"{name} has no result: {path} is missing")
    return path


def _verify(name: str, path: Path, num: int) -> int:
    from learnalg.cli.bars import bar
    from learnalg.evaluation.evaluate import evaluate
    from learnalg.models.weights import build_model, read_model
    from learnalg.problem import Problem

    result = Result.read(path)
    claim = result.report
    weights = ZOO / f"{name}.safetensors"
    differences = [] if checksum(weights) == result.sha256 else ["SHA-256"]
    config, tensors = read_model(weights)
    differences += _differences(config, result.config)
    model = build_model(config, tensors, name)
    if sum(p.numel() for p in model.parameters()) != result.parameters:
        differences.append("parameters")
    if int(load_tensors(weights)[1].get("step", -1)) * config.train.batch_size != result.examples:
        differences.append("examples")
    num = min(num or claim.num, claim.num)
    tolerances = tuple(float(t) for t in next(iter(claim.accuracy.values())))
    norms, problem = tuple(claim.accuracy), Problem(config.data)
    with bar(name, num) as done:
        report = evaluate(model, problem, num, claim.seed, tolerances, norms, claim.split, done=done)
    if not _agree(report, claim):
        differences.append("accuracy")
    found, said = (
        " / ".join(percent(share) for share in next(iter(r.accuracy.values())).values()) for r in (report, claim)
    )
    verdict = f"DIFFERS in {', '.join(differences)}" if differences else "agrees"
    print(f"{name}: {found} on {num:,} examples, the result says {said}: {verdict}", flush=True)
    return 1 if differences else 0


def _differences(ours: RunConfig, theirs: RunConfig) -> list[str]:
    """The fields of two configs that are not the same."""
    tables = zip(to_dict(ours).items(), to_dict(theirs).values(), strict=True)
    different = []
    for (table, old), new in tables:
        if isinstance(old, dict):
            different += [f"config.{table}.{name}" for name in old if old[name] != new[name]]
        elif old != new:
            different.append(f"config.{table}")  # stages
    return different


def _agree(report: Report, claim: Report) -> bool:
    for norm, shares in report.accuracy.items():
        for tolerance, share in shares.items():
            is_part = report.num < claim.num
            low, high = wilson(share, report.num, MARGIN) if is_part else (share, share)
            if not low - AGREEMENT <= claim.accuracy[norm][tolerance] <= high + AGREEMENT:
                return False
    return True
