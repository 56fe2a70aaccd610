import json
import shutil
import threading
import time
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from learnalg.config import replace_fields, to_dict
from learnalg.config.presets import preset
from learnalg.reproduction.report.hosting import Hosting
from learnalg.reproduction.tables import EXPERIMENTS
from learnalg.serve import server
from learnalg.serve.app import build_app
from learnalg.serve.runs import Runs
from learnalg.training.run import Run
from learnalg.zoo.index import ZOO

PORT = 8000
ADDRESS = f"http://127.0.0.1:{PORT}"
TABLES = ("table-6", "table-12")
TOLERANCES = ("0.05", "0.02", "0.01", "0.005")


def write_run(folder, task="eigenvalues", lines=(), **changes):
    folder.mkdir(parents=True)
    config = replace_fields(preset("fast"), task=task, **changes)
    (folder / "config.json").write_text(json.dumps(to_dict(config)))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def log(examples, loss):
    return {"examples": examples, "seconds": examples / 100, "loss": loss, "examples_per_second": 100.0}


def evaluation(examples, share, **more):
    shares = dict.fromkeys(TOLERANCES, share)
    return {"examples": examples, "seconds": 1.0, "valid_loss": 1.5, "accuracy": {"l1": shares}} | more


@pytest.fixture(scope="session")
def made():
    """Runs by hand: made.run(folder, lines=[made.log(10, 1.0), made.evaluation(10, 0.5)])."""
    return SimpleNamespace(run=write_run, log=log, evaluation=evaluation)


@pytest.fixture(scope="session")
def folder(tmp_path_factory, made):
    """Two runs beside a file that no request may reach."""
    root = tmp_path_factory.mktemp("served")
    (root / "secret.txt").write_text("secret")
    runs = root / "runs"
    lines = [log(1000, 3.5), log(2000, 2.25), evaluation(2000, 0.625, by_dimension={"3x3": {"0.05": 0.75}})]
    first = write_run(runs / "first", dim="3", lines=lines, examples=10_000)
    shutil.copy(ZOO / "eigenvalues-3.safetensors", first / "model.safetensors")
    write_run(runs / "deep" / "second", dim="5", seed=7, lines=[log(500, 4.0)], examples=10_000)
    with Run.open(first).locked():  # as a process does that trains
        yield runs


@pytest.fixture(scope="session")
def paper(folder):
    return Hosting({name: EXPERIMENTS[name] for name in TABLES}, "laptop", folder.parent)


@pytest.fixture(scope="session")
def address(folder, paper):
    """The real server, in a thread."""
    listening = server.listen(0)
    port = listening.getsockname()[1]
    running = server.server_for(build_app(Runs(folder), paper, port))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    running.should_exit = True
    thread.join(10)


@pytest.fixture(scope="session")
def client(folder, paper):
    app = build_app(Runs(folder), paper, PORT)
    with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as opened:
        yield opened
