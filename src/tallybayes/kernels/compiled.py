"""The loops that touch every cell, compiled by numba. Their NumPy twins are in `plain`.

Each function writes only into the buffers it is handed and allocates nothing per row. A missing
value is NaN; a row of weight zero is no row. `w is None` and `threshold is None` are settled when
numba specialises a function, so the loops carry no test for them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tallybayes.kernels.compilation import loop

ROWS_AT_ONCE = 256  # so that what is known of them stays at hand

Array = Any  # numba specialises on the dtype; spelling out each would hide the loops

_loop = loop("contract")
# Sums along a row may be reordered (that is what lets them vectorise); NaN and inf stay exact.
_row_sum = loop("contract", "reassoc")


@_loop
def moments(X: Array, y: Array, w: Array, shift: Array, n: Array, s: Array, q: Array) -> None:
    """Add per class and column the weight and the first two powers of x - shift.

    With n=None nothing is expected to be missing: weights are not added up, and NaN spoils the
    sums of its column.
    """
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        c = y[i]
        x = X[i]
        about = shift[c]
        s_c = s[c]
        q_c = q[c]
        weight = 1.0 if w is None else w[i]
        if weight == 0.0:
            continue
        if n is None:
            for j in range(n_columns):
                d = x[j] - about[j]
                s_c[j] += weight * d
                q_c[j] += weight * d * d
        else:
            n_c = n[c]
            for j in range(n_columns):
                d = x[j] - about[j]
                there = weight
                if d != d:
                    d = 0.0
                    there = 0.0
                n_c[j] += there
                s_c[j] += there * d
                q_c[j] += there * d * d


@_loop
def codes(
    X: Array, y: Array, w: Array, base: Array, width: Array, offset: Array, rows: Array, n: Array
) -> int:
    """Count each code x - base of each column by class; return how many fell outside."""
    n_rows, n_columns = X.shape
    outside = 0
    for i in range(n_rows):
        x = X[i]
        c = y[i]
        rows_c = rows[c]
        if w is not None and w[i] == 0.0:
            continue
        for j in range(n_columns):
            k = x[j] - base[j]
            if 0 <= k < width[j]:
                rows_c[offset[j] + k] += 1
                if w is not None:
                    n[c, offset[j] + k] += w[i]
            else:
                outside += 1
    return outside


@_loop
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

    See `plain.cells`. Some rows are gone through at a time, column by column and part by part.
    """
    n_rows, n_columns = X.shape
    ranks = np.empty((n_columns, ROWS_AT_ONCE), np.int32)
    x, at = np.empty(ROWS_AT_ONCE), np.empty(ROWS_AT_ONCE, np.int32)
    for begin in range(0, n_rows, ROWS_AT_ONCE):
        n = min(ROWS_AT_ONCE, n_rows - begin)
        for j in range(n_columns):
            rank = ranks[j]
            for i in range(n):
                x[i] = X[begin + i, j]
                rank[i] = 0
            of_column = edges[first[j] : first[j + 1]]
            size = len(of_column)
            while size > 0:  # halved for all rows at once, which vectorises
                half: Any = np.int32((size + 1) // 2)
                middle = of_column[half - 1 :]
                for i in range(n):
                    below = rank[i]
                    rank[i] = below + half if middle[np.uint64(below)] < x[i] else below
                size -= half
            for i in range(n):
                rank[i] = rank[i] if x[i] == x[i] else len(of_column) + 1
        for u in range(len(out[0])):
            at[:n] = 0
            for k in range(units[u], units[u + 1]):
                rank = ranks[reads[k]]
                share = shares[starts[k] :]
                for i in range(n):
                    at[i] += share[np.uint64(rank[i])]
            for i in range(n):
                out[begin + i, u] = max(at[i], -1)


@_loop
def counts(X: Array, y: Array, w: Array, threshold: Array, n: Array, sums: Array) -> int:
    """Add up x (or x > threshold) per class and column; return how many were negative."""
    n_rows, n_columns = X.shape
    negative = 0
    for i in range(n_rows):
        c = y[i]
        x = X[i]
        n_c = n[c]
        sums_c = sums[c]
        weight = 1.0 if w is None else w[i]
        if weight == 0.0:
            continue
        for j in range(n_columns):
            if threshold is None:
                v = float(x[j])
                negative += v < 0.0
                v = v if v == v else 0.0
            else:
                v = 1.0 if x[j] > threshold else 0.0
            n_c[j] += weight if x[j] == x[j] else 0.0
            sums_c[j] += weight * v
    return negative


@_loop
def sparse_counts(
    indptr: Array, indices: Array, data: Array, y: Array, w: Array, threshold: Array, sums: Array
) -> None:
    """Add up the stored values (or those above the threshold) per class and column.

    Positions must have been checked (`flaws`): a test in here makes the loop three times as slow.
    """
    for i in range(len(y)):
        weight = 1.0 if w is None else w[i]
        if weight == 0.0:
            continue
        sums_c = sums[y[i]]
        # unsigned positions spare numba's test for negative indices
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[k])
            if threshold is None:
                sums_c[j] += weight * data[k]
            elif data[k] > threshold:
                sums_c[j] += weight


