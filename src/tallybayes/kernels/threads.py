"""A pool of threads over row blocks. Kernels release the GIL, so blocks run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Argument = TypeVar("Argument")
Result = TypeVar("Result")

# Below this many cells a second thread costs more than it saves.
SMALLEST_SHARE = 100_000

_alone: ContextVar[bool] = ContextVar("part of work that is on several threads", default=False)


def available() -> int:
    """Count the processors that this process may use; TALLYBAYES_THREADS lowers or raises it."""
    asked = os.environ.get("TALLYBAYES_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=32, thread_name_prefix="tallybayes")


if hasattr(os, "register_at_fork"):  # a forked child has no worker threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def alone(work: Callable[[Argument], Result]) -> Callable[[Argument], Result]:
    """Return the work for a pool of threads: as if called here, but starting no more threads.

    A worker that waited for other workers might wait for ever.
    """
    here = copy_context()

    def on_one_thread(argument: Argument) -> Result:
        def call() -> Result:
            _alone.set(True)
            return work(argument)

        return here.copy().run(call)

    return on_one_thread


def over_rows(
    work: Callable[[slice], Result],
    n_rows: int,
    n_cells: int,
    sizes: NDArray[np.int64] | None = None,
) -> list[Result]:
    """Call `work` on contiguous blocks that together cover the rows, and list the results.

    The blocks have as many rows each, or are even by the sizes of the rows.
    """
    shares = min(n_cells // SMALLEST_SHARE, n_rows)
    if shares > 1:
        shares = min(shares, available())
    if shares <= 1 or _alone.get():
        return [work(slice(0, n_rows))]
    edges = [n_rows * share // shares for share in range(shares + 1)]
    if sizes is not None:
        ends = np.cumsum(sizes + 1)
        inner = np.searchsorted(ends, [ends[-1] * share // shares for share in range(1, shares)])
        edges[1:-1] = inner.tolist()
    blocks = [slice(start, stop) for start, stop in pairwise(edges)]
    return _taken_in_turn(alone(work), blocks)


def _taken_in_turn(work: Callable[[slice], Result], blocks: list[slice]) -> list[Result]:
    """Do the blocks of work on this thread and on others, as many as can be started."""
    left = iter(range(len(blocks)))  # each number goes to one of the threads
    done: dict[int, Result] = {}
    failed: dict[int, BaseException] = {}

    def take_turns() -> None:
        for turn in left:
            try:
                done[turn] = work(blocks[turn])
            except BaseException as error:
                failed[turn] = error

    helpers = []
    with suppress(RuntimeError):  # there may be no memory for more threads
        for _ in blocks[1:]:
            helpers.append(_pool().submit(take_turns))
    take_turns()
    wait(helper for helper in helpers if not helper.cancel())
    if failed:
        raise failed[min(failed)]
    return [done[turn] for turn in range(len(blocks))]
