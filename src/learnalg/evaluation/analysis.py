"""Failure anatomy: what is wrong with wrong predictions, and what predicts them (paper, sections 4.5 and 4.6).

    >>> found = analyse(problem, collect(predictions_of(model, problem, num=1000)))
    >>> found["eigenvectors"]["vectors"]["condition_of_h"]["auc"]  # as a predictor of failure

A failure is a prediction with a relative error of 5 % or more (L1, by the task's own criterion). Malformed predictions
are failures. What needs a predicted matrix leaves those without one out, and says how many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from learnalg.evaluation.measurements import Examples
from learnalg.evaluation.predictor import Bools, finite, rate_predictor
from learnalg.evaluation.result import wilson
from learnalg.problem import Problem
from learnalg.problems.task import difference
from learnalg.tokens.encoding import Floats, Ints
from learnalg.tokens.tokenizer import OK, REASONS

FAILURE = 0.05
TOLERANCES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25)
NORMS_WITHIN = (0.01, 0.05)
DOTS_BELOW = (0.01, 0.05, 0.1)
# Shares of the examples up to the top of each bin: tenths, and finer at the ends, where failures are.
BIN_TOPS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)

PREDICTORS = {
    "condition": "condition number of the input",
    "gap": "spectrum gap of the input",
    "norm": "L1 norm of the solution",
    "size": "number of input coefficients",
    "condition_of_h": "condition number of the predicted H",
}


def analyse(
    problem: Problem,
    parts: list[Examples],
    failure: float = FAILURE,
    thresholds: Mapping[str, tuple[float, ...]] | None = None,
) -> dict[str, dict[str, Any]]:
    """Name of a task -> its anatomy. `thresholds`, by task, are condition numbers to try as predictors of failure."""
    check_tolerance(failure)
    tried = thresholds or {}
    return {part.task: anatomy(problem, part, failure, tried.get(part.task, ())) for part in parts}


def check_tolerance(failure: float) -> None:
    if not 0 < failure < math.inf:
        raise ValueError(f"tolerance {failure}: an error of so much or more is a failure; more than 0, such as 0.05")


def anatomy(problem: Problem, examples: Examples, failure: float, thresholds: tuple[float, ...] = ()) -> dict[str, Any]:
    """All numbers of one task."""
    failed, hopeless = ~(examples.errors < failure), ~(examples.rounded_errors < failure)  # NaN fails
    task = dict(problem.tasks)[examples.task]
    counts = np.bincount(examples.reasons, minlength=len(REASONS))
    found: dict[str, Any] = {
        "num": len(failed),
        "failures": int(failed.sum()),
        # Right answers lose digits when they are written: these would fail as well.
        "rounded_solution_fails": int(hopeless.sum()),
        "failures_by_rounding": int((failed & hopeless).sum()),
        "without_matrix": int((~examples.has_matrix).sum()),
        "malformed": {REASONS[k]: int(counts[k]) for k in range(len(REASONS)) if k != OK and counts[k]},
        "accuracy": accuracy_by_tolerance(examples.errors),
        "distance_accuracy": {} if task.residual is difference else accuracy_by_tolerance(examples.distances),
    }
    found["drivers"] = {
        # For eigenvectors they are condition numbers of the predicted H, and not of the input.
        name: _predictor(
            name, scores, examples, failed, thresholds if name == "condition" and not examples.vectors else ()
        )
        for name, scores in examples.drivers.items()
    }
    sizes = np.unique(examples.dims, axis=0)
    rows_by_size = {f"{m}x{n}": (examples.dims == (m, n)).all(axis=1) for m, n in sizes}
    found["by_dimension"] = {size: summary(examples.errors, failed, rows) for size, rows in rows_by_size.items()}
    if examples.vectors:
        found["vectors"] = vector_anatomy(examples, failed, thresholds)
    return found


def _predictor(
    name: str, scores: Floats, examples: Examples, failed: Bools, thresholds: tuple[float, ...] = ()
) -> dict[str, Any]:
    is_condition = name.startswith("condition")
    found: dict[str, Any] = {"what": PREDICTORS[name], "bins": bins(scores, examples.errors, failed)}
    found |= rate_predictor(scores, failed, examples.errors, "large" if is_condition else "", thresholds)
    if is_condition:  # as the paper puts it
        below, above = most_below(scores[~failed]), most_below(-scores[failed])
        found |= {"right_98_below": below, "failures_98_above": None if above is None else -above}
    return found


def most_below(values: Floats) -> float | None:
    """The smallest of the values with 98 % of them below or at it."""
    values = np.sort(values[~np.isnan(values)])
    return finite(values[math.ceil(0.98 * len(values)) - 1]) if len(values) else None


def accuracy_by_tolerance(errors: Floats) -> dict[str, float]:
    """Shares of all examples, those without a matrix among the wrong ones."""
    return {str(t): float((errors < t).mean()) for t in TOLERANCES}


def bins(scores: Floats, errors: Floats, failed: Bools) -> list[dict[str, Any]]:
    """Smallest scores first; equal scores share a bin."""
    known = ~np.isnan(scores)
    if not known.any():
        return []
    tops = np.unique(np.quantile(scores[known], BIN_TOPS, method="higher"))
    which = np.where(known, np.searchsorted(tops, scores), -1)
    found = []
    for k in range(len(tops)):
        inside = scores[which == k]
        place = {"low": finite(inside.min()), "high": finite(inside.max()), "median": finite(np.median(inside))}
        found.append(place | summary(errors, failed, which == k))
    return found


def summary(errors: Floats, failed: Bools, rows: Bools) -> dict[str, Any]:
    num, accuracy = int(rows.sum()), float((~failed[rows]).mean())
    return {
        "num": num,
        "accuracy": accuracy,
        "interval": wilson(accuracy, num),
        "median_error": finite(float(np.median(errors[rows]))),
    }


def vector_anatomy(examples: Examples, failed: Bools, thresholds: tuple[float, ...]) -> dict[str, Any]:
    """Of the predicted H: the weak metric, the eigenvalues alone, lengths, right angles, and its condition number."""
    vectors, n = examples.vectors, examples.dims[:, 1]
    groups = {"all": examples.has_matrix, "failures": examples.has_matrix & failed}
    return {
        "weak_accuracy": accuracy_by_tolerance(vectors["weak_errors"]),
        "eigenvalue_accuracy": accuracy_by_tolerance(vectors["eigenvalue_errors"]),
        "norms": {group: spread(vectors["norms"][rows], n[rows], 1.0, NORMS_WITHIN) for group, rows in groups.items()},
        "dots": {group: spread(vectors["dots"][rows], n[rows] - 1, 0.0, DOTS_BELOW) for group, rows in groups.items()},
        "condition_of_h": _predictor("condition_of_h", vectors["condition_of_h"], examples, failed, thresholds),
    }


def spread(columns: Floats, counts: Ints, centre: float, limits: tuple[float, ...]) -> dict[str, Any]:
    """Of the first `counts` numbers of each line: their mean and standard deviation, and the share of lines (the
    paper's) and of numbers that are all close to the centre. Numbers that are not finite are far from it."""
    counted = np.arange(columns.shape[1]) < counts[:, None]
    numbers = columns[counted]
    usable = numbers[np.isfinite(numbers)]
    with np.errstate(over="ignore", invalid="ignore"):  # the spread of wild numbers
        mean, sd, median = (float(f(usable)) if len(usable) else None for f in (np.mean, np.std, np.median))
    found: dict[str, Any] = {
        "num": int((counts > 0).sum()),
        "vectors": len(numbers),
        "not_finite": len(numbers) - len(usable),
        "mean": finite(mean),
        "sd": finite(sd),
        "median": finite(median),
        "share": dict.fromkeys(map(str, limits)),
        "share_of_vectors": dict.fromkeys(map(str, limits)),
    }
    for limit in limits if len(numbers) else ():
        close = np.abs(columns - centre) < limit
        found["share"][str(limit)] = float((close | ~counted).all(axis=1)[counts > 0].mean())
        found["share_of_vectors"][str(limit)] = float(close[counted].mean())
    return found
