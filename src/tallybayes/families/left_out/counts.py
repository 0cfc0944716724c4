"""Leave-one-out for counts: the sums of a row's own class go down by what the row has.

- Multinomial: (n - w x + alpha) / (N - w L + sum of alpha), L being the row's total;
- Complement: the same for all classes but the row's own;
- Bernoulli: (n - w [x > threshold] + alpha) / (N - w + 2 alpha);
- Poisson: (n - w x + alpha) / (N - w).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, Sparse, dense, without_duplicates
from tallybayes.families.bernoulli import Bernoulli, BernoulliParameters
from tallybayes.families.counts import Complement, Multinomial, Poisson, PoissonParameters
from tallybayes.families.left_out.terms import (
    Array,
    LeaveOneOutTask,
    LeftOut,
    WholeLeftOut,
    left_out,
)
from tallybayes.families.parameters import Floats, safe_log
from tallybayes.families.smoothing import alpha_of_each
from tallybayes.kernels import leaving_out
from tallybayes.kernels.leaving_out import row_sums
from tallybayes.tallies import Counts

HELD = 1e5  # times what other rows have


@left_out.register
def _multinomial(family: Multinomial, leaving: LeaveOneOutTask) -> WholeLeftOut:
    alpha = alpha_of_each(family.alpha, leaving.info.names)
    sums: Floats = leaving.counted.sums
    y, w = leaving.of.y, leaving.weights
    totals, rows = sums.sum(axis=1), as_sparse(leaving.block)
    lengths = row_sums(rows.indptr, rows.data)
    left = totals[y] - w * lengths + alpha.sum()
    # without smoothing a class may be left with nothing, and take what all classes say
    doubtful = (left <= 1e-12 * totals[y]) | _cancelled(rows, sums, y, w)
    if not alpha.any() and not totals.all():
        doubtful[:] = True

    def scores() -> Floats:
        out = np.zeros((len(y), len(sums)))
        leaving.parameters.add_log_likelihood(leaving.block, out)
        own = leaving_out.sparse_counts(*rows[:3], y, leaving.of.w, sums, alpha)
        out[np.arange(len(y)), y] = own - lengths * np.log(np.where(doubtful, 1.0, left))
        return out

    return WholeLeftOut(scores, doubtful)


@left_out.register
def _complement(family: Complement, leaving: LeaveOneOutTask) -> WholeLeftOut | None:
    if family.norm:
        return None
    alpha = alpha_of_each(family.alpha, leaving.info.names)
    sums: Floats = leaving.counted.sums
    totals, rows = sums.sum(axis=1), as_sparse(leaving.block)
    y, w = leaving.of.y, leaving.weights
    lengths, data = row_sums(rows.indptr, rows.data), rows.data.astype(np.float64)
    owner = _owner(rows)

    def scores() -> Floats:
        out = np.zeros((len(y), len(sums)))
        leaving.parameters.add_log_likelihood(leaving.block, out)
        everything = sums.sum(axis=0)
        taken, added = w[owner] * data, alpha[rows.indices]
        for c in range(len(sums)):
            elsewhere = (everything - sums[c])[rows.indices] - taken
            total = totals.sum() - totals[c] - w * lengths + alpha.sum()
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = data * np.log(np.maximum(elsewhere, 0.0) + added)
                scores_c = lengths * np.log(total) - row_sums(rows.indptr, logs)
            out[:, c] = np.where(y == c, out[:, c], scores_c)
        return out

    return WholeLeftOut(scores, _cancelled(rows, sums.sum(axis=0)[None], np.zeros(len(y), int), w))


def _cancelled(rows: Sparse, sums: Floats, y: Array, w: Floats) -> NDArray[np.bool_]:
    """Mark rows that hold nearly all of a sum of fractions: what is left of it has few digits."""
    out = np.zeros(len(y), bool)
    if not (sums == np.rint(sums)).all():
        owner = _owner(rows)
        taken = w[owner] * rows.data
        out[owner[taken > HELD * (sums[y[owner], rows.indices] - taken)]] = True
    return out


@left_out.register
def _bernoulli(family: Bernoulli, leaving: LeaveOneOutTask) -> LeftOut | WholeLeftOut | None:
    switches: BernoulliParameters = leaving.parameters
    counted: Counts = leaving.counted
    alpha = alpha_of_each(family.alpha, leaving.info.names)
    y, w = leaving.of.y, leaving.weights
    if isinstance(leaving.block, Sparse):
        if leaving.of.w is not None or not alpha.all():
            return None
        return _sparse_switches(leaving, alpha, family.threshold)
    x = dense(leaving.block)
    there = ~np.isnan(x)
    shape = counted.sums.shape
    n, rows = (np.broadcast_to(part, shape) for part in (counted.weight, counted.rows))
    weight = np.where(rows[y] - there > 0, n[y] - w[:, None], 0.0)
    on = np.where(there & (x > family.threshold), w[:, None], 0.0)
    present = np.maximum(counted.sums[y] - on, 0.0)
    absent = np.where(weight - present > 1e-12 * n[y], weight - present, 0.0)
    total = weight + 2.0 * alpha
    safe = np.where(total > 0.0, total, 1.0)
    share = np.where(on > 0.0, present + alpha, absent + alpha) / safe
    own = np.where(there, safe_log(share), 0.0)
    # a class without values takes what all say, and a column without any says nothing
    unsure = (rows.sum(axis=0) == 1) | ((rows == 0).any(axis=0) & (alpha == 0.0))
    doubtful = (there & (unsure | (total <= 0.0))).any(axis=1)
    return LeftOut(switches, leaving.block, y, lambda: own, doubtful)


def _sparse_switches(leaving: LeaveOneOutTask, alpha: Floats, threshold: float) -> WholeLeftOut:
    """Leave rows of weight 1 out of a sparse matrix: each class has one base without one row."""
    counted: Counts = leaving.counted
    rows, y = as_sparse(leaving.block), leaving.of.y
    above = rows.data > threshold
    owner, indices = _owner(rows)[above], rows.indices[above]
    left = counted.weight - 1.0
    # where all rows are "on", none is left that could be "off"
    never_off = left - counted.sums < -0.5
    log_off = np.log(np.where(never_off, 1.0, left - counted.sums + alpha))
    base = log_off.sum(axis=1)

    def scores() -> Floats:
        out = np.zeros((len(y), len(counted.sums)))
        leaving.parameters.add_log_likelihood(leaving.block, out)
        c = y[owner]
        gain = np.log(counted.sums[c, indices] - 1.0 + alpha[indices]) - log_off[c, indices]
        total = np.log(left + 2.0 * alpha).sum(axis=1)
        own = np.bincount(owner, gain, len(y)) + (base - total)[y]
        out[np.arange(len(y)), y] = own
        return out

    doubtful = (counted.rows[:, 0] == 1)[y]
    return WholeLeftOut(scores, doubtful)


@left_out.register
def _poisson(family: Poisson, leaving: LeaveOneOutTask) -> LeftOut | WholeLeftOut:
    counted: Counts = leaving.counted
    alpha = alpha_of_each(family.alpha, leaving.info.names)
    y, w = leaving.of.y, leaving.weights
    rates: PoissonParameters = leaving.parameters
    shape = counted.sums.shape
    n, rows = (np.broadcast_to(part, shape) for part in (counted.weight, counted.rows))
    if isinstance(leaving.block, Sparse):
        return _sparse_rates(leaving, alpha)
    x = dense(leaving.block)
    there = ~np.isnan(x)
    x = np.where(there, x, 0.0)
    weight = np.where(there & (rows[y] > 1), n[y] - w[:, None], 1.0)
    rate = np.maximum(counted.sums[y] - w[:, None] * x, 0.0) + alpha
    own = _log_poisson(x, rate / weight)
    # a class without values takes the rate of all classes
    unsure = (rows == 0).any(axis=0) | (rows.sum(axis=0) == 1)
    doubtful = (there & (unsure | (rows[y] == 1))).any(axis=1)
    return LeftOut(rates, leaving.block, y, lambda: np.where(there, own, 0.0), doubtful)


def _log_poisson(x: Floats, rate: Floats) -> Floats:
    from scipy.special import gammaln

    with np.errstate(invalid="ignore"):
        events = np.where(x > 0.0, x * safe_log(rate), 0.0)
    terms: Floats = events - rate - gammaln(x + 1.0)
    return terms


def _sparse_rates(leaving: LeaveOneOutTask, alpha: Floats) -> WholeLeftOut:
    """Leave rows out of a sparse matrix: the sum of the rates needs only the row's total."""
    from scipy.special import gammaln

    counted: Counts = leaving.counted
    rows, y, w = as_sparse(leaving.block), leaving.of.y, leaving.weights
    n = counted.weight[:, 0]

    def scores() -> Floats:
        out = np.zeros((len(y), len(counted.sums)))
        leaving.parameters.add_log_likelihood(leaving.block, out)
        left = np.where(counted.rows[y, 0] > 1, n[y] - w, 1.0)
        lengths = row_sums(rows.indptr, rows.data)
        own = leaving_out.sparse_counts(*rows[:3], y, leaving.of.w, counted.sums, alpha)
        own -= lengths * np.log(left)
        own -= (counted.sums.sum(axis=1)[y] - w * lengths + alpha.sum()) / left
        own -= row_sums(rows.indptr, gammaln(rows.data + 1.0))
        out[np.arange(len(y)), y] = own
        return out

    return WholeLeftOut(scores, (counted.rows[:, 0] == 1)[y])


def as_sparse(block: Block) -> Sparse:
    """Return the rows as compressed sparse rows, each cell once; missing values are none."""
    from scipy.sparse import csr_array

    if isinstance(block, Sparse):
        return without_duplicates(block)
    matrix = csr_array(np.nan_to_num(dense(block), nan=0.0))
    return Sparse(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])


def _owner(rows: Sparse) -> Array:
    """Return the row of each stored value."""
    return np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
