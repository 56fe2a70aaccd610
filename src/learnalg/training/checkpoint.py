"""The checkpoints of a run: everything that its next step depends on, each with its checksum beside it.

A checkpoint says what it was written by: the config, the versions, the number of processes. A run does not resume from
another one's, unless it is told to: `learnalg resume RUN --despite processes`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from torch import Tensor

from learnalg.config import RunConfig, from_dict, to_dict
from learnalg.files import load_tensors, save_tensors, write_whole
from learnalg.naming import unknown
from learnalg.processes import num_processes

# A run keeps its last two checkpoints: checkpoints/00001200.ckpt with 00001200.json beside it.
KEPT = 2
IDENTITY = ("config", "version", "processes")  # what may differ between a checkpoint and the run that resumes
MAY_CHANGE = ("train.examples", "train.threads", "train.skip_nonfinite")  # `learnalg resume` changes these


def identity(config: RunConfig) -> dict[str, str]:
    """What a checkpoint says of the run that writes it."""
    versions = {name: importlib.metadata.version(name) for name in ("learnalg", "torch")}
    return {
        "config": json.dumps(to_dict(config)),
        "version": json.dumps(versions),
        "processes": json.dumps(num_processes()),
    }


def check_identity(metadata: dict[str, str], config: RunConfig, despite: Iterable[str]) -> None:
    """Refuses a checkpoint that another run has written, with what differs and how to resume all the same."""
    for name in despite:
        if name not in IDENTITY:
            raise unknown("difference", name, IDENTITY)
    own = identity(config)
    for name in (name for name in IDENTITY if name in metadata and name not in despite):
        theirs, ours = _complete(name, json.loads(metadata[name])), json.loads(own[name])
        found = [text for key, text in _differences(name, theirs, ours) if key not in MAY_CHANGE]
        if found:
            raise ValueError(
                f"the checkpoint has another {name}: {', '.join(found[:3])}{' ...' if found[3:] else ''}; "
                f"resume with --despite {name}, and the weights may differ from those of an undisturbed run"
            )


def _complete(name: str, values: Any) -> Any:
    """A config with the defaults of fields that are newer than it."""
    try:
        return json.loads(json.dumps(to_dict(from_dict(values)))) if name == "config" else values
    except ValueError:
        return values


def _differences(name: str, theirs: Any, ours: Any) -> Iterator[tuple[str, str]]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in dict.fromkeys((*theirs, *ours)):
            inner = f"{name}.{key}".removeprefix("config.").removeprefix("version.")
            yield from _differences(inner, theirs.get(key), ours.get(key))
    elif theirs != ours:
        yield name, f"{name} {theirs} there, {ours} here"


def save_checkpoint(folder: Path, step: int, tensors: dict[str, Tensor], metadata: dict[str, str]) -> Path:
    if folder.is_symlink():
        raise ValueError(f"{folder} is a link: checkpoints are written into the run's own folder only")
    folder.mkdir(exist_ok=True)
    path = folder / f"{step:08d}.ckpt"
    checksum = save_tensors(path, tensors, metadata)
    write_whole(path.with_suffix(".json"), json.dumps({"step": step, "sha256": checksum}).encode())
    for old in list_checkpoints(folder)[:-KEPT]:
        old.unlink(missing_ok=True)
        old.with_suffix(".json").unlink(missing_ok=True)
    return path


def list_checkpoints(folder: Path) -> list[Path]:
    """Oldest first; one whose checksum was not written yet does not count."""
    return sorted(p for p in folder.glob("*.ckpt") if p.stem.isdigit() and p.with_suffix(".json").is_file())


def forget_checkpoints_after(folder: Path, step: int) -> None:
    """Those that a run resumed from an older one will write again."""
    for path in list_checkpoints(folder):
        if int(path.stem) > step:
            path.unlink()
            path.with_suffix(".json").unlink()


def is_sound(path: Path) -> bool:
    try:
        expected = json.loads(path.with_suffix(".json").read_text())["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == expected


def load_checkpoint(folder: Path, name: str = "") -> tuple[dict[str, Tensor], dict[str, str]]:
    """The newest, or the one of that name. A damaged one is refused, and the last good one is named."""
    checkpoints = list_checkpoints(folder)
    if not checkpoints:
        raise ValueError(f"{folder} has no checkpoint")
    path = folder / name if name else checkpoints[-1]
    if path not in checkpoints:
        raise ValueError(f"no checkpoint {name!r}; there are: {', '.join(p.name for p in checkpoints)}")
    if not is_sound(path):
        good = [p.name for p in checkpoints if p != path and is_sound(p)]
        advice = f"the last good one is {good[-1]}: resume with --checkpoint {good[-1]}" if good else "no other is good"
        raise ValueError(f"checkpoint {path} is damaged; {advice}")
    tensors, metadata = load_tensors(path)
    if metadata.get("step") != str(int(path.stem)):
        raise ValueError(f"checkpoint {path} is of step {metadata.get('step')}: it has another's name")
    return tensors, metadata
