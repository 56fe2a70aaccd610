"""The loop: batches in, weights and a result out, nothing lost in between.

    >>> run = train(replace_fields(preset("fast"), task="add", dim="2", examples=20_000), Path("runs/add2"))

A run is a function of its config: batch i comes from the stream, the learning rate from the step, dropout from
(seed, step). So a run that was stopped, by Ctrl-C, a signal or a power cut, and resumed has the weights of one that was
not. Under torchrun each process takes its rows of every batch and of every evaluation, and the first one writes.

A run looks at the validation split only. The test split is for `learnalg evaluate` and `learnalg release`.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from learnalg.config import RunConfig, from_dict, replace_fields
from learnalg.data import Batch, TrainingData, prefetch
from learnalg.evaluation.evaluate import TOLERANCES, evaluate, predictions_of, report_of
from learnalg.evaluation.result import Origin, Result, built
from learnalg.evaluation.samples import samples_of
from learnalg.files import checksum, parse_json
from learnalg.models.weights import save_model, set_weights
from learnalg.pairs.given import check_file, with_file
from learnalg.problem import Problem
from learnalg.processes import highest, is_first, like_first, wait_for_all
from learnalg.training.budget import with_budget
from learnalg.training.checkpoint import (
    check_folder,
    check_identity,
    forget_checkpoints_after,
    identity,
    is_sound,
    list_checkpoints,
    load_checkpoint,
    save_checkpoint,
)
from learnalg.training.devices import (
    InterruptedRunError,
    bf16_pays,
    catch_signals,
    join_processes,
)
from learnalg.training.flops import flops_per_example
from learnalg.training.journal import Journal
from learnalg.training.loggers import check_logger
from learnalg.training.optim import learning_rate_share
from learnalg.training.pace import Pace, evaluation_steps
from learnalg.training.preflight import check_before_start, check_disk
from learnalg.training.run import Run, provenance
from learnalg.training.step import NotFiniteError, TrainState, check_finite, new_state, set_first_weights, train_step
from learnalg.training.watcher import Log, Silent, Watcher
from learnalg.zoo.load import MODEL_FILE, RESULT_FILE, find_model, result_of

LOG_EVERY = 10  # steps
MOST_SKIPPED = 10  # steps in a row whose loss or gradient is not finite, before the run ends
NUM_SAMPLES = 3  # of the validation set, to look at
FINAL_TOLERANCES = (*TOLERANCES, 0.0)  # 0: exact, which is what the paper counts for transposition


def train(config: RunConfig, out: Path, watcher: Watcher | None = None) -> Run:
    """A new run in the folder `out`: checks, the weights to start from, all steps, the result."""
    with join_processes(config, out) as device:
        config = settle(replace(config, data=with_file(config.data)), device)
        check_before_start(config, out)
        run = Run(out, config)
        state, origin = _first_state(config, device)
        with _by_first(run.begun()):
            if is_first():
                run.add_session(device=str(device), threads=config.train.threads, **origin)
            return _to_the_end(run, state, watcher or Silent())


def _first_state(config: RunConfig, device: torch.device) -> tuple[TrainState, dict[str, Any]]:
    """What a run starts with, and what its first session says of that: the origin may be gone when the run ends."""
    state = new_state(config, device)
    set_first_weights(state)
    origin = origin_of(config)
    return state, {"origin": asdict(origin)} if origin else {}


def resume(
    folder: Path,
    checkpoint: str = "",
    watcher: Watcher | None = None,
    examples: int | None = None,
    despite: tuple[str, ...] = (),
    skip_nonfinite: bool = False,
    threads: int | None = None,
) -> Run:
    """Continues a run from its newest checkpoint, or from the one named; one that was killed before its first begins
    again. `examples` is another budget for it, `threads` another number of threads: sums are then rounded otherwise.
    `despite` names what may differ from the run that wrote the checkpoint."""
    run = Run.open(folder)
    if is_finished(folder):
        return run
    check_logger(run.config.train.logger)
    if run.config.data.data:
        check_file(run.config.data)
    with join_processes(run.config, folder) as device, _by_first(run.locked()):
        check_folder(run.checkpoints)
        # A first checkpoint comes before the first line of metrics.
        is_new = not checkpoint and not list_checkpoints(run.checkpoints) and not run.metrics()
        tensors, metadata = ({}, {"step": "0"}) if is_new else load_checkpoint(run.checkpoints, checkpoint)
        check_identity(metadata, run.config, despite)
        run = replace(run, config=_resumed_config(run.config, metadata, examples, skip_nonfinite))
        if threads is not None:
            run = replace(run, config=settle(replace_fields(run.config, threads=threads), device))
        state, origin = _first_state(run.config, device) if is_new else (new_state(run.config, device), {})
        if not is_new:
            restore(state, tensors, metadata)
        check_disk(folder, state.model)
        run.sessions()  # refused if damaged, before anything is changed
        wait_for_all()  # all have read what the first one changes now
        if is_first():
            run.remove_parts()
            run.forget_metrics_after(state.step)
            forget_checkpoints_after(run.checkpoints, state.step)
            run.save_config()
            budget = {} if examples is None else {"examples": examples}
            details = budget | origin
            run.add_session(device=str(device), resumed_at=state.step, threads=run.config.train.threads, **details)
        return _to_the_end(run, state, watcher or Silent())


def _resumed_config(config: RunConfig, metadata: dict[str, str], examples: int | None, skip: bool) -> RunConfig:
    """The config with another budget, if the steps before the checkpoint are the same with it."""
    theirs = from_dict(parse_json(metadata["config"].encode())) if "config" in metadata else config
    wanted = config.train.examples if examples is None else examples
    config = with_budget(replace_fields(config, examples=theirs.train.examples), wanted, int(metadata["step"]))
    return replace_fields(config, skip_nonfinite=True) if skip else config


def is_finished(folder: Path) -> bool:
    """Whether a run has its result, and the weights of that result. A run that stopped early has both."""
    model, result = folder / MODEL_FILE, folder / RESULT_FILE
    return result.is_file() and model.is_file() and Result.read(result).sha256 == checksum(model)


@contextmanager
def _by_first(work: AbstractContextManager[None]) -> Iterator[None]:
    """Locks a run's folder: the first process does, and the others wait, since it alone writes. All end if it
    cannot."""
    with ExitStack() as stack:
        error: Exception | None = None
        if is_first():
            try:
                stack.enter_context(work)
            except (ValueError, OSError) as refused:
                error = refused
        failed = highest(int(error is not None))
        if error is not None:
            raise error
        if failed:
            raise ValueError("the first process could not begin")
        yield


def settle(config: RunConfig, device: torch.device) -> RunConfig:
    """Replaces 'auto' by its value on this machine: the run's config has it, and resuming uses it."""
    if not config.train.threads:
        config = replace_fields(config, threads=torch.get_num_threads())
    if config.train.precision != "auto":
        return config
    torch.set_num_threads(config.train.threads)
    widest = max(config.model.width("encoder"), config.model.width("decoder"))
    pays = torch.tensor(int(bf16_pays(device, widest)))
    like_first([pays])  # each measured for itself
    # The last, small steps of a narrow network are lost in bf16 (decision 005).
    return replace_fields(config, precision="fp32" if not pays else "bf16" if widest >= 256 else "mixed")


