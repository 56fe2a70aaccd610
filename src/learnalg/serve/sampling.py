"""Many random problems for the part Explore: how often a model is right, where it is wrong, and the worst of them.

    >>> found = explore(model, Wanted("eigenvalues", ("laplace",), (5, 5), 1000, seed=1))
    >>> found.shares["0.05"]
    0.912

Problems are solved in portions. Where the time is over, what was solved is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from learnalg.data import Batch, fixed_set, shard
from learnalg.evaluation.evaluate import Predictions, predict
from learnalg.evaluation.judge import Judged, judge
from learnalg.evaluation.measurements import collect
from learnalg.evaluation.result import wilson
from learnalg.problem import Problem, check_lengths
from learnalg.problems.task import Floats
from learnalg.serve.charts import Chart, scatter_chart
from learnalg.serve.drawing import matrix_text
from learnalg.serve.work import out_of_time
from learnalg.tokens.tokenizer import REASONS
from learnalg.zoo.model import Model

MOST = 1000
PORTION = 100
TOLERANCES = ("0.05", "0.02", "0.01", "0.005")
NUM_WORST = 10
SMALLEST = 1e-5  # an exact answer has no place over decades: it stands here


@dataclass(frozen=True)
class Wanted:
    task: str
    ensemble: str
    size: tuple[int, int]
    num: int
    seed: int = 0
    sigma_factor: float = 1.0  # times the standard deviation of the training


@dataclass(frozen=True)
class Case:
    """One of the worst."""

    error: str
    condition: str
    gap: str
    reason: str  # '' where it is a matrix of the right shape
    texts: dict[str, str]  # field of Try -> operand


@dataclass(frozen=True)
class Found:
    num: int
    shares: dict[str, float]  # tolerance -> accuracy
    intervals: dict[str, tuple[float, float]]
    exact: float
    well_formed: float
    malformed: dict[str, int]
    charts: list[Chart]
    worst: list[Case]


def problem_of(model: Model, wanted: Wanted) -> Problem:
    """The model's problem with other matrices."""
    m, n = wanted.size
    data = model.problem.config
    changed = replace(
        data,
        task=data.task,
        ensemble=(wanted.ensemble,),
        dim=f"{m}" if m == n else f"{m}x{n}",
        sigma_factor=wanted.sigma_factor * data.sigma_factor,
    )
    problem = Problem(changed)
    check_lengths(problem, model.config)
    return problem


def explore(model: Model, wanted: Wanted) -> Found:
    if not 1 <= wanted.num <= MOST:
        raise ValueError(f"{wanted.num} matrices: 1 to {MOST:,}")
    if not 0.01 <= wanted.sigma_factor <= 100:
        raise ValueError(f"factor {wanted.sigma_factor:g}: 0.01 to 100")
    problem = problem_of(model, wanted)
    problem.find_task(wanted.task)
    (batch,) = fixed_set(problem, wanted.num, wanted.seed)
    portions: list[Batch] = []
    judged: list[Judged] = []
    values: list[Floats] = []
    for start in range(0, wanted.num, PORTION):
        if portions and out_of_time():
            break
        portion = shard(batch, start, min(start + PORTION, wanted.num))
        found, predicted = judge(problem, portion, predict(model.module, problem, portion.sources))
        portions.append(portion)
        judged.append(found)
        values.append(predicted)
    num = sum(map(len, portions))
    predictions = Predictions(
        problem, num, wanted.seed, "test", tuple(portions), tuple(judged), tuple(values), float("nan"), 0.0
    )
    return _found(predictions, wanted)


def _found(predictions: Predictions, wanted: Wanted) -> Found:
    """In joint training, of the wanted task."""
    (examples,) = [e for e in collect(predictions) if e.task == wanted.task]
    num, errors = len(examples.errors), examples.errors
    shares = {t: float((errors < float(t)).mean()) for t in TOLERANCES}
    reasons = examples.reasons[~examples.has_matrix]
    malformed = {REASONS[k].replace("ok", "another shape"): int((reasons == k).sum()) for k in np.unique(reasons)}
    right = errors < 0.05
    shown = np.maximum(errors, SMALLEST)
    charts = [
        scatter_chart(title, _groups(driver, shown, right), label, "error", {"5 %": 0.05, "0.5 %": 0.005})
        for title, label, driver in (
            ("Error against the condition number", "condition number of the matrix", examples.drivers["condition"]),
            ("Error against the smallest gap", "smallest gap of the spectrum, relative", examples.drivers["gap"]),
        )
    ]
    return Found(
        num=num,
        shares=shares,
        intervals={t: wilson(share, num) for t, share in shares.items()},
        exact=_exact(predictions, wanted),
        well_formed=float(examples.has_matrix.mean()),
        malformed=malformed,
        charts=[chart for chart in charts if chart is not None],
        worst=_worst(predictions, wanted, examples.drivers, errors, examples.reasons, examples.has_matrix),
    )


def _exact(predictions: Predictions, wanted: Wanted) -> float:
    index = predictions.problem.find_task(wanted.task)
    return float(np.concatenate([j.exact[j.tasks == index] for j in predictions.judged]).mean())


def _groups(driver: Floats, errors: Floats, right: np.ndarray) -> dict[str, tuple[Floats, Floats]]:
    known = np.isfinite(driver) & (driver > 0)
    return {
        "right at 5 %": (driver[known & right], errors[known & right]),
        "wrong": (driver[known & ~right], errors[known & ~right]),
    }


def _worst(
    predictions: Predictions,
    wanted: Wanted,
    drivers: dict[str, Floats],
    errors: Floats,
    reasons: np.ndarray,
    has_matrix: np.ndarray,
) -> list[Case]:
    """The largest errors first, those that are no matrix before all."""
    index = predictions.problem.find_task(wanted.task)
    groups = [group for batch in predictions.batches for group in batch.groups if group.task == index]
    inputs = np.concatenate([group.inputs for group in groups])
    definition = predictions.problem.tasks[index][1]
    columns = np.cumsum([cols for _, cols in definition.operands(*groups[0].dims)])[:-1]
    cases = []
    for k in np.argsort(-errors, kind="stable")[:NUM_WORST].tolist():
        operands = np.split(inputs[k], columns, axis=1)
        cases.append(
            Case(
                f"{100 * errors[k]:.3g} %" if np.isfinite(errors[k]) else "no matrix",
                f"{drivers['condition'][k]:.3g}",
                "" if np.isnan(drivers["gap"][k]) else f"{drivers['gap'][k]:.2g}",
                "" if has_matrix[k] else REASONS[int(reasons[k])].replace("ok", "another shape"),
                {f"matrix-{n}": matrix_text(operand) for n, operand in enumerate(operands, 1)},
            )
        )
    return cases
