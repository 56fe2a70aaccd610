"""A disk that is full, and one that cannot be written to."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from learnalg.training.loop import train

PROGRAM = Path(__file__).with_name("small_disk.py")
IN_A_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def test_a_disk_fills_up_and_a_disk_is_read_only(tiny_config, tmp_path, times, record):
    (tmp_path / "disk").mkdir()
    mount = [*IN_A_NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", tmp_path / "disk"]
    try:
        if (refused := subprocess.run(mount, capture_output=True, check=False)).returncode:
            pytest.skip(f"no disk can be mounted here: {refused.stderr.decode().strip()}")
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    num = times(3, 40)
    config = tiny_config(examples=5 * 16, batch_size=16, eval_every=32, eval_num=2, final_num=2, checkpoint_seconds=0)
    train(config, tmp_path / "straight")
    done = subprocess.run(
        [*IN_A_NAMESPACE, sys.executable, PROGRAM, tmp_path / "disk", tmp_path / "straight", str(num)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    named = Counter(re.sub(r"\d{8}", "N", name) for name in found["named"])
    assert sum(count for name, count in named.items() if name) >= num / 3
    assert set(named) <= {"", "config.json", "metrics.jsonl", "provenance.json", "result.json"} | {
        "N.ckpt",
        "model.safetensors",
        "checkpoints",
    }
    code, said, other_code, other = found["read_only"]
    assert (code, other_code) == ("2", "2")
    for text, name in ((said, "run/"), (other, "disk/other")):
        assert re.fullmatch(r"learnalg: error: .*Read-only file system: '.*'\n", text) and name in text, text
    names = ", ".join(f"{name} {count}" for name, count in sorted(named.items()) if name)
    record(
        "a disk is full from a random moment on",
        num,
        f"one line names the file ({names}; {named['']} runs had room enough); all files whole; with room again the "
        "run resumes to the same bits",
    )
    record("a folder on a read-only disk, resume and train", 2, "one line names the file or folder")
