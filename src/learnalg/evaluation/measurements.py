"""What can be measured of each problem and of its prediction, a test set at once (paper, sections 4.5 and 4.6).

    >>> condition_numbers(np.array([[[4.0, 0.0], [0.0, 0.5]]]))
    array([8.])

Every task gets four drivers, numbers of the problem alone: the condition number of the input, its spectrum gap, the
norm of the solution, the size. Predicted eigenvectors are also measured for what they should be: of unit length and
at right angles, with the right eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnalg.data import Group
from learnalg.evaluation.evaluate import Predictions
from learnalg.evaluation.judge import NORMS, Judged, judge
from learnalg.evaluation.predictor import Bools
from learnalg.problem import Problem
from learnalg.problems import Task
from learnalg.tokens.encoding import Floats, Ints


@dataclass(frozen=True)
class Examples:
    """One task's share of a test set, a line an example; NaN where there is nothing to measure."""

    task: str
    dims: Ints  # (num, 2)
    reasons: Ints
    has_matrix: Bools
    errors: Floats  # by the task's own criterion, infinite without a matrix
    distances: Floats  # to the solution
    rounded_errors: Floats  # of the solution itself, as the output encoding writes it
    drivers: dict[str, Floats]
    vectors: dict[str, Floats]  # of predicted eigenvectors; empty for other tasks


def collect(predictions: Predictions) -> list[Examples]:
    """Predictions measured group by group: matrices of one size stand in one array."""
    problem = predictions.problem
    found: dict[int, list[Examples]] = {}
    for batch, judged, values in zip(predictions.batches, predictions.judged, predictions.values, strict=True):
        rounded, _ = judge(problem, batch, batch.targets)
        for group in batch.groups:
            measured = _measure(problem, group, judged, rounded, values)
            found.setdefault(group.task, []).append(measured)
    return [_join(found[k]) for k in sorted(found)]


def _measure(problem: Problem, group: Group, judged: Judged, rounded: Judged, values: Floats) -> Examples:
    name, task = problem.tasks[group.task]
    m, n = task.output_shape(*group.dims)
    has_matrix = judged.has_matrix[group.rows]
    predicted = np.where(has_matrix[:, None], values[group.rows, : m * n], np.nan).reshape(-1, m, n)
    condition, gap = spectral_drivers(task, group, task.symmetric or problem.config.symmetric)
    drivers = {
        "condition": condition,
        "gap": gap,
        "norm": NORMS["l1"](group.solutions),
        "size": np.full(len(group.rows), float(np.prod(task.input_shape(*group.dims)))),
    }
    vectors: dict[str, Floats] = {}
    if name == "eigenvectors":
        vectors = vector_columns(group.inputs, group.solutions, predicted, widest=problem.dims.cols[1])
    return Examples(
        task=name,
        dims=np.tile(group.dims, (len(group.rows), 1)),
        reasons=judged.reasons[group.rows],
        has_matrix=has_matrix,
        errors=judged.errors["l1"][group.rows],
        distances=judged.distances["l1"][group.rows],
        rounded_errors=rounded.errors["l1"][group.rows],
        drivers=drivers,
        vectors=vectors,
    )


def _join(parts: list[Examples]) -> Examples:
    first = parts[0]
    arrays = ("dims", "reasons", "has_matrix", "errors", "distances", "rounded_errors")
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
    drivers = {name: np.concatenate([part.drivers[name] for part in parts]) for name in first.drivers}
    vectors = {name: np.concatenate([part.vectors[name] for part in parts]) for name in first.vectors}
    return Examples(first.task, **joined, drivers=drivers, vectors=vectors)


def spectral_drivers(task: Task, group: Group, is_symmetric: bool) -> tuple[Floats, Floats]:
    """The largest condition number and the smallest gap among the operands of each problem."""
    condition, gap = np.full((2, len(group.rows)), np.nan)
    ends = np.cumsum([cols for _, cols in task.operands(*group.dims)])
    for operand in np.split(group.inputs, ends[:-1], axis=2):
        condition = np.fmax(condition, condition_numbers(operand))
        gap = np.fmin(gap, spectrum_gaps(operand, is_symmetric))
    return condition, gap


def condition_numbers(matrices: Floats) -> Floats:
    """Largest by smallest singular value: infinite for singular matrices, NaN where a coefficient is not finite.

    Nine decimals: what an orthogonal matrix has beyond them is rounding, and must not set examples apart.
    """
    out = np.full(len(matrices), np.nan)
    usable = np.isfinite(matrices).all(axis=(1, 2))
    singular = np.linalg.svd(matrices[usable], compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        out[usable] = np.where(singular[:, -1] > 0, singular[:, 0] / singular[:, -1], np.inf)
    return np.round(out, 9)


def spectrum_gaps(matrices: Floats, is_symmetric: bool) -> Floats:
    """The smallest gap between neighbouring eigenvalues (singular values, if not symmetric) by the largest of them in
    absolute value; NaN where there is one value only."""
    if is_symmetric:  # what a model sees with noise is not quite: its symmetric part is
        values = np.linalg.eigvalsh((matrices + matrices.swapaxes(-1, -2)) / 2)
    else:
        values = np.linalg.svd(matrices, compute_uv=False)
    if values.shape[1] < 2:
        return np.full(len(matrices), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.abs(np.diff(values)).min(axis=1) / np.abs(values).max(axis=1)


def vector_columns(seen: Floats, solution: Floats, predicted: Floats, widest: int) -> dict[str, Floats]:
    """What a predicted (n+1) x n matrix should be: D over H, H orthogonal. Norms of H's columns and dot products of
    successive ones are padded with NaN to one width, since n may vary."""
    D, H = predicted[:, 0], predicted[:, 1:]
    l1 = NORMS["l1"]

    def padded(columns: Floats) -> Floats:
        return np.pad(columns, ((0, 0), (0, widest - columns.shape[1])), constant_values=np.nan)

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # wild predictions
        rebuilt = (H * D[:, None, :]) @ H.swapaxes(-1, -2)
        right_values = solution[:, :1]
        return {
            "weak_errors": l1(rebuilt - seen) / l1(seen),
            "eigenvalue_errors": l1(predicted[:, :1] - right_values) / l1(right_values),
            "norms": padded(np.sqrt(np.square(H).sum(axis=1))),
            "dots": padded((H[:, :, :-1] * H[:, :, 1:]).sum(axis=1)),
            "condition_of_h": condition_numbers(H),
        }