@_row_sum
def score_normals(X: Array, mean: Array, scale: Array, height: Array, out: Array) -> None:
    """Add the log densities height - (scale (x - mean))^2 of the columns that are there."""
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        x = X[i]
        for c in range(mean.shape[0]):
            mean_c = mean[c]
            scale_c = scale[c]
            height_c = height[c]
            total = 0.0
            for j in range(n_columns):
                v = x[j]
                z = (v - mean_c[j]) * scale_c[j]
                term = height_c[j] - z * z
                total += term if v == v else 0.0
            out[i, c] += total


@_row_sum
def score_codes(
    X: Array, base: Array, width: Array, offset: Array, other: Array, table: Array, out: Array
) -> None:
    """Add table[class, place of the code]; a code that falls outside takes the place `other`."""
    n_rows, n_columns = X.shape
    place = np.empty(n_columns, np.int64)
    for i in range(n_rows):
        x = X[i]
        for j in range(n_columns):
            k = x[j] - base[j]
            inside = (k >= 0) & (k < width[j])
            place[j] = offset[j] + k if inside else other[j]
        for c in range(table.shape[0]):
            table_c = table[c]
            total = 0.0
            for j in range(n_columns):
                total += table_c[np.uint64(place[j])]
            out[i, c] += total


@_row_sum
def score_binary(X: Array, threshold: float, absent: Array, present: Array, out: Array) -> None:
    """Add the log probability of each column being above the threshold, or not."""
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        x = X[i]
        for c in range(absent.shape[0]):
            absent_c = absent[c]
            present_c = present[c]
            total = 0.0
            for j in range(n_columns):
                # both loads come first: a load behind a test would not vectorise
                v = x[j]
                if_absent = absent_c[j]
                if_present = present_c[j]
                term = if_present if v > threshold else if_absent
                total += term if v == v else 0.0
            out[i, c] += total


@_row_sum
def score_counts(X: Array, weights: Array, base: Array, out: Array) -> None:
    """Add base + x weight of each column; 0 times -inf is 0, and a missing value adds nothing."""
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        x = X[i]
        for c in range(weights.shape[0]):
            weights_c = weights[c]
            base_c = base[c]
            total = 0.0
            for j in range(n_columns):
                v = x[j]
                term = v * weights_c[j]
                at_zero = base_c[j]
                term = term if v > 0.0 else 0.0
                total += term + at_zero if v == v else 0.0
            out[i, c] += total


@_loop
def score_sparse(
    indptr: Array, indices: Array, data: Array, threshold: Array, weights: Array, out: Array
) -> None:
    """Add x times the row of weights of each stored value; with a threshold x is 0 or 1."""
    n_classes = weights.shape[1]
    for i in range(len(out)):
        out_i = out[i]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            row = weights[np.uint64(indices[k])]
            v = data[k]
            if threshold is None:
                if v > 0.0:
                    for c in range(n_classes):
                        out_i[c] += v * row[c]
            elif v > threshold:
                for c in range(n_classes):
                    out_i[c] += row[c]


@_loop
def shares(joint: Array, logs: Array) -> int:
    """Replace rows by exp(row) / sum(exp(row)); return how many are -inf, which become zeros.

    The logarithm of each sum is written into `logs`, unless that is None.
    """
    n_rows, n_classes = joint.shape
    impossible = 0
    for i in range(n_rows):
        row = joint[i]
        top = row[0]
        for c in range(1, n_classes):
            top = max(top, row[c])
        total = 1.0
        if top == -math.inf:
            row[:] = 0.0
            impossible += 1
        else:
            total = 0.0
            for c in range(n_classes):
                row[c] = math.exp(row[c] - top)
                total += row[c]
            for c in range(n_classes):
                row[c] /= total
        if logs is not None:
            logs[i] = top + math.log(total)
    return impossible


