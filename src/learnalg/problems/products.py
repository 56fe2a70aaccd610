"""Products: M^T V for a vector V in R^m, and M^T N, each from the operands side by side.

The transpose is the paper's: with it both operands have m rows, so that they can stand side by side.
"""

from learnalg.problems.task import Floats, Task


def _matvec(inputs: Floats) -> Floats:
    return inputs[..., :-1].swapaxes(-1, -2) @ inputs[..., -1:]


def _matmul(inputs: Floats) -> Floats:
    n = inputs.shape[-1] // 2
    return inputs[..., :n].swapaxes(-1, -2) @ inputs[..., n:]


def matvec() -> Task:
    return Task(
        "M^T V, V a vector",
        solve=_matvec,
        operands=lambda m, n: ((m, n), (m, 1)),
        output_shape=lambda m, n: (n, 1),
    )


def matmul() -> Task:
    return Task("M^T N", solve=_matmul, operands=lambda m, n: ((m, n), (m, n)), output_shape=lambda m, n: (n, n))
