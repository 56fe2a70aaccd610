"""A trained model in Python: load it, solve with it, evaluate it.

>>> import learnalg
>>> model = learnalg.load("runs/ev3")
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

from learnalg.config import DataConfig, RunConfig
from learnalg.evaluation.decode import Grammar, greedy
from learnalg.tokens.encoding import Floats
from learnalg.evaluation.evaluate import Report, evaluate
from learnalg.training.run import load_model
from learnalg.problems import Task


class Model:
    def __init__(self, config: RunConfig, module: nn.Module) -> None:
        self.config, self.module = config, module

    def solve(self, *operands: ArrayLike, task: str = "") -> Floats:
        """The model's answer for one matrix or a batch, or for several operands (M and N, M and V).

        Decoding is bound to the task and to the shape of its answer. `task` is needed by models of several tasks.
        """
        index, name = self._find_task(task)
        chosen = self.config.data.tasks[index][1]
        inputs, (m, n), is_batch = pack(self.config.data, name, chosen, operands)
        source, target = self.config.data.tokenizers
        numbers = source.encoding.encode(inputs.reshape(len(inputs), -1))
        if not source.encoding.decode(numbers)[1].all():
            raise ValueError(f"a coefficient is too large for {source.encoding_name}")
        ids = self.config.data.read_tokens(numbers, chosen.input_shape(m, n), index)
        shape = chosen.output_shape(m, n)
        longest = target.length(shape) + 1
        written = greedy(self.module, torch.from_numpy(ids), longest, Grammar(target, longest, task=index), shape)  # type: ignore[arg-type]
        answers = target.decode(written.numpy()).matrices(np.arange(len(ids)), shape)
        return answers if is_batch else answers[0]

    def explain(self, *operands: ArrayLike, task: str = "") -> dict[str, Any]:
        """One problem: what the model saw, its answer, NumPy's answer for that, the error and the time."""
        index, name = self._find_task(task)
        chosen = self.config.data.tasks[index][1]
        inputs, _, is_batch = pack(self.config.data, name, chosen, operands)
        if is_batch:
            raise ValueError("one problem at a time, please")
        if not chosen.accept(inputs).all():
            raise ValueError(f"task {name} has no solution for this matrix")
        started = time.perf_counter()
        prediction = self.solve(*operands, task=task)
        seconds = time.perf_counter() - started
        encoding = self.config.data.tokenizers[0].encoding
        seen, _ = encoding.decode(encoding.encode(inputs))
        solution = chosen.solve(seen)
        residual, reference = chosen.residual(seen, solution, prediction[None])
        part, whole = float(np.abs(residual).sum()), float(np.abs(reference).sum())
        error = part / whole if whole else (None if part else 0.0)  # no error is relative to nothing
        return {
            "task": name,
            "seen": seen[0],
            "prediction": prediction,
            "solution": solution[0],
            "error": error,
            "seconds": seconds,
        }

    def evaluate(self, num: int = 10_000, seed: int = 0, **arguments: Any) -> Report:
        """As `learnalg evaluate`, on what the model was trained on."""
        return evaluate(self.module, self.config.data, num, seed, **arguments)

    def _find_task(self, name: str) -> tuple[int, str]:
        names = [known for known, _ in self.config.data.tasks]
        if not name and len(names) == 1:
            return 0, names[0]
        if name not in names:
            raise ValueError(f"which task? this model knows {', '.join(names)}")
        return names.index(name), name


def load(path: str | Path) -> Model:
    """A run's folder, a .safetensors file, or a shipped model by its name."""
    return Model(*load_model(Path(path)))


def pack(
    data: DataConfig, name: str, task: Task, operands: tuple[ArrayLike, ...]
) -> tuple[Floats, tuple[int, int], bool]:
    """Checks the operands and sets them side by side: (num, rows, cols), the problem's m x n, whether in batches."""
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
    if not data.dims.admits(m, n):
        raise ValueError(f"a {m}x{n} matrix, but this model was trained on dim {data.dim}")
    if (task.symmetric or data.triangle) and not np.allclose(first, first.swapaxes(-1, -2), rtol=1e-6):
        raise ValueError(f"task {name} takes symmetric matrices, and this one is not")
    inputs = np.concatenate(arrays, axis=-1)
    is_batch = inputs.ndim == 3
    return inputs if is_batch else inputs[None], (m, n), is_batch
