"""How far long work has come, for whoever wants to know.

The library itself says a word on terminals and in notebooks: that kernels are being compiled, how
many folds are done. A program that speaks to its users itself makes it `silent`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

silent = False


def heard() -> bool:
    """Tell whether someone sees what is written to standard error while the work goes on."""
    if silent or sys.stderr is None:
        return False
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")


class Listener:
    """What is told of how far the work has come; this one does nothing about it."""

    def begin(self, what: str, total_bytes: int | None) -> None:
        """Hear what begins, and how much there is to read."""

    def advance(self, rows: int, bytes: int) -> None:  # noqa: A002
        """Hear how much has been done since the last time."""

    def end(self) -> None:
        """Hear that it is done."""


_listener: ContextVar[Listener] = ContextVar("progress", default=Listener())  # noqa: B039


def listener() -> Listener:
    """Return what is told of progress now."""
    return _listener.get()


@contextmanager
def listening(progress: Listener) -> Iterator[None]:
    """Tell something of the progress of what is done meanwhile."""
    token = _listener.set(progress)
    try:
        yield
    finally:
        _listener.reset(token)
