"""One problem for the part Try: what a model reads and writes, token by token, beside NumPy's answer.

>>> shown = solve_one(model, "eigenvalues", (A,))
>>> shown.written[2]
Token(text='18.1', share=0.98, level=0)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from learnalg.certify.refine import REFINEMENTS
from learnalg.certify.scaling import to_unit
from learnalg.certify.solution import Solution
from learnalg.evaluation.decode import Grammar, greedy
from learnalg.models import decoder_input
from learnalg.models.watching import Seen, watch_attention
from learnalg.problems.task import Floats
from learnalg.tokens.encoding import Ints
from learnalg.tokens.tokenizer import PAD, Tokenizer
from learnalg.zoo.model import Model
from learnalg.zoo.operands import check_operands, training_factors

LEVELS = (0.005, 0.01, 0.02, 0.05, 0.2)  # bounds of colours: of errors, relative to the mean absolute coefficient
DOUBTS = (0.9, 0.7, 0.5, 0.3, 0.1)  # bounds of colours: of the probability of a token
TOLERANCES = (0.05, 0.02, 0.01, 0.005)


@dataclass(frozen=True)
class Coefficient:
    text: str
    level: int = 0  # 0 right, 5 far off


@dataclass(frozen=True)
class Token:
    text: str
    share: float = 1.0  # its probability
    level: int = 0  # 0 sure, 5 a guess
    starts: bool = False  # a coefficient or the header


@dataclass(frozen=True)
class Shown:
    """All that Try shows of one problem."""

    solution: Solution
    seen: list[list[list[Coefficient]]]  # operands
    answer: list[list[Coefficient]]
    numpy: list[list[Coefficient]]
    refined: list[list[Coefficient]]  # empty where nothing is refined
    refining: str  # how, or why not
    error: float | None  # relative, in L1, by the task's criterion, of the matrix as it was read; None: of zero
    residual: float  # proven
    is_outside: bool  # of the sizes of the training
    read: list[Token]
    written: list[Token]
    attention: list[Seen] = field(default_factory=list)

    @property
    def proven(self) -> str:
        """The bound in percent, rounded up; '' for none."""
        if not np.isfinite(self.residual):
            return ""
        size = 10.0 ** (np.floor(np.log10(max(100 * self.residual, 1e-12))) - 1)
        return f"{np.ceil(100 * self.residual / size) * size:.2g}"

    @property
    def met(self) -> dict[str, bool]:
        """Tolerance -> whether the error is below."""
        return {f"{100 * t:g}": self.error is not None and self.error < t for t in TOLERANCES}


def solve_one(model: Model, task: str, operands: tuple[Floats, ...]) -> Shown:
    problem, index = model.problem, model.problem.find_task(task)
    definition = problem.tasks[index][1]
    arrays, _, dims = check_operands(problem, index, operands, allow_outside=True)
    if not definition.accept(np.concatenate(arrays, axis=2)).all():
        raise ValueError(f"{task} has no solution for this matrix")
    ids = _inputs(model, index, arrays, dims)
    solution = model.solve(*operands, task=task, allow_outside=True)
    written_ids, logs = _write(model, index, ids, dims)
    seen = np.concatenate(solution.seen, axis=1)[None]
    exact = definition.solve(seen)
    residual, reference = definition.residual(seen, exact, solution.matrix[None])
    part, whole = float(np.abs(residual).sum()), float(np.abs(reference).sum())
    refined, refining = _refined(solution)
    source, target = problem.tokenizers
    return Shown(
        solution=solution,
        seen=[_cells(operand) for operand in solution.seen],
        answer=_cells(solution.matrix, exact[0]),
        numpy=_cells(exact[0]),
        refined=_cells(refined) if refined is not None else [],
        refining=refining,
        error=part / whole if whole else (None if part else 0.0),
        residual=float(solution.residual),
        is_outside=not problem.dims.admits(*dims),
        read=_tokens(source, ids[0], np.zeros(ids.shape[1])),
        written=_tokens(target, written_ids[0], logs),
        attention=_attention(model, ids, written_ids),
    )


def _inputs(model: Model, index: int, arrays: tuple[Floats, ...], dims: tuple[int, int]) -> Ints:
    """The tokens that the model reads, as in Model.solve."""
    problem = model.problem
    name, task = problem.tasks[index]
    unit, exponents = to_unit(name, arrays)
    factors = training_factors(name, unit, exponents, problem.config)
    inputs = np.concatenate([a * factors[:, k, None, None] for k, a in enumerate(unit)], axis=2)
    numbers = problem.tokenizers[0].encoding.encode(inputs.reshape(1, -1))
    return problem.read_tokens(numbers, task.input_shape(*dims), index)


@torch.inference_mode()
def _write(model: Model, index: int, ids: Ints, dims: tuple[int, int]) -> tuple[Ints, Floats]:
    """The tokens that the model writes, and the log probability of each."""
    target = model.problem.tokenizers[1]
    shape = model.problem.tasks[index][1].output_shape(*dims)
    longest = target.length(shape) + 1
    module: Any = model.module
    written = greedy(module, torch.from_numpy(ids), longest, Grammar(target, longest, task=index), shape)
    return written.tokens_BT.numpy(), written.log_BT[0].double().numpy()


def _refined(solution: Solution) -> tuple[Floats | None, str]:
    """A classical iteration from the model's answer, and how it went."""
    if solution.task not in REFINEMENTS:
        return None, "Nothing is refined here: to prove such an answer is to compute it."
    found = solution.refined()
    steps = int(found.steps) if found.steps is not None else 0
    if not np.all(found.is_certified):
        return None, f"Nothing could be certified after {steps} steps from the model's answer."
    residual = float(found.certified_residual) if found.certified_residual is not None else np.inf
    return found.matrix, f"Certified after {steps} steps from the model's answer; residual {residual:.1e}."


@torch.inference_mode()
def _attention(model: Model, ids: Ints, written: Ints) -> list[Seen]:
    """One pass over the problem and the answer as it was written."""
    with watch_attention(model.module) as seen:
        model.module(torch.from_numpy(ids), decoder_input(torch.from_numpy(written)))
    return seen


def _cells(matrix: Floats, exact: Floats | None = None) -> list[list[Coefficient]]:
    levels = np.zeros(matrix.shape, dtype=int)
    if exact is not None:
        scale = float(np.abs(exact).mean()) or 1.0
        with np.errstate(invalid="ignore", over="ignore"):
            levels = np.searchsorted(LEVELS, np.abs(matrix - exact) / scale, side="right")
    return [
        [Coefficient(f"{value:.4g}", int(level)) for value, level in zip(row, level_row, strict=True)]
        for row, level_row in zip(matrix, levels, strict=True)
    ]


def _tokens(tokenizer: Tokenizer, ids: Ints, logs: Floats) -> list[Token]:
    shares = np.exp(logs)
    levels = len(DOUBTS) - np.searchsorted(DOUBTS[::-1], shares, side="right")
    return [
        Token(
            tokenizer.tokens[k].replace("<s>", "end"),
            float(share),
            int(level),
            place >= tokenizer.header and (place - tokenizer.header) % tokenizer.width == 0,
        )
        for place, (k, share, level) in enumerate(zip(ids, shares, levels, strict=True))
        if k != PAD
    ]