def _to_the_end(run: Run, state: TrainState, watcher: Watcher) -> Run:
    """All steps that are left, then the result."""
    like_first([*state.model.state_dict().values()])
    _take_steps(run, state, watcher)
    if is_first():
        watcher.on_final_evaluation(run.config.train.final_num)
    _write_result(run, state, watcher)
    wait_for_all()  # nobody leaves before the first process is done
    return run


def _take_steps(run: Run, state: TrainState, watcher: Watcher) -> None:
    """Before each step, and after the last: a checkpoint if one is due, then the end if it has come."""
    config = run.config.train
    batches = prefetch(TrainingData(run.config), state.step, config.num_steps, config.workers)
    with catch_signals() as signals, closing(batches), closing(Journal(run, state.step)) as journal:
        pace = Pace(run.config, state.step)
        started, before, saved_at = time.monotonic(), state.seconds, -math.inf
        while True:
            is_done = state.stopped or state.step >= config.num_steps
            number = signals.received()
            if is_done or number or time.monotonic() - saved_at >= config.checkpoint_seconds:
                _save(run, state)
                saved_at = time.monotonic()
            if is_done:
                return
            if number:
                raise InterruptedRunError(number, state.step)
            batch = next(batches)
            _step(run, state, batch)
            state.seconds = before + time.monotonic() - started
            is_last = state.step == config.num_steps
            if state.step % LOG_EVERY == 0 or is_last:
                _log(run, state, journal, pace, watcher, batch)
            if is_last or state.step % evaluation_steps(config) == 0:
                state.stopped = _validate(run, state, journal, pace, watcher)


def _step(run: Run, state: TrainState, batch: Batch) -> None:
    """A step, or none where loss or gradient are not finite and the run is to skip such steps."""
    try:
        train_step(state, batch)
    except NotFiniteError as error:
        state.skipped += 1
        may_skip = run.config.train.skip_nonfinite and not error.moved
        if may_skip and state.skipped <= MOST_SKIPPED:
            state.step += 1
            if is_first():
                run.add_metrics({"step": state.step, "skipped": error.what})
            return
        raise _explained(run, error) from None


def _explained(run: Run, error: NotFiniteError) -> ValueError:
    good = [path.name for path in list_checkpoints(run.checkpoints) if is_sound(path)][-1:] or ["none"]
    can_skip = not error.moved and not run.config.train.skip_nonfinite
    return ValueError(
        f"{error}; the last good checkpoint is {good[0]}. `learnalg replay {run.folder} {error.step}` shows more; "
        f"try smaller learning rates" + (", or --skip-nonfinite to go on without such steps" if can_skip else "")
    )


