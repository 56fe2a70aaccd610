"""kill -9 at any moment: the run resumes to the same bits, and no half-written file is ever where a reader finds it."""

import os
import random
import signal
import time

import pytest

from learnalg.files import PART
from learnalg.training.run import Run

# Of two threads: a network and a vocabulary that are large enough for sums to be shared between threads.
LARGE = {
    "task": "eigenvectors",
    "dim": "3",
    "triangle": True,
    "output_encoding": "p1000",
    "batch_size": 8,
    "threads": 2,
    "dim_model": 16,
    "encoder_loops": 2,
    "relations": "learned",
    "products": 4,
}
OFTEN = {"dropout": 0.2, "workers": 1, "batch_size": 16, "checkpoint_seconds": 0, "eval_num": 2, "final_num": 2}
WORLDS = ("one thread", "two threads", "two processes")


@pytest.fixture
def begun(tiny_config, tmp_path):
    """begun(name, world, num_steps): a run that has begun, and has not taken a step."""

    def begin(name, world, num_steps):
        changes = OFTEN | (LARGE if world == "two threads" else {})
        size = changes["batch_size"]
        config = tiny_config(**changes | {"examples": num_steps * size, "eval_every": 9 * size})
        return Run.create(tmp_path / name, config).folder

    return begin


def parts(folder):
    """What is being written."""
    return [path for place in (folder, folder / "checkpoints") for path in place.glob(PART)]


@pytest.mark.parametrize("world", WORLDS)
def test_kills_at_random_moments(begun, fork, pair, same_bits, files_load, newest_step, times, record, world):
    """Every second one as soon as a file is being written. Each comes after two new checkpoints at most."""
    num, rng = times(4 if world == "one thread" else 2, 50), random.Random(world)
    start = pair if world == "two processes" else lambda *arguments: [fork(*arguments)]
    straight, killed = (begun(name, world, 4 * num) for name in ("straight", "killed"))
    undisturbed = start("resume", straight, "--quiet")
    assert [process.wait() for process in undisturbed] == [0] * len(undisturbed), undisturbed[0].said()
    during, checked, kills = 0, 0, 0
    while kills < num:
        processes, enough = start("resume", killed, "--quiet"), newest_step(killed) + rng.randrange(3)
        deadline, is_aimed = time.monotonic() + 120, bool(rng.randrange(2))
        while newest_step(killed) < enough and processes[0].is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.001)
        if is_aimed:
            while not parts(killed) and processes[0].is_alive():
                pass
        else:
            time.sleep(rng.uniform(0, 0.1))
        assert all(process.is_alive() for process in processes), processes[0].said()
        for process in processes:
            process.send(signal.SIGKILL)
        assert [process.wait() for process in processes] == [-signal.SIGKILL] * len(processes)
        kills, during = kills + 1, during + bool(parts(killed))
        checked += files_load(killed)
    assert not (killed / "result.json").exists()
    last = start("resume", killed, "--quiet")
    assert [process.wait() for process in last] == [0] * len(last), last[0].said()
    same_bits(straight, killed)
    sessions = len(Run.open(killed).sessions())
    record(
        f"kill -9 at random moments of one training, {world}",
        num,
        f"the same bits at the end; {during} came while a file was written; {checked} files looked at after kills, "
        f"each whole; {sessions} of {num + 1} starts came as far as their provenance",
    )


@pytest.mark.parametrize("is_resumed", [False, True], ids=["from nothing", "of a run that is resumed"])
def test_kills_at_each_operation_on_a_file(begun, fork, same_bits, files_load, times, record, is_resumed):
    """Each time a file is opened to be written, flushed, renamed or removed: killed just before."""
    straight = begun("straight", "one thread", 4)
    assert fork("resume", straight, "--quiet").wait() == 0
    tried, checked, number = 0, 0, 1
    while True:
        folder = begun(f"killed-{number}", "one thread", 4)
        if is_resumed:
            assert fork("resume", folder, "--quiet", die_at=25).wait() == -signal.SIGKILL
        code = fork("resume", folder, "--quiet", die_at=number).wait()
        if code == 0:  # it has fewer operations
            break
        assert code == -signal.SIGKILL
        checked += files_load(folder)
        assert fork("resume", folder, "--quiet").wait() == 0
        same_bits(straight, folder)
        tried, number = tried + 1, number + times(31, 2 if is_resumed else 1)
    assert tried >= times(2, 30)
    record(
        f"kill -9 before each operation on a file, {'of a resumed run' if is_resumed else 'of a run'}",
        tried,
        f"the same bits at the end; {checked} files looked at, each whole",
    )


def test_kills_under_torchrun(begun, torchrun, pair, same_bits, files_load, newest_step, times, record):
    """All at once, or one of both processes, of which the other then ends by itself."""
    num, rng = times(0, 12), random.Random(7)
    if not num:
        pytest.skip("of the long form: make faults")
    straight, killed = (begun(name, "two processes", 4 * num) for name in ("straight", "killed"))
    assert [process.wait() for process in pair("resume", straight, "--quiet")] == [0, 0]
    checked = 0
    for _ in range(num):
        run, enough = torchrun("resume", killed, "--quiet"), newest_step(killed) + 1 + rng.randrange(2)
        while newest_step(killed) < enough:
            assert run.process.poll() is None, run.says.read_text()
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.1))
        victim = rng.randrange(3)
        if victim == 2:
            run.kill()
        else:
            os.kill(run.workers[victim], signal.SIGKILL)
            assert run.process.wait(timeout=60) != 0
        checked += files_load(killed)
    assert torchrun("resume", killed, "--quiet").process.wait(timeout=300) == 0
    same_bits(straight, killed)
    record(
        "kill -9 of one or both processes of torchrun, at random moments of one training",
        num,
        f"the same bits at the end; {checked} files looked at after kills, each whole",
    )
