"""Leave-one-out for numbers.

With W the weight of a class, w that of the row, d = x - mean:

    mean' = mean - d w / (W - w),    M2' = M2 - w d^2 W / (W - w).

Where the row holds most of the spread, M2' cancels: such cells are counted anew. With w = 1 and
t = d^2 W / ((W - 1) M2) the density of a row without itself needs only sums of t / (1 - t) and of
log(1 - t). The factor 1 / x of a log-normal density is the same in all classes and left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallybayes.families.gaussian import (
    AdditiveFloor,
    Gaussian,
    NormalParameters,
    RelativeFloor,
    all_rows,
)
from tallybayes.families.left_out.terms import LeaveOneOutTask, LeftOut, left_out
from tallybayes.families.parameters import ColumnInfo, Floats
from tallybayes.kernels import leaving_out
from tallybayes.kernels.counting import members, moments
from tallybayes.sources import NumberedNames
from tallybayes.tallies import Moments
from tallybayes.tallies.blocks import ROUNDING

Integers = NDArray[np.int64]

DOMINATED = 0.4  # where no more of M2 is left, digits have cancelled
SEVERAL = 3  # columns of one row that have to be counted anew
FAR_ABOVE = 100.0  # times the floor: no row takes a variance from there to the floor


@left_out.register
def _gaussian(family: Gaussian, leaving: LeaveOneOutTask) -> LeftOut:
    """Leave rows out where variances depend on their own column only, or else on the largest."""
    if isinstance(family.floor, AdditiveFloor) and family.floor.of is None:
        return with_added_variance(leaving, family.floor.fraction, family)
    everything = all_rows(leaving.counted)
    spread = everything.m2 / np.where(everything.weight > 0.0, everything.weight, 1.0)
    floor, added = np.zeros(len(spread)), 0.0
    if isinstance(family.floor, RelativeFloor):
        floor = family.floor.fraction * spread
    else:
        added = family.floor.fraction * (family.floor.of or 0.0)
    usual = leaving.parameters.used & _usual(family.ddof, leaving, floor)
    normals = NormalParameters(leaving.parameters.mean, leaving.parameters.variance, usual)
    quick = leaving.of.w is None and not added
    lifted = np.zeros(len(usual), bool)
    if quick and isinstance(family.floor, RelativeFloor):
        lifted = ~usual & leaving.parameters.used & _full(family.ddof, leaving)
    columns = np.flatnonzero(~usual).tolist()
    changed = {j: partial(_column, family, leaving, j) for j in columns}
    curves = _Curves(family.ddof, added, 2.0 * floor, leaving, usual)
    return LeftOut(
        normals,
        leaving.block,
        leaving.of.y,
        curves.own,
        curves.doubtful,
        changed,
        curves.own_sum if quick else None,
        partial(_changed_sum, family, leaving, lifted, changed),
    )


def _full(ddof: float, leaving: LeaveOneOutTask) -> NDArray[np.bool_]:
    """Mark the columns without missing values in which every class has rows enough."""
    counted: Moments = leaving.counted
    there = counted.rows.sum(axis=0) == leaving.of.rows.sum()
    return np.asarray(there & (counted.rows > 2.0 + ddof).all(axis=0))


def _changed_sum(
    family: Gaussian,
    leaving: LeaveOneOutTask,
    lifted: NDArray[np.bool_],
    changed: Mapping[int, Callable[[], Floats]],
) -> Floats:
    """Return the sum over the columns in which other classes change too, by row and class."""
    counted: Moments = leaving.counted
    out = np.zeros((len(leaving.of.y), len(counted.rows)))
    for j, terms in changed.items():
        if not lifted[j]:
            out += terms()
    if lifted.any():
        assert isinstance(family.floor, RelativeFloor)
        columns = np.flatnonzero(lifted)
        some = counted.take(columns.tolist())
        everything = all_rows(some)
        variance = leaving.parameters.variance[:, columns]
        block = np.asarray(leaving.block)
        unsure = leaving_out.lifted_normals(
            block if lifted.all() else np.ascontiguousarray(block[:, columns]),
            leaving.of.y,
            leaving_out.Spread(some.weight[:, 0], some.mean, some.m2),
            leaving_out.Spread(everything.weight[:1], everything.mean, everything.m2),
            variance,
            family.ddof,
            family.floor.fraction,
            1.0 - DOMINATED,
            part := np.zeros(out.shape),
        )
        if len(unsure):
            part[unsure] = sum(
                _column(family, leaving, int(j), some=unsure) for j in columns.tolist()
            )
        out += part
    return out


def _usual(ddof: float, leaving: LeaveOneOutTask, floor: Floats) -> NDArray[np.bool_]:
    """Mark the columns in which a row changes only its own class, far from any floor."""
    counted: Moments = leaving.counted
    heaviest = 1.0 if leaving.of.w is None else float(leaving.of.w.max(initial=0.0))
    left = counted.weight - heaviest - ddof
    enough = (counted.rows > 2) & (left > 1e-6 * counted.weight)
    variance = counted.m2 / np.where(counted.weight > 0.0, counted.weight, 1.0)
    far = (variance > FAR_ABOVE * floor) & (variance > 0.0)
    return np.asarray((enough & far).all(axis=0))


def without_itself(
    leaving: LeaveOneOutTask, j: int, some: Integers | None = None
) -> tuple[Floats, Floats, Floats, Integers]:
    """Return the moments of column j in each row's class without the row: mean, M2, weight, rows.

    A row without a value leaves its class as it is. With `some`, only for these rows.
    """
    counted, y, w = leaving.counted, leaving.of.y, leaving.weights
    x = _values(leaving, j, some)
    if some is not None:
        y, w = y[some], w[some]
    there = ~np.isnan(x) & (w > 0.0)
    w = np.where(there, w, 0.0)
    weight, mean, m2 = (part[:, j][y] for part in (counted.weight, counted.mean, counted.m2))
    rows = counted.rows[:, j][y] - there
    d = np.where(there, x - mean, 0.0)
    left = np.where(rows > 0, weight - w, 1.0)
    without = np.where(rows > 0, mean - d * w / left, 0.0)
    spread = np.where(rows > 1, m2 - w * d * d * weight / left, 0.0)
    # (a class of equal values has no spread to lose)
    cancelled = (rows == 1) | ((rows > 1) & (spread <= DOMINATED * m2))
    for row in np.flatnonzero(there & (m2 > 0.0) & cancelled).tolist():
        number = row if some is None else int(some[row])
        without[row], spread[row] = _recounted(leaving, number, j)
    return without, np.where(spread < 0.0, 0.0, spread), np.where(rows > 0, left, 0.0), rows


def _values(leaving: LeaveOneOutTask, j: int, some: Integers | None) -> Floats:
    """Return the numbers of a column."""
    block = np.asarray(leaving.block)
    return (block[:, j] if some is None else block[some, j]).astype(np.float64)


def _recounted(leaving: LeaveOneOutTask, row: int, j: int) -> tuple[float, float]:
    """Return mean and M2 of a column in a row's class without the row, from the values."""
    if not leaving.complete:
        return float("nan"), float("nan")
    block, of, counted = np.asarray(leaving.block), leaving.of, leaving.counted
    c = int(of.y[row])
    if row not in leaving.recounted:
        with np.errstate(invalid="ignore"):
            w, d = leaving.weights[row], block[row] - counted.mean[c]
            held = w * d * d > (1.0 - DOMINATED) * counted.m2[c]
        leaving.recounted[row] = None
        if np.count_nonzero(held) > SEVERAL:  # then one pass over all columns is quicker
            others = (of.y == c) * leaving.weights
            others[row] = 0.0
            found = moments(block, members(np.zeros(len(others), np.int64), others, 1))
            leaving.recounted[row] = found.mean[0], found.m2[0]
    known = leaving.recounted[row]
    if known is not None:
        return float(known[0][j]), float(known[1][j])
    same = leaving.rows_of(c)
    same = same[same != row]
    x, w = block[same, j].astype(np.float64), leaving.weights[same]
    there = ~np.isnan(x) & (w > 0.0)
    x, w = x[there], w[there]
    if not len(x):
        return 0.0, 0.0
    mean = x[0] + float(w @ (x - x[0])) / float(w.sum())
    mean += float(w @ (x - mean)) / float(w.sum())
    d = x - mean
    return mean, max(float(w @ (d * d)) - float(w @ d) ** 2 / float(w.sum()), 0.0)


