"""Heavy work in a few threads, so that pages answer meanwhile: a limit of how much waits, and of how long it takes.

    work = Work(threads=1, waiting=20, seconds=30)
    answer = await work.run(explore, model, problem, 1000)

A thread cannot be stopped from outside: long work asks `out_of_time()` now and then, and ends by itself.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Answer = TypeVar("Answer")
_local = threading.local()
WORKING = 2 / 3  # of the time limit: long work ends by itself before it is given up


class BusyError(Exception):
    """Too much is waiting, or it took too long."""


class Work:
    def __init__(self, threads: int, waiting: int, seconds: float, prepare: Callable[[], None] | None = None) -> None:
        """`prepare` is called in each thread before its first work."""
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="work", initializer=prepare)
        self.most, self.seconds = threads + waiting, seconds
        self.num = 0
        self.is_closed = threading.Event()

    async def run(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """In a thread. A BusyError where too much is waiting, and after the time limit."""
        if self.num >= self.most:
            raise BusyError(f"{self.num} others are waiting: try again in a moment")
        self.num += 1
        limit = time.monotonic() + WORKING * self.seconds
        future: Future[Answer] = self.pool.submit(self._do, limit, function, arguments)
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: loop.is_closed() or loop.call_soon_threadsafe(self._done))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.seconds)
        except TimeoutError:
            raise BusyError(f"no answer after {self.seconds:g} seconds: ask for less, or try again") from None

    def _do(self, limit: float, function: Callable[..., Answer], arguments: tuple[Any, ...]) -> Answer:
        _local.limit, _local.is_closed = limit, self.is_closed
        return function(*arguments)

    def _done(self) -> None:
        self.num -= 1

    def close(self) -> None:
        self.is_closed.set()
        self.pool.shutdown(wait=False, cancel_futures=True)


def out_of_time() -> bool:
    """Whether the work of this thread should end: its time is over, or the server stops."""
    limit, is_closed = getattr(_local, "limit", None), getattr(_local, "is_closed", None)
    return (limit is not None and time.monotonic() > limit) or (is_closed is not None and is_closed.is_set())
