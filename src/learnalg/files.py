"""Files that are whole or not there: JSON, and tensors in safetensors.

A file is written under another name, flushed to the disk, and moved to its place in one step; an interruption
leaves the old file. safetensors holds numbers and text only: loading one runs no code. Tensors carry the SHA-256 of
their file's content, which is checked when they are loaded.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from torch import Tensor


MOST_TEXT = 16 * 2**20  # bytes of JSON, of TOML, and of the header of a file of tensors: what is read of them is larger
PART = ".*.part"  # what a killed process leaves half written: never a name that a reader looks for


@contextmanager
def naming_errors(path: Path) -> Iterator[None]:
    """A full disk says which file it could not take."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_whole(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place when all is written."""
    # A name that nobody can guess, and that must be new: a link put there beforehand leads nowhere.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    with naming_errors(path):
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
                yield file
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


def add_line(path: Path, line: str) -> None:
    """Adds a line to a file; a link in its place is refused."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    with naming_errors(path), os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        file.write(line.encode() + b"\n")


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    """Returns the SHA-256 of the file."""
    import safetensors.torch

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = _in_order(safetensors.torch.save(tensors, metadata))
    write_whole(path, content)
    return hashlib.sha256(content).hexdigest()


CONTENT = "sha256 of the content"  # metadata of a file of tensors


def _in_order(content: bytes) -> bytes:
    """safetensors writes metadata in no fixed order: equal tensors get equal files by this. Adds the checksum."""
    header, data = _parts(content)
    metadata = dict(sorted(header.get("__metadata__", {}).items()))
    header["__metadata__"] = metadata | {CONTENT: _content_checksum(header | {"__metadata__": metadata}, data)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors start at a multiple of 8
    return b"".join((len(text).to_bytes(8, "little"), text, data))


def _parts(content: bytes) -> tuple[dict[str, Any], memoryview]:
    """The header of a safetensors file, and its data."""
    start = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:start]), memoryview(content)[start:]


def _content_checksum(header: dict[str, Any], data: memoryview) -> str:
    """Of all names, types, shapes and numbers."""
    found = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    found.update(data)
    return found.hexdigest()


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
    content = read_small(path)
    try:
        return parse_json(content)
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def read_small(path: Path, most: int = MOST_TEXT) -> bytes:
    """A file that may come from a stranger, of a size that costs little."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    if path.stat().st_size > most:
        raise ValueError(f"{path} has {path.stat().st_size:,} bytes: at most {most:,} are read")
    return path.read_bytes()


def parse_json(content: bytes) -> Any:
    """Valid JSON only: Python's reader would take NaN and infinities too."""
    try:
        return json.loads(content, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_tensors(path: Path, is_ours: bool = False) -> tuple[dict[str, Tensor], dict[str, str]]:
    """`is_ours`: a file without a checksum is refused. Those of other programs, and older ones of ours, have none."""
    import safetensors.torch

    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    content = path.read_bytes()
    if int.from_bytes(content[:8], "little") > MOST_TEXT:
        raise ValueError(
            f"{path} is not a safetensors file, or is damaged: its header has more than {MOST_TEXT:,} bytes"
        )
    try:
        tensors = safetensors.torch.load(content)
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path} is not a safetensors file, or is damaged: {error}") from None
    header, data = _parts(content)
    metadata: dict[str, str] = header.get("__metadata__", {})
    expected = metadata.pop(CONTENT, "")
    if is_ours and not expected:
        raise ValueError(f"{path} is damaged: it has no checksum")
    if expected and expected != _content_checksum(header, data):
        raise ValueError(f"{path} is damaged: its content has another checksum (SHA-256) than when it was written")
    return tensors, metadata


def results_folder() -> Path:
    """Results that are quoted: of the checkout, or those that the installed package carries."""
    package = Path(__file__).parent
    checkout = package.parent.parent / "results"
    return checkout if checkout.is_dir() else package / "results"
