"""A pool of threads over row blocks. Kernels release the GIL, so blocks run side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")

# Below this many cells a second thread costs more than it saves.
SMALLEST_SHARE = 100_000
NAME = "tallybayes"

_pool: ThreadPoolExecutor | None = None
_limit: int | None = None


def available() -> int:
    """Count the processors that this process may use; TALLYBAYES_THREADS lowers or raises it."""
    if _limit is not None:
        return _limit
    asked = os.environ.get("TALLYBAYES_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max_workers=32, thread_name_prefix=NAME)
    return _pool


def _forget_pool() -> None:
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):  # a forked child has no worker threads
    os.register_at_fork(after_in_child=_forget_pool)


@contextmanager
def limited_to(threads: int) -> Iterator[None]:
    """Use at most so many threads inside the block."""
    global _limit
    before, _limit = _limit, threads
    try:
        yield
    finally:
        _limit = before


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
    # a worker that waited for other workers might wait for ever
    if shares <= 1 or threading.current_thread().name.startswith(NAME):
        return [work(slice(0, n_rows))]
    edges = [n_rows * share // shares for share in range(shares + 1)]
    if sizes is not None:
        ends = np.cumsum(sizes + 1)
        inner = np.searchsorted(ends, [ends[-1] * share // shares for share in range(1, shares)])
        edges[1:-1] = inner.tolist()
    blocks = [slice(start, stop) for start, stop in pairwise(edges)]
    return list(_shared_pool().map(work, blocks))
