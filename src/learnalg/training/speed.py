"""How fast this machine makes data, trains and decodes, and what share of its peak FLOP/s that is.

Everything is measured in one run, the cases interleaved, by the median: a noisy moment hits all alike. FLOPs are
counted by torch on one step, forward and backward, matrix products only, without the optimiser's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from learnalg.config import RunConfig, replace_fields
from learnalg.config.presets import preset
from learnalg.data import Stream, fixed_set
from learnalg.evaluation.evaluate import predict
from learnalg.problem import Problem
from learnalg.training.devices import as_torch_has_it, pick_device, prepare_cpu
from learnalg.training.flops import count_flops
from learnalg.training.loop import settle
from learnalg.training.step import TrainState, new_state, train_step

PAPER_4_1 = {"task": "eigenvalues", "encoder_layers": 4, "decoder_layers": 1, "batch_size": 256}

CASES: dict[str, RunConfig] = {
    "fast: eigenvalues 3x3": replace_fields(preset("fast"), task="eigenvalues", dim="3"),
    "fast: eigenvalues 5x5": replace_fields(preset("fast"), task="eigenvalues", dim="5"),
    "fast: add 5x5, 1/1": replace_fields(preset("fast"), task="add", encoder_layers=1, decoder_layers=1),
    "paper: eigenvalues 5x5, 4/1": replace_fields(preset("paper"), **PAPER_4_1),
}


@dataclass(frozen=True)
class Speed:
    name: str
    data: float  # batches made, in examples a second
    training: float  # examples a second
    decoding: float  # examples a second
    flops: float  # of one example, forward and backward
    share: float  # of the machine's peak FLOP/s, in its fastest precision
    gain: float  # how many times faster than the same step in fp32, eager, with plain Adam


def _plain(config: RunConfig, device: torch.device) -> TrainState:
    """The same network and batch without what makes a step fast: fp32, not compiled, Adam a tensor at a time, and
    products as torch has them (`as_torch_has_it`)."""
    state = new_state(replace_fields(config, optimizer="adam", precision="fp32", compile=False), device)
    adam = torch.optim.Adam(state.optimizer.params, config.optim.learning_rate, foreach=False)
    state.optimizer.parts = [adam]
    return state


def machine_rate(dtype: torch.dtype) -> float:
    """FLOPs a second of a matrix product of a size that suits the machine."""
    a, b = torch.ones(2048, 512, dtype=dtype), torch.ones(512, 512, dtype=dtype)
    return 2 * 2048 * 512 * 512 / _seconds(torch.matmul, a, b)


def _seconds(work: Callable[..., object], *arguments: object) -> float:
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


def measure(cases: dict[str, RunConfig], rounds: int, decode_num: int = 500) -> tuple[dict[str, float], list[Speed]]:
    """The machine's FLOP/s by precision, and the speed of each case."""
    prepare_cpu()
    device = pick_device("cpu")
    configs = {name: settle(config, device) for name, config in cases.items()}
    states = {name: new_state(config, device) for name, config in configs.items()}
    plain = {name: _plain(config, device) for name, config in configs.items()}
    problems = {name: Problem(config.data) for name, config in configs.items()}
    streams = {name: Stream(problems[name], 1, "train", config.train.batch_size) for name, config in configs.items()}
    batches = {name: stream.batch(0) for name, stream in streams.items()}
    sources = {name: next(fixed_set(problem, decode_num, 0)).sources for name, problem in problems.items()}
    rates: dict[str, list[float]] = {"fp32": [], "bf16": []}
    times: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in configs}
    for round_ in range(rounds + 1):  # the first warms up
        machine = {"fp32": machine_rate(torch.float32), "bf16": machine_rate(torch.bfloat16)}
        if round_:
            for precision, rate in machine.items():
                rates[precision].append(rate)
        for name, state in states.items():
            made = _seconds(streams[name].batch, round_)
            trained = _seconds(train_step, state, batches[name])
            with as_torch_has_it():
                plainly = _seconds(train_step, plain[name], batches[name])
            state.model.eval()
            decoded = _seconds(predict, state.model, problems[name], sources[name])
            state.model.train()
            if round_:
                times[name].append((made, trained, plainly, decoded))
    best = {precision: statistics.median(values) for precision, values in rates.items()}
    speeds = []
    for name, config in configs.items():
        made, trained, plainly, decoded = (statistics.median(column) for column in zip(*times[name], strict=True))
        size = config.train.batch_size
        flops = count_flops(states[name].model, batches[name].sources, batches[name].targets) / size
        share = flops * size / trained / max(best.values())
        gain = plainly / trained
        speeds.append(Speed(name, size / made, size / trained, decode_num / decoded, flops, share, gain))
    return best, speeds
