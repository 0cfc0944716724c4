"""From rows and the tally of all rows to what each row scores without itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.choice import run

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

    def block(rows: slice) -> tuple[Any, ...]:
        of_all = mean, share, stretch, height, most
        return X[rows], y[rows], *of_all, out[rows], cancelled[rows]

    run("left_out_normals", len(X), X.size, block)
    return out, np.flatnonzero(cancelled)


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
    logs = np.empty(0)
    largest = sums.max(initial=0.0)
    if largest < min(MOST_LOGS, len(data)) and len(alpha) and (alpha == alpha[0]).all():
        with np.errstate(divide="ignore"):  # looking a logarithm up is faster than taking it
            logs = np.log(np.arange(int(largest) + 1) + alpha[0])

    def block(rows: slice) -> tuple[Any, ...]:
        weights = None if w is None else w[rows]
        pointers = indptr[rows.start : rows.stop + 1]
        return pointers, indices, data, y[rows], weights, sums, logs, alpha, out[rows]

    run("left_out_counts", len(y), 4 * len(data), block)
    return out


def row_sums(indptr: Array, values: Array) -> Floats:
    """Add up what belongs to the stored values of each of compressed sparse rows."""
    sums = np.zeros(len(indptr) - 1)
    some = np.diff(indptr) > 0
    if some.any():
        stored = values[: indptr[-1]].astype(np.float64, copy=False)
        sums[some] = np.add.reduceat(stored, indptr[:-1][some])
    return sums
