"""The loop: batches in, weights out, and nothing lost in between.

    >>> run = train(replace_fields(preset("fast"), task="add", dim="2", examples=20_000), Path("runs/add2"))

A run is a function of its config: batch i comes from the stream, the learning rate from the step, dropout from
(seed, step, process). So a run that was stopped, by Ctrl-C, a signal or a power cut, goes on to the same
weights as one that was not.

Under torchrun each process takes its share of every batch, and the first one writes.
"""

from __future__ import annotations

import io
import json
import time
from contextlib import closing, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from learnalg.budget import with_budget
from learnalg.checkpoint import forget_checkpoints_after, load_checkpoint, save_checkpoint
from learnalg.config import RunConfig, replace_fields
from learnalg.curriculum import Lessons
from learnalg.data import SPLITS, Stream, prefetch
from learnalg.evaluate import TOLERANCES, Report, evaluate
from learnalg.flops import flops_per_example
from learnalg.models import check_model
from learnalg.optim import rate
from learnalg.preflight import check_disk, check_memory, check_tensorboard
from learnalg.processes import (
    InterruptedRunError,
    bf16_pays,
    catch_signals,
    is_first,
    join_processes,
    own_part,
)
from learnalg.progress import Silent, Watcher
from learnalg.runs import MODEL_FILE, Run, load_weights, provenance, save_model, set_weights, write_json
from learnalg.step import TrainState, start, train_step

RESULT_FILE = "result.json"
LOG_EVERY = 10  # steps
FINAL_SEED = 0  # of the final test set
PRIOR_NUM = 4_096  # examples whose words are counted for the prior


def train(config: RunConfig, out: Path, init: Path | None = None, watcher: Watcher | None = None) -> Run:
    """A new run in the folder `out`; `init` is a run or model whose weights it starts from."""
    check_tensorboard(config)
    with join_processes(config) as device:
        config = settle(config, device)
        check_memory(config)
        part = config.train.init_part
        if init is None and part != "all":
            raise ValueError(f"init_part {part}: of which model? --init")
        weights = load_weights(init)[1] if init else None
        state = start(config, device)
        if weights is not None and init is not None:
            set_weights(state.model, weights, init, part)
        # Matrices that cannot be drawn or written, in any split, are refused here, before there is a folder.
        for split in SPLITS:
            Stream(config.data, config.train.seed, split, 1).batch(0)
        Lessons(config).batch(0)
        first = Stream(config.data, config.train.seed, "train", PRIOR_NUM).batch(0)
        if (init is None or part == "encoder") and config.optim.prior_bias:
            state.model.set_prior(torch.from_numpy(first.targets).to(device))
        check_disk(out, state.model)
        run = Run.create(out, config) if is_first() else Run(out, config)
        with run.locked() if is_first() else nullcontext():
            if is_first():
                run.add_session(device=str(device), init=str(init or ""), threads=config.train.threads)
                _save(run, state)
            return _loop(run, state, watcher or Silent())


def resume(folder: Path, checkpoint: str = "", watcher: Watcher | None = None, examples: int | None = None) -> Run:
    """Goes on with a run from its newest checkpoint, or from the one named; `examples` is another budget for it."""
    run = Run.open(folder)
    if (folder / RESULT_FILE).is_file():  # also a run that stopped early is finished
        return run
    check_tensorboard(run.config)
    with join_processes(run.config) as device, run.locked() if is_first() else nullcontext():
        tensors, metadata = load_checkpoint(run.checkpoints, checkpoint)
        if examples is not None:
            run = replace(run, config=with_budget(run.config, examples, int(metadata["step"])))
        state = start(run.config, device)
        _restore(state, tensors, metadata)
        check_disk(folder, state.model)
        if is_first():
            run.forget_metrics_after(state.step)
            forget_checkpoints_after(run.checkpoints, state.step)
            budget = {} if examples is None else {"examples": examples}
            if budget:
                run.save_config()
            run.add_session(device=str(device), resumed_at=state.step, threads=run.config.train.threads, **budget)
        return _loop(run, state, watcher or Silent())


def settle(config: RunConfig, device: torch.device) -> RunConfig:
    """Replaces 'auto' by what it means here, so that the run's config says what was done, and is resumed so."""
    check_model(config.model)
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


