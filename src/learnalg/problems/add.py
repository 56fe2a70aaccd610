"""Addition: find M + N from M and N side by side (m x 2n)."""

from learnalg.problems.task import Floats, Task


def _solve(inputs: Floats) -> Floats:
    n = inputs.shape[-1] // 2
    return inputs[..., :n] + inputs[..., n:]


def add() -> Task:
    return Task("M + N", solve=_solve, operands=lambda m, n: ((m, n), (m, n)))
