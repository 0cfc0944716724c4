"""From encoded rows to sufficient statistics: moments, code counts, sums of counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from tallybayes.arrays import Array, Floats, Integers
from tallybayes.kernels.choice import run

SparseRows = tuple[Array, Array, Array]  # pointers, places and values

# A moment about a point this many standard deviations away has lost too many digits; where
# another pass is cheap, fewer have to be lost.
FARTHEST_SHIFT = 100.0
FARTHEST_WHEN_CHEAP = 10.0
CHEAP_TO_REPEAT = 1_000_000  # cells


class RowClasses(NamedTuple):
    """The class of each row and its weight (None: 1), and the rows and weight of each class."""

    y: Array
    w: Array | None
    rows: Integers
    weight: Floats

    def moved(self, rows: Array, classes: Array, n_classes: int) -> RowClasses:
        """Return some rows, as if they were of other classes."""
        return members(classes, None if self.w is None else self.w[rows], n_classes)


def members(y: Array, w: Array | None, n_classes: int) -> RowClasses:
    """Count the rows of each class that have a weight, and add up their weights."""
    counted = y if w is None or w.all() else y[w > 0.0]
    rows = np.bincount(counted, minlength=n_classes).astype(np.int64)
    if w is None:
        return RowClasses(y, w, rows, rows.astype(np.float64))
    weight = np.bincount(y, weights=w, minlength=n_classes).astype(np.float64)
    return RowClasses(y, w, rows, weight)


def _summed(
    kernel: str,
    X: Array | SparseRows,
    of: RowClasses,
    parameters: tuple[Any, ...],
    zeros: Callable[[], tuple[Any, ...]],
) -> tuple[tuple[Any, ...], int]:
    """Run a kernel that adds into arrays, for each thread those that `zeros` makes.

    Return their sums, and those of the numbers that the kernel returned.
    """
    into: dict[int, tuple[Any, ...]] = {}

    def block(rows: slice) -> tuple[Any, ...]:
        into[rows.start] = zeros()
        part = (X[0][rows.start : rows.stop + 1], *X[1:]) if isinstance(X, tuple) else (X[rows],)
        w = None if of.w is None else of.w[rows]
        return (*part, of.y[rows], w, *parameters, *into[rows.start])

    cells = X[2].size if isinstance(X, tuple) else X.size
    returned = run(kernel, len(of.y), cells, block)
    total, *others = (into[start] for start in sorted(into))
    for part in others:
        for mine, more in zip(total, part, strict=True):
            if mine is not None:
                mine += more
    return total, sum(number or 0 for number in returned)


def moments(X: Array, of: RowClasses) -> tuple[Integers, Floats, Floats, Floats]:
    """Return rows, weight, mean and M2 of each column (across) in each class, NaN left out.

    Sums are taken about a point close to each class's data, and once more about the mean itself
    where that point turns out to lie too far away: E[x^2] - E[x]^2 would cancel. Values that are
    infinite, or too large to square, come back as a mean or M2 that is not finite.
    """
    shape = (len(of.rows), X.shape[1])
    shift = _starting_point(X, of, shape)
    farthest = FARTHEST_WHEN_CHEAP if X.size < CHEAP_TO_REPEAT else FARTHEST_SHIFT

    def sums_about(shift: Floats, n: bool) -> tuple[Any, Floats, Floats]:
        def zeros() -> tuple[Any, ...]:
            return np.zeros(shape) if n else None, np.zeros(shape), np.zeros(shape)

        return _summed("moments", X, of, (shift,), zeros)[0]

    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        # data with gaps shows them early, as a rule; if not, the sums do, and are taken anew
        gaps = X.size >= CHEAP_TO_REPEAT and bool(np.isnan(X[:4096]).any())
        for _ in range(4):
            n, s, q = sums_about(shift, gaps)
            if not gaps and not np.isfinite(s.sum()):
                gaps = True
                continue
            if not gaps:
                n = of.weight[:, None]
            step = s / np.where(n > 0.0, n, 1.0)
            m2 = np.maximum(q - s * step, 0.0)
            mean = shift + step
            far = n * step * step > farthest**2 * m2
            if not far.any() or not (far := far & np.isfinite(mean)).any():
                break
            shift = np.where(far, mean, shift)
    if not n.all():
        mean = np.where(n > 0.0, mean, 0.0)
    if gaps:
        rows = _rows_there(X, of, n)
    else:
        rows = np.repeat(of.rows[:, None], shape[1], axis=1)
        n = np.repeat(n, shape[1], axis=1)
    return rows, n, mean, m2


def _rows_there(X: Array, of: RowClasses, n: Floats) -> Integers:
    """Return how many rows have a value, per class and column, where `n` is their weight."""
    if of.w is None:
        return n.astype(np.int64)
    once = of._replace(w=(of.w > 0.0).astype(np.float64))
    (rows, _), _ = _summed(
        "counts", X, once, (None,), lambda: (np.zeros(n.shape), np.zeros(n.shape))
    )
    return cast(Integers, rows.astype(np.int64))


def _starting_point(X: Array, of: RowClasses, shape: tuple[int, int]) -> Floats:
    """Pick a point near each class's data: its first row, or the mean of some where rows are many.

    A rare value of a first row would cost another pass, which is cheap where rows are few.
    """
    y = of.y[:4096]
    counted = np.arange(len(y)) if of.w is None else np.flatnonzero(of.w[:4096])
    if not len(counted):
        return np.zeros(shape)
    first = np.full(shape[0], counted[0])
    first[y[counted[::-1]]] = counted[::-1]
    points: Floats = X[first].astype(np.float64)
    if len(X) > 256 and X.size >= CHEAP_TO_REPEAT:
        some = counted[:256]
        _, weight, mean, _ = moments(X[some], of.moved(some, y[some], shape[0]))
        points = np.where(weight > 0.0, mean, points)
    finite = np.isfinite(points)
    return points if finite.all() else np.where(finite, points, 0.0)


def codes(
    X: Array, of: RowClasses, base: Integers, width: Integers
) -> tuple[Integers, Floats, int]:
    """Return rows and weight of the codes base <= x < base + width in each class.

    The columns stand side by side. The last is how many codes fell outside.
    """
    offset = np.cumsum(width) - width  # the columns stand side by side
    shape = (len(of.rows), int(width.sum()))

    def zeros() -> tuple[Any, ...]:
        return np.zeros(shape, np.int64), np.zeros((0, 0) if of.w is None else shape)

    (rows, weight), outside = _summed("codes", X, of, (base, width, offset), zeros)
    return rows, rows.astype(np.float64) if of.w is None else weight, outside


def dense_counts(
    X: Array, of: RowClasses, threshold: float | None
) -> tuple[Integers, Floats, Floats, int]:
    """Return rows and weight with a value, and the sums of each column in each class.

    With a threshold, count how often it is exceeded. The last is how many values are negative.
    """
    shape = (len(of.rows), X.shape[1])
    (weight, sums), negative = _summed(
        "counts", X, of, (threshold,), lambda: (np.zeros(shape), np.zeros(shape))
    )
    return _rows_there(X, of, weight), weight, sums, negative


def sparse_counts(
    sparse: SparseRows, n_columns: int, of: RowClasses, threshold: float | None
) -> tuple[Integers, Floats, Floats]:
    """Do for compressed sparse rows what `dense_counts` does; rows and weight are one a class."""
    shape = (len(of.rows), n_columns)
    (sums,), _ = _summed("sparse_counts", sparse, of, (threshold,), lambda: (np.zeros(shape),))
    return of.rows[:, None], of.weight[:, None], sums
