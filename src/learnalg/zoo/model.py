"""A trained model in Python: load it, solve with it, evaluate it.

>>> import learnalg
>>> model = learnalg.load("eigenvalues-3")
>>> solution = model.solve(A)             # any leading shape
>>> solution.value, solution.trusted      # (..., n, 1), and whether the error is proven to be below 5 %
>>> model.evaluate(num=1000, ensemble="laplace").accuracy["l1"]["0.05"]
"""

from __future__ import annotations

import time
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from learnalg.certify.proofs import bound
from learnalg.certify.scaling import from_unit, multiplied, scaled, to_unit
from learnalg.certify.solution import Solution
from learnalg.config import RunConfig
from learnalg.evaluation.decode import Grammar, greedy
from learnalg.evaluation.evaluate import TOLERANCES, evaluate
from learnalg.evaluation.result import VERSION, Report, Result, percent
from learnalg.files import read_json
from learnalg.problem import Problem, elsewhere
from learnalg.tokens.encoding import Floats, Ints
from learnalg.zoo.index import find_model, result_of
from learnalg.zoo.load import load_model
from learnalg.zoo.operands import check_operands, training_factors

# Matrices that are predicted at once hold about so many tokens, read and written: fewer cost more calls a matrix, more
# leave the caches (docs/log.md, 2026-11-19).
PORTION_TOKENS = 8_000


class Model:
    def __init__(self, config: RunConfig, module: nn.Module, name: str = "", report: Report | None = None) -> None:
        """`report` is that of its result."""
        self.config, self.module, self.problem = config, module, Problem(config.data)
        self.name, self.report = name, report
        self._grammar = lru_cache(16)(partial(Grammar, self.problem.tokenizers[1]))

    def solve(
        self, *operands: ArrayLike, task: str = "", rescale: bool = True, allow_outside: bool = False
    ) -> Solution:
        """The model's answers to one problem or to a stack of any leading shape. Tasks of M and N, or of M and V, take
        several operands.

        Matrices of another scale than in training are rescaled, and their answers scaled back. Decoding is bound to the
        task and to the shape of its answer. `task` is needed by models of several tasks. `allow_outside` accepts sizes
        that the model was not trained for.
        """
        index = self.problem.find_task(task)
        arrays, lead, dims = check_operands(self.problem, index, operands, allow_outside)
        started = time.perf_counter()
        name = self.problem.task_names[index]
        unit, exponents = to_unit(name if rescale else "", arrays)
        factors = training_factors(name, unit, exponents, self.problem.config) if rescale else np.ones(exponents.shape)
        inputs = np.concatenate([a * factors[:, k, None, None] for k, a in enumerate(unit)], axis=2)
        size = max(1, PORTION_TOKENS // sum(self.problem.lengths))
        parts = [self._predict(inputs[k : k + size], dims, index) for k in range(0, max(1, len(inputs)), size)]
        read, predictions, is_well_formed, confidence = (np.concatenate(part) for part in zip(*parts, strict=True))
        matrix = from_unit(name, multiplied(name, predictions, 1 / factors), exponents)
        columns = np.cumsum([a.shape[2] for a in arrays])[:-1]
        seen = [part / factors[:, k, None, None] for k, part in enumerate(np.split(read, columns, axis=2))]
        definition = self.problem.tasks[index][1]
        return Solution(
            task=name,
            definition=definition,
            operands=arrays,
            seen=scaled(tuple(seen), exponents),
            matrix=matrix,
            value=matrix,
            residual=bound(name, definition, arrays, matrix),
            well_formed=is_well_formed,
            confidence=confidence,
            model=np.full(len(arrays[0]), self.name),
            seconds=time.perf_counter() - started,
        ).reshaped(lead)

    @torch.inference_mode()
    def _predict(
        self, inputs: Floats, dims: tuple[int, int], index: int
    ) -> tuple[Floats, Floats, NDArray[np.bool_], Floats]:
        """Of as many problems as fit into memory: what was read, the answers, whether they were written freely, and the
        confidence."""
        source, target = self.problem.tokenizers
        task = self.problem.tasks[index][1]
        shape = task.output_shape(*dims)
        if not len(inputs):
            return inputs, np.empty((0, *shape)), np.empty(0, dtype=bool), np.empty(0)
        numbers = source.encoding.encode(inputs.reshape(len(inputs), -1))
        seen, is_number = source.encoding.decode(numbers)
        if not is_number.all():
            raise ValueError(f"a coefficient is too large for {source.encoding_name}")
        first, last = target.header, target.length(shape)
        ids: Ints = self.problem.read_tokens(numbers, task.input_shape(*dims), index)
        longest, most = max(ids.shape[1], last + 1), self.config.model.max_positions
        if longest > most:  # a network has so many positions; a larger matrix has no place
            raise ValueError(
                f"a {dims[0]}x{dims[1]} matrix takes {longest} tokens, and {self.name} reads and writes {most}"
            )
        device = next(self.module.parameters()).device
        module: Any = self.module
        grammar = self._grammar(last + 1, device, index)
        written = greedy(module, torch.from_numpy(ids).to(device), last + 1, grammar, shape)
        tokens = written.tokens_BT[:, first:last].cpu().numpy()
        return (
            seen.reshape(inputs.shape),
            target.numbers(tokens.reshape(-1, *shape, target.width)),
            written.free_B.cpu().numpy(),
            written.log_BT[:, first:last].mean(1).exp().cpu().numpy().astype(np.float64),
        )

    def evaluate(
        self,
        num: int = 10_000,
        seed: int = 0,
        *,
        tolerances: tuple[float, ...] = TOLERANCES,
        norms: tuple[str, ...] = ("l1", "l2", "linf"),
        ensemble: str | tuple[str, ...] = (),
        amplitude: float | tuple[float, ...] = (),
        sigma_factor: float | None = None,
        dim: str | int = "",
        noise: float | None = None,
        split: str = "test",
        beam: int = 1,
        constrained: bool = False,
    ) -> Report:
        """As `learnalg evaluate`, with the words of its flags; without them on matrices like those of the training."""
        problem = elsewhere(self.config, ensemble, amplitude, sigma_factor, dim, noise)
        return evaluate(self.module, problem, num, seed, tolerances, norms, split, beam, constrained)

    def __repr__(self) -> str:
        """Problem, sizes, ensemble, accuracy."""
        data = self.config.data
        amplitude = " to ".join(f"{a:g}" for a in data.amplitude)
        matrices = f"dim {data.dim}{', symmetric' * data.symmetric}, {' + '.join(data.ensemble)}, A = {amplitude}"
        text = f"{data.task}, {matrices}"
        if self.report is not None:
            shares = {float(t): share for t, share in self.report.accuracy.get("l1", {}).items() if float(t)}
            accuracy = " / ".join(map(percent, shares.values()))
            at = " / ".join(f"{100 * tolerance:g}" for tolerance in shares)
            split = "validation" if self.report.split == "valid" else self.report.split
            text += f"; accuracy {accuracy} % at {at} % ({self.report.num:,} of the {split} split)"
        return f"<Model {self.name or 'without a name'}: {text}>"


def load(name: str | Path) -> Model:
    """A run's folder, a .safetensors file, a .pth file of the paper's code, or a released model by its name."""
    config, module = load_model(name)
    result = result_of(find_model(name))
    is_known = result.is_file() and read_json(result).get("version") == VERSION
    return Model(config, module, name=str(name), report=Result.read(result).report if is_known else None)
