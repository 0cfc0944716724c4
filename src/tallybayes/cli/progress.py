"""How far long work has come: a bar on a terminal, after half a second of work.

Where escape codes are unwelcome (NO_COLOR, TERM=dumb) it is a line that overwrites itself.
"""

from __future__ import annotations

import os
import sys
import time
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

PATIENCE = 0.5  # seconds of work before a word is said
EVERY = 0.2  # seconds between two words


class Silence:
    """No progress is shown."""

    def begin(self, what: str, total_bytes: int | None = None) -> None:
        """Start with some work."""

    def advance(self, rows: int, bytes: int = 0) -> None:  # noqa: A002 - what workflows call it
        """So many more rows and bytes are done."""

    def end(self) -> None:
        """All is done."""

    def pause(self) -> None:
        """Make room for a message."""


class Progress(Silence):
    """Rows, rows a second, the share of all bytes and the time left, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._what, self._total = "", 0
        self._rows = self._bytes = 0
        self._start = self._told = time.monotonic()
        self._line: _Line | _RichLine | None = None

    def begin(self, what: str, total_bytes: int | None = None) -> None:
        """Start with some work; without a number of bytes there is no time left to tell."""
        self.end()
        with self._lock:
            self._what, self._total = what, total_bytes or 0
            self._rows = self._bytes = 0
            self._start = self._told = time.monotonic()

    def advance(self, rows: int, bytes: int = 0) -> None:  # noqa: A002 - what workflows call it
        """So many more rows and bytes are done."""
        with self._lock:
            self._rows += rows
            self._bytes += bytes
            now = time.monotonic()
            if now - self._start > PATIENCE and now - self._told > EVERY:
                self._told = now
                if self._line is None:
                    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") in (None, "dumb")
                    self._line = _Line() if plain else _RichLine()
                self._line.tell(self._what, self._facts(now - self._start), self._share)

    def end(self) -> None:
        """All is done: leave no trace on the terminal."""
        with self._lock:
            if self._line is not None:
                self._line.clear()
                self._line = None

    pause = end

    @property
    def _share(self) -> float | None:
        """The share of the bytes that is done."""
        return min(self._bytes / self._total, 1.0) if self._total else None

    def _facts(self, seconds: float) -> str:
        """Rows, rows a second and the time left, in words."""
        words = f"{self._rows:,} rows, {self._rows / seconds:,.0f} rows/s"
        if not self._share:
            return words
        left = round(seconds / self._share * (1.0 - self._share))
        minutes, rest = divmod(left, 60)
        return f"{words}, {f'{minutes} min ' if minutes else ''}{rest} s left"


class _Line:
    """A line of text that the next one overwrites."""

    def __init__(self) -> None:
        self._width = 0

    def tell(self, what: str, facts: str, share: float | None) -> None:
        """Overwrite the line."""
        line = f"{what}: {'' if share is None else f'{share:.0%}, '}{facts}"
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = max(self._width, len(line))

    def clear(self) -> None:
        """Remove the line."""
        print(f"\r{'':<{self._width}}\r", end="", file=sys.stderr, flush=True)


class _RichLine:
    """A bar drawn by rich, which is imported only now."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("{task.fields[facts]}", markup=False),
        )
        self._bar: Bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: Any = None
        self._bar.start()

    def tell(self, what: str, facts: str, share: float | None) -> None:
        """Draw the bar anew."""
        if self._task is None:
            self._task = self._bar.add_task(what, total=None, facts=facts)
        total = None if share is None else 1.0
        self._bar.update(self._task, total=total, completed=share or 0.0, facts=facts)

    def clear(self) -> None:
        """Remove the bar."""
        self._bar.stop()
