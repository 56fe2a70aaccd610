"""Tables and figures that need no training: encodings, parameters, spectra, failures of a model at hand, speed.

    >>> COMPUTED["encodings"]("laptop", Path("."))["rows"][0][1]
    {'paper': '[+, 3, 1, 4, E-2]', 'ours': '[+, 3, 1, 4, E-2]', 'digits': 1}

Each function takes the scale and the folder with results/, and gives columns and rows for a table, in which a place
has the paper's value and ours, and whatever else a figure is drawn from; {} if the model it needs is not there yet. At
scale smoke there is less of everything.
"""

from __future__ import annotations

import math
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from learnalg.config import DataConfig, ModelConfig, RunConfig, replace_fields
from learnalg.config.presets import preset
from learnalg.evaluation.analysis import analyse
from learnalg.evaluation.evaluate import predictions_of
from learnalg.evaluation.measurements import collect
from learnalg.models import build, count_parameters, sides
from learnalg.problem import Problem
from learnalg.problems.dims import Dims
from learnalg.problems.ensembles import Mixture
from learnalg.reproduction.claims import THRESHOLDS
from learnalg.reproduction.configs import describe
from learnalg.reproduction.experiment import paper_numbers, paper_table, text_label
from learnalg.reproduction.results import released_results
from learnalg.tokens import get_encoding
from learnalg.tokens.encoding import Floats
from learnalg.zoo.load import load_model, released

SHALLOW_DIM, SHALLOW_HEADS = 512, 8  # the side of a large model that has one layer (appendix D.3)
PORTION = 10_000  # matrices at once
NUM_BINS = 60
SPEED_MODELS = ("eigenvalues-3", "eigenvalues-5", "eigenvalues-8", "inverse-3", "inverse-5")
NUMPY: dict[str, Callable[[Floats], Floats]] = {"eigenvalues": np.linalg.eigvalsh, "inverse": np.linalg.inv}


def place(paper: Any = "", ours: Any = None, digits: int = 1, is_share: bool = False) -> dict[str, Any]:
    """Of a row. Ours is a number, or words, or None where there is only the paper's value. Shares, in percent, are
    compared by their difference."""
    return {"paper": paper, "ours": ours, "digits": digits} | ({"is_share": True} if is_share else {})


def encodings(scale: str, root: Path) -> dict[str, Any]:
    """Table 1: two numbers in our encodings, tokens for each number, sizes of the vocabularies."""
    columns, paper_rows = paper_table("table-1")
    rows = []
    for name, *papers in paper_rows:
        encoding = get_encoding(name.lower())
        written = [
            "[" + ", ".join(encoding.tokens[k] for k in encoding.encode(np.array(value))) + "]"
            for value in (3.14, -6.02e23)
        ]
        ours = (*written, len(encoding.slots), len(encoding.tokens))
        rows.append([place(name), *(place(p, o, digits=0) for p, o in zip(papers, ours, strict=True))])
    return {"columns": columns, "rows": rows}


def large_models(scale: str, root: Path) -> dict[str, Any]:
    """Table 18: parameters of the large models, FP15/P1000, the deep side being the decoder or the encoder.

    Heads that do not divide the dimensions get the next dimensions that they do divide: table 19 has 516/12, 645/15
    and 1032/24.
    """
    columns, paper_rows = paper_table("table-18")
    rows = []
    for name, base, larger_dim, more_heads in paper_rows:
        layers, dim, heads = (int(re.findall(r"\d+", text)[k]) for text, k in ((name, 0), (base, 0), (base, 1)))
        divided = math.ceil(dim / more_heads) * more_heads
        counts = [_both_ways(layers, *size) for size in ((dim, heads), (larger_dim, heads), (divided, more_heads))]
        papers = (base, larger_dim, more_heads)
        rows.append([place(name), *(place(p, c) for p, c in zip(papers, counts, strict=True))])
    return {"columns": columns, "rows": rows}


def _both_ways(layers: int, dim: int, heads: int) -> str:
    counts = []
    for deep, shallow in (("decoder", "encoder"), ("encoder", "decoder")):
        fields: dict[str, Any] = {f"{deep}_layers": layers, f"{shallow}_layers": 1}
        order = slice(None, None, 1 if deep == "encoder" else -1)
        fields |= {"dim_model": (dim, SHALLOW_DIM)[order], "heads": (heads, SHALLOW_HEADS)[order]}
        model = ModelConfig(**fields)
        counts.append(f"{_parameters(model, 'fp15', 'p1000') / 1e6:.1f} M as {deep}")
    return f"{dim} dimensions, {heads} heads: {', '.join(counts)}"


