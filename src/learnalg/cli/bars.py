"""What a user sees of work that takes a while: a bar or a line in a terminal, nothing elsewhere. On standard error, so
that standard output has results alone.

    >>> with bar("eigenvalues-5", 10_000) as done:
    ...     done(500)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def is_terminal(stream: object) -> bool:
    """One that can show the dots of a curve."""
    encoding = str(getattr(stream, "encoding", ""))
    return bool(getattr(stream, "isatty", bool)()) and encoding.lower().startswith("utf")


@contextmanager
def bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows how much is done, on standard error, and disappears at the end. Gives the function to call with it."""
    if not is_terminal(sys.stderr):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=2) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def status(title: str) -> Iterator[Callable[[str], None]]:
    """Shows what is being done, where it cannot be said how much is left. Gives the function that changes the text."""
    if not is_terminal(sys.stderr):
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status(title, refresh_per_second=2) as shown:
        yield lambda text: shown.update(text)