def _column(
    family: Gaussian,
    leaving: LeaveOneOutTask,
    j: int,
    added: Floats | None = None,
    some: Integers | None = None,
) -> Floats:
    """Return the terms of each row and class in one column, with all the rules of `estimate`.

    The family estimates as many columns as there are rows: each is this one, without a row.
    """
    counted: Moments = leaving.counted
    y, x = leaving.of.y, _values(leaving, j, some)
    if some is not None:
        y = y[some]
    mean, m2, weight, rows = without_itself(leaving, j, some)
    unknown = np.isnan(mean)
    mean, m2 = np.where(unknown, 0.0, mean), np.where(unknown, 0.0, m2)
    here = np.arange(len(y))
    without = counted.take([j]).each(lambda part: np.repeat(part, len(y), axis=1))
    for part, own in (("rows", rows), ("weight", weight), ("mean", mean), ("m2", m2)):
        getattr(without, part)[y, here] = own
    normals = family.estimate(without, ColumnInfo(leaving.info.classes, NumberedNames(len(y)), ()))
    used, variance = normals.used, normals.variance
    if added is not None:
        unknown = unknown | np.isnan(added)
        variance = variance + np.where(unknown, 0.0, added)
        used = (without.rows.sum(axis=0) > 0) & (variance > 0.0).all(axis=0)
    variance = np.where(used, variance, 1.0)
    with np.errstate(invalid="ignore"):
        terms = -0.5 * (np.log(2.0 * np.pi * variance) + (x - normals.mean) ** 2 / variance)
    terms = np.where(used & ~np.isnan(x), terms, 0.0)
    return np.where(unknown, np.nan, terms).T


