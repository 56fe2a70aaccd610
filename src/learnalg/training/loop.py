"""The loop: batches in, weights and a result out, nothing lost in between.

    >>> run = train(replace_fields(preset("fast"), task="add", dim="2", examples=20_000), Path("runs/add2"))

A run is a function of its config: batch i comes from the stream, the learning rate from the step, dropout from
(seed, step, process). So a run that was stopped, by Ctrl-C, a signal or a power cut, and resumed has the weights of one
that was not. Under torchrun each process takes its share of every batch, and the first one writes.

A run looks at the validation split only. The test split is for `learnalg evaluate` and `learnalg release`.
"""

from __future__ import annotations

import json
import math
import time
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from learnalg.config import RunConfig, replace_fields
from learnalg.data import TrainingData, prefetch
from learnalg.evaluation.evaluate import TOLERANCES, evaluate
from learnalg.evaluation.result import Origin, Report, Result
from learnalg.files import checksum
from learnalg.models.weights import save_model, set_weights
from learnalg.problem import Problem
from learnalg.training.budget import with_budget
from learnalg.training.checkpoint import forget_checkpoints_after, load_checkpoint, save_checkpoint
from learnalg.training.devices import (
    InterruptedRunError,
    bf16_pays,
    catch_signals,
    is_first,
    join_processes,
    own_part,
)
from learnalg.training.flops import flops_per_example
from learnalg.training.journal import Journal
from learnalg.training.optim import learning_rate_share
from learnalg.training.preflight import check_before_start, check_disk, check_tensorboard
from learnalg.training.run import Run, provenance
from learnalg.training.step import TrainState, new_state, set_first_weights, train_step
from learnalg.zoo.load import MODEL_FILE, RESULT_FILE, find_model, result_of

LOG_EVERY = 10  # steps
FINAL_TOLERANCES = (*TOLERANCES, 0.0)  # 0: exact, which is what the paper counts for transposition


class Watcher(Protocol):
    """Receives the progress of a run."""

    def on_log(self, examples: int, loss: float, speed: float, seconds_left: float) -> None: ...

    def on_evaluation(self, examples: int, report: Report) -> None: ...

    def on_final_evaluation(self, num: int) -> None: ...


class Silent:
    def on_log(self, examples: int, loss: float, speed: float, seconds_left: float) -> None:
        pass

    def on_evaluation(self, examples: int, report: Report) -> None:
        pass

    def on_final_evaluation(self, num: int) -> None:
        pass


def train(config: RunConfig, out: Path, watcher: Watcher | None = None) -> Run:
    """A new run in the folder `out`: checks, the weights to start from, all steps, the result."""
    with join_processes(config) as device:
        config = settle(config, device)
        check_before_start(config, out)
        state = new_state(config, device)
        set_first_weights(state)
        origin = origin_of(config)  # now: it may be gone when the run ends
        run = Run.create(out, config) if is_first() else Run(out, config)
        with _lock(run):
            if is_first():
                started_from = {"origin": asdict(origin)} if origin else {}
                run.add_session(device=str(device), threads=config.train.threads, **started_from)
            return _to_the_end(run, state, watcher or Silent())


def resume(folder: Path, checkpoint: str = "", watcher: Watcher | None = None, examples: int | None = None) -> Run:
    """Continues a run from its newest checkpoint, or from the one named; `examples` is another budget for it."""
    run = Run.open(folder)
    if is_finished(folder):
        return run
    check_tensorboard(run.config)
    with join_processes(run.config) as device, _lock(run):
        tensors, metadata = load_checkpoint(run.checkpoints, checkpoint)
        if examples is not None:
            run = replace(run, config=with_budget(run.config, examples, int(metadata["step"])))
        state = new_state(run.config, device)
        _restore(state, tensors, metadata)
        check_disk(folder, state.model)
        if is_first():
            run.forget_metrics_after(state.step)
            forget_checkpoints_after(run.checkpoints, state.step)
            run.save_config()
            budget = {} if examples is None else {"examples": examples}
            run.add_session(device=str(device), resumed_at=state.step, threads=run.config.train.threads, **budget)
        return _to_the_end(run, state, watcher or Silent())


def is_finished(folder: Path) -> bool:
    """Whether a run has its result, and the weights of that result. A run that stopped early has both."""
    model, result = folder / MODEL_FILE, folder / RESULT_FILE
    return result.is_file() and model.is_file() and Result.read(result).sha256 == checksum(model)


def _lock(run: Run) -> AbstractContextManager[None]:
    """The first process writes; it alone locks the folder."""
    return run.locked() if is_first() else nullcontext()