def parameters(scale: str, root: Path) -> dict[str, Any]:
    """Table 29: parameters counted on the built models."""
    columns, paper_rows = paper_table("table-29")
    rows = []
    for experiment, model, paper in paper_rows:
        sizes, dimensions, words = model.split(", ")
        encoder, decoder = (int(n) for n in sizes.removesuffix(" layers").split("/"))
        dim = int(dimensions.removesuffix(" dimensions"))
        source, _, target = words.lower().partition("/")
        config = ModelConfig(encoder_layers=encoder, decoder_layers=decoder, dim_model=(dim,))
        ours = _parameters(config, source, target or source)
        rows.append([place(experiment), place(model), place(paper, ours, digits=0)])
    return {"columns": columns, "rows": rows}


def _parameters(model: ModelConfig, source: str, target: str) -> int:
    data = DataConfig(input_encoding=source, output_encoding=target)
    return sum(count_parameters(model, *sides(Problem(data))).values())


def spectra(scale: str, root: Path) -> dict[str, Any]:
    """Figure 3: standard deviations of the eigenvalues of Wigner matrices, and histograms."""
    paper = paper_numbers()["figure-3"]
    num = 200 if scale == "smoke" else paper["matrices"]
    rows, histograms = [], []
    for name in paper["distributions"]:
        row = [place(name)]
        for n, expected in zip(paper["dimensions"], paper["expected_deviations"], strict=True):
            # As many bins as fit the semicircle, which ends at twice its deviation, and some room for the tails.
            edges = np.linspace(-3.0 * expected, 3.0 * expected, NUM_BINS + 1)
            deviation, counts = _spectrum(f"iid-{name.lower()}", n, num, edges)
            row.append(place(expected, deviation, digits=2))
            histograms.append({"law": name, "n": n, "edges": edges.tolist(), "counts": counts, "expected": expected})
        rows.append(row)
    columns = ["Coefficients", *(f"{n}x{n}" for n in paper["dimensions"])]
    return {"columns": columns, "rows": rows, "matrices": num, "histograms": histograms}


def _spectrum(law: str, n: int, num: int, edges: Floats) -> tuple[float, list[int]]:
    """Standard deviation of the eigenvalues of `num` n x n matrices, and how many of them lie in each bin."""
    rng, ensemble = np.random.default_rng((n, len(law))), Mixture((law,))
    counts, squares, total = np.zeros(len(edges) - 1, dtype=np.int64), 0.0, 0.0
    for start in range(0, num, PORTION):
        matrices = ensemble.draw(rng, min(PORTION, num - start), n, n, symmetric=True).matrices
        values = np.linalg.eigvalsh(matrices)
        counts += np.histogram(values, edges)[0]
        squares, total = squares + float((values**2).sum()), total + float(values.sum())
    mean = total / (num * n)
    return math.sqrt(squares / (num * n) - mean**2), counts.tolist()


ANALYSIS_SEED = 1  # a new test set: the final one of a run has seed 0
# How the keys of paper.toml end -> the tolerance; keys of thresholds -> what learnalg.evaluation.analysis calls them
TOLERANCES = {"5": "0.05", "2": "0.02", "1": "0.01", "0_5": "0.005", "25": "0.25"}
CONDITIONS = {"correct_condition_below": "right_98_below", "failed_condition_above": "failures_98_above"}


def eigenvectors_analysis(scale: str, root: Path) -> dict[str, Any]:
    """Section 4.5: what is wrong with predicted eigenvectors."""
    found = _anatomy("eigenvectors", "table-8/paper/fp15-p1000-5", scale, root)
    if not found:
        return {}
    vectors = found["vectors"]
    ours = _by_tolerance("accuracy_at_", found["accuracy"])
    ours |= _by_tolerance("reconstruction_at_", vectors["weak_accuracy"])
    ours |= _by_tolerance("eigenvalues_at_", vectors["eigenvalue_accuracy"])
    ours |= {f"unit_norms_within_{k}": _percent(vectors["norms"]["all"]["share"][TOLERANCES[k]]) for k in ("5", "1")}
    for key, limit in (("0_05", "0.05"), ("0_01", "0.01")):
        ours[f"dot_products_within_{key}"] = _percent(vectors["dots"]["all"]["share"][limit])
    ours |= {key: vectors["condition_of_h"][name] for key, name in CONDITIONS.items()}
    return _beside("eigenvectors-analysis", found, ours)


def inversion_analysis(scale: str, root: Path) -> dict[str, Any]:
    """Section 4.6: what is wrong with predicted inverses."""
    found = _anatomy("inverse", "table-9/paper/fp15-p1000-12-8", scale, root)
    if not found:
        return {}
    ours = _by_tolerance("accuracy_at_", found["accuracy"])
    ours |= _by_tolerance("inverse_at_", found["distance_accuracy"])
    ours |= {key: found["drivers"]["condition"][name] for key, name in CONDITIONS.items()}
    return _beside("inversion-analysis", found, ours)


