"""What each row scores under the parameters of the other rows: leave-one-out, exactly.

The default is an engine that asks the family itself. For each unit it hands the family as many
units as there are rows, each of them the unit without one row, and asks each about its row: what
comes out is what estimating anew without the row gives, with all the family's rules. That holds for
every family that estimates each unit by itself, of which a family of one's own is tried once.

Where a row changes nothing but its own class (`Family.classes_apart`), only that class is estimated
without it. Numbers of weight 1 have a closed form on top: with W the number of a class's rows, d =
x - mean and t = d^2 W / ((W - 1) M2), the density of a row without itself needs only sums of
t / (1 - t) and of log(1 - t). The rows for which that cancels are left to the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any, cast

import numpy as np
from msgspec import structs

from tallybayes.batches import Block, Coded, Sparse, dense, take_columns, take_rows
from tallybayes.families.gaussian import AdditiveFloor, Gaussian, RelativeFloor, all_rows, variances
from tallybayes.families.parameters import Array, ColumnInfo, Family, Floats, Mask
from tallybayes.kernels import scoring
from tallybayes.kernels.counting import RowClasses
from tallybayes.schema import Kind

CELLS_AT_ONCE = 4_000_000  # rows times classes
MOST_CELLS = 40_000_000  # of a sparse matrix that is laid out
MOST = 0.6  # of M2: where a row holds more, digits cancel
SETTLED = 1e-12  # a change of a variance, relative to it, that changes no posterior
TRIED = 50  # rows that a family of one's own is tried with


@dataclass(frozen=True)
class LeaveOneOutTask:
    """What there is to leave rows out of.

    `counted` is the block of the tally of all rows that the `family` estimates from, `info` names
    its units, `kind` says what was counted, `block` holds the rows, and `of` says of which class
    they are. If these are not all rows that were counted, what would have to be counted anew is
    NaN.
    """

    family: Family
    counted: Any
    info: ColumnInfo
    kind: Kind
    block: Block
    of: RowClasses

    @cached_property
    def parameters(self) -> Any:
        """The parameters of all rows."""
        return self.family.estimate(self.counted, self.info)

    @cached_property
    def weights(self) -> Array:
        """The weight of each row."""
        return np.ones(len(self.of.y)) if self.of.w is None else self.of.w


@dataclass
class LeftOut:
    """The terms of every row without it; `inexact` marks the rows for which they are not that.

    Unless a class says otherwise they are of units that stand for one: a bag, a text.
    """

    made: Callable[[], Floats]
    inexact: Mask

    def scores(self) -> Floats:
        """Return the sums of the terms, by row and class."""
        return self.made()

    def terms(self) -> Floats:
        """Return the terms by row, unit and class."""
        return self.scores()[:, None, :]


@singledispatch
def left_out(family: Any, task: LeaveOneOutTask) -> LeftOut | None:
    """Return the terms of every row without it; None if only refitting tells."""
    return engine(task) if not family.joint and _estimates_units_alone(task) else None


def engine(task: LeaveOneOutTask) -> LeftOut | None:
    """Return the terms of units one by one; None if a sparse matrix has too many cells for that."""
    if not isinstance(task.block, Sparse):
        return UnitsLeftOut(task)
    if task.block.n_rows * task.block.n_columns > MOST_CELLS:
        return None
    units = UnitsLeftOut(replace(task, block=dense(task.block)))
    return LeftOut(units.scores, units.inexact)


def _estimates_units_alone(task: LeaveOneOutTask) -> bool:
    """Try whether a unit that is estimated alone has the terms that it has among the others."""
    units = len(task.info.names)
    if units < 2:
        return True
    rows = take_rows(task.block, np.arange(min(TRIED, len(task.of.y))))
    together = task.parameters.log_prob(rows)
    for unit in {0, units - 1}:
        family = task.family.repeated(unit, 1)
        alone = family.estimate(task.counted.select([unit]), task.info.select([unit]))
        terms = alone.log_prob(take_columns(rows, [unit]))[:, 0]
        if not np.allclose(terms, together[:, unit], rtol=1e-12, atol=1e-12, equal_nan=True):
            return False
    return True


class UnitsLeftOut(LeftOut):
    """Units one by one, each estimated as often as there are rows."""

    def __init__(self, task: LeaveOneOutTask, apart: Mask | None = None) -> None:
        self.task, self.apart = task, np.zeros(0, bool)
        self.inexact = np.zeros(len(task.of.y), bool)
        if apart is None:
            heaviest = float(task.weights.max(initial=0.0))
            apart = task.family.classes_apart(task.counted, task.info, heaviest)
        self.apart = apart

    def _family(self, unit: int, rows: Array) -> Family:
        """Return the family that estimates a unit without each row."""
        return self.task.family.repeated(unit, len(rows))

    def _estimated(self, unit: int, rows: Array, own: bool) -> Floats:
        """Return the terms of some rows in one unit, by row and class, or of their own class."""
        task, info = self.task, self.task.info.select([unit] * len(rows))
        if own:
            info = replace(info, classes=info.classes[:1])
        without = task.counted.without_each(
            task.block, task.of, unit, task.kind, rows=rows, own=own
        )
        unknown = np.zeros(len(rows), bool)
        for part in without.to_arrays().values():
            if part.dtype.kind == "f" and part.shape[1] == len(rows):
                unknown |= np.isnan(part).any(axis=0)
        if unknown.any():
            without = without.each(np.nan_to_num)
        row = _as_row(task.block, unit, rows)
        terms: Floats = self._family(unit, rows).estimate(without, info).log_prob(row)[0]
        terms[unknown] = np.nan
        return terms

    def anew(self, unit: int, rows: Array) -> Floats:
        """Return the terms of some rows in one unit, by row and class: all classes estimated."""
        out = np.empty((len(rows), len(self.task.of.rows)))
        step = max(1, CELLS_AT_ONCE // max(out.shape[1], 1))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            out[start : start + step] = self._estimated(unit, some, own=False)
        return out

    def own(self, unit: int) -> Floats:
        """Return the term of each row's own class, in a unit that stands apart."""
        return self._estimated(unit, np.arange(len(self.task.of.y)), own=True)[:, 0]

    def unsure(self, unit: int) -> Array:
        """Return the rows without which all classes may change, in a unit that stands apart."""
        return np.zeros(0, np.int64)

    def unit(self, unit: int) -> Floats:
        """Return the terms of one unit, by row and class."""
        task, rows = self.task, np.arange(len(self.task.of.y))
        if not self.apart[unit]:
            return self.anew(unit, rows)
        out = np.zeros((len(rows), len(task.of.rows)))
        parameters = task.parameters.select([unit])
        parameters.add_log_likelihood(take_columns(task.block, [unit]), out)
        out[rows, task.of.y] = self.own(unit)
        if len(unsure := self.unsure(unit)):
            out[unsure] = self.anew(unit, unsure)
        return out

    def scores(self) -> Floats:
        """Return the sums of the terms, by row and class."""
        out = np.zeros((len(self.task.of.y), len(self.task.of.rows)))
        for unit in range(len(self.apart)):
            out += self.unit(unit)
        return out

    def terms(self) -> Floats:
        """Return the terms by row, unit and class."""
        task = self.task
        out = np.empty((len(task.of.y), len(self.apart), len(task.of.rows)))
        for unit in range(len(self.apart)):
            out[:, unit] = self.unit(unit)
        return out


