"""Checkpoints: the newest is loaded, two are kept, and a damaged one is refused."""

import errno
import os

import pytest
import safetensors.torch
import torch

from learnalg.training.checkpoint import is_sound, load_checkpoint, save_checkpoint


def save(folder, *steps):
    return [save_checkpoint(folder, step, {"w": torch.full((50,), float(step))}, {"step": str(step)}) for step in steps]


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)


def without_checksum(path):
    """As other programs write tensors."""
    path.write_bytes(safetensors.torch.save({"w": torch.zeros(2)}, {"step": "20"}))


def full(*arguments):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_checkpoint_that_fails_leaves_the_last_one_to_resume_from(tmp_path, monkeypatch):
    save(tmp_path, 10)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path, 20)
    assert load_checkpoint(tmp_path)[1] == {"step": "10"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["00000010.ckpt"]


def test_the_newest_is_loaded_and_two_are_kept(tmp_path):
    save(tmp_path / "checkpoints", 5, 10, 100, 20)
    names = sorted(p.name for p in (tmp_path / "checkpoints").iterdir())
    assert names == ["00000020.ckpt", "00000100.ckpt"]
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
        without_checksum,
        lambda path: path.write_bytes(path.with_name("00000010.ckpt").read_bytes()),
    ],
    ids=["a bit", "truncated", "empty", "longer", "no checksum", "another"],
)
def test_a_damaged_checkpoint_is_refused_with_the_name_of_the_last_good_one(tmp_path, damage):
    _, newest = save(tmp_path, 10, 20)
    damage(newest)
    assert not is_sound(newest)
    with pytest.raises(ValueError, match=r"00000020.ckpt is .*; the last good one is 00000010.ckpt"):
        load_checkpoint(tmp_path)
    assert load_checkpoint(tmp_path, "00000010.ckpt")[1]["step"] == "10"


def test_when_all_are_damaged_none_is_named(tmp_path):
    for path in save(tmp_path, 10, 20):
        flip_a_bit(path)
    with pytest.raises(ValueError, match="when it was written; no other is good"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_checkpoints_is_refused(tmp_path, exists):
    folder = tmp_path if exists else tmp_path / "missing"
    with pytest.raises(ValueError, match="has no checkpoint"):
        load_checkpoint(folder)
