"""Where to cut a number so that the intervals tell the classes apart.

The method of U. Fayyad and K. Irani, "Multi-interval discretization of continuous-valued attributes
for classification learning" (IJCAI 1993). A set S of N values with k classes in it and the entropy
H(S), in bits, is cut in two where the classes are purest on both sides,

    gain = H(S) - (N_1 H(S_1) + N_2 H(S_2)) / N        is greatest,

if describing the cut costs less than it saves, by the principle of minimum description length:

    gain > (log2(N - 1) + log2(3^k - 2) - (k H(S) - k_1 H(S_1) - k_2 H(S_2))) / N.

Both sides are then cut in the same way, until no cut pays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]

LARGEST = np.finfo(np.float64).max
LEAST_ABOVE_0 = np.finfo(np.float64).tiny
LOG_2 = float(np.log(2.0))
SAME = 1e-12  # a relative difference that may be rounding: the cuts are equally good


def entropy_edges(
    x: Array, y_codes: Array, n_classes: int, weights: Array | None = None
) -> tuple[float, ...]:
    """Return the edges that the method finds, in increasing order; there may be none.

    A cut stands halfway between two values that follow each other; of cuts that are equally good
    the leftmost is taken. Missing values (NaN) are left out, and infinite ones taken for the
    largest numbers there are.

    Parameters
    ----------
    x
        The numbers.
    y_codes
        The class of each, from 0 to n_classes - 1.
    n_classes
        How many classes there are.
    weights
        How often each row counts.

    Examples
    --------
    >>> entropy_edges(np.array([1, 2, 3, 4, 7, 8, 9, 10]), np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2)
    (5.5,)
    """
    x = np.clip(np.asarray(x, np.float64), -LARGEST, LARGEST)
    there = ~np.isnan(x)
    if weights is not None:
        there &= np.asarray(weights) > 0.0
    x, y = x[there], np.asarray(y_codes)[there]
    if not len(x):
        return ()
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    starts = _runs(x, y)
    run = np.zeros(len(x), np.int64)
    run[starts[1:]] = 1
    cells = y.astype(np.int64) * len(starts) + np.cumsum(run)
    w = None if weights is None else np.asarray(weights, np.float64)[there][order]
    flat = np.bincount(cells, w, n_classes * len(starts)).astype(np.float64)
    cut = _cut(flat.reshape(n_classes, len(starts)))
    return tuple(sorted(_between(float(x[at - 1]), float(x[at])) for at in starts[cut].tolist()))


def _runs(x: Array, y: Array) -> Array:
    """Return where runs of sorted values begin that no best cut parts.

    Equal values cannot be parted, and between neighbours of one and the same class a cut is never
    best (Fayyad and Irani, 1992), so these need not be tried.
    """
    starts = np.flatnonzero(np.append(True, x[1:] != x[:-1]))
    least, greatest = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    alike = (least[1:] == greatest[:-1]) & (greatest[1:] == least[:-1])
    kept: Array = starts[np.append(True, ~alike)]
    return kept


def _cut(counts: Floats) -> list[int]:
    """Return the runs before which a cut pays; counts are of classes (down) in runs (across)."""
    found: list[int] = []
    waiting = [(0, counts.shape[1])]
    while waiting:
        start, stop = waiting.pop()
        at = _best(counts[:, start:stop])
        if at:
            found.append(start + at)
            waiting += [(start, start + at), (start + at, stop)]
    return found


def _best(counts: Floats) -> int:
    """Return the run before which the best cut is, or 0 if that does not pay."""
    counts = counts[counts.any(axis=1)]
    k, n_runs = counts.shape
    if n_runs < 2:
        return 0
    left = np.cumsum(counts[:, :-1], axis=1)
    right = np.cumsum(counts[:, :0:-1], axis=1)[:, ::-1]  # anew, so that absent classes stay at 0
    total = counts.sum(axis=1, keepdims=True)
    n, bits = float(total.sum()), float(_bits(total)[0])
    left_bits, right_bits = _bits(left), _bits(right)
    rest = left_bits + right_bits
    at = int(np.argmax(rest <= rest.min() + SAME * n * np.log2(n + 2.0)))
    # by the definition, with both sides of the inequality multiplied by N
    of_parts = sum(
        (part[:, at] > 0.0).sum() * part_bits[at] / part[:, at].sum()
        for part, part_bits in ((left, left_bits), (right, right_bits))
    )
    # weights may add up to less than two rows, which have no choice of cuts
    price = np.log2(max(n - 1.0, 1.0)) + _log2_of_partitions(k) - k * bits / n + of_parts
    return at + 1 if bits - rest[at] > price else 0


def _bits(counts: Floats) -> Floats:
    """Return N H of the classes' counts (down) in each column."""

    def n_log_n(n: Floats) -> Floats:
        logs: Floats = np.log(np.maximum(n, LEAST_ABOVE_0))  # 0 log 0 is 0
        return n * logs

    nats: Floats = n_log_n(counts.sum(axis=0)) - n_log_n(counts).sum(axis=0)
    return nats / LOG_2


def _log2_of_partitions(k: int) -> float:
    """Return log2(3^k - 2); for many classes the 2 is lost anyway."""
    return float(np.log2(3.0**k - 2.0)) if k < 100 else float(k * np.log2(3.0))


def _between(low: float, high: float) -> float:
    """Return the number halfway, or the lower one if there is none between them."""
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low