@_row_sum
def left_out_normals(
    X: Array, y: Array, curves: Array, most: float, out: Array, cancelled: Array
) -> None:
    """Write the own class's log density of each row without the row; mark where it cancels.

    `curves` are mean, share, stretch and height: with t = (x - mean)^2 share it is the sum of
    height - (log(1 - t) + stretch t / (1 - t)) / 2. The logarithm is taken once for many columns:
    of the product of their 1 - t.
    """
    n_rows, n_columns = X.shape
    mean, share, stretch, height = curves[0], curves[1], curves[2], curves[3]
    for i in range(n_rows):
        c = y[i]
        logs = 0.0
        total = 0.0
        too_great = 0.0  # a sum, because a maximum would not vectorise
        for start in range(0, n_columns, 256):
            # each factor is at least 1 - most where it counts, so the product cannot underflow
            x = X[i, start : start + 256]
            mean_c = mean[c, start : start + 256]
            share_c = share[c, start : start + 256]
            stretch_c = stretch[c, start : start + 256]
            height_c = height[c, start : start + 256]
            product = 1.0
            for j in range(len(x)):
                v = x[j]
                d = v - mean_c[j]
                t = d * d * share_c[j]
                at = height_c[j]
                there = v == v
                t = t if there else 0.0
                too_great += 0.0 if t < most else 1.0
                rest = 1.0 - t
                product *= rest
                total += (at if there else 0.0) - 0.5 * stretch_c[j] * t / rest
            logs += math.log(abs(product))
        out[i] = total - 0.5 * logs
        cancelled[i] = too_great > 0.0


@_loop
def left_out_counts(
    sparse: Any,
    y: Array,
    w: Array,
    sums: Array,
    logs: Array,
    alpha: Array,
    cells: Array,
    out: Array,
) -> None:
    """Write for each row the sum of x log(n - w x + alpha), n being its class's sum.

    `logs` is a table of log(k + alpha) for whole numbers k, or empty. Where values of one
    cell may be stored apart, `cells` are as many zeros as there are columns, to add them up in.
    """
    indptr, indices, data = sparse
    for i in range(len(y)):
        sums_c = sums[y[i]]
        weight = 1.0 if w is None else w[i]
        total = 0.0
        stored = range(np.uint64(indptr[i]), np.uint64(indptr[i + 1]))
        if cells is not None:
            for k in stored:
                cells[np.uint64(indices[k])] += data[k]
        for k in stored:
            j = np.uint64(indices[k])
            v = data[k]
            if v > 0.0:
                x = v if cells is None else cells[j]
                left = max(sums_c[j] - weight * x, 0.0)
                place = np.uint64(left)
                if place < len(logs) and place == left:
                    total += v * logs[place]
                else:
                    total += v * math.log(left + alpha[j])
        if cells is not None:
            for k in stored:
                cells[np.uint64(indices[k])] = 0.0
        out[i] = total


@_loop
def score_test(
    at: Array, y: Array, w: Array, table: Array, own: Array, posterior: Array
) -> tuple[float, float]:
    """Return slope and bend of the log-likelihood in the weight of a term that weighs nothing yet.

    The term of a row is the entry of its cell `at` for each class (none if below 0), but `own` for
    its own class y: the slope is the sum of own - mean, the bend that of the variance.
    """
    n_classes = table.shape[1]
    slope = 0.0
    bend = 0.0
    for i in range(len(at)):
        if at[i] >= 0:
            cell = table[at[i]]
            p = posterior[i]
            mean = 0.0
            square = 0.0
            for c in range(n_classes):
                t = own[i] if c == y[i] else cell[c]
                mean += p[c] * t
                square += p[c] * t * t
            slope += w[i] * (own[i] - mean)
            bend += w[i] * (square - mean * mean)
    return slope, bend


@_row_sum
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
    """Return the loss of the rows, add its slope with the exponent of each word to `slopes`.

    `bags` are the words of each row and text, one text after another: where they begin, which they
    are, how often they count, and what they say of the row's own class, times that. In other
    classes a word says what the `table` has less the `totals` of its text. That is added to the
    scores, which become the posterior. Rows of weight 0 are none.
    """
    indptr, indices, times, own = bags
    n_classes = table.shape[1]
    n_texts = totals.shape[1]
    said = np.empty(n_classes, table.dtype)
    loss = 0.0
    for i in range(len(y)):
        weight = w[i]
        s = scores[i]
        if weight == 0.0:
            s[:] = 0.0
            continue
        here = y[i]
        totals_i = totals[i if len(totals) > 1 else 0]
        of_own = s[here]
        for t in range(n_texts):
            bag = i * n_texts + t
            said[:] = 0.0
            count = 0.0
            for k in range(np.uint64(indptr[bag]), np.uint64(indptr[bag + 1])):
                j = np.uint64(indices[k])
                row = table[j]
                often = exponents[j] * times[k]
                count += often
                of_own += exponents[j] * own[k]
                for c in range(n_classes):
                    said[c] += often * row[c]
            for c in range(n_classes):
                s[c] += said[c] - count * totals_i[t, c]
        s[here] = of_own
        top = s[0]
        for c in range(1, n_classes):
            top = max(top, s[c])
        total = 0.0
        for c in range(n_classes):
            s[c] = math.exp(s[c] - top)
            total += s[c]
        loss += weight * (math.log(total) + top - of_own)
        for c in range(n_classes):
            s[c] /= total
            said[c] = s[c] * weight
        of_own = said[here] - weight
        said[here] = 0.0
        for t in range(n_texts):
            bag = i * n_texts + t
            less = 0.0
            for c in range(n_classes):
                less += said[c] * totals_i[t, c]
            for k in range(np.uint64(indptr[bag]), np.uint64(indptr[bag + 1])):
                j = np.uint64(indices[k])
                row = table[j]
                slope = 0.0
                for c in range(n_classes):
                    slope += said[c] * row[c]
                slopes[j] += times[k] * (slope - less) + of_own * own[k]
    return loss


