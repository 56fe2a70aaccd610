"""Requests to `learnalg serve` that are nearly right, over runs that are nearly right: each has its answer, and none is
a mistake of the page."""

import json
import shutil
import socket
import threading
import time

import pytest
from starlette.testclient import TestClient

from learnalg.reproduction.report.hosting import Hosting
from learnalg.reproduction.tables import EXPERIMENTS
from learnalg.serve import server
from learnalg.serve.app import build_app
from learnalg.serve.runs import Runs

PORT = 8000
ANSWERS = {200, 303, 307, 400, 404, 405, 413, 421, 422, 431, 503}
TEXTS = (
    *(
        "",
        " ",
        "x",
        "0",
        "-1",
        "1e9",
        "1e400",
        "nan",
        "inf",
        "9" * 30,
        "9" * 3000,
        "²",
        "٣",
        "\x00",
        "\x1b[2J",
        "\ud800",
    ),
    *("<script>", "../../etc/passwd", "%00", "1 2\n3 4", "1,2,3\n4,5\n", "1 2 3\n2 5 -4\n3 -4 0.5", "1e308 1\n1 1e308"),
    *("nan 1\n1 nan", "1" + " 1" * 5000, "[[1,2],[3,4]]", "1e-320 0\n0 1", "0 0\n0 0", "1j", "x" * 100_000),
)
RIGHT = {
    "task": ("eigenvalues", "transpose", "add", "inverse"),
    "model": ("", "transpose-5", "eigenvalues-3", "runs/run"),
    "matrix-1": ("1 2\n2 1", "1 2 3\n2 5 -4\n3 -4 0.5"),
    "matrix-2": ("", "1 2\n2 1"),
    "size": ("2", "3", "2x3", "101"),
    "seed": ("1", "7"),
    "ensemble": ("laplace", "positive"),
    "num": ("1", "3"),
    "factor": ("1", "0.5"),
    "place": ("", "encoder 1"),
    "head": ("mean", "every", "1", "99"),
    "action": ("draw", "solve"),
    "run": ("run", "other"),
    "minutes": ("5",),
}
PATHS = (
    "/try",
    "/explore",
    "/runs",
    "/runs/curves",
    "/paper",
    "/explore/heatmap",
    "/paper/results/x",
    "/static/page.js",
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny_run):
    folder = tmp_path_factory.mktemp("http") / "runs"
    for name in ("run", "other"):
        shutil.copytree(tiny_run.folder, folder / name, ignore=shutil.ignore_patterns("checkpoints"))
    return folder


@pytest.fixture(scope="module")
def app(runs):
    paper = Hosting({"table-6": EXPERIMENTS["table-6"]}, "laptop", runs.parent)
    return lambda port: build_app(Runs(runs), paper, port)


@pytest.fixture(scope="module")
def client(app):
    with TestClient(app(PORT), base_url=f"http://127.0.0.1:{PORT}", raise_server_exceptions=True) as opened:
        yield opened


def fields(rng):
    """Half of the fields, three quarters of them right."""
    chosen = rng.sample(sorted(RIGHT), rng.randrange(1, len(RIGHT)))
    values = {name: rng.choice(RIGHT[name] if rng.random() < 0.75 else TEXTS) for name in chosen}
    return {name: value.encode("utf-8", "replace").decode() for name, value in values.items()}


def check(answer, seconds):
    assert answer.status_code in ANSWERS, answer.text[:500]
    assert "Traceback" not in answer.text and "mistake in the page" not in answer.text
    assert seconds < 60


def test_forms(client, fuzz):
    rng = fuzz.rng("forms")
    statuses = set()
    for _ in range(fuzz.rounds(60)):
        path, values, started = rng.choice(PATHS), fields(rng), time.monotonic()
        if rng.random() < 0.5:
            answer = client.post(path, data=values, follow_redirects=False)
        else:
            short = {name: value[:4000] for name, value in values.items()}
            answer = client.get(path, params=short, follow_redirects=False)
        check(answer, time.monotonic() - started)
        statuses.add(answer.status_code)
    assert {200, 422} <= statuses


def test_bodies_and_headers(client, fuzz):
    rng = fuzz.rng("bodies")
    known = b"task=eigenvalues&model=&matrix-1=1+2%0A2+1&size=2&seed=1&action=draw"
    for _ in range(fuzz.rounds(40)):
        kind = rng.choice(
            ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", "")
        )
        headers = {
            "content-type": kind,
            rng.choice(("x", "cookie", "hx-request", "range")): rng.choice(("", "1", "a" * 9000)),
        }
        started = time.monotonic()
        answer = client.post(rng.choice(PATHS[:2]), content=fuzz.bytes(rng, known), headers=headers)
        check(answer, time.monotonic() - started)


def test_damaged_runs(client, fuzz, runs, tiny_run):
    rng = fuzz.rng("damaged runs")
    for _ in range(fuzz.rounds(30)):
        path = runs / "run" / rng.choice(["config.json", "metrics.jsonl", "provenance.json", "result.json"])
        whole = path.read_bytes()
        if path.suffix == ".jsonl":
            changed = fuzz.json(rng, [json.loads(line) for line in whole.splitlines()])
            lines = changed if isinstance(changed, list) else [changed]
            path.write_bytes(b"".join(fuzz.text(line) + b"\n" for line in lines))
        elif rng.random() < 0.2:
            path.write_bytes(fuzz.bytes(rng, whole))
        else:
            path.write_bytes(fuzz.text(fuzz.json(rng, json.loads(whole))))
        try:
            for address in ("/runs", "/runs?run=run", "/runs?run=run&run=other", "/runs/curves?run=run", "/try"):
                started = time.monotonic()
                check(client.get(address), time.monotonic() - started)
        finally:
            path.write_bytes(whole)
        time.sleep(0.002)  # another time of change


def test_requests_byte_by_byte(app, fuzz):
    """To the real server: it answers or closes, and goes on."""
    listening = server.listen(0)
    port = listening.getsockname()[1]
    running = server.server_for(app(port))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    host = f"Host: 127.0.0.1:{port}\r\n".encode()
    right = b"POST /try HTTP/1.1\r\n" + host + b"Content-Length: 9\r\nContent-Type: text/plain\r\n\r\ntask=x&a="
    rng = fuzz.rng("requests")
    try:
        for _ in range(fuzz.rounds(40)):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(fuzz.bytes(rng, right))
                connection.shutdown(socket.SHUT_WR)
                answer = b""
                while part := _received(connection):
                    answer += part
            assert answer == b"" or answer.startswith(b"HTTP/1.1 "), answer[:200]
            assert b"Traceback" not in answer
            assert not answer or int(answer[9:12]) in ANSWERS, answer[:200]
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(b"GET /runs HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n")
            assert _received(connection).startswith(b"HTTP/1.1 200 ")
    finally:
        running.should_exit = True
        thread.join(20)


def _received(connection):
    try:
        return connection.recv(65536)
    except ConnectionResetError:
        return b""
