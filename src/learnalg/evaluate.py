"""Decode, check, report (paper, section 3 and appendix B).

>>> report = evaluate(model, config.data, num=1000, seed=7)
>>> report.accuracy["l1"]["0.05"]
"""

from __future__ import annotations

import io
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from learnalg.checkpoint import write_whole
from learnalg.config import DataConfig
from learnalg.data import Batch, fixed_set
from learnalg.decode import Grammar, beam, greedy
from learnalg.encodings.encoding import Floats, Ints
from learnalg.judge import NORMS, Judged, join_judged, judge
from learnalg.loss import sequence_loss
from learnalg.tasks.task import difference
from learnalg.tokenizer import END, OK, PAD, REASONS

TOLERANCES = (0.05, 0.02, 0.01, 0.005)
DATA_FIELDS = ("dim", "ensemble", "amplitude", "sigma_factor", "spread", "noise")  # what a report says of its matrices
PORTION = 500  # examples that a model reads at once


@dataclass(frozen=True)
class Report:
    task: str
    num: int
    seed: int
    well_formed: float
    accuracy: dict[str, dict[str, float]]  # norm -> tolerance -> share
    interval: dict[str, dict[str, tuple[float, float]]]  # 95 %, Wilson
    distance_accuracy: dict[str, dict[str, float]]  # by |P - O| < tolerance |O|, for tasks judged otherwise
    malformed: dict[str, int]  # reason -> how many
    by_dimension: dict[str, dict[str, Any]]
    by_task: dict[str, dict[str, Any]]
    loss: float  # cross-entropy a token, the right prefix given
    seconds: float
    data: dict[str, Any] = field(default_factory=dict)  # what was tested on


def wilson(share: float, num: int, z: float = 1.959964) -> tuple[float, float]:
    """Interval of a share of `num`, of 95 % unless another number `z` of deviations is given."""
    centre = (share + z * z / (2 * num)) / (1 + z * z / num)
    half = z / (1 + z * z / num) * math.sqrt(share * (1 - share) / num + z * z / (4 * num * num))
    return max(0.0, centre - half), min(1.0, centre + half)


@torch.inference_mode()
def predict(
    model: Any, config: DataConfig, sources: Ints, beam_width: int = 1, constrained: bool = False, rows: int = PORTION
) -> Ints:
    """Decodes sources in portions of `rows`."""
    device = next(model.parameters()).device
    longest = config.lengths[1]
    grammar = Grammar(config.tokenizers[1], longest, device) if constrained else None
    out = np.full((len(sources), longest), PAD, dtype=np.int64)
    for start in range(0, len(sources), rows):
        part = torch.from_numpy(sources[start : start + rows]).to(device)
        if beam_width > 1:
            written = beam(model, part, longest, beam_width, grammar)
        else:
            written = greedy(model, part, longest, grammar)
        out[start : start + rows, : written.shape[1]] = written.cpu().numpy()
    return out


def teacher_forced(model: nn.Module, batch: Batch) -> tuple[float, int]:
    """Summed cross-entropy and the number of tokens."""
    device = next(model.parameters()).device
    total, tokens = 0.0, 0
    with torch.inference_mode():
        for start in range(0, len(batch), PORTION):
            source = torch.from_numpy(batch.sources[start : start + PORTION]).to(device)
            target = torch.from_numpy(batch.targets[start : start + PORTION]).to(device)
            logits = model(source, decoder_input(target))
            total += float(sequence_loss(logits, target, PAD, None))
            tokens += int((target != PAD).sum())
    return total, tokens


def decoder_input(target_BT: torch.Tensor) -> torch.Tensor:
    """What the decoder reads while it predicts `target`: a start token, then the target without its last."""
    return torch.nn.functional.pad(target_BT[:, :-1], (1, 0), value=END)