def _loop(run: Run, state: TrainState, watcher: Watcher) -> Run:
    config, num_steps = run.config, run.config.train.num_steps
    size, eval_every = config.train.batch_size, max(1, round(config.train.eval_every / config.train.batch_size))
    lessons = Lessons(config)
    board = _tensorboard(run, state.step)
    started, before = time.monotonic(), state.seconds
    last_save, logged_at, logged_step = started, started, state.step
    final = state.stopped or state.step >= num_steps
    with catch_signals() as signals, closing(board):
        for batch in prefetch(lessons, state.step, state.step if final else num_steps, config.train.workers):
            train_step(state, own_part(batch))
            now = time.monotonic()
            state.seconds = before + now - started
            final = state.step == num_steps
            if is_first() and (state.step % LOG_EVERY == 0 or final):
                speed = (state.step - logged_step) * size / max(now - logged_at, 1e-9)
                logged_at, logged_step = now, state.step
                left = (num_steps - state.step) * size / speed
                loss = state.loss_sum / max(state.loss_tokens, 1)
                share = rate(config.optim, state.step - 1, num_steps)
                values = {"loss": loss, "rate": share, "examples_per_second": speed}
                _log(run, board, state, values)
                watcher.on_log(state.step * size, loss, speed, left)
            if state.step % LOG_EVERY == 0:
                state.loss_sum, state.loss_tokens = 0.0, 0
            if state.step % eval_every == 0 or final:
                state.stopped = _evaluate_along(run, board, state, watcher)
                final |= state.stopped
                logged_at += time.monotonic() - now  # evaluation is not training time
            number = signals.received()
            if is_first() and (number or final or time.monotonic() - last_save >= config.train.checkpoint_seconds):
                _save(run, state)
                last_save = time.monotonic()
            if number and not final:
                raise InterruptedRunError(number, state.step)
            if final:
                break
    if is_first():
        watcher.on_final_test(config.train.final_num)
        _finish(run, state)
    if dist.is_initialized():
        dist.barrier()  # nobody leaves before the first process is done
    return run


def _evaluate_along(run: Run, board: Any, state: TrainState, watcher: Watcher) -> bool:
    """On the fixed validation set; whether the criterion to stop early is met, agreed by all processes."""
    config, reached = run.config.train, torch.zeros(1)
    if is_first():
        wanted = tuple(dict.fromkeys((*TOLERANCES, config.stop_tolerance)))
        report = evaluate(state.model, run.config.data, config.eval_num, config.seed, wanted, split="valid")
        values = {"valid_loss": report.loss, "accuracy": report.accuracy, "well_formed": report.well_formed}
        _log(run, board, state, values)
        watcher.on_evaluation(state.step * config.batch_size, report)
        share = report.accuracy["l1"][str(config.stop_tolerance)]
        reached[0] = bool(config.stop_accuracy) and share >= config.stop_accuracy
    if dist.is_initialized():
        dist.broadcast(reached, 0)
    return bool(reached)


def _finish(run: Run, state: TrainState) -> None:
    tolerances = (*TOLERANCES, 0.0)  # 0: exact, which is what the paper counts for transposition
    report = evaluate(state.model, run.config.data, run.config.train.final_num, FINAL_SEED, tolerances)
    write_json(run.folder / RESULT_FILE, result(run, state, report))


def result(run: Run, state: TrainState, report: Report) -> dict[str, Any]:
    return {
        "config": asdict(run.config),
        "seed": run.config.train.seed,
        "steps": state.step,
        "examples": state.step * run.config.train.batch_size,
        "seconds": round(state.seconds, 1),
        "parameters": sum(p.numel() for p in state.model.parameters()),
        "flops_per_example": flops_per_example(state.model, run.config),
        "report": asdict(report),
        "provenance": provenance(),
    }


def curve(run: Run) -> list[dict[str, Any]]:
    """How a run learned: its evaluations along the way."""
    return [
        {
            "examples": line["examples"],
            "valid_loss": line["valid_loss"],
            "accuracy": line["accuracy"]["l1"],
            "l2": line["accuracy"]["l2"],
            "linf": line["accuracy"]["linf"],
        }
        for line in run.metrics()
        if "accuracy" in line
    ]


def _log(run: Run, board: Any, state: TrainState, values: dict[str, Any]) -> None:
    examples = state.step * run.config.train.batch_size
    run.add_metrics({"step": state.step, "examples": examples, "seconds": round(state.seconds, 2)} | values)
    if run.config.train.tensorboard:
        for name, value in values.items():
            if isinstance(value, float):
                board.add_scalar(name, value, examples)
        for tolerance, share in values.get("accuracy", {}).get("l1", {}).items():
            board.add_scalar(f"accuracy/{tolerance}", share, examples)


def _tensorboard(run: Run, step: int) -> Any:
    """A writer of events, or something that only closes."""
    if not run.config.train.tensorboard or not is_first():
        return io.StringIO()
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(run.folder / "tensorboard"), purge_step=step * run.config.train.batch_size + 1)


def _save(run: Run, state: TrainState) -> None:
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

    set_weights(state.model, part("model."), Path("checkpoint"))
    state.optimizer.load_state_tensors(part("optim."))
    state.step = int(metadata["step"])
    for name, value in json.loads(metadata["kept"]).items():
        setattr(state, name, value)
