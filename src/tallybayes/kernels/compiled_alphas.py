"""Leave-one-out log-losses of a multinomial model for many values of alpha at once.

log(n + alpha) as a table over counts n and values of alpha has a low rank: a few functions of n,
weighted by functions of alpha, give all of it. So each word adds to a few sums for each class,
whatever the number of alphas, and the scores of all alphas follow from these once a document.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

Array = Any

_loop = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
_inline = njit(nogil=True, error_model="numpy", fastmath={"contract"}, inline="always")

LOG2_E = 1.4426950408889634
LOG_2_HIGH = 0.6931471803691238
LOG_2_LOW = 1.9082149292705877e-10
ROUND = 6755399441055744.0  # adding and subtracting it leaves the nearest whole number
NEGLIGIBLE = -700.0
RANK = 16  # of the table of log(n + alpha): known to the compiler, so that loops over it unroll


@_inline
def _exp(x: float) -> float:
    """Return exp(x) for x <= 0, in a form that vectorises; the last digits may be wrong."""
    x = max(x, NEGLIGIBLE)
    k = (x * LOG2_E + ROUND) - ROUND
    r = (x - k * LOG_2_HIGH) - k * LOG_2_LOW
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(k) + np.int64(1023)) << np.int64(52)).view(np.float64)


@_loop
def alpha_losses(
    indptr: Array,
    indices: Array,
    data: Array,
    y: Array,
    counts: Array,
    basis: Array,
    mix: Array,
    log_prior: Array,
    totals: Array,
    n_words: Array,
    lengths: Array,
    alphas: Array,
    usual: Array,
    most_words: float,
    logs: Array,
    most_loss: float,
    losses: Array,
) -> None:
    """Add the log-loss of each document without it for each alpha to `losses`.

    `counts` are of words (down) and classes (across); row n of `basis` times `mix` is
    log(n + alpha) for all alphas. `log_prior` is by the document's class and class, `totals` by
    document and class without the document, `n_words` and `lengths` by document. Where a total is
    the `usual` one of its class and a few words are lacking of `most_words`, `logs` by that number,
    class and alpha has the logarithm of total + alpha words. No loss counts for more than
    `most_loss`.
    """
    n_classes, n_alphas = counts.shape[1], len(alphas)
    sums = np.empty((n_classes, RANK))
    own = np.empty(RANK)
    scores = np.empty((n_classes, n_alphas))
    top = np.empty(n_alphas)
    total = np.empty(n_alphas)
    for i in range(len(y)):
        c_own = y[i]
        sums[:] = 0.0
        own[:] = 0.0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            n = counts[np.uint64(indices[k])]
            times = data[k]
            x = float(times)
            for c in range(n_classes):
                row = basis[np.uint64(n[c])]
                sums_c = sums[c]
                for r in range(RANK):
                    sums_c[r] += x * row[r]
            row = basis[np.uint64(n[c_own] - times)]
            for r in range(RANK):
                own[r] += x * row[r]
        sums[c_own] = own
        for c in range(n_classes):
            s = scores[c]
            in_all, words, length = totals[i, c], n_words[i], lengths[i]
            before = log_prior[c_own, c]
            lacking = int(most_words - words)
            if in_all == usual[c] and 0 <= lacking < len(logs):
                known = logs[lacking, c]
                for q in range(n_alphas):
                    s[q] = before - length * known[q]
            else:
                for q in range(n_alphas):
                    s[q] = before - length * math.log(in_all + alphas[q] * words)
            for r in range(RANK):
                h = sums[c, r]
                m = mix[r]
                for q in range(n_alphas):
                    s[q] += h * m[q]
        for q in range(n_alphas):
            top[q] = scores[0, q]
            total[q] = 0.0
        for c in range(1, n_classes):
            s = scores[c]
            for q in range(n_alphas):
                top[q] = max(top[q], s[q])
        for c in range(n_classes):
            s = scores[c]
            for q in range(n_alphas):
                total[q] += _exp(s[q] - top[q])
        s = scores[c_own]
        for q in range(n_alphas):
            losses[q] += min(math.log(total[q]) + top[q] - s[q], most_loss)
