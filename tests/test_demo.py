"""The demo as a process: its short form goes all the way, and Ctrl-C ends it with one line."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "examples/demo.py"
PNG = b"\x89PNG\r\n\x1a\n"


def test_the_short_demo_shows_all_and_draws_two_pictures(tmp_path):
    done = subprocess.run([sys.executable, DEMO, "--short"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    rows = {line.split()[0]: line for line in lines if line.startswith(("eigenvalues-5 ", "laplace-5 "))}
    # On matrices with positive eigenvalues, last in the row, one model is wrong and says so; the other is right.
    assert rows["eigenvalues-5"].endswith(" 0 % right, 0 % proven") and "100 % right" in rows["eigenvalues-5"]
    assert rows["laplace-5"].endswith("100 % right, 100 % proven")
    assert "640 examples: accuracy at 5%:" in done.stdout and "Three new matrices:" in done.stdout
    assert done.stdout.index("3. What to try next") > done.stdout.index("Three new matrices:")
    for name in ("released.png", "learning-curve.png"):
        assert (tmp_path / "runs/demo" / name).read_bytes().startswith(PNG)


@pytest.mark.parametrize("moment", ["released", "training"])
def test_ctrl_c_ends_the_demo_with_one_line(moment, tmp_path):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-u", DEMO], cwd=tmp_path, **pipes)
    awaited = {"released": tmp_path / "runs/demo", "training": tmp_path / "runs/demo/run/checkpoints"}[moment]
    until = time.monotonic() + 200
    while not awaited.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in said and said.strip().count(b"\n") == 0 and b"stopped" in said
