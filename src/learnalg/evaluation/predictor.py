"""How well does a number predict failure? (paper, sections 4.5 and 4.6, on condition numbers)

Each example has a score, and failed or did not. Failure is predicted where the score is beyond a threshold:

    >>> found = rate_predictor(np.array([1.0, 2.0, 3.0, 9.0]), np.array([False, False, True, True]), side="large")
    >>> found["auc"], found["best"]["threshold"]
    (1.0, 2.0)

Scores may be infinite; an example whose score is NaN has none, and is left out. With the side "large" the AUC is the
probability that a failure has a larger score than a success, a tie counting one half, so that 0.5 is chance; with
"small", a smaller one. Where no side is given, it is the one on which the failures of these examples are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnalg.tokens.encoding import Floats

Bools = NDArray[np.bool_]
SIDES = ("", "large", "small")
ROC_POINTS = 100  # of a curve that is kept; its area is that of all points


def rate_predictor(
    scores: Floats,
    failed: Bools,
    errors: Floats | None = None,
    side: str = "",
    thresholds: tuple[float, ...] = (),
) -> dict[str, Any]:
    """All there is to say about a score: its ROC, its best threshold, and what the given thresholds would do.

    `errors` are for the rank correlation, over those that are numbers. A value that does not exist is None.
    """
    if side not in SIDES:
        raise ValueError(f"side {side!r}: must be one of {', '.join(map(repr, SIDES))}")
    known = ~np.isnan(scores)
    correlation = None if errors is None else spearman(scores[known], errors[known])
    scores, failed, left_out = scores[known], failed[known], int((~known).sum())
    has_both = bool(failed.any() and not failed.all())
    if not side:
        side = "large" if not has_both or auc(scores, failed) >= 0.5 else "small"
    scores = scores if side == "large" else -scores
    found: dict[str, Any] = {
        "num": len(scores),
        "left_out": left_out,
        "failures": int(failed.sum()),
        "side": side,
        "no_roc": "",
        "spearman": correlation,
        "auc": None,
        "best": None,
        "paper": [confusion(scores, failed, threshold, side) for threshold in thresholds],
        "roc": None,
    }
    if not has_both:
        reasons = {0: "no example failed", len(failed): "every example failed"}
        return found | {"no_roc": reasons[int(failed.sum())] if len(failed) else "there is nothing to measure"}
    false_alarms, caught, tops = roc(scores, failed)
    best = best_threshold(false_alarms, caught, tops)
    kept = np.unique(np.linspace(0, len(caught) - 1, ROC_POINTS).round().astype(int))
    return found | {
        "auc": auc(scores, failed),
        "best": None if best is None else confusion(scores, failed, best if side == "large" else -best, side),
        "roc": {"false_alarms": false_alarms[kept].tolist(), "caught": caught[kept].tolist()},
    }


def finite(value: float | None) -> float | None:
    """JSON has no NaN and no infinity."""
    return None if value is None or not np.isfinite(value) else float(value)


def ranks(values: Floats) -> Floats:
    """1 for the smallest; what is equal shares the mean of its ranks."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]


def spearman(scores: Floats, errors: Floats) -> float | None:
    """Rank correlation over the errors that are numbers; None where one of the two does not vary."""
    known = np.isfinite(errors)
    if known.sum() < 2:
        return None
    a, b = ranks(scores[known]), ranks(errors[known])
    a, b = a - a.mean(), b - b.mean()
    spread = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / spread) if spread else None


def auc(scores: Floats, failed: Bools) -> float:
    """The area under the ROC, from ranks (Mann-Whitney): needs a failure and a success."""
    num_failed, num_right = int(failed.sum()), int((~failed).sum())
    wins = ranks(scores)[failed].sum() - num_failed * (num_failed + 1) / 2
    return float(wins / (num_failed * num_right))


def roc(scores: Floats, failed: Bools) -> tuple[Floats, Floats, Floats]:
    """The share of the right that a threshold would refuse, the share of failures that it would catch, and the
    thresholds, from one that refuses none to one that refuses all. A threshold is the largest score let through."""
    values, which = np.unique(scores, return_inverse=True)
    wrong, right = (np.bincount(which[rows], minlength=len(values))[::-1] for rows in (failed, ~failed))
    caught = np.concatenate([[0.0], np.cumsum(wrong) / wrong.sum()])
    false_alarms = np.concatenate([[0.0], np.cumsum(right) / right.sum()])
    return false_alarms, caught, np.concatenate([values[::-1], [-np.inf]])


def best_threshold(false_alarms: Floats, caught: Floats, thresholds: Floats) -> float | None:
    """Where the share of failures caught is furthest above that of false alarms: failures are rare, and a share of
    all examples would be highest for a threshold that never refuses. None where none is above."""
    ahead = caught - false_alarms
    best = int(ahead.argmax())
    return float(thresholds[best]) if ahead[best] > 0 else None


def confusion(scores: Floats, failed: Bools, threshold: float, side: str) -> dict[str, Any]:
    """What a threshold would do; the scores of the side "small" come with their signs changed."""
    predicted = scores > (threshold if side == "large" else -threshold)
    return {
        "threshold": float(threshold),
        "failures_caught": int((failed & predicted).sum()),
        "failures_missed": int((failed & ~predicted).sum()),
        "false_alarms": int((~failed & predicted).sum()),
        "right_let_through": int((~failed & ~predicted).sum()),
        "share_of_failures_caught": _share(predicted[failed]),
        "share_of_right_let_through": _share(~predicted[~failed]),
        "share_predicted_rightly": _share(predicted == failed),
    }


def _share(rows: Bools) -> float | None:
    return float(rows.mean()) if len(rows) else None
