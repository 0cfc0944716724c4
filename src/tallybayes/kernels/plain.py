"""The textbook NumPy twins of the loops in `compiled`: their oracle, and the path of small inputs.

Same names, same arguments, same buffers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.arrays import Array

CELLS_AT_ONCE = 100_000
LEAST = np.finfo(np.float64).min
LEAST_ABOVE_0 = np.finfo(np.float64).tiny


def _by_class(y: Array, w: Array | None, n_classes: int) -> tuple[Array, Array, Array, Any]:
    """Return the rows class after class, the classes, where each begins, and the weights."""
    # numbers of few bits are sorted in linear time
    order = np.argsort(y.astype(np.min_scalar_type(n_classes)), kind="stable")
    if w is not None:
        order = order[w[order] > 0.0]
    classes, starts = np.unique(y[order], return_index=True)
    return order, classes, starts, 1.0 if w is None else w[order, None]


def moments(
    X: Array, y: Array, w: Array | None, shift: Array, n: Array | None, s: Array, q: Array
) -> None:
    """Add per class and column the weight (n, if any) and the first two powers of x - shift."""
    order, classes, starts, weight = _by_class(y, w, len(shift))
    d = X[order] - shift[y[order]]
    if n is not None:
        weight = np.where(np.isnan(d), 0.0, weight)
        d = np.where(np.isnan(d), 0.0, d)
        n[classes] += np.add.reduceat(weight, starts)
    s[classes] += np.add.reduceat(weight * d, starts)
    q[classes] += np.add.reduceat(weight * d * d, starts)


def codes(
    X: Array,
    y: Array,
    w: Array | None,
    base: Array,
    width: Array,
    offset: Array,
    rows: Array,
    n: Array,
) -> int:
    """Count each code x - base of each column by class; return how many fell outside."""
    outside = 0
    counted = np.full(len(y), True) if w is None else w > 0.0
    for j in range(X.shape[1]):
        k = X[:, j].astype(np.int64) - base[j]
        inside = (k >= 0) & (k < width[j]) & counted
        outside += int(counted.sum() - inside.sum())
        np.add.at(rows, (y[inside], offset[j] + k[inside]), 1)
        if w is not None:
            np.add.at(n, (y[inside], offset[j] + k[inside]), w[inside])
    return outside


def cells(
    X: Array,
    edges: Array,
    first: Array,
    reads: Array,
    starts: Array,
    shares: Array,
    units: Array,
    out: Array,
) -> None:
    """Write the cell of each unit that each row is in, -1 where one of its values is not known.

    Edges from first[j] to first[j + 1] are those of column j: the rank of a value is how many are
    below it; that of a missing one is one more than there can be. Parts from units[u] to
    units[u + 1] are those of unit u. A part reads a column, and adds what its `shares`, which start
    there, have for the rank.
    """
    ranks = np.empty(X.shape, np.int64)
    for j in range(X.shape[1]):
        ranks[:, j] = np.searchsorted(edges[first[j] : first[j + 1]], X[:, j])
        ranks[np.isnan(X[:, j]), j] = first[j + 1] - first[j] + 1
    of_parts = shares[starts + ranks[:, reads]]
    np.maximum(np.add.reduceat(of_parts, units[:-1], axis=1), -1, out=out)


def counts(
    X: Array, y: Array, w: Array | None, threshold: float | None, n: Array, sums: Array
) -> int:
    """Add up x (or x > threshold) per class and column; return how many were negative."""
    order, classes, starts, weight = _by_class(y, w, len(sums))
    x = X[order].astype(float)
    there = np.where(np.isnan(x), 0.0, weight)
    x = np.where(np.isnan(x), 0.0, x)
    negative = int((x < 0.0).sum()) if threshold is None else 0
    if threshold is not None:
        x = (x > threshold).astype(float)
    n[classes] += np.add.reduceat(there, starts)
    with np.errstate(over="ignore"):  # sums that are not finite are refused
        sums[classes] += np.add.reduceat(there * x, starts)
    return negative


def sparse_counts(
    indptr: Array,
    indices: Array,
    data: Array,
    y: Array,
    w: Array | None,
    threshold: float | None,
    sums: Array,
) -> None:
    """Add up the stored values (or those above the threshold) per class and column."""
    weight = np.repeat(np.ones(len(y)) if w is None else w, np.diff(indptr))
    stored = slice(indptr[0], indptr[-1])
    kept = weight > 0.0
    x, column = data[stored][kept], indices[stored][kept]
    x = x if threshold is None else (x > np.float64(threshold)).astype(float)
    with np.errstate(over="ignore"):
        np.add.at(sums, (np.repeat(y, np.diff(indptr))[kept], column), weight[kept] * x)


def _pieces(X: Array, n_classes: int) -> Any:
    """Yield row numbers such that rows times columns times classes stay small."""
    step = max(1, CELLS_AT_ONCE // max(X.shape[1] * n_classes, 1))
    for start in range(0, len(X), step):
        yield slice(start, start + step)


def score_normals(X: Array, mean: Array, scale: Array, height: Array, out: Array) -> None:
    """Add the log densities height - (scale (x - mean))^2 of the columns that are there."""
    with np.errstate(invalid="ignore", over="ignore"):
        for rows in _pieces(X, len(mean)):
            x = X[rows, None, :]
            z = (x - mean) * scale
            terms = height - z * z
            total = np.add.reduce(terms, axis=2)
            if np.isnan(np.add.reduce(total, axis=None)):
                total = np.where(np.isnan(x), 0.0, terms).sum(axis=2)
            out[rows] += total


def score_codes(
    X: Array, base: Array, width: Array, offset: Array, other: Array, table: Array, out: Array
) -> None:
    """Add table[class, place of the code]; a code that falls outside takes the place `other`."""
    for rows in _pieces(X, len(table)):
        k = X[rows].astype(np.int64) - base
        inside = (k >= 0) & (k < width)
        at = np.where(inside, offset + k, other)
        for total, terms in zip(out[rows].T, table, strict=True):
            total += terms.take(at).sum(axis=1)


def score_binary(X: Array, threshold: float, absent: Array, present: Array, out: Array) -> None:
    """Add the log probability of each column being above the threshold, or not."""
    for rows in _pieces(X, len(absent)):
        x = X[rows, None, :]
        terms = np.where(np.greater(x, np.float64(threshold)), present, absent)
        out[rows] += np.where(np.isnan(x), 0.0, terms).sum(axis=2)


def score_counts(X: Array, weights: Array, base: Array, out: Array) -> None:
    """Add base + x weight of each column; 0 times -inf is 0, and a missing value adds nothing."""
    with np.errstate(invalid="ignore"):
        for rows in _pieces(X, len(weights)):
            x = X[rows, None, :]
            terms = np.where(x > 0.0, x * weights, 0.0) + base
            out[rows] += np.where(np.isnan(x), 0.0, terms).sum(axis=2)


def score_sparse(
    indptr: Array, indices: Array, data: Array, threshold: float | None, weights: Array, out: Array
) -> None:
    """Add x times the row of weights of each stored value; with a threshold x is 0 or 1."""
    stored, filled = slice(indptr[0], indptr[-1]), np.diff(indptr) > 0
    x = data[stored, None]
    x = x if threshold is None else (x > np.float64(threshold)).astype(float)
    with np.errstate(invalid="ignore"):
        terms = np.where(x > 0.0, x * weights[indices[stored]], 0.0)
    if len(terms):
        starts = indptr[:-1][filled] - indptr[0]
        out[filled] += np.add.reduceat(terms, starts, axis=0)


def shares(joint: Array, logs: Array | None) -> int:
    """Replace rows by exp(row) / sum(exp(row)); return how many are -inf, which become zeros."""
    top = np.maximum.reduce(joint, axis=1, keepdims=True)
    impossible = int(np.count_nonzero(top == -np.inf))
    with np.errstate(invalid="ignore"):
        joint -= np.maximum(top, LEAST) if impossible else top
    np.exp(joint, out=joint)
    total = np.add.reduce(joint, axis=1, keepdims=True)
    total = np.maximum(total, LEAST_ABOVE_0) if impossible else total
    joint /= total
    if logs is not None:
        logs[:] = (top + np.log(total))[:, 0]
    return impossible


def left_out_normals(
    X: Array, y: Array, curves: Array, most: float, out: Array, cancelled: Array
) -> None:
    """Write the own class's log density of each row without the row; mark where it cancels."""
    mean, share, stretch, height = curves
    t = (X - mean[y]) ** 2 * share[y]
    there = ~np.isnan(t)
    t = np.where(there, t, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = height[y] - 0.5 * (np.log(np.abs(1.0 - t)) + stretch[y] * t / (1.0 - t))
    out[:] = np.where(there, terms, 0.0).sum(axis=1)
    cancelled[:] = ~(t.max(axis=1, initial=0.0) < most)


def left_out_counts(
    sparse: Any,
    y: Array,
    w: Array | None,
    sums: Array,
    logs: Array,
    alpha: Array,
    cells: Array | None,
    out: Array,
) -> None:
    """Write for each row the sum of x log(n - w x + alpha), n being its class's sum."""
    indptr, indices, data = sparse
    here = slice(int(indptr[0]), int(indptr[-1]))
    owner = np.repeat(np.arange(len(y)), np.diff(indptr))
    j, x = indices[here], data[here].astype(np.float64)
    weight, taken = 1.0 if w is None else w[owner], x
    if cells is not None:
        _, which = np.unique(owner * len(alpha) + j, return_inverse=True)
        taken = np.bincount(which, x)[which]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(np.maximum(sums[y[owner], j] - weight * taken, 0.0) + alpha[j])
        out[:] = np.bincount(owner, np.where(x > 0.0, x * found, 0.0), len(y))


def score_test(
    at: Array, y: Array, w: Array, table: Array, own: Array, posterior: Array
) -> tuple[float, float]:
    """Return slope and bend of the log-likelihood in the weight of a term that weighs nothing yet.

    The term of a row is the entry of its cell `at` for each class (none if below 0), but `own` for
    its own class y.
    """
    terms = table[at]
    terms[np.arange(len(y)), y] = own
    mean = (posterior * terms).sum(axis=1)
    variance = (posterior * terms * terms).sum(axis=1) - mean * mean
    w = np.where(at >= 0, w, 0.0)
    return float(w @ (own - mean)), float(w @ variance)


def _said(bags: Any, table: Array, totals: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return what each stored word says of its row, by class, with its row and its place."""
    indptr, indices, times, own = bags
    n_texts = totals.shape[1]
    stored = slice(int(indptr[0]), int(indptr[-1]))
    bag = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    row, words = bag // n_texts, indices[stored]
    every = totals[row if len(totals) != 1 else 0, bag % n_texts]
    said = times[stored, None] * (table[words] - every)
    said[np.arange(len(row)), y[row]] = own[stored]
    return said, row, words


def _add_words(said: Array, row: Array, exponents: Array, scores: Array) -> None:
    """Add to the scores of rows, by class, what their words say to the power of the exponents."""
    for c, of_class in enumerate(said.T):
        scores[:, c] += np.bincount(row, exponents * of_class, len(scores))


def word_slopes(
    bags: Any,
    table: Array,
    totals: Array,
    y: Array,
    w: Array,
    exponents: Array,
    scores: Array,
    slopes: Array,
) -> float:
    """Return the loss of the rows, add its slope with the exponent of each word to `slopes`."""
    said, row, words = _said(bags, table, totals, y)
    here = np.arange(len(y))
    _add_words(said, row, exponents[words], scores)
    scores[w == 0.0] = 0.0
    scores -= scores.max(axis=1, keepdims=True)
    logs = np.log(np.exp(scores).sum(axis=1))
    loss = float(w @ (logs - scores[here, y]))
    scores[:] = np.exp(scores - logs[:, None])
    scores[w == 0.0] = 0.0
    rest = scores * w[:, None]
    rest[here, y] -= w
    slopes += np.bincount(words, (said * rest[row]).sum(axis=1), len(slopes))
    return loss


def word_curves(
    bags: Any,
    table: Array,
    totals: Array,
    y: Array,
    w: Array,
    change: Array,
    posterior: Array,
    scores: Array,
    slopes: Array,
) -> None:
    """Add to the slopes by how much they change, about, when the exponents do."""
    said, row, words = _said(bags, table, totals, y)
    _add_words(said, row, change[words], scores)
    scores -= (posterior * scores).sum(axis=1, keepdims=True)
    scores *= posterior * w[:, None]
    scores[(w == 0.0) | ((posterior > 0.0).sum(axis=1) < 2)] = 0.0
    slopes += np.bincount(words, (said * scores[row]).sum(axis=1), len(slopes))


def word_bends(
    bags: Any,
    table: Array,
    totals: Array,
    y: Array,
    w: Array,
    posterior: Array,
    bends: Array,
) -> None:
    """Add to the bends how each exponent, by itself, bends the loss of the rows."""
    said, row, words = _said(bags, table, totals, y)
    p = posterior[row]
    variance = (p * said * said).sum(axis=1) - (p * said).sum(axis=1) ** 2
    variance[(p > 0.0).sum(axis=1) < 2] = 0.0
    bends += np.bincount(words, w[row] * np.maximum(variance, 0.0), len(bends))
