"""A line on the terminal, or in a notebook, that says how far long work has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TypeVar

from tallybayes.kernels import progress as reporting

Item = TypeVar("Item")

PATIENCE = 2.0  # seconds without a word
EVERY = 0.2


class ProgressLine:
    """The line; there is none where nobody looks at it."""

    def __init__(self, what: str) -> None:
        self.what, self.start = what, time.monotonic()
        self.told = self.start
        self.shown, self.done, self._lock = reporting.heard(), 0, Lock()

    def advance(self, of: int) -> None:
        """One more is done, on whichever thread."""
        with self._lock:
            self.done += 1
            self.tell(self.done, of)

    def tell(self, done: int, of: int | None = None) -> None:
        """Say how many are done, if it takes long and was not said just now."""
        now = time.monotonic()
        if self.shown and now - self.start > PATIENCE and now - self.told > EVERY:
            line = f"tallybayes: {self.what}, {done:,}"
            if of is None:
                line += f" so far, {now - self.start:.0f} s"
            else:
                left = (now - self.start) / max(done, 1) * (of - done)
                line += f" of {of:,}, {left:,.0f} s to go"
            print(f"\r{line:<72}", end="", file=sys.stderr, flush=True)
            self.told = now

    def clear(self) -> None:
        """Leave the terminal as it was."""
        if self.told > self.start:
            print(f"\r{'':<72}\r", end="", file=sys.stderr, flush=True)


def progress(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Go through the items; on a terminal, say how many are done if it takes long."""
    line = ProgressLine(what)
    try:
        for done, item in enumerate(items):
            line.tell(done, len(items))
            yield item
    finally:
        line.clear()
