"""Loggers: each gets the numbers of metrics.jsonl, without a network; one that is not there is refused."""

import json
import os
import sqlite3
import subprocess
import sys

import pytest

from learnalg.config import TrainConfig, from_dict, to_dict
from learnalg.config.upgrade import renamed
from learnalg.training.loggers import LOGGERS, check_logger, scalars
from learnalg.training.loop import train
from learnalg.training.run import Run


@pytest.mark.parametrize("name", LOGGERS)
def test_a_logger_that_is_not_installed_is_refused_before_anything_starts(tmp_path, tiny_config, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match=rf"{name} is not installed: pip install 'learnalg\[{name}\]'"):
        train(tiny_config(logger=name), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_unknown_logger_is_refused():
    with pytest.raises(ValueError, match="unknown logger 'tensorbord': did you mean 'tensorboard'"):
        check_logger("tensorbord")
    check_logger("")


def test_what_is_logged_are_the_numbers_of_a_line():
    line = {"valid_loss": 0.5, "well_formed": 1.0, "accuracy": {"l1": {"0.05": 0.25}, "l2": {"0.05": 0.5}}, "x": [1.0]}
    assert scalars(line) == {"valid_loss": 0.5, "well_formed": 1.0, "accuracy/0.05": 0.25}


def test_tensorboard_events_are_written(tmp_path, tiny_config):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = train(tiny_config(logger="tensorboard"), tmp_path / "run")
    events = EventAccumulator(str(run.folder / "tensorboard"))
    events.Reload()
    assert [(e.step, e.value) for e in events.Scalars("loss")] == [
        (m["examples"], pytest.approx(m["loss"])) for m in run.metrics() if "loss" in m
    ]
    assert len(events.Scalars("accuracy/0.05")) == 1


OFFLINE = """
import socket, sys
def refuse(*arguments):
    raise AssertionError(f"network: {arguments[1:]}")
socket.socket.connect = socket.socket.connect_ex = refuse
from pathlib import Path
from learnalg.config import from_dict
from learnalg.training.loop import train
import json
train(from_dict(json.loads(Path("config.json").read_text())), Path("first"))
"""


def test_trackio_gets_the_same_numbers_without_a_network(tmp_path, tiny_config):
    pytest.importorskip("trackio")
    (tmp_path / "config.json").write_text(json.dumps(to_dict(tiny_config(logger="trackio"))))
    environment = os.environ | {"TRACKIO_DIR": str(tmp_path / "board"), "HF_HUB_OFFLINE": "1", "HOME": str(tmp_path)}
    command = [sys.executable, "-c", OFFLINE]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(tmp_path / "board" / "learnalg.db") as board:
        rows = board.execute("select run_name, step, metrics from metrics order by step, id").fetchall()
    board.close()
    assert {name for name, _, _ in rows} == {"first"}
    lines = Run.open(tmp_path / "first").metrics()
    assert [(step, json.loads(text)) for _, step, text in rows] == [
        (line["examples"], {k: v for k, v in scalars(line).items() if k != "seconds"} | {"examples": line["examples"]})
        for line in lines
    ]


@pytest.mark.parametrize(("old", "new"), [(True, "tensorboard"), (False, "")])
def test_the_switch_of_earlier_configs_is_a_logger(tiny_config, old, new):
    values = to_dict(tiny_config(logger=new))
    earlier = values | {"train": {k: v for k, v in values["train"].items() if k != "logger"} | {"tensorboard": old}}
    assert from_dict(earlier) == from_dict(values)
    assert earlier["train"]["tensorboard"] is old  # the argument stays
    assert renamed({"train": "no table"}) == {"train": "no table"}


def test_a_switch_that_is_none_stays_an_error():
    with pytest.raises(ValueError, match="unknown key in train 'tensorboard'"):
        from_dict({"train": {"tensorboard": "yes"}})
    assert "tensorboard" not in TrainConfig.__dataclass_fields__
