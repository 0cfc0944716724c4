"""Moments of numeric columns: rows, weight, mean and M2 (sum of squared deviations) per class.

Two tallies merge by the formula of Chan, Golub and LeVeque: with d = mean_b - mean_a,

    mean = mean_a + d w_b / w,     M2 = M2_a + M2_b + d^2 w_a w_b / w,

and part from each other by the same formula solved for one side. Taking away cancels digits where
the part taken away holds nearly all of the spread; such a result is refused, not returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from tallybayes.arrays import Array, Floats, Integers, Mask
from tallybayes.batches import Block, not_finite
from tallybayes.kernels import counting
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label
from tallybayes.tallies.blocks import (
    LOST,
    NOT_COUNTED,
    ROUNDING,
    TRUSTED,
    Support,
    TallyBlock,
    cancelled,
    faded,
    in_columns,
    refuse,
    register_block,
    trust,
    weight_left,
)
from tallybayes.tallies.container import require

NEVER = 1e-6  # a relative difference too large for rounding: those rows were never counted
DOMINATED = 0.4  # where a row leaves no more of M2 than this, digits have cancelled
DEVIATIONS = 3.0  # about each mean, in which nearly all numbers lie
CELLS_LOOKED_AT = 100_000  # for the ends of what occurred
WHOLE = 1e-9


@register_block("moments")
@dataclass(frozen=True, slots=True, eq=False)
class Moments(TallyBlock):
    """Moments of the columns (across) in the classes (down).

    `peak` is the largest M2 that the numbers have passed through, which bounds their rounding
    error. `least` and `most` are numbers that occurred, near the ends of what did: of large batches
    some rows are looked at. These are no part of what was counted, so equality leaves them out, and
    they stay when rows are forgotten.
    """

    SIGNED: ClassVar[tuple[str, ...]] = ("mean", "least", "most")

    mean: Floats
    m2: Floats
    peak: Floats = field(compare=False)
    least: Floats = field(compare=False)
    most: Floats = field(compare=False)

    @classmethod
    def count(
        cls, block: Block, of: counting.RowClasses, kind: Kind, names: Sequence[str], start: int
    ) -> Moments:
        assert isinstance(block, np.ndarray)
        rows, weight, mean, m2 = counting.moments(block, of)
        counted = cls(rows, weight, mean, m2, m2, *_ends(block, mean, rows))
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(mean.sum() + m2.sum())
        if suspicious and not (sound := np.isfinite(mean) & np.isfinite(m2)).all():
            column = int(np.argmin(sound.all(0)))
            raise not_finite(block[:, column], names[column], start)
        return counted

    @property
    def exact(self) -> bool:
        """Means are never whole: folds merge what is left."""
        return False

    def plus(self, other: Moments, names: Sequence[str]) -> Moments:
        weight = self.weight + other.weight
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            share = other.weight / weight
            gap = other.mean - self.mean
            if not (both := (self.weight > 0.0) & (other.weight > 0.0)).all():
                # an empty side has no mean to be far from
                gap, share = np.where(both, gap, 0.0), np.where(weight > 0.0, share, 0.0)
            mean = self.mean + gap * share
            if not both.all():
                mean = np.where(self.weight > 0.0, mean, other.mean)
            m2 = self.m2 + other.m2 + gap * gap * self.weight * share
        if not np.isfinite(m2).all():
            column = int(np.argmin(np.isfinite(m2).all(axis=0)))
            raise not_finite(mean[:, column], names[column], 0)
        peak = np.maximum(self.peak + other.peak, m2)
        both = (self.rows > 0) & (other.rows > 0)
        least, most = (
            np.where(both, bound(mine, theirs), np.where(self.rows > 0, mine, theirs))
            for bound, mine, theirs in (
                (np.minimum, self.least, other.least),
                (np.maximum, self.most, other.most),
            )
        )
        return Moments(self.rows + other.rows, weight, mean, m2, peak, least, most)

    def minus(self, other: Moments, classes: Sequence[Label], names: Sequence[str]) -> Moments:
        where = in_columns(classes, names)
        rows, weight = weight_left(self.rows, self.weight, other.rows, other.weight, where)
        left, taken = rows > 0, other.rows > 0
        gap, ratio, mean, m2, between = self._less(other, weight)
        scale = self.m2 + other.m2 + between
        never, trusted = trust() * NEVER, trust() * TRUSTED
        # the spread of what is left cannot be negative; of one row or none it is zero
        wrong = (m2 < -never * scale) | ((rows <= 1) & taken & (m2 > never * scale))
        wrong |= (rows == 0) & taken & (np.abs(gap) > never * (np.abs(self.mean) + _root(scale)))
        refuse(wrong, where, NOT_COUNTED)
        m2 = np.where(rows > 1, m2, 0.0)
        # digits that were lost when the spread was larger stay lost, however many steps ago
        peak = np.maximum(self.peak, scale)
        error = ROUNDING * (peak + np.abs(gap * self.mean) * self.weight * ratio)
        reach = np.abs(mean) + _root(np.divide(m2, weight, out=np.zeros(m2.shape), where=left))
        shaky = (rows > 1) & (error > trusted * m2) & (peak > 0.0)
        shaky |= left & (ROUNDING * np.abs(gap) * ratio > trusted * reach)
        refuse(shaky, where, LOST)
        ends = (np.where(left, end, 0.0) for end in (self.least, self.most))
        return Moments(rows, weight, mean, m2, np.where(left, peak, 0.0), *ends)

    def scaled(self, factor: float) -> Moments:
        weight, m2, peak = (faded(part, factor) for part in (self.weight, self.m2, self.peak))
        return replace(self, weight=weight, m2=m2, peak=peak)

    @classmethod
    def alone(cls, column: Block, each: counting.RowClasses, kind: Kind) -> Moments:
        x, w = np.asarray(column, np.float64), each.weight[:, None]
        there, nothing = ~np.isnan(x) & (w > 0.0), np.zeros(x.shape)
        weight, mean = np.where(there, w, 0.0), np.where(there, x, 0.0)
        return cls(there.astype(np.int64), weight, mean, nothing, nothing, mean, mean)

    def apart(self, row: Moments) -> tuple[Moments, Mask]:
        rows, there = self.rows - row.rows, row.rows > 0
        weight = np.where(rows > 0, np.maximum(self.weight - row.weight, 0.0), 0.0)
        with np.errstate(all="ignore"):
            _, _, mean, m2, _ = self._less(row, weight)
            lost = ((rows == 1) | ~(m2 > DOMINATED * self.m2)) & (self.m2 > 0.0)
        lost |= cancelled(weight, self.weight, row.weight)
        m2 = np.where(rows > 1, np.maximum(m2, 0.0), 0.0)
        left = Moments(rows, weight, mean, m2, m2, self.least, self.most)
        return left, (lost & there & (rows > 0))[:, 0]

    def _less(self, other: Moments, weight: Floats) -> tuple[Floats, ...]:
        """Solve the formula for one side, of which so much weight is left."""
        left = weight > 0.0
        gap = np.where(other.rows > 0, other.mean - self.mean, 0.0)
        ratio = np.divide(other.weight, weight, out=np.zeros(weight.shape), where=left)
        between = gap**2 * self.weight * ratio
        mean = np.where(left, self.mean - gap * ratio, 0.0)
        return gap, ratio, mean, self.m2 - other.m2 - between, between

    def require_sound(self, kinds: Sequence[Kind]) -> None:
        """Refuse ends that are the wrong way round."""
        require((self.rows == 0) | (self.least <= self.most))

    def support(self, unit: int, kind: Kind) -> Support | None:
        """Return where nearly all numbers lie, in whichever class, and between what they did."""
        there = self.rows[:, unit] > 0
        if not there.any():
            return None
        mean, weight = self.mean[there, unit], self.weight[there, unit]
        least, most = self.least[there, unit], self.most[there, unit]
        reach = DEVIATIONS * np.sqrt(self.m2[there, unit] / weight)
        ends = np.array([(mean - reach).min(), (mean + reach).max(), least.min(), most.max()])
        middle = float(weight @ mean / weight.sum())
        between = float(weight @ (mean - middle) ** 2)
        spread = float(np.sqrt((self.m2[there, unit].sum() + between) / weight.sum()))
        # decimals hardly ever have a whole sum in every class, and whole ends
        sums = np.concatenate([mean * weight, least, most])
        whole = bool((np.abs(sums - np.round(sums)) <= WHOLE * (1.0 + np.abs(sums))).all())
        if log := bool(getattr(kind, "log", False)):
            ends, mean = (np.exp(np.clip(each, -700.0, 700.0)) for each in (ends, mean))
        low, high, first, last = ends.tolist()
        return Support(
            span=(low, high),
            log=log,
            whole=whole and not log,
            spread=spread,
            centres=tuple(mean.tolist()),
            observed=(first, last),
            density=True,
        )


def _ends(X: Array, mean: Floats, rows: Integers) -> tuple[Floats, Floats]:
    """Return the least and the greatest number of each column among some of the rows.

    They are those of all classes: what the model tells apart may become what it is elsewhere.
    """
    step = max(1, X.size // CELLS_LOOKED_AT)
    some = np.ascontiguousarray(X[::step].T)  # NumPy is ten times as fast along rows
    low = np.fmin.reduce(some, axis=1, initial=np.inf).astype(np.float64)
    high = np.fmax.reduce(some, axis=1, initial=-np.inf).astype(np.float64)
    if step > 1:  # a mean is between the ends, and may be beyond those of the rows looked at
        low, high = np.minimum(low, mean), np.maximum(high, mean)
    return np.where(rows > 0, low, 0.0), np.where(rows > 0, high, 0.0)


def _root(values: Floats) -> Floats:
    return np.sqrt(np.maximum(values, 0.0))
