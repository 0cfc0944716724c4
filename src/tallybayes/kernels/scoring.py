"""From encoded rows and parameters to log-likelihoods. Every function adds into `out`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.choice import run

Array = NDArray[Any]
Floats = NDArray[np.float64]


def normals(X: Array, mean: Floats, scale: Floats, height: Floats, out: Floats) -> None:
    """Add height - (scale (x - mean))^2 for each column that is there."""
    run(
        "score_normals",
        len(X),
        X.size * out.shape[1],
        lambda rows: (X[rows], mean, scale, height, out[rows]),
    )


def codes(
    X: Array, base: Array, width: Array, offset: Array, other: Array, table: Floats, out: Floats
) -> int:
    """Add the table's entry for each code; return how many fell outside and took `other`."""
    outside = run(
        "score_codes",
        len(X),
        X.size * out.shape[1],
        lambda rows: (X[rows], base, width, offset, other, table, out[rows]),
    )
    return sum(outside)


def binary(X: Array, threshold: float, absent: Floats, present: Floats, out: Floats) -> None:
    """Add `present` where x exceeds the threshold and `absent` where it does not."""
    run(
        "score_binary",
        len(X),
        X.size * out.shape[1],
        lambda rows: (X[rows], threshold, absent, present, out[rows]),
    )


def dense_counts(X: Array, weights: Floats, base: Floats, out: Floats) -> None:
    """Add base + x weight for each column that is there."""
    run(
        "score_counts",
        len(X),
        X.size * out.shape[1],
        lambda rows: (X[rows], weights, base, out[rows]),
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

    def block(rows: slice) -> tuple[Any, ...]:
        pointers = indptr[rows.start : rows.stop + 1]
        return pointers, indices, data, threshold, weights, out[rows]

    run("score_sparse", len(out), len(data) * out.shape[1], block)


def log_sum_exp(joint: Floats) -> Floats:
    """Return log(sum(exp(row))) of each row."""
    out = np.empty(len(joint))
    run("log_sum_exp", len(joint), joint.size, lambda rows: (joint[rows], out[rows]))
    return out


def shares(joint: Floats) -> int:
    """Replace rows by exp(row) / sum(exp(row)); return how many are -inf, which become zeros."""
    return sum(run("shares", len(joint), joint.size, lambda rows: (joint[rows],)))