def settle(config: RunConfig, device: torch.device) -> RunConfig:
    """Replaces 'auto' by its value on this machine: the run's config has it, and resuming uses it."""
    if not config.train.threads:
        config = replace_fields(config, threads=torch.get_num_threads())
    if config.train.precision != "auto":
        return config
    torch.set_num_threads(config.train.threads)
    widest = max(config.model.width("encoder"), config.model.width("decoder"))
    pays = torch.tensor(int(bf16_pays(device, widest)))
    if dist.is_initialized():
        dist.broadcast(pays, 0)  # each measured for itself
    return replace_fields(config, precision="bf16" if pays else "fp32")


def _to_the_end(run: Run, state: TrainState, watcher: Watcher) -> Run:
    """All steps that are left, then the result."""
    _take_steps(run, state, watcher)
    if is_first():
        watcher.on_final_evaluation(run.config.train.final_num)
        _write_result(run, state)
    if dist.is_initialized():
        dist.barrier()  # nobody leaves before the first process is done
    return run


def _take_steps(run: Run, state: TrainState, watcher: Watcher) -> None:
    """Before each step, and after the last: a checkpoint if one is due, then the end if it has come."""
    config = run.config.train
    batches = prefetch(TrainingData(run.config), state.step, config.num_steps, config.workers)
    with catch_signals() as signals, closing(batches), closing(Journal(run, state.step)) as journal:
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
            train_step(state, own_part(next(batches)))
            state.seconds = before + time.monotonic() - started
            is_last = state.step == config.num_steps
            if state.step % LOG_EVERY == 0 or is_last:
                _log(run, state, journal, watcher)
            if is_last or state.step % max(1, round(config.eval_every / config.batch_size)) == 0:
                state.stopped = _validate(run, state, journal, watcher)


def _log(run: Run, state: TrainState, journal: Journal, watcher: Watcher) -> None:
    """The mean loss and the speed since the last line."""
    if is_first():
        size, num_steps = run.config.train.batch_size, run.config.train.num_steps
        loss = state.loss_sum / state.loss_tokens
        speed = journal.speed(state.step * size)
        share = learning_rate_share(run.config, state.step - 1)
        values = {"loss": loss, "learning_rate_share": share, "examples_per_second": speed}
        journal.add(state.step, state.seconds, values)
        watcher.on_log(state.step * size, loss, speed, (num_steps - state.step) * size / speed)
    state.loss_sum, state.loss_tokens = 0.0, 0


def _validate(run: Run, state: TrainState, journal: Journal, watcher: Watcher) -> bool:
    """Evaluates on the validation set. Returns whether the criterion to stop early is met, agreed by all processes."""
    config, reached = run.config.train, torch.zeros(1)
    if is_first():
        wanted = tuple(dict.fromkeys((*TOLERANCES, config.stop_tolerance)))
        problem = Problem(run.config.data)
        with journal.paused():  # evaluation is not training time
            report = evaluate(state.model, problem, config.eval_num, config.seed, wanted, split="valid")
        values = {"valid_loss": report.loss, "accuracy": report.accuracy, "well_formed": report.well_formed}
        if len(report.by_dimension) > 1:
            values["by_dimension"] = {size: part.accuracy["l1"] for size, part in report.by_dimension.items()}
        journal.add(state.step, state.seconds, values)
        watcher.on_evaluation(state.step * config.batch_size, report)
        share = report.accuracy["l1"][str(config.stop_tolerance)]
        reached[0] = bool(config.stop_accuracy) and share >= config.stop_accuracy
    if dist.is_initialized():
        dist.broadcast(reached, 0)
    return bool(reached)


def _write_result(run: Run, state: TrainState) -> None:
    """Writes the weights, evaluates them, and writes the result, with the SHA-256 of the weights' file."""
    config = run.config
    sha256 = save_model(run.folder / MODEL_FILE, config, state.model, step=state.step)
    report = evaluate(
        state.model, Problem(config.data), config.train.final_num, config.train.seed, FINAL_TOLERANCES, split="valid"
    )
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
    kept = {
        "seconds": state.seconds,
        "loss_sum": state.loss_sum,
        "loss_tokens": state.loss_tokens,
        "stopped": state.stopped,
    }
    save_checkpoint(run.checkpoints, state.step, tensors, {"step": str(state.step), "kept": json.dumps(kept)})
    save_model(run.folder / MODEL_FILE, run.config, state.model, step=state.step)


def _restore(state: TrainState, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    def part(prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}

    set_weights(state.model, part("model."), "the checkpoint")
    state.optimizer.load_state_tensors(part("optim."))
    state.step = int(metadata["step"])
    for name, value in json.loads(metadata["kept"]).items():
        setattr(state, name, value)