def _log(run: Run, state: TrainState, journal: Journal, pace: Pace, watcher: Watcher, batch: Batch) -> None:
    """The mean loss and the speed since the last line."""
    if is_first() and state.loss_tokens:  # none: all steps were skipped
        loss, speed = state.loss_sum / state.loss_tokens, pace.speed(state.step)
        share = learning_rate_share(run.config, state.step - 1)
        values = {"loss": loss, "learning_rate_share": share, "examples_per_second": speed}
        journal.add(state.step, state.seconds, values)
        pace.watch_threads(state, batch)
        watcher.on_log(
            Log(
                examples=state.step * run.config.train.batch_size,
                loss=loss,
                learning_rate=share * run.config.optim.learning_rate,
                speed=speed,
                seconds_left=pace.seconds_left(),
                counts_evaluations=pace.evaluation_seconds > 0,
                notice=pace.notice,
            )
        )
    state.loss_sum, state.loss_tokens = 0.0, 0


def _validate(run: Run, state: TrainState, journal: Journal, pace: Pace, watcher: Watcher) -> bool:
    """Evaluates on the validation set, shared by all processes. Returns whether the criterion to stop early is met."""
    config = run.config.train
    wanted = tuple(dict.fromkeys((*TOLERANCES, config.stop_tolerance)))
    with pace.paused():  # evaluation is not training time
        predictions = predictions_of(state.model, Problem(run.config.data), config.eval_num, config.seed, split="valid")
        report = report_of(predictions, wanted)
    if is_first():
        pace.evaluation_seconds = report.seconds / report.num
        values = {"valid_loss": report.loss, "accuracy": report.accuracy, "well_formed": report.well_formed}
        if len(report.by_dimension) > 1:
            values["by_dimension"] = {size: part.accuracy["l1"] for size, part in report.by_dimension.items()}
        samples = samples_of(predictions, NUM_SAMPLES)
        values["samples"] = [sample.as_json() for sample in samples]
        journal.add(state.step, state.seconds, values)
        watcher.on_evaluation(state.step * config.batch_size, report)
        watcher.on_samples(samples)
    share = report.accuracy["l1"][str(config.stop_tolerance)]
    return bool(highest(int(bool(config.stop_accuracy) and share >= config.stop_accuracy)))


def _write_result(run: Run, state: TrainState, watcher: Watcher) -> None:
    """Writes the weights, evaluates them, and writes the result, with the SHA-256 of the weights' file."""
    config = run.config
    sha256 = save_model(run.folder / MODEL_FILE, config, state.model, step=state.step) if is_first() else ""
    report = evaluate(
        state.model,
        Problem(config.data),
        config.train.final_num,
        config.train.seed,
        FINAL_TOLERANCES,
        split="valid",
        done=watcher.on_evaluated,
    )
    if not is_first():
        return
    sessions = run.sessions()
    origin = sessions[0].get("origin")
    result = Result(
        config=config,
        steps=state.step,
        examples=state.step * config.train.batch_size,
        seconds=round(state.seconds, 1),
        parameters=sum(p.numel() for p in state.model.parameters()),
        flops_per_example=flops_per_example(state.model, config),
        report=report,
        provenance=provenance() | {"sessions": len(sessions), "begun": sessions[0]["time"]},
        sha256=sha256,
        curve=run.curve(),
        origin=Origin(**origin) if origin else None,
    )
    result.write(run.folder / RESULT_FILE)


def origin_of(config: RunConfig) -> Origin | None:
    """What a run started from, and all that was spent on that."""
    name, part = config.train.origin
    if not name:
        return None
    path = result_of(find_model(name))
    if not path.is_file():
        return Origin(name, part)
    known = Result.read(path)
    return Origin(name, part, known.all_examples, known.all_seconds, known.all_flops)


def _save(run: Run, state: TrainState) -> None:
    """A checkpoint, and the weights for those who evaluate a run before its end."""
    if not is_first():
        return
    tensors = {f"model.{name}": tensor for name, tensor in state.model.state_dict().items()}
    tensors |= {f"optim.{name}": tensor for name, tensor in state.optimizer.state_tensors().items()}
    try:
        check_finite(state, tensors)
    except NotFiniteError as error:
        raise _explained(run, error) from None
    kept = asdict(Kept(**{name: getattr(state, name) for name in KEPT}))
    metadata = {"step": str(state.step), "kept": json.dumps(kept)} | identity(run.config)
    save_checkpoint(run.checkpoints, state.step, tensors, metadata)
    save_model(run.folder / MODEL_FILE, run.config, state.model, step=state.step)


@dataclass(frozen=True)
class Kept:
    """What a checkpoint has of a state besides tensors."""

    seconds: float
    loss_sum: float
    loss_tokens: int
    stopped: bool
    skipped: int = 0  # newer than the others


KEPT = tuple(field.name for field in fields(Kept))


def restore(state: TrainState, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    def part(prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}

    set_weights(state.model, part("model."), "the checkpoint")
    state.optimizer.load_state_tensors(part("optim."))
    state.step = int(metadata["step"])
    kept = built(Kept, parse_json(metadata.get("kept", "{}").encode()), "kept")
    for name in KEPT:
        setattr(state, name, getattr(kept, name))