def _as_row(block: Block, unit: int, rows: Array) -> Block:
    """Return the values of some rows in one unit as one row of as many units."""
    if isinstance(block, Coded):
        labels = None if block.labels is None else (block.labels[unit],) * len(rows)
        return Coded(block.codes[rows, unit][None], labels)
    assert isinstance(block, np.ndarray)
    return np.asarray(block[rows, unit][None])


@left_out.register
def _gaussian(family: Gaussian, task: LeaveOneOutTask) -> LeftOut:
    widest = isinstance(family.floor, AdditiveFloor) and family.floor.of is None
    return WidestLeftOut(task) if widest else NormalsLeftOut(task)


class NormalsLeftOut(UnitsLeftOut):
    """Bell curves: a class that loses nearly all of its spread with a row comes near the floor."""

    def unsure(self, unit: int) -> Array:
        """Return the rows with most of their class's spread: without them all may change."""
        y, w, counted = self.task.of.y, self.task.weights, self.task.counted
        n, mean, m2 = (part[y, unit] for part in (counted.weight, counted.mean, counted.m2))
        with np.errstate(invalid="ignore"):
            held = w * (np.asarray(self.task.block)[:, unit] - mean) ** 2 * n / ((n - w) * m2)
            return np.flatnonzero(held > MOST)

    def scores(self) -> Floats:
        """Return the same in closed form, where rows have no weights and no floor is added."""
        task, counted, apart = self.task, self.task.counted, self.apart
        family: Any = task.family
        if task.of.w is not None or not isinstance(family.floor, RelativeFloor):
            return super().scores()
        n, m2 = counted.weight, np.where(apart, counted.m2, 1.0)
        left = np.where(apart, n - 1.0, 1.0)
        freedom = np.where(apart, n - 1.0 - family.ddof, 1.0)
        heights = -0.5 * np.log(2.0 * np.pi * m2 / freedom)
        curves = np.where(apart, (counted.mean, n / (left * m2), n * freedom / left, heights), 0.0)
        block, units = np.asarray(task.block), np.flatnonzero(apart).tolist()
        own, unsure = scoring.left_out_normals(block, task.of.y, curves, MOST)
        if task.parameters.log:  # the density of x is that of log x divided by x
            own -= np.where(apart & ~np.isnan(block), block, 0.0).sum(axis=1)
        out = np.zeros((len(own), len(task.of.rows)))
        task.parameters.select(units).add_log_likelihood(take_columns(block, units), out)
        out[np.arange(len(out)), task.of.y] = own
        if len(unsure):
            out[unsure] = sum(self.anew(unit, unsure) for unit in units)
        return sum((self.unit(unit) for unit in np.flatnonzero(~apart).tolist()), out)


