"""What each request passes before the page sees it, and what each answer carries.

    guarded = Guard(app, port=8000)

- The Host must be ours. Otherwise a foreign site whose name is made to point to 127.0.0.1 could read the answers.
- A POST must come from a page of ours, by its Origin and Sec-Fetch-Site. GET computes nothing that is heavy.
- A body is read whole, up to a size and within a time, before anything is computed.
- An answer that nobody reads is given up.

Every answer forbids scripts, styles, pictures and frames from anywhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

MOST_BODY = 256 * 1024  # bytes; a 100x100 matrix with 16 digits a coefficient fits
BODY_SECONDS = 10.0
SEND_SECONDS = 30.0

SECURITY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class RefusedError(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class SlowReaderError(Exception):
    """The client does not read its answer."""


class Guard:
    def __init__(
        self,
        app: App,
        port: int,
        most_body: int = MOST_BODY,
        body_seconds: float = BODY_SECONDS,
        send_seconds: float = SEND_SECONDS,
    ) -> None:
        self.app, self.most_body = app, most_body
        self.body_seconds, self.send_seconds = body_seconds, send_seconds
        names = ("127.0.0.1", "localhost")
        self.hosts = {f"{name}:{port}" for name in names} | (set(names) if port == 80 else set())

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # a WebSocket: there are none here
            await send({"type": "websocket.close", "code": 1008})
            return
        careful = self._careful(send)
        try:
            body = await self._admit(scope, receive)
            await self.app(scope, _replay(body, receive), careful)
        except RefusedError as refused:
            await _answer(careful, refused.status, refused.reason)
        except SlowReaderError:  # the server closes the connection of an answer that is not whole
            return

    async def _admit(self, scope: MutableMapping[str, Any], receive: Receive) -> bytes:
        """The body of a request that may pass."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            raise RefusedError(421, f"this page answers as {' and '.join(sorted(self.hosts))} only")
        method = scope["method"]
        if method in ("GET", "HEAD"):
            return b""
        if method != "POST":
            raise RefusedError(405, "GET and POST only")
        origins, sites = headers.get("origin", []), headers.get("sec-fetch-site", [])
        is_ours = origins in ([], [f"http://{host[0]}"]) and sites in ([], ["same-origin"], ["none"])
        if not is_ours:
            raise RefusedError(403, "this request comes from another site")
        said = headers.get("content-length", ["0"])[0]
        if not said.isdigit() or int(said) > self.most_body:
            raise self._too_large()
        try:
            return await asyncio.wait_for(self._read(receive), self.body_seconds)
        except TimeoutError:
            raise RefusedError(408, f"the request was not whole after {self.body_seconds:g} seconds") from None

    async def _read(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RefusedError(400, "the request ended early")
            body += message.get("body", b"")
            if len(body) > self.most_body:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> RefusedError:
        return RefusedError(413, f"the request is larger than {self.most_body // 1024} KB")

    def _careful(self, send: Send) -> Send:
        async def careful(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message.get("headers", [])}
                added = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
                message["headers"] = [*message.get("headers", []), *(pair for pair in added if pair[0] not in known)]
            try:
                await asyncio.wait_for(send(message), self.send_seconds)
            except TimeoutError:
                raise SlowReaderError from None

        return careful


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body that was read already, then whatever comes."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return parts.pop() if parts else await receive()

    return replayed


async def _answer(send: Send, status: int, reason: str) -> None:
    body = f"{reason}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