@dataclass(frozen=True, slots=True)
class _Curves:
    """The bell curves of the usual columns, without the row that asks.

    A variance that comes down to `least` makes its row doubtful: a floor may hold it up.
    """

    ddof: float
    added: float
    least: Floats
    leaving: LeaveOneOutTask
    used: NDArray[np.bool_]
    doubtful: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "doubtful", np.zeros(len(self.leaving.of.y), bool))

    def own(self) -> Floats:
        """Return the term of each row's class in each column."""
        block = self.leaving.block
        assert isinstance(block, np.ndarray)
        out = np.zeros(block.shape)
        for j in np.flatnonzero(self.used).tolist():
            mean, m2, weight, _ = without_itself(self.leaving, j)
            variance = m2 / (weight - self.ddof) + self.added
            low = ~(variance > self.least[j])
            np.logical_or(self.doubtful, low, out=self.doubtful)
            variance = np.where(low, 1.0, variance)
            z = (block[:, j] - mean) ** 2 / variance
            out[:, j] = np.where(np.isnan(z), 0.0, -0.5 * (np.log(2.0 * np.pi * variance) + z))
        return out

    def own_sum(self) -> Floats:
        """Return the sum of the terms of each row's class, for rows of weight 1."""
        counted, used = self.leaving.counted, self.used
        if not used.any():
            return np.zeros(len(self.leaving.of.y))
        n, m2 = counted.weight, np.where(used, counted.m2, 1.0)
        left, freedom = np.where(used, n - 1.0, 1.0), np.where(used, n - 1.0 - self.ddof, 1.0)
        out, cancelled = leaving_out.normals(
            np.asarray(self.leaving.block),
            self.leaving.of.y,
            np.where(used, counted.mean, 0.0),
            np.where(used, n / (left * m2), 0.0),
            np.where(used, n * freedom / left, 0.0),
            np.where(used, -0.5 * np.log(2.0 * np.pi * m2 / freedom), 0.0),
            1.0 - DOMINATED,
        )
        for row in cancelled.tolist():
            out[row] = sum(self._cell(row, j) for j in np.flatnonzero(used).tolist())
        return out

    def _cell(self, row: int, j: int) -> float:
        """Return the term of a row's class in one column."""
        counted, c = self.leaving.counted, int(self.leaving.of.y[row])
        x = float(np.asarray(self.leaving.block)[row, j])
        if np.isnan(x):
            return 0.0
        n, mean, m2 = (float(part[c, j]) for part in (counted.weight, counted.mean, counted.m2))
        d = x - mean
        without, spread = mean - d / (n - 1.0), m2 - d * d * n / (n - 1.0)
        if spread <= DOMINATED * m2:
            without, spread = _recounted(self.leaving, row, j)
        variance = spread / (n - 1.0 - self.ddof)
        if not variance > self.least[j]:
            self.doubtful[row] = True
            return 0.0
        return -0.5 * (math.log(2.0 * math.pi * variance) + (x - without) ** 2 / variance)


def with_added_variance(leaving: LeaveOneOutTask, fraction: float, family: Gaussian) -> LeftOut:
    """Leave rows out where a fraction of the largest variance of all columns is added to each.

    Every row may change that variance, and with it all classes: this is many times dearer.
    """
    names, y = leaving.info.names, leaving.of.y
    everything = all_rows(leaving.counted)
    block = np.asarray(leaving.block)
    together = LeaveOneOutTask(
        everything.each(lambda part: part[None]),
        ColumnInfo((), names, ()),
        None,
        leaving.block,
        leaving.of._replace(y=np.zeros(len(y), np.int64)),
        leaving.complete,
    )
    largest, unknown = np.zeros(len(y)), np.zeros(len(y), bool)
    for j in range(block.shape[1]):
        mean, m2, weight, _ = without_itself(together, j)
        variance = np.divide(m2, weight, out=np.zeros(len(y)), where=weight > 0.0)
        # spread in the last digits of the mean is left by rounding: the column is constant
        constant = variance <= (ROUNDING * mean) ** 2
        np.maximum(largest, np.where(constant, 0.0, variance), out=largest)
        unknown |= np.isnan(variance)
    bare = Gaussian(family.ddof, AdditiveFloor(0.0))
    added = fraction * np.where(unknown, np.nan, largest)
    changed = {j: partial(_column, bare, leaving, j, added) for j in range(block.shape[1])}
    parameters: NormalParameters = leaving.parameters
    nothing = NormalParameters(parameters.mean, parameters.variance, np.zeros(block.shape[1], bool))
    doubtful = np.zeros(len(y), bool)
    return LeftOut(nothing, leaving.block, y, lambda: np.zeros(block.shape), doubtful, changed)
