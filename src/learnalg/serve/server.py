"""The server: a socket on this machine only, and connections that may not stay silent.

with listen(8000) as socket:
    serve_until_stopped(app, socket)
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

SILENT_SECONDS = 20.0  # without a whole request, or without reading the answer
MOST_CONNECTIONS = 300
MOST_HEADERS = 64 * 1024  # bytes; a matrix may stand in the address
HOST = "127.0.0.1"


class PatientProtocol(H11Protocol):
    """uvicorn's, which waits forever for the headers of a request: here a connection that is silent is closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        self.watch()

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        super().on_response_complete()

    def watch(self) -> None:
        """Once a second. What is being answered is watched by the guard."""
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self.loop.time() - self.since > SILENT_SECONDS:
            self.transport.abort()
        elif not self.transport.is_closing() or self.transport.get_write_buffer_size():
            self.loop.call_later(1.0, self.watch)


def listen(port: int) -> socket.socket:
    """Port 0 is any free one."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise ValueError(f"--port {port}: {getattr(error, 'strerror', None) or error}; choose another") from None
    return listening


def server_for(app: Any, **settings: Any) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEADERS,
        timeout_graceful_shutdown=3,
        **settings,
    )
    return uvicorn.Server(config)


def serve_until_stopped(app: Any, listening: socket.socket) -> None:
    """Until Ctrl-C."""
    server_for(app).run(sockets=[listening])
