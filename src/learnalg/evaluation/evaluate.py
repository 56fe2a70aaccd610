"""Decode, check, report (paper, section 3 and appendix B).

>>> report = evaluate(model, Problem(config.data), num=1000, seed=7)
>>> report.accuracy["l1"]["0.05"]
"""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from learnalg.data import Batch, fixed_set
from learnalg.evaluation.decode import Grammar, beam, greedy
from learnalg.evaluation.judge import NORMS, Judged, join_judged, judge
from learnalg.evaluation.result import Part, Report, wilson
from learnalg.files import write_whole
from learnalg.models import decoder_input
from learnalg.problem import Problem
from learnalg.problems.task import difference
from learnalg.processes import join_rows, own_part, sum_up
from learnalg.tokens.encoding import Floats, Ints
from learnalg.tokens.tokenizer import OK, PAD, REASONS

TOLERANCES = (0.05, 0.02, 0.01, 0.005)
DATA_FIELDS = ("dim", "ensemble", "amplitude", "sigma_factor", "noise", "data")  # what a report says of its matrices
# A model takes so many examples at once, and fewer where they have more tokens or larger vocabularies: the memory of an
# evaluation is bounded, whatever a file from a stranger asks for.
PORTION = 500
PORTION_TOKENS = 2**18  # read and written
PORTION_LOGITS = 2**28
Done = Callable[[int], object]  # is told how many examples are done


def ignore(done: int) -> None:
    pass


@dataclass(frozen=True)
class Predictions:
    """What a model predicts on a fixed set, in batches, and how that is judged."""

    problem: Problem
    num: int
    seed: int
    split: str
    batches: tuple[Batch, ...]
    judged: tuple[Judged, ...]
    values: tuple[Floats, ...]  # predicted coefficients, (batch, most), NaN where there are none
    loss: float
    seconds: float


