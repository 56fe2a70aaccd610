"""The picture of a run: its curves are where its numbers are, and it fits into the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest
from rich.console import Console

from learnalg.cli.plot import Curve, dots, plot
from learnalg.cli.progress import Lines
from learnalg.cli.screen import Screen
from learnalg.evaluation.samples import Sample
from learnalg.training.loop import train
from learnalg.training.watcher import Log

LOG = Log(640, 1.25, 0.002, 100.0, 61.0, True)


def test_a_line_goes_through_its_points():
    found = dots(Curve([0, 10], [0, 100], ""), width=4, height=2, x_max=10, low=0, high=100)
    assert found.shape == (8, 8)
    np.testing.assert_array_equal(found, np.eye(8, dtype=bool)[::-1])


def test_a_steep_line_has_no_gaps_and_stays_within_the_plot():
    found = dots(Curve([0, 1, 2, 3], [0, 100, 1e6, -5], ""), width=2, height=4, x_max=3, low=0, high=100)
    assert found.any(axis=0).all()
    assert found[:, 1].sum() == 15  # from below the top, where it started, up to the top
    assert found[0, 1] and found[0, 2] and found[-1, 3]


def test_points_of_one_column_are_averaged_and_none_is_drawn_where_none_is():
    found = dots(Curve([0, 0, 9], [0, 100, 50], ""), width=10, height=10, x_max=19, low=0, high=100)
    assert found[:, 0].argmax() == found[:, 9].argmax() == 20
    assert not found[:, 10:].any()
    assert not dots(Curve([], [], ""), 3, 3, 1, 0, 1).any()


def test_the_first_curve_has_its_colour_where_two_meet():
    text = plot([Curve([0, 1], [0, 0], "red"), Curve([0, 1], [1, 1], "blue")], 2, 1, 1, 0, 1)
    assert text.plain == "⣉⣉" and [str(span.style) for span in text.spans] == ["red", "red"]


@pytest.fixture(scope="module")
def seen(tiny_config, tmp_path_factory):
    """A screen that has watched a run."""
    screen = Screen("transpose 1-2", 20 * 64)
    config = tiny_config(eval_every=4 * 64, eval_num=10, final_num=30)
    train(config, tmp_path_factory.mktemp("seen") / "run", screen)
    return screen


def drawn(screen, width, height):
    console = Console(width=width, height=height, force_terminal=True, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(screen, end="")
    return captured.get().rstrip("\n").splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60), (60, 16), (40, 6)])
def test_the_picture_fits_into_the_terminal(seen, width, height):
    lines = drawn(seen, width, height)
    assert len(lines) < height and max(map(len, lines)) <= width
    assert "transpose 1-2" in lines[0] and "30 / 30" in lines[0]


def test_the_picture_shows_what_the_run_said(seen):
    text = "\n".join(drawn(seen, 100, 40))
    report = seen.reports[-1][1]
    assert f"{100 * report.accuracy['l1']['0.05']:.1f}" in text and f"{report.loss:.3f}" in text
    assert text.count("predicted") == text.count("truth") == len(seen.samples) == 3
    assert f"{seen.samples[0].solution[0, 0]:.4g}" in text
    assert "final evaluation on the validation split" in text
    assert len(seen.curve) == 5 and text.count("1,280") == 3  # two axes and the last evaluation


def test_samples_are_the_first_of_the_validation_set(seen, tiny_config, tmp_path):
    other = Screen("", 64)
    train(tiny_config(examples=64, eval_num=10), tmp_path / "run", other)
    for one, same in zip(seen.samples, other.samples, strict=True):
        np.testing.assert_array_equal(one.solution, same.solution)
        np.testing.assert_array_equal(one.solution, one.input.T)
        if one.prediction is not None:
            assert one.error == pytest.approx(np.abs(one.prediction - one.solution).sum() / np.abs(one.solution).sum())


def test_a_prediction_that_is_no_matrix_says_why():
    screen = Screen("x", 10)
    screen.on_samples([Sample("add", np.eye(2), np.eye(2), None, np.inf, "too short")])
    assert "no matrix: too short" in "\n".join(drawn(screen, 80, 24))


def test_what_slows_a_run_down_is_said(capsys):
    screen, lines = Screen("x", 10), Lines(10)
    slow = Log(640, 1.25, 0.002, 100.0, 61.0, False, notice="other work slows this run")
    for log in (LOG, slow, slow, LOG, slow):
        screen.on_log(log)
        lines.on_log(log)
    assert "other work slows this run" in "\n".join(drawn(screen, 80, 24))
    assert capsys.readouterr().out == "other work slows this run\n" * 2  # once for each time that it begins
    assert "1:01 left and evaluations" in "\n".join(drawn(screen, 80, 24))


def test_a_terminal_gets_the_picture(tmp_path, small):
    """The command in a real terminal of 90 x 30."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 90, 0, 0))
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "learnalg", "train", "--task", "transpose", "--dim", "1", *small, "--out", "run"]
    process = subprocess.Popen(command, stdout=slave, stderr=slave, cwd=tmp_path, env=environment)
    os.close(slave)
    said = b""
    while True:
        try:
            part = os.read(master, 65_536)
        except OSError:  # the other end has gone
            break
        if not part:
            break
        said += part
    os.close(master)
    assert process.wait() == 0
    text = said.decode()
    assert "accuracy in %:" in text and "predicted" in text and "20 / 20" in text
    assert any("\u2801" <= character <= "\u28ff" for character in text)
    assert "final evaluation on 20 examples" not in text  # of plain lines
