"""A clock that jumps, and a thread that makes batches and dies."""

import ctypes
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from learnalg.evaluation.result import Result
from learnalg.training.loop import Silent, resume, train
from learnalg.training.run import Run
from learnalg.zoo.load import RESULT_FILE

SOURCE = Path(__file__).with_name("clock.c")


@pytest.fixture
def jumping(tmp_path):
    """The environment of a process whose clock jumps."""
    if not (compiler := shutil.which("cc")) or sys.platform != "linux":
        pytest.skip("needs a C compiler and Linux")
    library = tmp_path / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    environment = os.environ | {"LD_PRELOAD": str(library)}
    ask = [sys.executable, "-c", "import time; print(len({time.gmtime().tm_year for _ in range(7)}))"]
    assert int(subprocess.run(ask, env=environment, capture_output=True, text=True, check=True).stdout) == 7
    return environment


@pytest.mark.parametrize("world", [1, 2])
def test_a_clock_that_jumps(tiny_config, tmp_path, jumping, times, record, world):
    if world == 2 and not times(0, 1):
        pytest.skip("of the long form: make faults")
    config = tiny_config(
        examples=40 * 16, batch_size=16, eval_every=160, eval_num=2, final_num=2, checkpoint_seconds=0.5
    )
    folders, launch = [tmp_path / "straight", tmp_path / "jumping"], [sys.executable, "-m", "learnalg"]
    if world == 2:
        launch = [
            sys.executable,
            *("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"),
            "-m",
            "learnalg",
        ]
    started = time.monotonic()
    for folder, environment in zip(folders, (os.environ, jumping), strict=True):
        Run.create(folder, config)
        done = subprocess.run(
            [*launch, "resume", folder, "--quiet"], env=environment, capture_output=True, check=False, timeout=300
        )
        assert done.returncode == 0, done.stderr.decode()
    taken = time.monotonic() - started
    results = [Result.read(folder / RESULT_FILE) for folder in folders]
    assert results[0].sha256 == results[1].sha256
    assert 0 < results[1].seconds < taken
    seconds = [line["seconds"] for line in Run.open(folders[1]).metrics()]
    assert seconds == sorted(seconds) and seconds[0] >= 0
    assert all(line.get("examples_per_second", 1) > 0 for line in Run.open(folders[1]).metrics())
    record(
        f"a clock that jumps by years each time it is asked, {world} process{'es' * (world > 1)}",
        1,
        f"the same bits; {results[1].seconds:g} s of training, as they were",
    )


class EndWorkers(Silent):
    """Ends threads that make batches, by an exception from outside, whatever they are doing."""

    def __init__(self, num):
        self.num = num

    def on_log(self, log):
        for thread in [t for t in threading.enumerate() if t.name.startswith("batches")][: self.num]:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))


@pytest.mark.parametrize(("workers", "dead"), [(1, 1), (2, 1), (2, 2)])
def test_a_dead_data_worker(tiny_config, tmp_path, times, record, workers, dead):
    waited, num = [], times(1, 10)
    config = tiny_config(examples=10_000 * 16, batch_size=16, eval_num=2, final_num=2, workers=workers)
    for number in range(num):
        folder, started = tmp_path / str(number), time.monotonic()
        with pytest.raises(ValueError, match=r"^a thread that makes batches has ended before batch \d+$"):
            train(config, folder, EndWorkers(dead))
        waited.append(time.monotonic() - started)
        with pytest.raises(ValueError, match="a thread that makes batches has ended"):
            resume(folder, watcher=EndWorkers(dead))
    assert max(waited) < 60
    record(
        f"{dead} of {workers} threads that make batches ends",
        num,
        f"one line after {max(waited):.0f} s at most; it resumes",
    )
