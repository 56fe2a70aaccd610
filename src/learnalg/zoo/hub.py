"""A model as a folder in the layout of the Hugging Face hub: README.md (the card, with its YAML header),
model.safetensors, config.json, and result.json where there is one. No network is used.

>>> write_hub("runs/ev5", Path("hub/eigenvalues-5"))
>>> learnalg.load("hub/eigenvalues-5")
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from torch import nn

from learnalg.config import RunConfig, to_dict
from learnalg.evaluation.evaluate import TOLERANCES, Done, evaluate, ignore
from learnalg.evaluation.result import Report, Result, describe_matrices, percent, quoted
from learnalg.files import write_json, write_whole
from learnalg.models.weights import FORMAT, save_model
from learnalg.problem import Problem
from learnalg.zoo.cards import accuracy_table, describe_network, describe_problem, describe_training, hints
from learnalg.zoo.index import MODEL_FILE, RESULT_FILE, find_model, result_of
from learnalg.zoo.load import load_model

TEST_NUM, TEST_SEED = 10_000, 0
CARD_FILE, CONFIG_FILE = "README.md", "config.json"
OUR_LICENSE = "mit"  # of the package, its released models, and of runs unless said otherwise


def write_hub(
    model: str | Path,
    folder: Path,
    name: str = "",
    license: str = "",
    note: str = "",
    num: int = 0,
    replace: bool = False,
    done: Done = ignore,
) -> Report:
    """A run, a released model, a .safetensors or a .pth file. Its card has the accuracy on `num` examples of the test
    split; with 0 on 10,000, or the accuracy in its result, if that is of the test split."""
    name, weights = name or folder.resolve().name, find_model(model)
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not replace)):
        raise ValueError(f"{folder} exists already: choose another folder, or --replace")
    if weights.suffix == ".pth" and not license:
        raise ValueError(f"{weights} is not of this package: say the license of its weights with --license")
    config, network = load_model(model)
    result = Result.read(result_of(weights)) if result_of(weights).is_file() and weights.suffix != ".pth" else None
    report = result.report if result is not None and result.report.split == "test" and not num else None
    if report is None:
        tolerances = (*TOLERANCES, 0.0)
        problem = Problem(config.data)
        report = evaluate(network, problem, num or TEST_NUM, TEST_SEED, tolerances, split="test", done=done)
    folder.mkdir(parents=True, exist_ok=True)
    if weights.suffix == ".pth":
        save_model(folder / MODEL_FILE, config, network)
    else:
        write_whole(folder / MODEL_FILE, weights.read_bytes())
    if result is not None:
        dataclasses.replace(result, report=report).write(folder / RESULT_FILE)
    write_json(folder / CONFIG_FILE, {"format": FORMAT, "config": to_dict(config)})
    card = hub_card(name, config, network, report, license or OUR_LICENSE, result, note)
    write_whole(folder / CARD_FILE, card.encode())
    return report


def hub_card(
    name: str,
    config: RunConfig,
    network: nn.Module,
    report: Report,
    license: str,
    result: Result | None = None,
    note: str = "",
) -> str:
    """Markdown after a YAML header. JSON's text and numbers are YAML's."""
    tasks = [task for task, _ in Problem(config.data).tasks]
    text = json.dumps
    metrics = [
        f"      - type: accuracy\n        value: {text(round(share, 6))}\n        name: {text(_tolerance(tolerance))}"
        for tolerance, share in report.accuracy["l1"].items()
    ]
    tags = ["learnalg", "linear-algebra", "transformers-for-mathematics", *tasks]
    header = f"""---
license: {text(license)}
library_name: learnalg
tags:
{chr(10).join(f"- {text(tag)}" for tag in tags)}
metrics:
- accuracy
model-index:
- name: {text(name)}
  results:
  - task:
      type: {text(tasks[0] if len(tasks) == 1 else "+".join(tasks))}
    dataset:
      type: random-matrices
      name: {text(describe_matrices(report.data))}
      split: {text(report.split)}
    metrics:
{chr(10).join(metrics)}
---
"""
    parameters = sum(parameter.numel() for parameter in network.parameters())
    lines = {
        "Problem": describe_problem(config.data),
        "Network": f"{describe_network(config.model)}; {parameters:,} parameters.",
        "Told, unlike the paper's network": "; ".join(hints(config)) + "." if hints(config) else "nothing.",
        "Training": describe_training(result) if result is not None else "not known.",
        "Commit": f"`{result.provenance.get('commit') or 'none'}`" if result is not None else "",
        "Notes": note or (result.note if result is not None else ""),
        "Test": f"{report.num:,} examples of the {report.split} split (seed {report.seed}), greedy decoding, "
        f"{percent(report.well_formed)} % well-formed.",
    }
    body = [
        f"# {quoted(name)}",
        "",
        "A network that learned a problem of linear algebra from random matrices and their solutions.",
        "",
        *accuracy_table(report),
        "",
        *(f"- **{key}:** {quoted(line)}" for key, line in lines.items() if line),
        "",
        "## Use",
        "",
        "    learnalg solve FOLDER matrix.npy",
        "",
        'where `FOLDER` is this folder; in Python `learnalg.load("FOLDER").solve(matrix)`.',
        "",
        "The answer has a proven bound of its error, `residual`; `trusted` is false where that is not below 5 %.",
        "On other matrices than those above the model may be wrong.",
        "",
    ]
    return header + "\n".join(body)


def _tolerance(tolerance: str) -> str:
    return f"accuracy at {100 * float(tolerance):g} % tolerance (L1)" if float(tolerance) else "exact solutions"
