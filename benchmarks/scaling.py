"""What training takes on more GPUs than there are here: predictions from measured and counted numbers.

    python benchmarks/scaling.py --measure   # examples a second that one core draws, solves and writes in tokens
    python benchmarks/scaling.py             # docs/scaling.md again, from results/scaling/ and the assumptions

A step of n GPUs takes the longer of two: all GPUs compute their part of the batch and then add up their gradients; and
the next batch is made. Computing is FLOPs over the rate of a GPU. Gradients go round a ring: each GPU sends
2 (n - 1) / n times their bytes. Each process makes the whole batch on one core, and takes its rows.
"""

# ruff: noqa: E402 - NumPy reads the number of threads when it is loaded
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from learnalg.config import RunConfig
from learnalg.data import Stream
from learnalg.files import read_json, write_json, write_whole
from learnalg.models import build, sides
from learnalg.problem import Problem
from learnalg.reproduction.configs import MILLION, paper
from learnalg.reproduction.report.writing import between
from learnalg.training.flops import counted_flops
from learnalg.training.run import provenance

ROOT = Path(__file__).parents[1]
PAGE, RESULTS = ROOT / "docs" / "scaling.md", ROOT / "results" / "scaling"
SECTIONS = ("processes", "data", "costs", "predictions")


@dataclass(frozen=True)
class Cluster:
    """What is assumed of the machines."""

    rate: float = 989e12  # bf16 FLOPs a second of a GPU at its best (H100)
    share: float = 0.25  # of that rate, which networks of 512 dimensions reach
    memory: float = 60e9  # bytes of a GPU for activations
    inside: float = 450e9  # bytes a second from a GPU to another one of its node of 8
    between: float = 50e9  # bytes a second from a GPU to one of another node
    latency: float = 5e-6  # seconds of each hop
    tokens: int = 16_384  # that a GPU needs at once to reach its share


NODE = 8
GPUS = (8, 64, 256, 1_024)
MODELS: dict[str, tuple[RunConfig, int]] = {  # the paper's largest, then 50x50; with the paper's examples
    "eigenvalues 5x5, FP15, 6/1": (paper("eigenvalues", "5", "6/1", "fp15", 60 * MILLION), 60),
    "eigenvalues 15x15, FP15, 6/6": (paper("eigenvalues", "15", "6/6", "fp15", 180 * MILLION), 180),
    "SVD 4x4, P1000, 6/6": (paper("svd", "4", "6/6", "p1000", 150 * MILLION, symmetric=True), 150),
    "inverse 5x5, P1000, 6/6": (paper("inverse", "5", "6/6", "p1000", 400 * MILLION), 400),
    "eigenvalues 50x50, FP15, 6/6": (paper("eigenvalues", "50", "6/6", "fp15", 360 * MILLION), 360),
    "inverse 50x50, FP15/P1000, 6/6": (paper("inverse", "50", "6/6", "fp15/p1000", 400 * MILLION), 400),
}
DATA = [(task, dim) for task in ("eigenvalues", "eigenvectors", "inverse") for dim in ("5", "10", "20", "50")]


@dataclass(frozen=True)
class Cost:
    """Of one example of a model."""

    source: int  # tokens
    target: int
    parameters: int
    flops: float
    attention: float  # share of the FLOPs that grows with the square of the length
    vocabulary: float  # share of the FLOPs for logits
    memory: float  # bytes of attention weights in bf16, kept for the backward pass


def cost_of(config: RunConfig) -> Cost:
    problem, model = Problem(config.data), config.model
    source, target = problem.lengths
    with torch.device("meta"):
        parameters = sum(p.numel() for p in build(model, *sides(problem)).parameters())
    pairs = {
        "encoder": model.encoder_layers * source**2,
        "decoder": model.decoder_layers * (target**2 + target * source),
    }
    # Queries times keys and weights times values: 2 d FLOPs a pair each; three times that with the backward pass.
    attention = sum(3 * 4 * model.width(side) * num for side, num in pairs.items())
    vocabulary = 3 * 2 * model.width("decoder") * len(problem.tokenizers[1].tokens) * target
    memory = sum(2 * model.num_heads(side) * num for side, num in pairs.items())
    flops = counted_flops(config)
    return Cost(source, target, parameters, flops, attention / flops, vocabulary / flops, memory)


