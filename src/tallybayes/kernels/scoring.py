"""From encoded rows and parameters to log-likelihoods, of rows that were left out too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallybayes.arrays import Array, Floats
from tallybayes.kernels.choice import run
from tallybayes.kernels.counting import SparseRows

MOST_LOGS = 2_000_000


def add(kernel: str, X: Array, parameters: Sequence[Any], out: Floats) -> None:
    """Let a kernel add into `out` what each row scores under some parameters."""
    cells = X.size * out.shape[1]
    run(kernel, len(X), cells, lambda rows: (X[rows], *parameters, out[rows]))


def sparse_counts(
    sparse: SparseRows, threshold: float | None, weights: Floats, out: Floats
) -> None:
    """Add x times the row of `weights` of each stored value (with a threshold: 0 or 1 times)."""
    indptr, indices, data = sparse

    def block(rows: slice) -> tuple[Any, ...]:
        pointers = indptr[rows.start : rows.stop + 1]
        return pointers, indices, data, threshold, weights, out[rows]

    run("score_sparse", len(out), len(data) * out.shape[1], block)


def log_sum_exp(joint: Floats) -> Floats:
    """Return log(sum(exp(row))) of each row."""
    logs = np.empty(len(joint))
    shares(joint.copy(), logs)
    return logs


def shares(joint: Floats, logs: Floats | None = None) -> int:
    """Replace rows by exp(row) / sum(exp(row)); return how many are -inf, which become zeros.

    The logarithms of the sums are written into `logs`, if that is there.
    """

    def block(rows: slice) -> tuple[Any, ...]:
        return joint[rows], None if logs is None else logs[rows]

    return sum(run("shares", len(joint), joint.size, block))


def left_out_normals(X: Array, y: Array, curves: Floats, most: float) -> tuple[Floats, Array]:
    """Return the sum of the own class's terms of each row, and the rows where they cancel.

    The curves are mean, share, stretch and height. With t = (x - mean)^2 share, a term is
    height - (log(1 - t) + stretch t / (1 - t)) / 2; where some t exceeds `most` it cannot be
    trusted.
    """
    out, cancelled = np.empty(len(X)), np.zeros(len(X), bool)

    def block(rows: slice) -> tuple[Any, ...]:
        return X[rows], y[rows], curves, most, out[rows], cancelled[rows]

    run("left_out_normals", len(X), X.size, block)
    return out, np.flatnonzero(cancelled)


def left_out_counts(
    sparse: SparseRows, y: Array, w: Array | None, sums: Floats, alpha: Floats, apart: bool
) -> Floats:
    """Return for each of compressed sparse rows the sum of x log(n - w x + alpha).

    n is the sum of its class; values of one cell may be stored `apart`.
    """
    indptr, indices, data = sparse
    out, logs, largest = np.empty(len(y)), np.empty(0), sums.max(initial=0.0)
    if largest < min(MOST_LOGS, len(data)) and len(alpha) and (alpha == alpha[0]).all():
        with np.errstate(divide="ignore"):  # looking a logarithm up is faster than taking it
            logs = np.log(np.arange(int(largest) + 1) + alpha[0])

    def block(rows: slice) -> tuple[Any, ...]:
        part = indptr[rows.start : rows.stop + 1], indices, data
        cells = np.zeros(len(alpha)) if apart else None
        return part, y[rows], None if w is None else w[rows], sums, logs, alpha, cells, out[rows]

    run("left_out_counts", len(y), 4 * len(data), block)
    return out
