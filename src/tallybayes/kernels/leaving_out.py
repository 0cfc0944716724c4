"""From rows and the tally of all rows to what each row scores without itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.choice import loops_for
from tallybayes.kernels.threads import over_rows

Array = NDArray[Any]
Floats = NDArray[np.float64]

MOST_LOGS = 2_000_000


def normals(
    X: Array, y: Array, mean: Floats, share: Floats, stretch: Floats, height: Floats, most: float
) -> tuple[Floats, Array]:
    """Return the sum of the own class's terms of each row, and the rows where they cancel.

    With t = (x - mean)^2 share, a term is height - (log(1 - t) + stretch t / (1 - t)) / 2; where
    some t exceeds `most` it cannot be trusted.
    """
    out, cancelled = np.empty(len(X)), np.zeros(len(X), bool)
    loops = loops_for(X.size, "left_out_normals", X.dtype)
    over_rows(
        lambda rows: loops.left_out_normals(
            X[rows], y[rows], mean, share, stretch, height, most, out[rows], cancelled[rows]
        ),
        len(X),
        X.size,
    )
    return out, np.flatnonzero(cancelled)


class Spread(NamedTuple):
    """Number, mean and M2 of some rows, by class (down) and column (across), or of all rows."""

    n: Array
    mean: Floats
    m2: Floats


def lifted_normals(
    X: Array,
    y: Array,
    classes: Spread,
    everything: Spread,
    variance: Floats,
    ddof: float,
    fraction: float,
    most: float,
    out: Floats,
) -> Array:
    """Add the log densities of rows of weight 1 where a floor may hold variances up.

    The floor is a fraction of the column's variance without the row; a variance below it becomes
    that within the classes, or the floor if that is greater. `variance` is that of the model of all
    rows. Returned are the rows where digits cancel, whose sums cannot be trusted.
    """
    unsure = np.zeros(len(X), bool)
    loops = loops_for(X.size * out.shape[1], "lifted_normals", X.dtype)
    over_rows(
        lambda rows: loops.lifted_normals(
            X[rows],
            y[rows],
            *classes,
            *everything,
            variance,
            ddof,
            fraction,
            most,
            out[rows],
            unsure[rows],
        ),
        len(X),
        X.size * out.shape[1],
    )
    return np.flatnonzero(unsure)


def sparse_counts(
    indptr: Array,
    indices: Array,
    data: Array,
    y: Array,
    w: Array | None,
    sums: Floats,
    alpha: Floats,
) -> Floats:
    """Return for each row the sum of x log(n - w x + alpha), n being its class's sum."""
    out = np.empty(len(y))
    loops = loops_for(len(data), "left_out_counts", indptr.dtype, indices.dtype, data.dtype)
    logs = np.empty(0)
    largest = sums.max(initial=0.0)
    if largest < min(MOST_LOGS, len(data)) and len(alpha) and (alpha == alpha[0]).all():
        with np.errstate(divide="ignore"):  # looking a logarithm up is faster than taking it
            logs = np.log(np.arange(int(largest) + 1) + alpha[0])

    def work(rows: slice) -> None:
        weights = None if w is None else w[rows]
        pointers = indptr[rows.start : rows.stop + 1]
        loops.left_out_counts(
            pointers, indices, data, y[rows], weights, sums, logs, alpha, out[rows]
        )

    over_rows(work, len(y), 4 * len(data))
    return out


def row_sums(indptr: Array, values: Array) -> Floats:
    """Add up what belongs to the stored values of each of compressed sparse rows."""
    sums = np.zeros(len(indptr) - 1)
    some = np.diff(indptr) > 0
    if some.any():
        stored = values[: indptr[-1]].astype(np.float64, copy=False)
        sums[some] = np.add.reduceat(stored, indptr[:-1][some])
    return sums
