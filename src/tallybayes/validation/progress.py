"""A line on the terminal that says how far long work has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from tallybayes.kernels import progress as reporting

Item = TypeVar("Item")

PATIENCE = 2.0  # seconds without a word
EVERY = 0.2


def progress(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Go through the items; on a terminal, say how many are done if it takes long."""
    if reporting.silent or sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    start = told = time.monotonic()
    try:
        for done, item in enumerate(items):
            now = time.monotonic()
            if now - start > PATIENCE and now - told > EVERY:
                left = (now - start) / max(done, 1) * (len(items) - done)
                line = f"tallybayes: {what}, {done} of {len(items)}, {left:.0f} s to go"
                print(f"\r{line:<72}", end="", file=sys.stderr, flush=True)
                told = now
            yield item
    finally:
        if told > start:
            print(f"\r{'':<72}\r", end="", file=sys.stderr, flush=True)
