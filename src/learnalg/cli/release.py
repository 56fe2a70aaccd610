"""Keeps a finished run as a model of the zoo."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from learnalg.training.loop import RESULT_FILE, curve
from learnalg.training.run import MODEL_FILE, ZOO, Run, all_examples, write_json

MOST_BYTES = 15_000_000


def keep(folder: Path, name: str, results: Path, uncommitted: str = "") -> None:
    """`uncommitted` says what was not committed when the run was resumed; it stands in the result and on the card."""
    run = Run.open(folder)
    result_file = folder / RESULT_FILE
    if not result_file.is_file():
        raise ValueError(f"{folder} has not finished")
    if (folder / MODEL_FILE).stat().st_size > MOST_BYTES:
        raise ValueError(f"the weights of {folder} are larger than {MOST_BYTES:,} bytes")
    result = json.loads(result_file.read_text())
    sessions = run.sessions()
    is_changed = [session["commit"].endswith("+") for session in sessions]
    if is_changed[0] or (any(is_changed) and not uncommitted):
        raise ValueError(
            f"{folder} was trained with changes that are not committed; a run that began without may be kept "
            "if a third argument says what was changed when it was resumed"
        )
    # The first session has what the run was started with; another budget on its way is part of that.
    commands = [sessions[0]["command"], *(session["command"] for session in sessions if "examples" in session)]
    result["provenance"] = sessions[0] | {"command": "; ".join(commands)}
    if any(is_changed):
        result["provenance"]["uncommitted"] = uncommitted
    result["curve"] = curve(run)
    # What the weights that it started from had learned from counts as well.
    origin = result["provenance"].get("init", "")
    if origin:
        known = json.loads((results / f"{origin}.json").read_text())
        result["origin"] = {"model": origin, "examples": all_examples(known)}
    shutil.copyfile(folder / MODEL_FILE, ZOO / f"{name}.safetensors")
    write_json(results / f"{name}.json", result)
    (ZOO / f"{name}.md").write_text(card(name, result))


def card(name: str, result: dict[str, Any]) -> str:
    data, model, report = result["config"]["data"], result["config"]["model"], result["report"]
    machine, threads = result["provenance"]["machine"], result["config"]["train"]["threads"]
    size, shares = data["amplitude"][0], report["accuracy"]["l1"]
    matrices = "symmetric matrices" if data["symmetric"] else "matrices"
    lines = [
        f"**Does:** {data['task']}, dim {data['dim']}, {' + '.join(data['ensemble'])} {matrices} with A = {size:g}; "
        f"{data['input_encoding']} in, {data['output_encoding']} out.",
        f"**Is:** {model['encoder_layers']}/{model['decoder_layers']} layers, {model['dim_model']} dimensions, "
        f"{model['heads']} heads, {result['parameters']:,} parameters.",
        f"**Learned from** {result['examples']:,} random examples (seed {result['seed']}) in "
        f"{result['seconds'] / 60:.1f} minutes on {threads} of {machine['cores']} cores of {machine['cpu']}"
        + (f", starting from {result['origin']['model']}." if "origin" in result else "."),
        f"**Reaches**, on {report['num']:,} matrices that it has not seen (seed {report['seed']}, L1 norm): "
        + ", ".join(f"{100 * share:.1f} % {within(float(t))}" for t, share in shares.items())
        + f"; {100 * report['well_formed']:.1f} % well-formed.",
        "**Fails** on other sizes and on matrices unlike those of its training: "
        f"`learnalg evaluate {name} --sigma-factor 2`.",
        f"**Check:** `learnalg verify results/{name}.json`.",
    ]
    if "uncommitted" in result["provenance"]:
        lines.append(f"**Not committed** when it was resumed: {result['provenance']['uncommitted']}.")
    return f"# {name}\n\n" + "".join(f"- {line}\n" for line in lines)


def within(tolerance: float) -> str:
    return f"within {100 * tolerance:g} %" if tolerance else "exact"


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2], Path("results"), *sys.argv[3:4])
