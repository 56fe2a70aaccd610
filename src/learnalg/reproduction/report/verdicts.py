"""Tables of measured verdicts (docs/linalg.md) and of refined answers (docs/speedrun.md)."""

from __future__ import annotations

from collections.abc import Mapping

from learnalg.evaluation.result import Result, percent
from learnalg.zoo.verdict import read_refined, read_verdict


def verdict_table(results: Mapping[str, Result]) -> str:
    """Of each model whose verdict was measured with these weights."""
    head = ["model", "right", "precision", "recall", "right, OOD", "precision, OOD", "recall, OOD", "AUC of confidence"]
    lines = [head, ["---"] * len(head)]
    for name, result in results.items():
        verdict = read_verdict(name, result.sha256)
        if verdict is not None:
            shares = [percent(share) for inside in (True, False) for share in verdict.shares(inside)]
            area = "" if verdict.confidence_auc is None else f"{verdict.confidence_auc:.2f}"
            lines.append([f"[{name}](../results/verdicts/{name}.json)", *shares, area])
    return _markdown(lines)


def refined_table(results: Mapping[str, Result]) -> str:
    head = ["model", "answers", "certified", "residual <= 1e-12", "wrong", "largest error", "steps", "standard start"]
    lines = [head, ["---"] * len(head)]
    for name, result in results.items():
        refined = read_refined(name, result.sha256)
        if refined is not None:
            lines.append(
                [
                    f"[{name}](../results/refined/{name}.json)",
                    f"{refined.num:,}",
                    percent(refined.certified / refined.num),
                    percent(refined.exact / refined.num),
                    str(refined.wrong),
                    f"{refined.worst_error:.0e}",
                    f"{refined.steps:.1f}",
                    f"{refined.standard_steps:.1f}",
                ]
            )
    return _markdown(lines)


def _markdown(lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
