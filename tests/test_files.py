"""Files are whole or not there, and what is damaged is refused."""

import errno
import hashlib
import json
import math
import os
import pickle
import resource

import pytest
import safetensors.torch
import torch

from learnalg.files import (
    PART,
    add_line,
    checksum,
    load_tensors,
    read_json,
    read_json_list,
    save_tensors,
    write_json,
    write_whole,
)

TENSORS = {
    "weights": torch.randn(3, 4, generator=torch.Generator().manual_seed(1)),
    "bytes": torch.arange(5, dtype=torch.uint8),
    "step": torch.tensor(7.0),
    "count": torch.tensor(2**40),
    "transposed": torch.arange(6.0).reshape(2, 3).T,
}


def full(*arguments):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_tensors_come_back_as_they_were(tmp_path):
    save_tensors(tmp_path / "a.safetensors", TENSORS, {"what": "a test"})
    loaded, metadata = load_tensors(tmp_path / "a.safetensors")
    assert metadata == {"what": "a test"}
    assert loaded.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert loaded[name].dtype == tensor.dtype
        assert loaded[name].shape == tensor.shape
        assert torch.equal(loaded[name], tensor)


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("old", [b"old", None])
def test_a_failing_write_leaves_the_old_file_and_no_part(tmp_path, monkeypatch, call, old):
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)
    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == ({"file": old} if old is not None else {})


def test_a_write_cut_in_the_middle_leaves_the_old_file_and_no_part(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(path, bytes(2_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"file": b"old"}


def test_a_file_is_flushed_before_it_takes_its_place(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *a: (calls.append("fsync"), fsync(*a)))
    monkeypatch.setattr(os, "replace", lambda *a, **k: (calls.append("replace"), replace(*a, **k)))
    write_whole(tmp_path / "file", b"new")
    assert calls[:2] == ["fsync", "replace"]
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("content", [b"", b"not tensors at all", b"\xff" * 100])
def test_what_is_no_safetensors_file_is_refused(tmp_path, content):
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a.safetensors is not a safetensors file, or is damaged"):
        load_tensors(path)


def test_a_truncated_safetensors_file_is_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    save_tensors(path, TENSORS, {})
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ValueError, match="not a safetensors file, or is damaged"):
        load_tensors(path)


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_what_is_no_file_is_refused(tmp_path, kind):
    path = tmp_path if kind == "folder" else tmp_path / "a.safetensors"
    with pytest.raises(ValueError, match="no such file"):
        load_tensors(path)


def test_a_flipped_bit_is_found_wherever_it_is(tmp_path):
    path = tmp_path / "a.safetensors"
    save_tensors(path, TENSORS, {"what": "a test"})
    whole = path.read_bytes()
    for at in (0, 9, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(ValueError, match=r"a\.safetensors is"):
            load_tensors(path)


def test_other_tensors_under_an_old_checksum_are_refused(tmp_path):
    path, other = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    save_tensors(path, {"w": torch.zeros(2)}, {})
    save_tensors(other, {"w": torch.ones(2)}, {})
    path.write_bytes(path.read_bytes()[:-8] + other.read_bytes()[-8:])
    with pytest.raises(ValueError, match=r"a\.safetensors is damaged: its content has another checksum"):
        load_tensors(path)


def test_tensors_of_other_programs_have_no_checksum(tmp_path):
    safetensors.torch.save_file(TENSORS | {"transposed": torch.ones(2, 3)}, tmp_path / "a.safetensors", {"by": "us"})
    tensors, metadata = load_tensors(tmp_path / "a.safetensors")
    assert tensors.keys() == TENSORS.keys() and metadata == {"by": "us"}


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_links_lead_nowhere(tmp_path):
    """Neither one in a file's place, nor one with the name of a temporary file, nor for a line that is added."""
    mine, run = tmp_path / "mine", tmp_path / "run"
    mine.write_bytes(b"mine")
    run.mkdir()
    for name in ("a", f".a.{os.getpid()}.part"):
        (run / name).symlink_to(mine)
    write_whole(run / "a", b"new")
    assert (run / "a").read_bytes() == b"new" and not (run / "a").is_symlink()
    (run / "lines").symlink_to(mine)
    with pytest.raises(OSError, match="lines"):
        add_line(run / "lines", "new")
    assert mine.read_bytes() == b"mine"


def test_temporary_names_cannot_be_guessed(tmp_path, monkeypatch):
    names = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: names.extend(p.name for p in tmp_path.glob(PART)))
    for _ in range(3):
        write_whole(tmp_path / "a", b"")
    assert len(set(names)) == 3


def test_an_error_names_the_file(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for write in (lambda p: write_whole(p, b""), lambda p: add_line(p, "")):
        with pytest.raises(OSError, match=r"Not a directory: '.*file/a'"):
            write(tmp_path / "file" / "a")


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("write", [lambda trap, path: path.write_bytes(pickle.dumps(trap)), torch.save])
def test_a_pickle_is_refused_and_not_executed(tmp_path, write):
    path, sprung = tmp_path / "a.safetensors", tmp_path / "sprung"
    write(Trap(sprung), path)
    with pytest.raises(ValueError, match="not a safetensors file"):
        load_tensors(path)
    assert not sprung.exists()
    pickle.loads(pickle.dumps(Trap(sprung)))  # the trap does work
    assert sprung.exists()


def test_the_checksum_is_that_of_the_file(tmp_path):
    found = save_tensors(tmp_path / "a.safetensors", TENSORS, {})
    assert found == checksum(tmp_path / "a.safetensors")
    assert found == hashlib.sha256((tmp_path / "a.safetensors").read_bytes()).hexdigest()


def test_equal_tensors_have_equal_files(tmp_path):
    metadata = {name: "é" * k for k, name in enumerate("abcdefgh")}
    found = {save_tensors(tmp_path / "a.safetensors", TENSORS, metadata) for _ in range(5)}
    found.add(save_tensors(tmp_path / "a.safetensors", TENSORS, dict(reversed(metadata.items()))))
    assert len(found) == 1
    assert load_tensors(tmp_path / "a.safetensors")[1] == metadata


def test_json_comes_back_as_it_was(tmp_path):
    values = {"loss": 0.1, "names": ["a", None, True], "nested": {"count": 2**60}}
    write_json(tmp_path / "a.json", values)
    assert read_json(tmp_path / "a.json") == values
    write_json(tmp_path / "a.json", [values])
    assert read_json_list(tmp_path / "a.json") == [values]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_not_written(tmp_path, value):
    path = tmp_path / "a.json"
    write_json(path, {"loss": 1.0})
    with pytest.raises(ValueError, match=rf"a\.json: report\.losses\.1 = {value} cannot be written"):
        write_json(path, {"num": 3, "report": {"name": "a", "losses": [0.5, value]}})
    assert json.loads(path.read_text()) == {"loss": 1.0}
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("read", [read_json, read_json_list])
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        *((None, "no such file"), (b"", "damaged"), (b'{"a": 1', "damaged"), (b"\xff", "damaged")),
        *((b"7", "expected a JSON"), (b"[" * 100_000, "damaged")),
    ],
)
def test_damaged_json_is_refused_by_name(tmp_path, read, content, complaint):
    if content is not None:
        (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(ValueError, match=rf"a\.json.*{complaint}"):
        read(tmp_path / "a.json")
