"""One of two processes is killed or stopped: the other ends with one clear line within a minute. The run resumes."""

import os
import re
import signal
import time

import pytest

from learnalg.training.run import Run

KILLED = r"learnalg: error: another process of this run has ended, so this one ends \(.*\)\n"
SILENT = r"learnalg: error: process \d of 2 has given no sign of life for \d+ s, so this one ends; resume with: .*\n"
TRAINS = {"batch_size": 16, "examples": 16 * 10**5, "checkpoint_seconds": 0.5, "eval_num": 2, "final_num": 2}
# An evaluation that takes much longer than a process may be silent, and never ends a step before.
EVALUATES = {"task": "transpose", "dim": "4", "batch_size": 2, "examples": 2, "eval_every": 2, "final_num": 2}


@pytest.fixture
def beats(times):
    """Seconds between signs of life, and how many may be missing: those of the package in the long form."""
    return times((0.2, 10), (1.0, 20))


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("fault", ["SIGKILL", "SIGSTOP"])
def test_the_other_ends(
    tiny_config, pair, newest_step, files_load, wait_until, times, beats, record, tmp_path, fault, rank
):
    if rank == 1 and not times(0, 1):
        pytest.skip("of the long form: make faults")
    waited, num = [], times(1, 3)
    for number in range(num):
        folder = Run.create(tmp_path / f"run-{number}", tiny_config(**TRAINS)).folder
        processes = pair("resume", folder, "--quiet", beats=beats)
        wait_until(lambda folder=folder: newest_step(folder) > 0)
        processes[rank].send(getattr(signal, fault))
        started, other = time.monotonic(), processes[1 - rank]
        assert other.wait() == 2
        waited.append(time.monotonic() - started)
        assert re.fullmatch(KILLED if fault == "SIGKILL" else SILENT, other.said()), other.said()
        processes[rank].send(signal.SIGKILL)
        processes[rank].wait()
        files_load(folder)
        before, processes = newest_step(folder), pair("resume", folder, "--quiet", beats=beats)
        wait_until(lambda folder=folder, before=before: newest_step(folder) > before)
        for process in processes:
            process.send(signal.SIGTERM)
        assert [process.wait() for process in processes] == [143, 143]
    assert max(waited) < 60
    name = {"SIGKILL": "killed (-9)", "SIGSTOP": "stopped (-STOP)"}[fault]
    record(
        f"process {rank + 1} of 2 {name} while the run trains",
        num,
        f"the other ends with one line after {max(waited):.0f} s at most; the run resumes",
    )


@pytest.mark.parametrize("fault", ["none", "SIGKILL", "SIGSTOP"])
def test_a_long_evaluation_is_not_stuck_and_its_faults_are_seen(
    tiny_config, pair, newest_step, wait_until, times, beats, record, tmp_path, fault
):
    num = times(20_000, 60_000)
    config = tiny_config(**EVALUATES, eval_num=num, checkpoint_seconds=0)
    folder = Run.create(tmp_path / "run", config).folder
    processes = pair("resume", folder, "--quiet", beats=beats)
    wait_until(lambda: newest_step(folder) == 0)
    started = time.monotonic()
    if fault == "none":
        assert [process.wait() for process in processes] == [0, 0], processes[0].said() + processes[1].said()
        seconds = time.monotonic() - started
        assert seconds > beats[0] * beats[1], "the evaluation is too short to show anything"
        record(
            "an evaluation longer than a process may be silent, two processes", 1, f"{seconds:.0f} s; the run ends well"
        )
        return
    wait_until((folder / "metrics.jsonl").is_file)  # its only step is taken: what follows is the evaluation
    time.sleep(times(0.5, 5.0))
    processes[1].send(getattr(signal, fault))
    started = time.monotonic()
    assert processes[0].wait() == 2
    waited = time.monotonic() - started
    assert re.fullmatch(f"{KILLED}|{SILENT}", processes[0].said()), processes[0].said()
    assert waited < 60
    name = {"SIGKILL": "killed (-9)", "SIGSTOP": "stopped (-STOP)"}[fault]
    record(f"process 2 of 2 {name} while the run evaluates", 1, f"the other ends with one line after {waited:.0f} s")


@pytest.mark.parametrize("fault", ["SIGKILL", "SIGSTOP", "SIGTERM to torchrun", "SIGKILL while it evaluates"])
def test_torchrun(tiny_config, torchrun, newest_step, wait_until, times, record, tmp_path, fault):
    """Which ends what is left by SIGTERM, and 30 seconds later by SIGKILL: the line comes before."""
    if not times(0, 1):
        pytest.skip("of the long form: make faults")
    evaluates = "evaluates" in fault
    config = tiny_config(**EVALUATES, eval_num=200_000, checkpoint_seconds=0) if evaluates else tiny_config(**TRAINS)
    folder = Run.create(tmp_path / "run", config).folder
    run = torchrun("resume", folder, "--quiet")
    if evaluates:
        wait_until((folder / "metrics.jsonl").is_file)
        time.sleep(5)
    else:
        wait_until(lambda: newest_step(folder) > 0)
    if "torchrun" in fault:
        run.process.send_signal(signal.SIGTERM)
    else:
        os.kill(run.workers[1], getattr(signal, fault.split()[0]))
    started = time.monotonic()
    wait_until(run.said)
    waited = time.monotonic() - started
    run.process.wait(timeout=60)
    line = run.said()[0].replace(str(folder), "RUN")
    if not evaluates:
        again, before = torchrun("resume", folder, "--quiet"), newest_step(folder)
        wait_until(lambda: newest_step(folder) > before)
        again.kill()
    record(
        f"torchrun with two processes: {fault}", 1, f"after {waited:.0f} s: {line}" + "; it resumes" * (not evaluates)
    )