@torch.inference_mode()
def predict(
    model: Any,
    problem: Problem,
    sources: Ints,
    beam_width: int = 1,
    constrained: bool = False,
    rows: int = PORTION,
    done: Done = ignore,
) -> Ints:
    """Decodes sources in portions of at most `rows`, each of one size, so that there is nothing to pad."""
    device = next(model.parameters()).device
    longest = problem.lengths[1]
    rows = max(1, min(rows, PORTION_TOKENS // sum(problem.lengths)))
    grammar = Grammar(problem.tokenizers[1], longest, device) if constrained else None
    out = np.full((len(sources), longest), PAD, dtype=np.int64)
    num_done = 0
    for chosen in portions(sources, problem.tokenizers[0].header, rows):
        length = int((sources[chosen[0]] != PAD).sum())
        part = torch.from_numpy(sources[chosen, :length]).to(device)
        if beam_width > 1:
            written = beam(model, part, longest, beam_width, grammar)
        else:
            written = greedy(model, part, longest, grammar, has_log=False).tokens_BT
        out[chosen, : written.shape[1]] = written.cpu().numpy()
        num_done += len(chosen)
        done(num_done)
    return out


def portions(sources: Ints, header: int, rows: int) -> list[Ints]:
    """The indices of sources with one header, at most so many at a time."""
    _, kinds, counts = np.unique(sources[:, :header], axis=0, return_inverse=True, return_counts=True)
    groups = np.split(np.argsort(kinds, kind="stable"), np.cumsum(counts)[:-1])
    return [group[start : start + rows] for group in groups for start in range(0, len(group), rows)]


def teacher_forced(model: nn.Module, batch: Batch, vocab_size: int) -> tuple[float, int]:
    """Summed cross-entropy and the number of tokens."""
    device = next(model.parameters()).device
    read, written = batch.sources.shape[1], batch.targets.shape[1]
    rows = max(1, min(PORTION, PORTION_TOKENS // (read + written), PORTION_LOGITS // (written * vocab_size)))
    total, tokens = 0.0, 0
    with torch.inference_mode():
        for start in range(0, len(batch), rows):
            source = torch.from_numpy(batch.sources[start : start + rows]).to(device)
            target = torch.from_numpy(batch.targets[start : start + rows]).to(device)
            logits = model(source, decoder_input(target))
            total += float(
                cross_entropy(logits.flatten(0, 1).float(), target.flatten(), ignore_index=PAD, reduction="sum")
            )
            tokens += int((target != PAD).sum())
    return total, tokens


def predictions_of(
    model: nn.Module,
    problem: Problem,
    num: int = 10_000,
    seed: int = 0,
    split: str = "test",
    beam_width: int = 1,
    constrained: bool = False,
    done: Done = ignore,
) -> Predictions:
    """Decodes and judges a fixed set."""
    started = time.perf_counter()
    was_training = model.training
    model.eval()
    batches: list[Batch] = []
    judged, values = [], []
    loss, tokens = 0.0, 0
    for batch in fixed_set(problem, num, seed, split):
        part, report = own_part(batch), _after(batches, done)  # decoding takes long: each process decodes its rows
        written = join_rows(predict(model, problem, part.sources, beam_width, constrained, done=report), len(batch))
        batch_judged, batch_values = judge(problem, batch, written)
        batch_loss, batch_tokens = sum_up(np.array(teacher_forced(model, part, problem.tokenizers[1].vocab_size)))
        batches.append(batch)
        judged.append(batch_judged)
        values.append(batch_values)
        loss, tokens = loss + batch_loss, tokens + batch_tokens
    model.train(was_training)
    seconds = time.perf_counter() - started
    num = sum(map(len, batches))  # a file may have fewer
    return Predictions(problem, num, seed, split, tuple(batches), tuple(judged), tuple(values), loss / tokens, seconds)


def _after(batches: list[Batch], done: Done) -> Done:
    """Counts the examples of one batch, as `done` counts those of all."""
    before = sum(map(len, batches))
    return lambda num: done(before + num)


def evaluate(
    model: nn.Module,
    problem: Problem,
    num: int = 10_000,
    seed: int = 0,
    tolerances: tuple[float, ...] = TOLERANCES,
    norms: tuple[str, ...] = ("l1", "l2", "linf"),
    split: str = "test",
    beam_width: int = 1,
    constrained: bool = False,
    done: Done = ignore,
) -> Report:
    check_arguments(num, seed, tolerances, norms, beam_width)
    return report_of(predictions_of(model, problem, num, seed, split, beam_width, constrained, done), tolerances, norms)


def check_arguments(
    num: int, seed: int, tolerances: tuple[float, ...], norms: tuple[str, ...], beam_width: int
) -> None:
    if num < 1 or seed < 0:
        raise ValueError(f"num {num}, seed {seed}: need at least one example and a seed that is not negative")
    if not tolerances or any(not 0 <= t < math.inf for t in tolerances):
        raise ValueError(f"tolerances {tolerances}: need one or more shares such as 0.05; 0 is exact")
    unknown = [norm for norm in norms if norm not in NORMS]
    if unknown or not norms:
        raise ValueError(f"unknown norm {', '.join(unknown)}; known: {', '.join(NORMS)}")
    if beam_width < 1:
        raise ValueError(f"beam width {beam_width}: must be at least 1")


def report_of(
    predictions: Predictions, tolerances: tuple[float, ...] = TOLERANCES, norms: tuple[str, ...] = ("l1", "l2", "linf")
) -> Report:
    problem, num, judged = predictions.problem, predictions.num, join_judged(list(predictions.judged))

    def shares(rows: NDArray[np.bool_], distance: bool = False) -> dict[str, dict[str, float]]:
        return {
            norm: {str(t): float(judged.correct(norm, t, distance)[rows].mean()) for t in tolerances} for norm in norms
        }

    everything = np.ones(num, dtype=bool)
    accuracy = shares(everything)
    interval = {
        norm: {t: list(wilson(share, num)) for t, share in by_tolerance.items()}
        for norm, by_tolerance in accuracy.items()
    }
    well_formed = judged.reasons == OK

    def breakdown(groups: Iterator[tuple[str, NDArray[np.bool_]]]) -> dict[str, Part]:
        return {name: Part(int(rows.sum()), float(well_formed[rows].mean()), shares(rows)) for name, rows in groups}

    sizes = np.unique(judged.dims, axis=0)
    by_dimension = ((f"{m}x{n}", (judged.dims == (m, n)).all(axis=1)) for m, n in sizes)
    by_task = ((problem.tasks[k][0], judged.tasks == k) for k in np.unique(judged.tasks))
    differs = any(task.residual is not difference for _, task in problem.tasks)
    counts = np.bincount(judged.reasons, minlength=len(REASONS))
    return Report(
        task=problem.config.task,
        num=num,
        seed=predictions.seed,
        split=predictions.split,
        well_formed=float(well_formed.mean()),
        accuracy=accuracy,
        interval=interval,
        distance_accuracy=shares(everything, distance=True) if differs else {},
        malformed={REASONS[k]: int(counts[k]) for k in range(1, len(REASONS)) if counts[k]},
        by_dimension=breakdown(by_dimension),
        by_task=breakdown(by_task),
        loss=predictions.loss,
        seconds=predictions.seconds,
        data={
            name: _as_in_json(getattr(problem.config, name))
            for name in DATA_FIELDS
            if name != "data" or problem.config.data
        },
    )


def _as_in_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def save_predictions(path: Path, predictions: Predictions) -> None:
    """Writes inputs, solutions and predictions, padded with NaN to the largest matrix, in the set's order."""
    problem = predictions.problem
    groups = []  # (rows in the whole set, inputs, solutions, predictions)
    offset = 0
    for batch, judged, values in zip(predictions.batches, predictions.judged, predictions.values, strict=True):
        for group in batch.groups:
            m, n = problem.tasks[group.task][1].output_shape(*group.dims)
            predicted = values[group.rows, : m * n]
            predicted = np.where(np.isinf(judged.errors["l1"][group.rows])[:, None], np.nan, predicted)
            groups.append((group.rows + offset, group.inputs, group.solutions, predicted.reshape(-1, m, n)))
        offset += len(batch)

    def padded(k: int) -> Floats:
        rows, cols = (max(group[k].shape[axis] for group in groups) for axis in (1, 2))
        out = np.full((predictions.num, rows, cols), np.nan)
        for group in groups:
            out[group[0], : group[k].shape[1], : group[k].shape[2]] = group[k]
        return out

    everything = join_judged(list(predictions.judged))
    content = io.BytesIO()
    np.savez_compressed(
        content,
        inputs=padded(1),
        solutions=padded(2),
        predictions=padded(3),
        dims=everything.dims,
        tasks=np.array([name for name, _ in problem.tasks])[everything.tasks],
        reasons=np.array(REASONS)[everything.reasons],
        error_l1=everything.errors["l1"],
    )
    write_whole(path, content.getvalue())
