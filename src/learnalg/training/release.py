"""Turns a finished run into a released model: its weights and card in the zoo, its result with the rest of the results.

    >>> release(Path("runs/svd"), "svd", also=("4", "4:symmetric"))

A release looks at the test split, which a run never does: 10,000 examples under seed 0, and as many of each size, or
size and ensemble, that is asked for besides. Weights are released in half precision, and tested so (decision 024).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from torch import Tensor

from learnalg.config import DataConfig
from learnalg.evaluation.evaluate import Done, evaluate, ignore
from learnalg.evaluation.result import Result
from learnalg.files import load_tensors, results_folder, save_tensors, write_whole
from learnalg.models.weights import build_model, read_model
from learnalg.problem import Problem
from learnalg.training.loop import FINAL_TOLERANCES
from learnalg.training.run import Run
from learnalg.zoo.cards import card
from learnalg.zoo.index import MODEL_FILE, RESULT_FILE, ZOO
from learnalg.zoo.load import check_weights

MOST_BYTES = 15_000_000
TEST_NUM, TEST_SEED = 10_000, 0


def release(
    folder: Path,
    name: str,
    note: str = "",
    uncommitted: str = "",
    also: tuple[str, ...] = (),
    zoo: Path = ZOO,
    results: Path | None = None,
    done: Done = ignore,
) -> Result:
    """The result and the card also say `note`, and what was not committed when the run was resumed."""
    if not name or Path(name).name != name:
        raise ValueError(f"name {name!r}: a released model has a plain name, without a folder")
    run, result_file = Run.open(folder), folder / RESULT_FILE
    if not result_file.is_file():
        raise ValueError(f"{folder} has not finished")
    provenance = _provenance(run, uncommitted)
    check_weights(folder / MODEL_FILE)
    config = read_model(folder / MODEL_FILE)[0]
    problems = {size: _alone(config.data, size) for size in also}  # refused before the first evaluation
    tensors, metadata = load_tensors(folder / MODEL_FILE)
    halves = {key: _half(key, tensor) for key, tensor in tensors.items()}
    if sum(tensor.nbytes for tensor in halves.values()) > MOST_BYTES:
        raise ValueError(f"the weights of {folder} are larger than {MOST_BYTES:,} bytes")
    model = build_model(config, halves, str(folder))
    report = evaluate(model, Problem(config.data), TEST_NUM, TEST_SEED, FINAL_TOLERANCES, split="test", done=done)
    tests = {
        size: evaluate(model, problem, TEST_NUM, TEST_SEED, FINAL_TOLERANCES) for size, problem in problems.items()
    }
    result = replace(
        Result.read(result_file),
        sha256=save_tensors(zoo / f"{name}.safetensors", halves, metadata),
        report=report,
        tests=tests,
        provenance=provenance,
        curve=run.curve(),
        released=name,
        note=note,
    )
    result.write((results or results_folder()) / f"{name}.json")
    write_whole(zoo / f"{name}.md", card(name, result).encode())
    return result


def _half(name: str, tensor: Tensor) -> Tensor:
    half = tensor.half() if tensor.is_floating_point() else tensor
    if not half.isfinite().all():
        raise ValueError(f"{name} has weights of {float(tensor.abs().max()):.3g}: too large for half precision")
    return half


def _alone(data: DataConfig, text: str) -> Problem:
    """'5' or '5:symmetric': one size of a problem, and matrices of one ensemble."""
    dim, _, ensemble = text.partition(":")
    return Problem(replace(data, dim=dim, ensemble=(ensemble,) if ensemble else data.ensemble))


def _provenance(run: Run, uncommitted: str) -> dict[str, object]:
    """Of the first session; what another budget was asked for with is part of the command."""
    sessions = run.sessions()
    is_clean = [bool(session["commit"]) and not session["commit"].endswith("+") for session in sessions]
    if not sessions or not is_clean[0]:
        raise ValueError(f"{run.folder} was not trained from a clean commit")
    if not all(is_clean) and not uncommitted:
        raise ValueError(
            f"{run.folder} was resumed with changes that are not committed: say what they were with --uncommitted"
        )
    commands = [sessions[0]["command"], *(session["command"] for session in sessions if "examples" in session)]
    said = {} if all(is_clean) else {"uncommitted": uncommitted}
    return sessions[0] | {"command": "; ".join(dict.fromkeys(commands))} | said
