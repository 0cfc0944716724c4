"""From encoded rows and parameters to log-likelihoods. Every function adds into `out`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.choice import loops_for
from tallybayes.kernels.threads import over_rows

Array = NDArray[Any]
Floats = NDArray[np.float64]


def normals(X: Array, mean: Floats, scale: Floats, height: Floats, out: Floats) -> None:
    """Add height - (scale (x - mean))^2 for each column that is there."""
    loops = loops_for(X.size, "score_normals", X.dtype)
    over_rows(
        lambda rows: loops.score_normals(X[rows], mean, scale, height, out[rows]),
        len(X),
        X.size * out.shape[1],
    )


def codes(
    X: Array, base: Array, width: Array, offset: Array, other: Array, table: Floats, out: Floats
) -> int:
    """Add the table's entry for each code; return how many fell outside and took `other`."""
    loops = loops_for(X.size, "score_codes", X.dtype)
    outside: list[int] = over_rows(
        lambda rows: loops.score_codes(X[rows], base, width, offset, other, table, out[rows]),
        len(X),
        X.size * out.shape[1],
    )
    return sum(outside)


def binary(X: Array, threshold: float, absent: Floats, present: Floats, out: Floats) -> None:
    """Add `present` where x exceeds the threshold and `absent` where it does not."""
    loops = loops_for(X.size, "score_binary", X.dtype)
    over_rows(
        lambda rows: loops.score_binary(X[rows], threshold, absent, present, out[rows]),
        len(X),
        X.size * out.shape[1],
    )


def dense_counts(X: Array, weights: Floats, base: Floats, out: Floats) -> None:
    """Add base + x weight for each column that is there."""
    loops = loops_for(X.size, "score_counts", X.dtype)
    over_rows(
        lambda rows: loops.score_counts(X[rows], weights, base, out[rows]),
        len(X),
        X.size * out.shape[1],
    )


def sparse_counts(
    indptr: Array,
    indices: Array,
    data: Array,
    threshold: float | None,
    weights: Floats,
    out: Floats,
) -> None:
    """Add x times the row of `weights` of each stored value (with a threshold: 0 or 1 times)."""
    types = (indptr.dtype, indices.dtype, data.dtype, threshold is None)
    loops = loops_for(len(data), "score_sparse", *types)

    def work(rows: slice) -> None:
        pointers = indptr[rows.start : rows.stop + 1]
        loops.score_sparse(pointers, indices, data, threshold, weights, out[rows])

    over_rows(work, len(out), len(data) * out.shape[1])


def log_sum_exp(joint: Floats) -> Floats:
    """Return log(sum(exp(row))) of each row."""
    out = np.empty(len(joint))
    loops = loops_for(joint.size, "log_sum_exp")
    over_rows(lambda rows: loops.log_sum_exp(joint[rows], out[rows]), len(joint), joint.size)
    return out


def shares(joint: Floats) -> int:
    """Replace rows by exp(row) / sum(exp(row)); return how many are -inf, which become zeros."""
    loops = loops_for(joint.size, "shares")
    return sum(over_rows(lambda rows: loops.shares(joint[rows]), len(joint), joint.size))
