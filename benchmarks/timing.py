"""How everything is timed: the best of equal turns, because on a shared machine the rest is noise."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any


def best_of(turns: int, *competitors: Callable[[], Any]) -> list[float]:
    """Return each competitor's best time in seconds.

    All get the same number of turns, in two rounds. A competitor's turns of one round follow each
    other, so that none is timed on caches that another has just filled.
    """
    best = [float("inf")] * len(competitors)
    for _ in range(2):
        for place, work in enumerate(competitors):
            for _ in range(turns):
                start = time.perf_counter()
                work()
                best[place] = min(best[place], time.perf_counter() - start)
    return best


def side_by_side(turns: int, *competitors: Callable[[], Any]) -> list[float]:
    """Return each competitor's median time, taken in turn: for small differences between them."""
    times: list[list[float]] = [[] for _ in competitors]
    for _ in range(turns):
        for found, work in zip(times, competitors, strict=True):
            start = time.perf_counter()
            work()
            found.append(time.perf_counter() - start)
    return [median(each) for each in times]


def per_call(work: Callable[[], Any], calls: int = 5_000) -> float:
    """Return the best time of one call in microseconds."""

    def many() -> None:
        for _ in range(calls):
            work()

    many()
    return best_of(9, many)[0] / calls * 1e6


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
