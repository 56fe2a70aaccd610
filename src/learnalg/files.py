"""Files that are whole or not there: JSON, and tensors in safetensors.

A file is written under another name, flushed to the disk, and moved to its place in one step; an interruption
leaves the old file. safetensors holds numbers and text only: loading one runs no code.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def write_whole(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        if os.name == "posix":  # the new name itself must reach the disk too
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    finally:
        temporary.unlink(missing_ok=True)


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    """Returns the SHA-256 of the file."""
    import safetensors.torch

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = _in_order(safetensors.torch.save(tensors, metadata))
    write_whole(path, content)
    return hashlib.sha256(content).hexdigest()


def _in_order(content: bytes) -> bytes:
    """safetensors writes metadata in no fixed order: equal tensors get equal files by this."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header["__metadata__"] = dict(sorted(header.get("__metadata__", {}).items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors start at a multiple of 8
    return len(text).to_bytes(8, "little") + text + content[start:]


def write_json(path: Path, values: Any) -> None:
    write_whole(path, (json_text(values, str(path), indent=2) + "\n").encode())


def json_text(values: Any, where: str, indent: int | None = None) -> str:
    """JSON has no NaN and no infinity: these are refused, with the names of their keys."""
    try:
        return json.dumps(values, indent=indent, allow_nan=False)
    except ValueError:
        raise ValueError(f"{where}: {_not_finite(values)} cannot be written, JSON has finite numbers only") from None


def _not_finite(values: Any, name: str = "") -> str:
    """The first number that is not finite: 'report.loss = nan'."""
    if isinstance(values, float):
        return "" if math.isfinite(values) else f"{name} = {values}"
    entries = (
        values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list | tuple) else ()
    )
    found = (_not_finite(value, f"{name}.{key}".lstrip(".")) for key, value in entries)
    return next(filter(None, found), "")


def read_json(path: Path) -> dict[str, Any]:
    """An object from a JSON file."""
    values = _parsed(path)
    if not isinstance(values, dict):
        raise ValueError(f"{path}: expected a JSON object")
    return values


def read_json_list(path: Path) -> list[Any]:
    values = _parsed(path)
    if not isinstance(values, list):
        raise ValueError(f"{path}: expected a JSON list")
    return values


def _parsed(path: Path) -> Any:
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    try:
        return json.loads(path.read_text())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    import safetensors

    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata() or {})  # noqa: SIM118
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path} is not a safetensors file, or is damaged: {error}") from None


def results_folder() -> Path:
    """Results that are quoted: of the checkout, or those that the installed package carries."""
    package = Path(__file__).parent
    checkout = package.parent.parent / "results"
    return checkout if checkout.is_dir() else package / "results"