def _anatomy(task: str, run: str, scale: str, root: Path) -> dict[str, Any]:
    """Of a released model of the task; at scale paper of the table's own run, at smoke of an untrained network."""
    path = root / "runs" / run if scale == "paper" else best_released(task, root)
    if scale != "smoke" and (path is None or (scale == "paper" and not path.is_dir())):
        return {}
    config, model = _untrained(task) if scale == "smoke" or path is None else load_model(path)
    problem, num = Problem(config.data), 50 if scale == "smoke" else 10_000
    # Bound to the grammar only where nothing was learned: else there would be no matrix to measure.
    predictions = predictions_of(model, problem, num, ANALYSIS_SEED, constrained=scale == "smoke")
    found: dict[str, Any] = analyse(problem, collect(predictions), thresholds=THRESHOLDS)[task]
    sizes = f"{config.data.dim}x{config.data.dim}, {describe(config)}"
    return found | {"model": "untrained" if scale == "smoke" or path is None else f"{path.name}: {sizes}"}


def best_released(task: str, root: Path) -> Path | None:
    """The released model of a task for the largest matrices, the paper's where there is one, among those that are right
    more often than not: where nothing is right no failure stands out. Of several, the one that is right most often."""
    ranks = {}
    for name, result in released_results(root).items():
        if result.config.data.task == task and name in released():
            share = result.report.accuracy["l1"]["0.05"]
            ranks[name] = share > 0.5, max(Dims.parse(result.config.data.dim).rows), share
    return Path(max(ranks, key=lambda name: ranks[name])) if ranks else None


def _untrained(task: str) -> tuple[RunConfig, nn.Module]:
    config = replace_fields(preset("fast-1"), task=task, dim="2", encoder_layers=1, dim_model=16, heads=2)
    return config, build(config.model, *sides(Problem(config.data))).eval()


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _by_tolerance(prefix: str, shares: dict[str, float]) -> dict[str, Any]:
    return {prefix + key: _percent(shares.get(tolerance)) for key, tolerance in TOLERANCES.items()}


def _beside(name: str, found: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """The paper's numbers in its order, each with ours; the anatomy with all that was measured."""
    ours |= {
        "model": found["model"],
        "well_formed": found["num"] - sum(found["malformed"].values()),
        "test_examples": found["num"],
    }
    rows = []
    for key, value in paper_numbers()[name].items():
        digits = 3 if "condition" in key else 0 if isinstance(value, int) and value > 1_000 else 1
        is_share = "_at_" in key or "_within_" in key
        rows.append([place(text_label(key)), place(value, ours.get(key), digits, is_share)])
    return {"columns": ["", "Ours (paper)"], "rows": rows, "anatomy": found}


def speed(scale: str, root: Path) -> dict[str, Any]:
    """Section 7: milliseconds a matrix, NumPy's and those of the models at hand, one matrix at a time and many."""
    from learnalg.zoo.model import load

    paper, (num, rounds) = paper_numbers()["speed"], (20, 2) if scale == "smoke" else (1_000, 7)
    rows = []
    for name in SPEED_MODELS[:2] if scale == "smoke" else SPEED_MODELS:
        if name not in released():
            continue
        model = load(name)
        task, n = model.config.data.task, Dims.parse(model.config.data.dim).rows[0]
        drawn = Mixture().draw(np.random.default_rng(0), num, n, n, symmetric=task == "eigenvalues").matrices
        known = {"eigenvalues": "eigenvalues", "inverse": "inversion"}[task] if n == 5 else ""
        layers = f"{model.config.model.encoder_layers}/{model.config.model.decoder_layers}"
        for who, work, key in (
            ("NumPy", NUMPY[task], f"{known}_numpy_ms"),
            (f"{name}, {layers} layers", model.solve, f"{known}_ms"),
        ):
            one = _milliseconds(work, drawn[0], rounds)
            many = _milliseconds(work, drawn, rounds) / num
            papers = paper.get(key, "")
            rows.append([place(f"{task} {n}x{n}"), place(who), place(papers, one, 4), place("", many, 4)])
    columns = ["Problem", "By", "One matrix, ms", f"{num:,} at once, ms a matrix"]
    return {"columns": columns, "rows": rows, "matrices": num}


def _milliseconds(work: Callable[[Floats], object], argument: Floats, rounds: int) -> float:
    """The median; the first round warms up."""
    times = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        work(argument)
        times.append(1e3 * (time.perf_counter() - started))
    return statistics.median(times[1:])


COMPUTED: dict[str, Callable[[str, Path], dict[str, Any]]] = {
    "encodings": encodings,
    "large-models": large_models,
    "parameters": parameters,
    "spectra": spectra,
    "eigenvectors-analysis": eigenvectors_analysis,
    "inversion-analysis": inversion_analysis,
    "speed": speed,
}