class WidestLeftOut(NormalsLeftOut):
    """Bell curves to whose variances a fraction of the largest variance of all units is added.

    Every row may change what is added, and with it all classes. Where it changes too little for any
    posterior to notice, a unit stands apart as if the same were added without any row.
    """

    def __init__(self, task: LeaveOneOutTask) -> None:
        everything, of = all_rows(task.counted), task.of._replace(y=np.zeros_like(task.of.y))
        together = everything.each(lambda part: part[None])
        without = (
            variances(together.without_each(task.block, of, unit, task.kind, own=True))[0]
            for unit in range(len(task.info.names))
        )
        self._largest = np.maximum.reduce([*without])  # NaN where that is not known
        largest = float(variances(everything).max(initial=0.0))
        super().__init__(replace(task, family=_with_floor(task.family, largest)))
        moved = np.abs(self._largest - largest).max(initial=0.0)
        moved *= self.task.family.floor.fraction  # type: ignore[attr-defined]
        self.apart &= moved <= SETTLED * self.task.parameters.variance.min(axis=0, initial=np.inf)

    def _family(self, unit: int, rows: Array) -> Family:
        """Return the family that estimates a unit without each row."""
        family = super()._family(unit, rows)
        return family if self.apart[unit] else _with_floor(family, self._largest[rows])

    def anew(self, unit: int, rows: Array) -> Floats:
        """Return the terms of some rows, as far as it is known what is added without them."""
        known = self.apart[unit] | ~np.isnan(self._largest[rows])
        return np.where(known[:, None], super().anew(unit, rows), np.nan)


def _with_floor(family: Any, of: Any) -> Family:
    """Return the family with a floor that is a fraction of this variance."""
    return cast(Family, structs.replace(family, floor=structs.replace(family.floor, of=of)))