def evaluate(
    model: nn.Module,
    config: DataConfig,
    num: int = 10_000,
    seed: int = 0,
    tolerances: tuple[float, ...] = TOLERANCES,
    norms: tuple[str, ...] = ("l1", "l2", "linf"),
    split: str = "test",
    beam_width: int = 1,
    constrained: bool = False,
    keep: list[dict[str, Any]] | None = None,
) -> Report:
    """`keep`, when given, receives inputs, solutions and predictions of every batch."""
    check_arguments(num, seed, tolerances, norms, beam_width)
    started = time.perf_counter()
    was_training = model.training
    model.eval()
    parts, loss, tokens = [], 0.0, 0
    for batch in fixed_set(config, num, seed, split):
        written = predict(model, config, batch.sources, beam_width, constrained)
        judged, values = judge(config, batch, written)
        parts.append(judged)
        batch_loss, batch_tokens = teacher_forced(model, batch)
        loss, tokens = loss + batch_loss, tokens + batch_tokens
        if keep is not None:
            keep.append({"batch": batch, "judged": judged, "values": values})
    model.train(was_training)
    seconds = time.perf_counter() - started
    return _report(config, join_judged(parts), num, seed, tolerances, norms, loss / tokens, seconds)


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


def _report(
    config: DataConfig,
    judged: Judged,
    num: int,
    seed: int,
    tolerances: tuple[float, ...],
    norms: tuple[str, ...],
    loss: float,
    seconds: float,
) -> Report:
    def shares(rows: NDArray[np.bool_], distance: bool = False) -> dict[str, dict[str, float]]:
        return {
            norm: {str(t): float(judged.correct(norm, t, distance)[rows].mean()) for t in tolerances} for norm in norms
        }

    everything = np.ones(num, dtype=bool)
    accuracy = shares(everything)
    interval = {
        norm: {t: wilson(share, num) for t, share in by_tolerance.items()} for norm, by_tolerance in accuracy.items()
    }
    well_formed = judged.reasons == OK

    def breakdown(groups: Iterator[tuple[str, NDArray[np.bool_]]]) -> dict[str, dict[str, Any]]:
        return {
            name: {
                "num": int(rows.sum()),
                "well_formed": float(well_formed[rows].mean()),
                "accuracy": shares(rows),
            }
            for name, rows in groups
        }

    sizes = np.unique(judged.dims, axis=0)
    by_dimension = ((f"{m}x{n}", (judged.dims == (m, n)).all(axis=1)) for m, n in sizes)
    by_task = ((config.tasks[k][0], judged.tasks == k) for k in np.unique(judged.tasks))
    differs = any(task.residual is not difference for _, task in config.tasks)
    counts = np.bincount(judged.reasons, minlength=len(REASONS))
    return Report(
        task=config.task,
        num=num,
        seed=seed,
        well_formed=float(well_formed.mean()),
        accuracy=accuracy,
        interval=interval,
        distance_accuracy=shares(everything, distance=True) if differs else {},
        malformed={REASONS[k]: int(counts[k]) for k in range(1, len(REASONS)) if counts[k]},
        by_dimension=breakdown(by_dimension),
        by_task=breakdown(by_task),
        loss=loss,
        seconds=seconds,
        data={name: getattr(config, name) for name in DATA_FIELDS},
    )


def save_predictions(path: Path, config: DataConfig, kept: list[dict[str, Any]]) -> None:
    """Writes what `evaluate(keep=...)` collected: matrices padded with NaN to the largest, in the set's order."""
    num = sum(len(part["batch"]) for part in kept)
    groups = []  # (rows in the whole set, inputs, solutions, predictions)
    offset = 0
    for part in kept:
        for group in part["batch"].groups:
            m, n = config.tasks[group.task][1].output_shape(*group.dims)
            predicted = part["values"][group.rows, : m * n]
            predicted = np.where(np.isinf(part["judged"].errors["l1"][group.rows])[:, None], np.nan, predicted)
            groups.append((group.rows + offset, group.inputs, group.solutions, predicted.reshape(-1, m, n)))
        offset += len(part["batch"])

    def padded(k: int) -> Floats:
        rows, cols = (max(group[k].shape[axis] for group in groups) for axis in (1, 2))
        out = np.full((num, rows, cols), np.nan)
        for group in groups:
            out[group[0], : group[k].shape[1], : group[k].shape[2]] = group[k]
        return out

    judged = join_judged([part["judged"] for part in kept])
    content = io.BytesIO()
    np.savez_compressed(
        content,
        inputs=padded(1),
        solutions=padded(2),
        predictions=padded(3),
        dims=judged.dims,
        tasks=np.array([name for name, _ in config.tasks])[judged.tasks],
        reasons=np.array(REASONS)[judged.reasons],
        error_l1=judged.errors["l1"],
    )
    write_whole(path, content.getvalue())
