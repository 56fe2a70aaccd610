"""A run on a disk of its own that fills up, or becomes read-only: `unshare -Urm python small_disk.py FOLDER JOB`.

The job: {"straight": folder of an undisturbed run, "num": how often}. Prints what happened, as JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from learnalg.cli import main
from learnalg.config import RunConfig
from learnalg.evaluation.result import Result
from learnalg.files import PART, load_tensors
from learnalg.training.checkpoint import list_checkpoints, load_checkpoint
from learnalg.training.run import Run

DISK = 24 * 2**20
SMALL = [
    *("--task", "add", "--dim", "1", "--examples", "64", "--encoder-layers", "1", "--encoder-loops", "1"),
    *("--dim-model", "16", "--heads", "2"),
]


def said_by(*arguments: str) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        return main([*arguments]), said.getvalue()


def fill(path: Path, left: int) -> None:
    """So that this many bytes are free, to a page of the disk."""
    with contextlib.suppress(OSError), path.open("ab", buffering=0) as file:
        while file.write(b"\0" * 4096):
            pass
    os.truncate(path, max(0, path.stat().st_size - left))


def assert_whole(folder: Path) -> None:
    run = Run.open(folder)
    run.metrics(), run.sessions()
    for path in list_checkpoints(run.checkpoints):
        load_checkpoint(run.checkpoints, path.name)
    if (folder / "model.safetensors").exists():
        load_tensors(folder / "model.safetensors", is_ours=True)
    assert not [path for path in folder.rglob("*") if path.match(PART)]


def fill_up(disk: Path, config: RunConfig, straight: str, number: int, rng: random.Random) -> str:
    """Full at a random moment, but for a random rest: the name of the file that could not be written."""
    folder, filler = disk / f"run-{number}", disk / "filler"
    Run.create(folder, config)
    at, left = rng.randrange(13), rng.choice([0, rng.randrange(500_000)])
    numbers = iter(range(10**9))

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event == "os.rename" and next(numbers) == at:
            fill(filler, left)

    watchers.append(watch)
    code, said = said_by("resume", str(folder), "--quiet")
    watchers.clear()
    named = ""
    if code:  # else it had room enough
        assert code == 2 and said.count("\n") == 1, said
        assert "No space left on device" in said, said
        named = Path(said.rstrip().rpartition("'")[0].rpartition("'")[2]).name
        assert_whole(folder)
        code, said = said_by("resume", str(folder), "--quiet")
        assert code == 0 or "No space left" in said or "too full" in said, said
    filler.unlink(missing_ok=True)
    assert said_by("resume", str(folder), "--quiet") == (0, "")
    assert Result.read(folder / "result.json").sha256 == Result.read(Path(straight) / "result.json").sha256
    subprocess.run(["rm", "-r", folder], check=True)
    return named


def read_only(disk: Path, config: RunConfig) -> list[str]:
    """What commands say that would write."""
    Run.create(disk / "run", config)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    resumed = said_by("resume", str(disk / "run"), "--quiet")
    begun = said_by("train", *SMALL, "--quiet", "--out", str(disk / "other"))
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    return [*map(str, resumed), *map(str, begun)]


watchers: list[object] = []
sys.addaudithook(lambda event, arguments: [watch(event, arguments) for watch in watchers])  # type: ignore[operator]


def run(disk: Path, straight: str, num: int) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", disk], check=True)
    config, rng = Run.open(Path(straight)).config, random.Random(5)
    named = [fill_up(disk, config, straight, number, rng) for number in range(num)]
    print(json.dumps({"named": named, "read_only": read_only(disk, config)}))


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
