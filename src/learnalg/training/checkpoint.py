"""The checkpoints of a run: everything that its next step depends on, in one file with its checksum.

A checkpoint says what it was written by: the config, the versions, the number of processes. A run does not resume from
another one's, unless it is told to: `learnalg resume RUN --despite processes`.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from torch import Tensor

from learnalg.config import RunConfig, from_dict, to_dict
from learnalg.files import load_tensors, parse_json, save_tensors
from learnalg.naming import unknown
from learnalg.processes import num_processes

KEPT = 2  # of the newest: checkpoints/00001200.ckpt
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
                f"checkpoint {int(metadata['step']):08d}.ckpt has another {name}: {', '.join(found[:3])}"
                f"{' ...' if found[3:] else ''}; resume with --despite {name}, and the weights may differ from those "
                f"of an undisturbed run"
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
    check_folder(folder)
    folder.mkdir(exist_ok=True)
    path = folder / f"{step:08d}.ckpt"
    save_tensors(path, tensors, metadata)
    for old in list_checkpoints(folder)[:-KEPT]:
        old.unlink(missing_ok=True)
    return path


def check_folder(folder: Path) -> None:
    if folder.is_symlink():
        raise ValueError(f"{folder} is a link: checkpoints are written into the run's own folder only")


def list_checkpoints(folder: Path) -> list[Path]:
    """Oldest first."""
    return sorted(path for path in folder.glob("*.ckpt") if path.stem.isdigit())


def forget_checkpoints_after(folder: Path, step: int) -> None:
    """Those that a run resumed from an older one will write again."""
    for path in list_checkpoints(folder):
        if int(path.stem) > step:
            path.unlink()


def is_sound(path: Path) -> bool:
    try:
        _load(path)
    except (OSError, ValueError):
        return False
    return True


def load_checkpoint(folder: Path, name: str = "") -> tuple[dict[str, Tensor], dict[str, str]]:
    """The newest, or the one of that name. A damaged one is refused, and the last good one is named."""
    checkpoints = list_checkpoints(folder)
    if not checkpoints:
        raise ValueError(f"{folder} has no checkpoint")
    path = folder / name if name else checkpoints[-1]
    if path not in checkpoints:
        raise ValueError(f"no checkpoint {name!r}; there are: {', '.join(p.name for p in checkpoints)}")
    try:
        return _load(path)
    except ValueError as error:
        good = [p.name for p in checkpoints if p != path and is_sound(p)]
        advice = f"the last good one is {good[-1]}: resume with --checkpoint {good[-1]}" if good else "no other is good"
        raise ValueError(f"checkpoint {error}; {advice}") from None


def _load(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    tensors, metadata = load_tensors(path, is_ours=True)
    if metadata.get("step") != str(int(path.stem)):
        raise ValueError(f"{path} is of step {metadata.get('step')}: it has another's name")
    for name in ("kept", *IDENTITY):
        try:
            parse_json(metadata.get(name, "{}").encode())
        except ValueError as error:
            raise ValueError(f"{path} is damaged: {name}: {error}") from None
    return tensors, metadata
