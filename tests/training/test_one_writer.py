"""Two processes on one run's folder: one trains, the other is refused and leaves no trace."""

import json
import shutil
import subprocess
import sys
from contextlib import ExitStack

import pytest

from learnalg.config import replace_fields
from learnalg.training.checkpoint import save_checkpoint
from learnalg.training.loop import resume, train
from learnalg.training.run import Run
from learnalg.zoo.load import RESULT_FILE

# Begins a run in each folder that it reads, and holds it until it reads the next line.
RACER = """
import sys
from pathlib import Path
from learnalg.config import RunConfig, replace_fields
from learnalg.training.run import Run
from learnalg.zoo.load import RESULT_FILE
config = replace_fields(RunConfig(), seed=int(sys.argv[1]))
print("ready", flush=True)
for folder in iter(sys.stdin.readline, ""):
    try:
        with Run(Path(folder.strip()), config).begun():
            print("begun", flush=True)
            sys.stdin.readline()
    except ValueError as error:
        print(error, flush=True)
        sys.stdin.readline()
"""


def test_of_two_that_begin_one_leaves_no_trace(tmp_path):
    """A hundred races: the config in the folder is that of the process that has it."""
    seeds, won = (1, 2), {1: 0, 2: 0}
    with ExitStack() as stack:
        racers = {
            seed: stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", RACER, str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for seed in seeds
        }

        def say(text):
            for racer in racers.values():
                racer.stdin.write(text + "\n")
                racer.stdin.flush()

        assert [racer.stdout.readline() for racer in racers.values()] == ["ready\n"] * 2
        for number in range(100):
            folder = tmp_path / str(number)
            say(str(folder))
            answers = {seed: racer.stdout.readline().strip() for seed, racer in racers.items()}
            (winner,) = (seed for seed, answer in answers.items() if answer == "begun")
            (refusal,) = (answer for answer in answers.values() if answer != "begun")
            assert "is being trained by another process" in refusal or "exists already" in refusal
            assert [p.name for p in folder.iterdir()] == ["config.json"]
            assert Run.open(folder).config.train.seed == winner
            won[winner] += 1
            say("")
        for racer in racers.values():
            racer.stdin.close()
            assert racer.wait(timeout=60) == 0
    assert sum(won.values()) == 100


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("link", [False, True])
def test_a_run_that_is_being_trained_is_refused_and_not_touched(tmp_path, tiny_config, link):
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "run")
    folder = tmp_path / ("link" if link else "run")
    with Run(tmp_path / "run", tiny_config()).begun():
        before = contents(tmp_path / "run")
        for begin in (lambda: train(tiny_config(seed=2), folder), lambda: resume(folder)):
            with pytest.raises(ValueError, match=r"exists already|is being trained by another process"):
                begin()
        assert contents(tmp_path / "run") == before


def test_a_dead_process_keeps_no_lock(tmp_path, tiny_config):
    folder = tmp_path / "run"
    program = [sys.executable, "-c", RACER, "1"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as racer:
        racer.stdin.write(f"{folder}\n")
        racer.stdin.flush()
        assert [racer.stdout.readline() for _ in range(2)] == ["ready\n", "begun\n"]
        run = Run.open(folder)
        with pytest.raises(ValueError, match="is being trained"), run.locked():
            pass
        racer.kill()
        racer.wait()
    with run.locked():
        assert run.config.train.seed == 1


def test_a_folder_that_is_replaced_is_not_locked(tmp_path, monkeypatch, tiny_config):
    import fcntl

    run = Run.create(tmp_path / "run", tiny_config())

    def replace(*arguments):
        (tmp_path / "run").rename(tmp_path / "old")
        (tmp_path / "run").mkdir()

    monkeypatch.setattr(fcntl, "flock", replace)
    with pytest.raises(ValueError, match="run was replaced by another folder"), run.locked():
        pass


def test_a_run_that_began_and_ended_in_between_is_not_written_over(tmp_path, monkeypatch, tiny_config):
    import fcntl

    lock = fcntl.flock

    def late(*arguments):
        monkeypatch.undo()
        Run.create(tmp_path / "run", tiny_config(seed=2))
        lock(*arguments)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(ValueError, match="run exists already"):
        Run.create(tmp_path / "run", tiny_config(seed=1))
    assert Run.open(tmp_path / "run").config.train.seed == 2


def test_a_link_to_nowhere_is_refused(tmp_path, tiny_config):
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="run is a link to nowhere"):
        train(tiny_config(), tmp_path / "run")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["checkpoints", "metrics.jsonl"])
def test_links_in_a_runs_folder_lead_nowhere(tmp_path, tiny_config, name):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run = Run.create(tmp_path / "run", tiny_config())
    (run.folder / name).symlink_to(elsewhere if name == "checkpoints" else elsewhere / "file")
    write = {
        "checkpoints": lambda: save_checkpoint(run.checkpoints, 1, {}, {}),
        "metrics.jsonl": lambda: run.add_metrics({"step": 1}),
    }
    with pytest.raises((OSError, ValueError), match=name):
        write[name]()
    assert list(elsewhere.iterdir()) == []


def test_a_folder_of_checkpoints_that_is_a_link_is_refused_before_anything_is_removed(tmp_path, tiny_run):
    run = shutil.copytree(tiny_run.folder, tmp_path / "run")
    (run / RESULT_FILE).unlink()
    (run / "checkpoints").rename(tmp_path / "elsewhere")
    (run / "checkpoints").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / ".mine.part").write_text("mine")
    before = contents(tmp_path)
    with pytest.raises(ValueError, match="checkpoints is a link"):
        resume(run, checkpoint="00000000.ckpt")
    assert contents(tmp_path) == before


def test_what_a_killed_process_left_half_written_is_removed(tmp_path, tiny_run):
    run = Run(tmp_path / "run", replace_fields(tiny_run.config, seed=3))
    with run.begun():
        run.checkpoints.mkdir()
        mine = [run.folder / "notes.part", run.checkpoints / "notes"]
        parts = [run.folder / ".model.safetensors.07.part", run.checkpoints / ".00000010.ckpt.17.part"]
        for path in (*mine, *parts):
            path.write_bytes(b"half")
        run.remove_parts()
    assert all(path.exists() for path in mine) and not any(path.exists() for path in parts)
    assert json.loads((run.folder / "config.json").read_text())["train"]["seed"] == 3
