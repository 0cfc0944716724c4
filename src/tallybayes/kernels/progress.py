"""How far long work has come, for whoever wants to know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Progress(Protocol):
    """What is told of how far the work has come."""

    def begin(self, what: str, total_bytes: int | None) -> None:
        """Say what begins, and how much there is to read."""

    def advance(self, rows: int, bytes: int) -> None:  # noqa: A002
        """Say how much has been done since the last time."""

    def end(self) -> None:
        """Say that it is done."""


class Silence:
    """Progress that nobody looks at."""

    def begin(self, what: str, total_bytes: int | None) -> None:
        """Say nothing."""

    def advance(self, rows: int, bytes: int) -> None:  # noqa: A002
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


_listener: ContextVar[Progress] = ContextVar("progress", default=Silence())  # noqa: B039


def listener() -> Progress:
    """Return what is told of progress now."""
    return _listener.get()


@contextmanager
def listening(progress: Progress) -> Iterator[None]:
    """Tell something of the progress of what is done meanwhile."""
    token = _listener.set(progress)
    try:
        yield
    finally:
        _listener.reset(token)
