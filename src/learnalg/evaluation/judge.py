"""Is a prediction right? Whole batches are judged at once (paper, section 3 and appendix B).

Three steps. Is it one well-formed matrix? Of the right shape? Then, by the task's own criterion, is |residual| <
tolerance |reference|? Tolerance 0 asks for the solution itself, to the last digit that the output encoding can write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnalg.data import Batch
from learnalg.problem import Problem
from learnalg.tokens.encoding import Floats, Ints
from learnalg.tokens.tokenizer import OK

# Over all coefficients. The paper's text defines L2 without the root (a ratio of squares): `l2-squared`.
NORMS: dict[str, Callable[[Floats], Floats]] = {
    "l1": lambda x: np.abs(x).sum(axis=(1, 2)),
    "l2": lambda x: np.sqrt(np.square(x).sum(axis=(1, 2))),
    "linf": lambda x: np.abs(x).max(axis=(1, 2)),
    "l2-squared": lambda x: np.square(x).sum(axis=(1, 2)),
}


@dataclass(frozen=True)
class Judged:
    """One entry for each example. Errors are infinite where there is no matrix of the right shape."""

    tasks: Ints
    dims: Ints  # (num, 2)
    reasons: Ints
    has_matrix: NDArray[np.bool_]  # well-formed, of the right shape, and for the right task
    exact: NDArray[np.bool_]
    errors: dict[str, Floats]  # norm -> |residual| / |reference|
    distances: dict[str, Floats]  # norm -> |P - O| / |O|

    def correct(self, norm: str, tolerance: float, distance: bool = False) -> NDArray[np.bool_]:
        if tolerance == 0:
            return self.exact
        return (self.distances if distance else self.errors)[norm] < tolerance


def judge(problem: Problem, batch: Batch, written: Ints) -> tuple[Judged, Floats]:
    """Checks decoded sequences. Also returns the predicted coefficients, (num, most), NaN where there are none."""
    tokenizer = problem.tokenizers[1]
    decoded = tokenizer.decode(written)
    num = len(batch)
    names = list(NORMS)
    tasks, dims = np.zeros(num, dtype=np.int64), np.zeros((num, 2), dtype=np.int64)
    has_matrix, exact = np.zeros((2, num), dtype=bool)
    errors, distances = np.full((2, len(names), num), np.inf)
    for group in batch.groups:
        tasks[group.rows], dims[group.rows] = group.task, group.dims
        task = problem.tasks[group.task][1]
        shape = task.output_shape(*group.dims)
        right = (decoded.reasons[group.rows] == OK) & (decoded.shapes[group.rows] == shape).all(axis=1)
        right &= decoded.tasks[group.rows] == group.task
        rows = group.rows[right]
        has_matrix[rows] = True
        if not len(rows):
            continue
        predicted = decoded.matrices(rows, shape)
        solution = group.solutions[right]
        rounded, _ = tokenizer.encoding.decode(tokenizer.encoding.encode(solution))
        exact[rows] = (predicted == rounded).all(axis=(1, 2))
        with np.errstate(over="ignore", invalid="ignore"):  # wild predictions
            residual, reference = task.residual(group.inputs[right], solution, predicted)
            for k, name in enumerate(names):
                errors[k, rows] = _ratio(NORMS[name](residual), NORMS[name](reference), exact[rows])
                distances[k, rows] = _ratio(NORMS[name](predicted - solution), NORMS[name](solution), exact[rows])
    judged = Judged(
        tasks,
        dims,
        decoded.reasons.astype(np.int64),
        has_matrix,
        exact,
        dict(zip(names, errors, strict=True)),
        dict(zip(names, distances, strict=True)),
    )
    return judged, decoded.values


def _ratio(part: Floats, whole: Floats, exact: NDArray[np.bool_]) -> Floats:
    """part / whole; of 0 / 0 only the exact solution is right (zeros also reconstruct zeros)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.where(exact, 0.0, np.inf))


def join_judged(parts: list[Judged]) -> Judged:
    def join(get: Callable[[Judged], Any]) -> Any:
        return np.concatenate([get(part) for part in parts])

    return Judged(
        join(lambda p: p.tasks),
        join(lambda p: p.dims),
        join(lambda p: p.reasons),
        join(lambda p: p.has_matrix),
        join(lambda p: p.exact),
        {name: join(lambda p, name=name: p.errors[name]) for name in NORMS},  # type: ignore[misc]
        {name: join(lambda p, name=name: p.distances[name]) for name in NORMS},  # type: ignore[misc]
    )
