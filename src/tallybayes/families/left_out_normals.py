"""Leave-one-out of bell curves, with what a floor takes from all rows of a column.

With d = x - mean, the M2 of a class without a row is (1 - t) M2, t = d^2 W / ((W - 1) M2). Where
all classes are far from the floor, the density of a row of weight 1 without itself needs only sums
of t / (1 - t) and of log(1 - t). Where they are near it, each row changes all classes, but only by
the variance of the column and that within the classes, which are worked out once for all of them.
Where digits cancel the engine is asked.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from msgspec import structs

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.families.gaussian import (
    TINY,
    AdditiveFloor,
    Gaussian,
    NormalParameters,
    RelativeFloor,
    all_rows,
    variances,
    varies,
)
from tallybayes.families.left_out import LeaveOneOutTask, LeftOut, UnitsLeftOut, left_out
from tallybayes.families.parameters import Family
from tallybayes.kernels import scoring
from tallybayes.tallies import Moments

MOST = 0.6  # of M2: where a row holds more, digits cancel
SETTLED = 1e-12  # a change of a variance, relative to it, that changes no posterior


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

    def own_sum(self, units: list[int]) -> tuple[Floats, Array]:
        """Return the same in closed form, where rows have no weights."""
        task, counted, apart = self.task, self.task.counted, self.apart
        if task.of.w is not None:
            return super().own_sum(units)
        family: Any = task.family
        n, floor = counted.weight, family.floor
        left = np.where(apart, n - 1.0, 1.0)
        freedom = np.where(apart, n - 1.0 - family.ddof, 1.0)
        added = floor.fraction * floor.of if isinstance(floor, AdditiveFloor) else 0.0
        variance = np.where(apart, counted.m2 / freedom + added, 1.0)
        share = n / (left * freedom * variance)
        heights = -0.5 * np.log(2.0 * np.pi * variance)
        curves = np.where(apart, (counted.mean, share, n * freedom / left, heights), 0.0)
        block = np.asarray(task.block)
        own, unsure = scoring.left_out_normals(block, task.of.y, curves, MOST)
        if task.parameters.log:  # the density of x is that of log x divided by x
            own -= np.where(apart & ~np.isnan(block), block, 0.0).sum(axis=1)
        return own, unsure

    @cached_property
    def _closed(self) -> Mask:
        """Mark the units with classes near the floor in which a row takes only sums apart."""
        task, family, n = self.task, cast(Any, self.task.family), self.task.counted.weight
        if task.of.w is not None or not isinstance(family.floor, RelativeFloor):
            return np.zeros(len(self.apart), bool)
        large = (task.counted.m2 > TINY) & (n > 2.0 + family.ddof)
        return np.asarray(large.all(axis=0) & varies(all_rows(task.counted)))

    def _terms_of(self, unit: int, rows: Array, own: bool) -> Floats:
        """Return the terms of some rows: sums that all classes share are worked out once."""
        if own or not self._closed[unit]:
            return super()._terms_of(unit, rows, own)
        task, family = self.task, cast(Any, self.task.family)
        counted, y = task.counted.select([unit]), task.of.y[rows]
        x = np.asarray(task.block)[rows, unit]
        everything, mean, m2 = all_rows(counted), counted.mean[:, 0], counted.m2[:, 0]
        n, freedom = counted.weight[:, 0], counted.weight[:, 0] - family.ddof
        taken = (n / (n - 1.0))[y] * (x - mean[y]) ** 2
        of_all = everything.weight / (everything.weight - 1.0) * (x - everything.mean) ** 2
        unsure = (taken > MOST * m2[y]) | (of_all > MOST * everything.m2)
        if unsure.any():
            terms = np.empty((len(rows), len(n)))
            terms[unsure] = super()._terms_of(unit, rows[unsure], own)
            terms[~unsure] = self._terms_of(unit, rows[~unsure], own)
            return terms
        at = y, np.arange(len(rows))
        means, variance = (np.repeat(part[:, None], len(rows), 1) for part in (mean, m2 / freedom))
        means[at] -= (x - mean[y]) / (n - 1.0)[y]
        variance[at] = (m2[y] - taken) / (freedom - 1.0)[y]
        left = (everything.m2 - of_all) / (everything.weight - 1.0)
        within = (m2.sum() - taken) / (freedom.sum() - 1.0)
        variance = family.floor.lift(variance, left, within)
        found = NormalParameters(means, variance, ~np.isnan(x), log=task.parameters.log)
        of_rows: Floats = found.log_prob(x[None])[0]
        return of_rows


class WidestLeftOut(NormalsLeftOut):
    """Bell curves to whose variances a fraction of the largest variance of all units is added.

    Every row may change what is added, and with it all classes. Where it changes too little for any
    posterior to notice, a unit stands apart as if the same were added without any row.
    """

    def __init__(self, task: LeaveOneOutTask) -> None:
        everything, heaviest = all_rows(task.counted), task.weights.max(initial=0.0)
        of_units = variances(everything)
        largest = float(of_units.max(initial=0.0))
        super().__init__(replace(task, family=_with_floor(task.family, largest)))
        fraction = self.task.family.floor.fraction  # type: ignore[attr-defined]
        settled = SETTLED * self.task.parameters.variance.min(axis=0, initial=np.inf)
        bound = _largest_move(np.asarray(task.block), everything, of_units, heaviest)
        if (self.apart & ~(fraction * bound <= settled)).any():
            bound = np.abs(self._largest - largest).max(initial=0.0)
        self.apart &= fraction * bound <= settled

    @cached_property
    def _largest(self) -> Floats:
        """The largest variance without each row: NaN where that is not known."""
        task = self.task
        of = task.of._replace(y=np.zeros_like(task.of.y))
        together = all_rows(task.counted).each(lambda part: part[None])
        without = (
            variances(together.without_each(task.block, of, unit, task.kind, own=True))[0]
            for unit in range(len(task.info.names))
        )
        return cast(Floats, np.maximum.reduce([*without]))

    def _family(self, unit: int, rows: Array) -> Family:
        """Return the family that estimates a unit without each row."""
        family = super()._family(unit, rows)
        return family if self.apart[unit] else _with_floor(family, self._largest[rows])

    def anew(self, unit: int, rows: Array) -> Floats:
        """Return the terms of some rows, as far as it is known what is added without them."""
        known = self.apart[unit] | ~np.isnan(self._largest[rows])
        return np.where(known[:, None], super().anew(unit, rows), np.nan)


def _largest_move(X: Array, everything: Moments, variance: Floats, heaviest: float) -> float:
    """Bound how far the largest variance moves without any one row.

    No variance grows by more than the weight it is divided by shrinks, and the widest unit's own
    shrinks by no more than its farthest number takes away.
    """
    if not len(variance):
        return 0.0
    widest = int(np.argmax(variance))
    left = np.maximum(everything.weight - heaviest, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        grown = (variance * heaviest / left).max()
        farthest = np.nanmax(np.abs(X[:, widest] - everything.mean[widest]), initial=0.0)
        return float(max(grown, heaviest * farthest**2 / left[widest]))


def _with_floor(family: Any, of: Any) -> Family:
    """Return the family with a floor that is a fraction of this variance."""
    return cast(Family, structs.replace(family, floor=structs.replace(family.floor, of=of)))