@_row_sum
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
    """Add to the slopes by how much they change, about, when the exponents do.

    The scores are changes of the scores, and become those of the loss's slope; for the others see
    `word_slopes`. Classes with a posterior of 0 have no part in it.
    """
    indptr, indices, times, own = bags
    n_texts = totals.shape[1]
    none = table[0, 0] * 0  # has the type of the table
    said = np.empty(table.shape[1], table.dtype)
    classes = np.empty(table.shape[1], np.uint64)
    for i in range(len(y)):
        p = posterior[i]
        s = scores[i]
        n = 0
        own_place = -1
        for c in range(len(p)):
            if p[c] > 0.0:
                if c == y[i]:
                    own_place = n
                classes[n] = c
                n += 1
        if w[i] == 0.0 or n < 2:
            s[:] = 0.0
            continue
        totals_i = totals[i if len(totals) > 1 else 0]
        of_own = none + s[y[i]]
        for t in range(n_texts):
            bag = i * n_texts + t
            said[:n] = 0.0
            count = none
            for k in range(np.uint64(indptr[bag]), np.uint64(indptr[bag + 1])):
                j = np.uint64(indices[k])
                row = table[j]
                often = change[j] * times[k]
                count += often
                of_own += change[j] * own[k]
                for a in range(n):
                    said[a] += often * row[classes[a]]
            for a in range(n):
                s[classes[a]] += said[a] - count * totals_i[t, classes[a]]
        s[y[i]] = of_own
        mean = none
        for c in range(len(p)):
            mean += p[c] * s[c]
        for c in range(len(p)):
            s[c] = p[c] * (s[c] - mean) * w[i]
        for a in range(n):
            said[a] = s[classes[a]]
        of_own = s[y[i]]
        if own_place >= 0:
            said[own_place] = 0.0
        for t in range(n_texts):
            bag = i * n_texts + t
            less = none
            for a in range(n):
                less += said[a] * totals_i[t, classes[a]]
            for k in range(np.uint64(indptr[bag]), np.uint64(indptr[bag + 1])):
                j = np.uint64(indices[k])
                row = table[j]
                slope = none
                for a in range(n):
                    slope += said[a] * row[classes[a]]
                slopes[j] += times[k] * (slope - less) + of_own * own[k]


@_row_sum
def word_bends(
    bags: Any,
    table: Array,
    totals: Array,
    y: Array,
    w: Array,
    posterior: Array,
    bends: Array,
) -> None:
    """Add to the bends how the exponent of each word, by itself, bends the loss of the rows.

    That is the variance of what the word says of a row; for the arguments see `word_curves`.
    """
    indptr, indices, times, own = bags
    n_texts = totals.shape[1]
    none = table[0, 0] * 0
    classes = np.empty(table.shape[1], np.uint64)
    for i in range(len(y)):
        p = posterior[i]
        p_own = p[y[i]]
        n = 0
        for c in range(len(p)):
            if p[c] > 0.0 and c != y[i]:
                classes[n] = c
                n += 1
        if w[i] == 0.0 or n + (p_own > 0.0) < 2:
            continue
        for t in range(n_texts):
            bag = i * n_texts + t
            total = totals[i if len(totals) > 1 else 0, t]
            for k in range(np.uint64(indptr[bag]), np.uint64(indptr[bag + 1])):
                row = table[np.uint64(indices[k])]
                mean = none
                square = none
                for a in range(n):
                    said = row[classes[a]] - total[classes[a]]
                    mean += p[classes[a]] * said
                    square += p[classes[a]] * said * said
                v = times[k]
                mean = v * mean + p_own * own[k]
                square = v * v * square + p_own * own[k] * own[k]
                bends[np.uint64(indices[k])] += w[i] * max(square - mean * mean, none)
