"""A line on the terminal, or in a notebook, that says how far long work has come.

Where nobody would see it, what will take very long is said once, as a warning, soon after it began.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from threading import Lock, local
from typing import TypeVar

from tallybayes.errors import TallyBayesWarning, warn
from tallybayes.kernels import progress as reporting

Item = TypeVar("Item")

PATIENCE = 2.0  # seconds without a word
EVERY = 0.2
PAUSE = 0.5  # between phases of one piece of work
LONG = 600.0  # seconds that are foretold


def duration(seconds: float) -> str:
    """Write how long something takes.

    Examples
    --------
    >>> duration(59.6), duration(3000.0), duration(50000.0)
    ('60 s', '50 min', '13.9 h')
    """
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:,.1f} h"


class _Phases(local):
    """When the phases that follow each other without a pause began, and the last of them ended."""

    began = ended = -1.0

    def __init__(self) -> None:
        self.lines: list[ProgressLine] = []  # of work that is part of each other, the whole first


_phases = _Phases()


class ProgressLine:
    """The line; there is none where nobody looks at it.

    What takes very long is foretold by the innermost work: of ten folds, while the first goes on.
    Short phases that follow each other are not silent together: patience is that with all of them.
    """

    def __init__(self, what: str) -> None:
        self.what, self.start = what, time.monotonic()
        if self.start - _phases.ended > PAUSE:
            _phases.began = self.start
        self.since = min(_phases.began, self.start)
        self.told, self.shows = self.start, False
        self.shown, self.done, self._lock = reporting.heard(), 0, Lock()
        self.foretold = self.shown or reporting.silent
        self.began, self.at = self.start, (0, 1)  # of the item that is worked on, and its place

    def advance(self, of: int) -> None:
        """One more is done, on whichever thread."""
        with self._lock:
            self.done += 1
            self.tell(self.done, of)

    def tell(self, done: int, of: int | None = None) -> None:
        """Say how many are done, if it takes long and was not said just now."""
        now = time.monotonic()
        spent = now - self.start
        self.began, self.at = now, (done, of or 1)
        left = 0.0 if of is None else spent / max(done, 1) * (of - done)
        if done and of is not None and spent > PATIENCE:
            self._foretell(now, left)
        waited = now - self.since
        if self.shown and waited > PATIENCE and (not self.shows or now - self.told > EVERY):
            line = f"tallybayes: {self.what}, {done:,}"
            if of is None:
                line += f" so far, {duration(spent)}"
            else:
                line += f" of {of:,}" + f", {duration(left)} to go" * bool(done)
            print(f"\r{line:<72}", end="", file=sys.stderr, flush=True)
            self.told, self.shows = now, True

    def _foretell(self, now: float, left: float) -> None:
        """Say once how long all takes, this work and what it is part of, if that is very long."""
        around = [line for line in _phases.lines if line is not self]
        for line in reversed(around):
            done, of = line.at
            left += (now - line.began + left) * max(of - done - 1, 0)
        whole = (*around, self)[0]
        if left > LONG and not whole.foretold:
            whole.foretold = self.foretold = True
            done, of = whole.at
            warn(
                f"this will take about {duration(left)} more: {whole.what}, {done:,} of {of:,} are "
                f"done after {duration(now - whole.start)}",
                TallyBayesWarning,
            )

    def clear(self) -> None:
        """Leave the terminal as it was."""
        _phases.ended = time.monotonic()
        if self.shows:
            print(f"\r{'':<72}\r", end="", file=sys.stderr, flush=True)


def progress(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Go through the items; on a terminal, say how many are done if it takes long."""
    line = ProgressLine(what)
    _phases.lines.append(line)
    try:
        for done, item in enumerate(items):
            line.tell(done, len(items))
            yield item
    finally:
        if line in _phases.lines:  # unless it ends on another thread
            _phases.lines.remove(line)
        line.clear()
