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
from typing import Any, NamedTuple, cast

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


class WordTerms(NamedTuple):
    """What each word of a text says of each row without it.

    By row the words `indices` are there, `data` times. In the row's own class each of them says
    `own`, and in the others what the `table` has, by word and class, less `totals`, which may be
    one row for all. The words go by their `names`.
    """

    names: list[str]
    indptr: Array
    indices: Array
    data: Floats
    own: Floats
    table: Floats
    totals: Floats


@dataclass
class LeftOut:
    """The terms of every row without it; `inexact` marks the rows for which they are not that.

    Unless a class says otherwise they are of units that stand for one: a bag, a text. `words` are
    what the single words of a text say, if that is known.
    """

    made: Callable[[], Floats]
    inexact: Mask
    words: Callable[[], WordTerms] | None = None

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

    def __init__(self, task: LeaveOneOutTask) -> None:
        self.task = task
        self.inexact = np.zeros(len(task.of.y), bool)
        heaviest = float(task.weights.max(initial=0.0))
        self.apart = task.family.classes_apart(task.counted, task.info, heaviest)

    def _family(self, unit: int, rows: Array) -> tuple[Family, Mask]:
        """Return the family that estimates a unit without each row, and for which it cannot."""
        return self.task.family.repeated(unit, len(rows)), np.zeros(len(rows), bool)

    def _estimated(self, unit: int, rows: Array, own: bool) -> Floats:
        """Return the terms of some rows in one unit, by row and class, or of their own class."""
        task, info = self.task, self.task.info.select([unit] * len(rows))
        if own:
            info = replace(info, classes=info.classes[:1])
        without = task.counted.without_each(
            task.block, task.of, unit, task.kind, rows=rows, own=own
        )
        family, unknown = self._family(unit, rows)
        for part in without.to_arrays().values():
            if part.dtype.kind == "f" and part.shape[1] == len(rows):
                unknown |= np.isnan(part).any(axis=0)
        if unknown.any():
            without = without.each(np.nan_to_num)
        row = _as_row(task.block, unit, rows)
        terms: Floats = family.estimate(without, info).log_prob(row)[0]
        terms[unknown] = np.nan
        return terms

    def unit(self, unit: int, rows: Array | None = None) -> Floats:
        """Return the terms of all rows, or some, in one unit, by row and class."""
        task = self.task
        rows = np.arange(len(task.of.y)) if rows is None else rows
        out = np.empty((len(rows), len(task.of.rows)))
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

    def _own_sum(self, units: list[int]) -> tuple[Floats, Array]:
        """Return the sums of the terms of each row's own class, and the rows that are unsure."""
        unsure = np.unique(np.concatenate([self.unsure(unit) for unit in units]))
        return sum((self.own(unit) for unit in units), np.zeros(len(self.task.of.y))), unsure

    def scores(self) -> Floats:
        """Return the sums of the terms, by row and class."""
        task, units = self.task, np.flatnonzero(self.apart).tolist()
        out = np.zeros((len(task.of.y), len(task.of.rows)))
        if units:
            block, parameters = task.block, task.parameters
            if not self.apart.all():
                block, parameters = take_columns(block, units), parameters.select(units)
            parameters.add_log_likelihood(block, out)
            out[np.arange(len(out)), task.of.y], unsure = self._own_sum(units)
            if len(unsure):
                out[unsure] = sum(self.unit(unit, unsure) for unit in units)
        for unit in np.flatnonzero(~self.apart).tolist():
            out += self.unit(unit)
        return out

    def terms(self) -> Floats:
        """Return the terms by row, unit and class."""
        y = self.task.of.y
        terms: Floats = self.task.parameters.log_prob(self.task.block)
        for unit, apart in enumerate(self.apart.tolist()):
            rows = np.arange(len(y))
            if apart:
                terms[rows, unit, y] = self.own(unit)
                rows = self.unsure(unit)
            terms[rows, unit] = self.unit(unit, rows)
        return terms


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
    return WidestLeftOut(task, family) if widest else NormalsLeftOut(task)


class NormalsLeftOut(UnitsLeftOut):
    """Bell curves: a class that loses nearly all of its spread with a row comes near the floor."""

    def unsure(self, unit: int) -> Array:
        """Return the rows with most of their class's spread: without them all may change."""
        y, w, counted = self.task.of.y, self.task.weights, self.task.counted
        n, mean, m2 = (part[y, unit] for part in (counted.weight, counted.mean, counted.m2))
        with np.errstate(invalid="ignore"):
            held = w * (np.asarray(self.task.block)[:, unit] - mean) ** 2 * n / ((n - w) * m2)
            return np.flatnonzero(held > MOST)

    def _own_sum(self, units: list[int]) -> tuple[Floats, Array]:
        """Return the same in closed form, where rows have no weights and no floor is added."""
        task, counted, used = self.task, self.task.counted, self.apart
        family: Any = task.family
        if task.of.w is not None or not isinstance(family.floor, RelativeFloor):
            return super()._own_sum(units)
        n, m2 = counted.weight, np.where(used, counted.m2, 1.0)
        left = np.where(used, n - 1.0, 1.0)
        freedom = np.where(used, n - 1.0 - family.ddof, 1.0)
        block = np.asarray(task.block)
        heights = -0.5 * np.log(2.0 * np.pi * m2 / freedom)
        curves = np.where(used, (counted.mean, n / (left * m2), n * freedom / left, heights), 0.0)
        total, unsure = scoring.left_out_normals(block, task.of.y, curves, MOST)
        if self.task.parameters.log:  # the density of x is that of log x divided by x
            total -= np.where(used & ~np.isnan(block), block, 0.0).sum(axis=1)
        return total, unsure


class WidestLeftOut(NormalsLeftOut):
    """Bell curves to whose variances a fraction of the largest variance of all units is added.

    Every row may change what is added, and with it all classes. Where it changes too little for any
    posterior to notice, a unit stands apart as if the same were added without any row.
    """

    def __init__(self, task: LeaveOneOutTask, family: Gaussian) -> None:
        everything, n = all_rows(task.counted), len(task.of.y)
        self._largest = np.zeros(n)  # variance without each row; NaN where that is not known
        together = everything.each(lambda part: part[None])
        of = task.of._replace(y=np.zeros(n, int))
        for unit in range(len(task.info.names)):
            left = together.without_each(task.block, of, unit, task.kind, own=True)
            np.maximum(self._largest, variances(left)[0], out=self._largest)
        largest = variances(everything).max(initial=0.0)
        super().__init__(replace(task, family=_with_floor(family, float(largest))))
        moved = family.floor.fraction * np.abs(self._largest - largest).max(initial=0.0)
        self.apart &= moved <= SETTLED * self.task.parameters.variance.min(axis=0, initial=np.inf)

    def _family(self, unit: int, rows: Array) -> tuple[Family, Mask]:
        """Return the family that estimates a unit without each row, and for which it cannot."""
        if self.apart[unit]:
            return super()._family(unit, rows)
        largest = self._largest[rows]
        return _with_floor(self.task.family, largest), np.isnan(largest)


def _with_floor(family: Any, of: Any) -> Gaussian:
    """Return the family with a floor that is a fraction of this variance."""
    return cast(Gaussian, structs.replace(family, floor=structs.replace(family.floor, of=of)))