@dataclass(frozen=True)
class Prediction:
    gpus: int
    batch: int
    compute: float  # seconds of a step
    reduce: float
    data: float

    @property
    def seconds(self) -> float:
        return max(self.compute + self.reduce, self.data)

    @property
    def limit(self) -> str:
        if self.data > self.compute + self.reduce:
            return "data"
        return "GPUs" if self.compute > self.reduce else "links"

    def examples(self) -> float:
        """A second."""
        return self.batch / self.seconds


def predict(cost: Cost, drawn: float, gpus: int, cluster: Cluster) -> Prediction:
    """`drawn`: examples a second that one core makes."""
    own = max(round(cluster.tokens / (cost.source + cost.target)), 1)
    compute = own * cost.flops / (cluster.rate * cluster.share)
    speed = cluster.inside if gpus <= NODE else cluster.between
    sent = 2 * (gpus - 1) / gpus * gradient_bytes(cost.parameters)
    return Prediction(gpus, own * gpus, compute, sent / speed + 2 * (gpus - 1) * cluster.latency, own * gpus / drawn)


def gradient_bytes(parameters: int) -> int:
    """fp32, and the summed loss."""
    return 4 * (parameters + 1)


def measure(rounds: int) -> dict[str, Any]:
    """Examples a second on one core, and the shares of time of the solver and of writing solutions in tokens."""
    problems = {f"{task} {dim}x{dim}": Problem(paper(task, dim, "1/1", "fp15/p1000", 1).data) for task, dim in DATA}
    problems |= {name: Problem(config.data) for name, (config, _) in MODELS.items()}
    sizes = {name: 32 if max(problem.lengths) > 1_000 else 1_024 for name, problem in problems.items()}
    streams = {name: Stream(problem, 1, "train", sizes[name]) for name, problem in problems.items()}
    times: dict[str, list[tuple[float, float, float]]] = {name: [] for name in problems}
    for round_ in range(rounds + 1):  # the first builds tables
        for name, problem in problems.items():
            task, target = problem.tasks[0][1], problem.tokenizers[1]
            whole, batch = timed(streams[name].batch, round_)
            (group,) = batch.groups
            solving, solutions = timed(task.solve, group.inputs)
            writing, _ = timed(target.encode, solutions, 0)
            if round_:
                times[name].append((whole, solving, writing))
    found = {}
    for name, rows in times.items():
        whole, solving, writing = (statistics.median(column) for column in zip(*rows, strict=True))
        found[name] = {
            "examples_per_second": round(sizes[name] / whole, 1),
            "solving": round(solving / whole, 3),
            "writing": round(writing / whole, 3),
        }
    return found


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    made = work(*arguments)
    return time.perf_counter() - started, made


def table(head: str, rows: list[list[str]]) -> str:
    names = head.split(" | ")
    return "\n".join("| " + " | ".join(row) + " |" for row in [names, ["---"] * len(names), *rows])


def processes_table(measured: dict[str, Any]) -> str:
    speeds, traffic = [], []
    for name, case in measured["cases"].items():
        size, alone = case["batch_size"], case["1 process, 1 threads"]
        ways = ("1 process, 1 threads", "1 process, 2 threads", "2 processes")
        speeds.append([name, *(f"{size / case[way]:.0f} ({alone / case[way]:.2f})" for way in ways)])
        sizes = (gradient_bytes(case["parameters"]), case["given"], case["carried"] / 2)
        times = (f"{1000 * case[what]:.0f} ms" for what in ("waited", "2 processes"))
        traffic.append([name, f"{case['parameters']:,}", *(f"{num:,.0f}" for num in sizes), *times])
    fast = table("network | 1 process | 1 process, 2 threads | 2 processes", speeds)
    head = "network | parameters | bytes by formula | bytes counted | bytes sent | time for it | of a step of"
    return f"{fast}\n\n{table(head, traffic)}"


