"""What a hostile or broken client gets: a clear answer, and nothing else."""

import asyncio
import socket
import threading
import time
from contextlib import suppress

import pytest

from learnalg.serve import server
from learnalg.serve.guards import MOST_BODY, SECURITY, Guard
from learnalg.serve.work import BusyError, Work, out_of_time


def served(guard, **request):
    """Status and body of one request straight to the guard; `body`: parts, None for silence."""
    headers = {"host": "127.0.0.1:8000", **request.get("headers", {})}
    parts = list(request.get("body", [b""]))
    scope = {
        "type": "http",
        "method": request.get("method", "POST"),
        "path": "/",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items() if value is not None],
    }
    sent = []

    async def receive():
        part = parts.pop(0)
        if part is None:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:]).decode(), parts


async def echo(scope, receive, send):
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(len(body)).encode()})


guard = Guard(echo, port=8000)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1:8001", "127.0.0.1", "", None, "localhost:8000.evil.example", "[::1]:8000"]
)
def test_a_host_that_is_not_ours_is_refused(host):
    status, text, _ = served(guard, method="GET", headers={"host": host})
    assert status == 421 and "127.0.0.1:8000" in text


def test_two_hosts_are_refused(client):
    headers = [("host", "127.0.0.1:8000"), ("host", "evil.example")]
    assert client.get("/runs", headers=headers).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000"])
def test_our_hosts_pass(host):
    assert served(guard, headers={"host": host})[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:8000"},
        {"origin": "http://localhost:8000"},
        {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_post_from_another_site_is_refused(headers):
    assert served(guard, headers=headers)[0] == 403


@pytest.mark.parametrize("headers", [{}, {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}])
def test_a_post_from_our_page_passes(headers):
    assert served(guard, headers=headers, body=[b"abc", b"de"])[:2] == (200, "5")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(method):
    assert served(guard, method=method)[0] == 405


def test_a_large_body_is_refused_by_its_length_and_while_it_comes():
    status, text, left = served(guard, headers={"content-length": str(10**8)}, body=[b"x"] * 3)
    assert (status, len(left)) == (413, 3) and "256 KB" in text
    chunk = b"x" * 65536
    status, _, left = served(guard, body=[chunk] * 1600)  # 100 MB, without a length
    assert status == 413 and len(left) == 1600 - MOST_BODY // len(chunk) - 1


def test_a_body_that_does_not_come_is_refused():
    impatient = Guard(echo, port=8000, body_seconds=0.05)
    status, text, _ = served(impatient, body=[b"a", None])
    assert status == 408 and "0.05 seconds" in text


def test_an_answer_that_nobody_reads_is_given_up():
    async def stuck(message):
        await asyncio.sleep(60)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"127.0.0.1:8000")]}
    started = time.monotonic()
    asyncio.run(Guard(echo, port=8000, send_seconds=0.05)(scope, receive, stuck))
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("path", ["/runs", "/style.css", "/static/htmx.min.js", "/nowhere", "/runs?run=none"])
def test_every_answer_forbids_what_comes_from_elsewhere(client, path):
    answer = client.get(path)
    assert {name: answer.headers[name] for name in SECURITY} == SECURITY
    assert "unsafe" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2fcli/__init__.py",
        "/runs?run=../secret.txt",
        "/runs?run=/etc/passwd",
        "/runs/curves?run=first/../../secret.txt",
        "/runs?run=first%00",
        "/paper/results/..%2f..%2fsecret.txt",
        "/paper/results/%2fetc%2fpasswd",
        "/paper/images/..%2fsecret.txt",
        "/paper/results/" + "a" * 5000,
    ],
)
def test_paths_lead_nowhere_else(client, path):
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "secret\n" not in answer.text and "root:" not in answer.text and "Traceback" not in answer.text


def test_what_a_client_sends_is_escaped(client):
    answer = client.get("/runs", params={"run": "<script>alert(1)</script>"})
    assert answer.status_code == 400
    assert "<script>alert" not in answer.text and "&lt;script&gt;" in answer.text


def test_work_has_a_limit_of_what_waits_and_of_time():
    async def check():
        work, go = Work(threads=1, waiting=1, seconds=0.3), threading.Event()
        first, second = (asyncio.ensure_future(work.run(go.wait, 5)) for _ in range(2))
        await asyncio.sleep(0.05)
        with pytest.raises(BusyError, match="waiting"):
            await work.run(print)
        with pytest.raises(BusyError, match=r"no answer after 0\.3 seconds"):
            await first
        go.set()
        with pytest.raises(BusyError):
            await second
        await asyncio.sleep(0.05)
        assert await work.run(lambda: 7) == 7, "what was given up must leave its place"

        def long():
            while not out_of_time():
                time.sleep(0.01)
            return "ended by itself"

        assert await work.run(long) == "ended by itself"
        work.close()

    asyncio.run(check())


@pytest.fixture
def live(address, monkeypatch):
    """The port of the real server; a connection may be silent for a second."""
    monkeypatch.setattr(server, "SILENT_SECONDS", 1.0)
    return int(address.rpartition(":")[2])


def talk(port, request, seconds=5.0):
    """All that comes back until the server closes or a body of known length is there."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as opened:
        for part in request:
            opened.sendall(part)
        found = b""
        while part := opened.recv(65536):
            found += part
        return found.decode()


def test_a_silent_client_is_left_and_others_are_served_meanwhile(live):
    host = f"Host: 127.0.0.1:{live}\r\n".encode()
    silent = [socket.create_connection(("127.0.0.1", live)) for _ in range(20)]
    for opened in silent[10:]:
        opened.sendall(b"GET /runs HTTP/1.1\r\n" + host)  # headers that do not end
    answer = talk(live, [b"GET /style.css HTTP/1.1\r\nConnection: close\r\n" + host + b"\r\n"])
    assert answer.startswith("HTTP/1.1 200")
    for opened in silent:
        opened.settimeout(5)
        with suppress(ConnectionResetError):
            assert opened.recv(1) == b""
        opened.close()


def test_a_hundred_megabytes_get_an_answer(live):
    import httpx

    chunk = b"x" * 2**20
    with httpx.Client(trust_env=False) as http:
        answer = http.post(f"http://127.0.0.1:{live}/try/solve", content=(chunk for _ in range(100)))
        assert answer.status_code == 413
        assert http.get(f"http://127.0.0.1:{live}/runs").status_code == 200


@pytest.mark.parametrize(
    "request_line", [b"GARBAGE\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", b"\x16\x03\x01\x02" * 50]
)
def test_garbage_is_refused_in_a_line(live, request_line):
    answer = talk(live, [request_line])
    assert answer.startswith("HTTP/1.1 4") or answer == ""
    assert "Traceback" not in answer


def test_a_port_that_is_taken_is_refused_in_a_line():
    with server.listen(0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"--port {port}: .*choose another"):
            server.listen(port)
    with pytest.raises(ValueError, match="--port 70000"):
        server.listen(70000)
    with server.listen(0) as ours:
        assert ours.getsockname()[0] == "127.0.0.1"
