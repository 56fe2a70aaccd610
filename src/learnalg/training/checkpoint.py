"""The checkpoints of a run: everything that its next step depends on, each with its checksum beside it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from torch import Tensor

from learnalg.files import load_tensors, save_tensors, write_whole

# A run keeps its last two checkpoints: checkpoints/00001200.ckpt with 00001200.json beside it.
KEPT = 2


def save_checkpoint(folder: Path, step: int, tensors: dict[str, Tensor], metadata: dict[str, str]) -> Path:
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
    return sorted(path for path in folder.glob("*.ckpt") if path.with_suffix(".json").is_file())


def forget_checkpoints_after(folder: Path, step: int) -> None:
    """Those that a run resumed from an older one will write again, and what a killed one left half written."""
    for part in folder.glob(".*.part"):
        part.unlink()
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
    return load_tensors(path)