def data_table(drawn: dict[str, Any]) -> str:
    rows = []
    for name in (f"{task} {dim}x{dim}" for task, dim in DATA):
        found = drawn[name]
        shares = (percent(found[part]) for part in ("solving", "writing"))
        rows.append([name, f"{found['examples_per_second']:,.0f}", *shares])
    return table("problem | examples a second | solving | writing solutions", rows)


def costs_table(costs: dict[str, Cost], cluster: Cluster) -> str:
    rows = [
        [
            name,
            f"{cost.source:,} / {cost.target:,}",
            f"{cost.parameters / 1e6:.0f} M",
            f"{cost.flops / 1e9:,.1f}",
            percent(cost.attention),
            percent(cost.vocabulary),
            f"{cost.memory / 1e6:,.1f}",
            f"{cluster.memory / cost.memory:,.0f}",
        ]
        for name, cost in costs.items()
    ]
    head = "model | tokens read / written | parameters | GFLOPs | attention | logits | attention weights, MB"
    return table(f"{head} | examples that fit", rows)


def predictions_table(costs: dict[str, Cost], drawn: dict[str, Any], cluster: Cluster) -> str:
    parts = []
    for name, cost in costs.items():
        rate, budget, rows = drawn[name]["examples_per_second"], MODELS[name][1] * MILLION, []
        for gpus in GPUS:
            found = predict(cost, rate, gpus, cluster)
            shared = max(found.compute + found.reduce, found.data / gpus)
            times = (f"{1000 * seconds:,.1f}" for seconds in (found.compute, found.reduce, found.data))
            speed = [rounded(found.examples()), found.limit, rounded(found.batch / shared)]
            hours = budget * shared / found.batch / 3600
            done = [f"{budget / found.batch:,.0f}", f"{hours:.0f}" if hours >= 10 else f"{hours:.2g}"]
            rows.append([f"{gpus:,}", f"{found.batch:,}", *times, *speed, *done])
        head = "GPUs | batch | computing | adding up | data | examples/s | limit | if shared | steps | hours"
        parts.append(f"**{name}**, {MODELS[name][1]} million examples:\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def rounded(value: float) -> str:
    """To three digits: 439,919 is 440,000."""
    return f"{float(f'{value:.3g}'):,.0f}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"


def marks(section: str) -> tuple[str, str]:
    return f"<!-- {section}:begin -->", f"<!-- {section}:end -->"


def page(text: str, cluster: Cluster) -> str:
    """The page with all of its tables anew."""
    costs = {name: cost_of(config) for name, (config, _) in MODELS.items()}
    drawn = read_json(RESULTS / "data.json")["drawn"]
    tables = (
        processes_table(read_json(RESULTS / "processes.json")),
        data_table(drawn),
        costs_table(costs, cluster),
        predictions_table(costs, drawn, cluster),
    )
    for section, written in zip(SECTIONS, tables, strict=True):
        text = between(text, written, marks(section))
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure first how fast one core makes examples")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--print", action="store_true", help="print the predictions, and write nothing")
    for name, value in asdict(Cluster()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help=f"assumption of --print [{value:g}]")
    arguments = vars(parser.parse_args())
    cluster = Cluster(**{name: arguments[name] for name in asdict(Cluster())})
    if arguments["measure"]:
        write_json(RESULTS / "data.json", {"drawn": measure(arguments["rounds"]), "provenance": provenance()})
    if arguments["print"]:
        costs = {name: cost_of(config) for name, (config, _) in MODELS.items()}
        print(predictions_table(costs, read_json(RESULTS / "data.json")["drawn"], cluster))
        return
    text = PAGE.read_text()
    if cluster != Cluster():
        raise SystemExit("other assumptions are for --print: the page has its own")
    write_whole(PAGE, page(text, cluster).encode())


if __name__ == "__main__":
    main()
