"""A trained model in Python: load it, solve with it, evaluate it.

>>> import learnalg
>>> model = learnalg.load("eigenvalues-3")
>>> model.solve(np.eye(3))        # (n, 1), or (batch, n, 1) for a batch of matrices
>>> model.evaluate(num=1000).accuracy["l1"]["0.05"]
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from learnalg.config import RunConfig
from learnalg.evaluation.decode import Grammar, greedy
from learnalg.evaluation.evaluate import evaluate
from learnalg.evaluation.result import Report
from learnalg.problem import Problem
from learnalg.tokens.encoding import Floats, Ints
from learnalg.zoo.load import load_model

# Matrices that are predicted at once hold at most so many tokens, read and written. The memory of a portion is a few
# kilobytes a token, and larger portions are not faster.
PORTION_TOKENS = 20_000


class Model:
    def __init__(self, config: RunConfig, module: nn.Module, name: str = "") -> None:
        self.config, self.module, self.problem, self.name = config, module, Problem(config.data), name

    def solve(self, *operands: ArrayLike, task: str = "", allow_outside: bool = False) -> Floats:
        """The model's prediction for one matrix or a batch, or for several operands (M and N, M and V).

        Decoding is bound to the task and to the shape of its answer. `task` is needed by models of several tasks.
        `allow_outside` accepts sizes that the model was not trained for.
        """
        index = self.problem.find_task(task)
        inputs, shape, is_batch = pack(self.problem, index, operands, allow_outside)
        longest = sum(self.problem.lengths)
        size = max(1, PORTION_TOKENS // longest)
        parts = [self._predict(inputs[k : k + size], shape, index) for k in range(0, len(inputs), size)]
        predictions = np.concatenate(parts)
        return predictions if is_batch else predictions[0]

    @torch.inference_mode()
    def _predict(self, inputs: Floats, dims: tuple[int, int], index: int) -> Floats:
        """Of as many matrices as fit into memory."""
        source, target = self.problem.tokenizers
        task = self.problem.tasks[index][1]
        numbers = source.encoding.encode(inputs.reshape(len(inputs), -1))
        if not source.encoding.decode(numbers)[1].all():
            raise ValueError(f"a coefficient is too large for {source.encoding_name}")
        ids: Ints = self.problem.read_tokens(numbers, task.input_shape(*dims), index)
        shape = task.output_shape(*dims)
        longest = target.length(shape) + 1
        device = next(self.module.parameters()).device
        grammar = Grammar(target, longest, device, task=index)
        module: Any = self.module
        written = greedy(module, torch.from_numpy(ids).to(device), longest, grammar, shape).tokens_BT
        return target.decode(written.cpu().numpy()).matrices(np.arange(len(ids)), shape)

    def explain(self, *operands: ArrayLike, task: str = "") -> dict[str, Any]:
        """One problem: what the model saw, its prediction, NumPy's solution of that, the error and the time."""
        index = self.problem.find_task(task)
        name, chosen = self.problem.tasks[index]
        inputs, _, is_batch = pack(self.problem, index, operands)
        if is_batch:
            raise ValueError("one problem at a time, please")
        if not chosen.accept(inputs).all():
            raise ValueError(f"task {name} has no solution for this matrix")
        started = time.perf_counter()
        prediction = self.solve(*operands, task=task)
        seconds = time.perf_counter() - started
        encoding = self.problem.tokenizers[0].encoding
        seen, _ = encoding.decode(encoding.encode(inputs))
        solution = chosen.solve(seen)
        residual, reference = chosen.residual(seen, solution, prediction[None])
        part, whole = float(np.abs(residual).sum()), float(np.abs(reference).sum())
        error = part / whole if whole else (None if part else 0.0)  # no relative error where the solution is zero
        return {
            "task": name,
            "seen": seen[0],
            "prediction": prediction,
            "solution": solution[0],
            "error": error,
            "seconds": seconds,
        }

    def evaluate(self, num: int = 10_000, seed: int = 0, **arguments: Any) -> Report:
        """As `learnalg evaluate`, on matrices like those of its training."""
        return evaluate(self.module, self.problem, num, seed, **arguments)


def load(name: str | Path) -> Model:
    """A run's folder, a .safetensors file, or a released model by its name."""
    return Model(*load_model(name), name=str(name))


def pack(
    problem: Problem, index: int, operands: tuple[ArrayLike, ...], allow_outside: bool = False
) -> tuple[Floats, tuple[int, int], bool]:
    """Checks the operands and sets them side by side: (num, rows, cols), the problem's m x n, whether in batches."""
    name, task = problem.tasks[index]
    expected = task.operands(1, 1)
    if len(operands) != len(expected):
        raise ValueError(f"task {name} takes {len(expected)} matrices, not {len(operands)}")
    arrays: list[Floats] = []
    for k, operand in enumerate(operands):
        array = np.asarray(operand)
        if array.dtype.kind not in "iuf":
            raise ValueError(f"expected a matrix of real numbers, got {array.dtype}")
        array = array.astype(np.float64)
        if k and array.ndim == arrays[0].ndim - 1:
            array = array[..., None]  # a vector is a column
        arrays.append(array)
    first = arrays[0]
    if first.ndim not in (2, 3) or 0 in first.shape:
        raise ValueError(f"expected an m x n matrix or a batch of them, got the shape {first.shape}")
    m, n = first.shape[-2:]
    shapes = tuple((*first.shape[:-2], *shape) for shape in task.operands(m, n))
    if tuple(a.shape for a in arrays) != shapes:
        wanted, got = " and ".join(map(str, shapes)), " and ".join(str(a.shape) for a in arrays)
        raise ValueError(f"task {name} takes matrices of the shapes {wanted}, not {got}")
    if not all(np.isfinite(a).all() for a in arrays):
        raise ValueError("the matrix holds NaN or infinity")
    if not allow_outside and not problem.dims.admits(m, n):
        raise ValueError(f"a {m}x{n} matrix, but this model was trained on dim {problem.config.dim}")
    # Symmetric by the task, or because the model has seen no others: up to rounding.
    needs_symmetry = task.symmetric or problem.config.symmetric or problem.config.triangle
    if needs_symmetry and not all(np.allclose(a, a.swapaxes(-1, -2), rtol=1e-6) for a in arrays):
        raise ValueError(f"this model of {name} was trained on symmetric matrices only, and this one is not symmetric")
    inputs = np.concatenate(arrays, axis=-1)
    is_batch = inputs.ndim == 3
    return inputs if is_batch else inputs[None], (m, n), is_batch
