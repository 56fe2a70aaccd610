"""A few predictions beside the truth, to look at.

>>> samples_of(predictions_of(model, problem, num=100, seed=1, split="valid"), 3)[0].error
0.012
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from learnalg.tokens.encoding import Floats
from learnalg.tokens.tokenizer import REASONS

if TYPE_CHECKING:
    from learnalg.evaluation.evaluate import Predictions


@dataclass(frozen=True)
class Sample:
    task: str
    input: Floats  # as the model reads it
    solution: Floats
    prediction: Floats | None  # none: it is not a matrix of the right shape, and `reason` says why
    error: float  # relative, in L1, by the task's criterion
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """What a run keeps of it: four digits of each coefficient."""
        prediction = None if self.prediction is None else _short(self.prediction)
        return {"task": self.task, "solution": _short(self.solution), "prediction": prediction, "reason": self.reason}


def _short(matrix: Floats) -> list[list[float]]:
    return [[float(f"{value:.4g}") for value in row] for row in matrix]


def samples_of(predictions: Predictions, num: int) -> list[Sample]:
    """The first `num` examples of a set."""
    batch, judged, values = predictions.batches[0], predictions.judged[0], predictions.values[0]
    found: dict[int, Sample] = {}
    for group in batch.groups:
        name, task = predictions.problem.tasks[group.task]
        m, n = task.output_shape(*group.dims)
        for k in (group.rows < num).nonzero()[0]:
            row = int(group.rows[k])
            has_matrix = bool(judged.has_matrix[row])
            found[row] = Sample(
                task=name,
                input=group.inputs[k],
                solution=group.solutions[k],
                prediction=values[row, : m * n].reshape(m, n) if has_matrix else None,
                error=float(judged.errors["l1"][row]),
                reason="" if has_matrix else REASONS[judged.reasons[row]].replace("ok", "another shape"),
            )
    return [found[row] for row in sorted(found)]
