"""Files are whole or not there, and what is damaged is said to be."""

import errno
import hashlib
import json
import os
import pickle
import resource

import pytest
import torch

from learnalg.training.checkpoint import (
    is_sound,
    list_checkpoints,
    load_checkpoint,
    load_tensors,
    save_checkpoint,
    save_tensors,
    write_whole,
)

TENSORS = {
    "weights": torch.randn(3, 4, generator=torch.Generator().manual_seed(1)),
    "bytes": torch.arange(5, dtype=torch.uint8),
    "step": torch.tensor(7.0),
    "count": torch.tensor(2**40),
    "transposed": torch.arange(6.0).reshape(2, 3).T,
}


def save(folder, *steps):
    return [save_checkpoint(folder, step, {"w": torch.full((50,), float(step))}, {"step": str(step)}) for step in steps]


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)


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


def test_a_checkpoint_that_fails_leaves_the_last_one_to_resume_from(tmp_path, monkeypatch):
    save(tmp_path, 10)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path, 20)
    assert load_checkpoint(tmp_path)[1] == {"step": "10"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["00000010.ckpt", "00000010.json"]


def test_the_newest_is_loaded_and_two_are_kept(tmp_path):
    save(tmp_path / "checkpoints", 5, 10, 100, 20)
    names = sorted(p.name for p in (tmp_path / "checkpoints").iterdir())
    assert names == ["00000020.ckpt", "00000020.json", "00000100.ckpt", "00000100.json"]
    tensors, metadata = load_checkpoint(tmp_path / "checkpoints")
    assert metadata["step"] == "100"
    assert torch.equal(tensors["w"], torch.full((50,), 100.0))


def test_a_checkpoint_can_be_named(tmp_path):
    save(tmp_path, 10, 20)
    assert load_checkpoint(tmp_path, "00000010.ckpt")[1]["step"] == "10"
    with pytest.raises(ValueError, match=r"no checkpoint '30'.*00000010.ckpt, 00000020.ckpt"):
        load_checkpoint(tmp_path, "30")


@pytest.mark.parametrize(
    "damage",
    [
        flip_a_bit,
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes() + b"\0"),
        lambda path: path.with_suffix(".json").write_text('{"step": 20, "sha'),
        lambda path: path.with_suffix(".json").write_text('{"step": 20}'),
        lambda path: path.with_suffix(".json").write_text("[]"),
    ],
    ids=["a bit", "truncated", "empty", "longer", "half a checksum", "no checksum", "no object"],
)
def test_a_damaged_checkpoint_is_refused_with_the_name_of_the_last_good_one(tmp_path, damage):
    _, newest = save(tmp_path, 10, 20)
    damage(newest)
    assert not is_sound(newest)
    with pytest.raises(ValueError, match=r"00000020.ckpt is damaged; the last good one is 00000010.ckpt"):
        load_checkpoint(tmp_path)
    assert load_checkpoint(tmp_path, "00000010.ckpt")[1]["step"] == "10"


def test_when_all_are_damaged_none_is_named(tmp_path):
    for path in save(tmp_path, 10, 20):
        flip_a_bit(path)
    with pytest.raises(ValueError, match="damaged; no other is good"):
        load_checkpoint(tmp_path)


def test_a_checkpoint_without_its_checksum_does_not_count(tmp_path):
    older, newest = save(tmp_path, 10, 20)
    newest.with_suffix(".json").unlink()
    assert list_checkpoints(tmp_path) == [older]
    assert load_checkpoint(tmp_path)[1]["step"] == "10"


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_checkpoints_is_refused(tmp_path, exists):
    folder = tmp_path if exists else tmp_path / "missing"
    with pytest.raises(ValueError, match="has no checkpoint"):
        load_checkpoint(folder)


def test_the_checksum_is_that_of_the_file(tmp_path):
    (path,) = save(tmp_path, 10)
    entry = json.loads(path.with_suffix(".json").read_text())
    assert entry == {"step": 10, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


@pytest.mark.parametrize("content", [b"", b"not tensors at all", b"\xff" * 100])
def test_what_is_no_safetensors_file_is_refused(tmp_path, content):
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a.safetensors is no safetensors file, or is damaged"):
        load_tensors(path)


def test_a_truncated_safetensors_file_is_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    save_tensors(path, TENSORS, {})
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ValueError, match="no safetensors file, or is damaged"):
        load_tensors(path)


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_what_is_no_file_is_refused(tmp_path, kind):
    path = tmp_path if kind == "folder" else tmp_path / "a.safetensors"
    with pytest.raises(ValueError, match="no such file"):
        load_tensors(path)


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("write", [lambda trap, path: path.write_bytes(pickle.dumps(trap)), torch.save])
def test_a_pickle_is_refused_and_not_executed(tmp_path, write):
    path, sprung = tmp_path / "a.safetensors", tmp_path / "sprung"
    write(Trap(sprung), path)
    with pytest.raises(ValueError, match="no safetensors file"):
        load_tensors(path)
    assert not sprung.exists()
    pickle.loads(pickle.dumps(Trap(sprung)))  # the trap does work
    assert sprung.exists()
