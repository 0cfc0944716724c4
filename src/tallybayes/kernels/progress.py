"""How far long work has come, for whoever wants to know."""

from __future__ import annotations

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
