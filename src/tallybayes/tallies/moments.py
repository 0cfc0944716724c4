"""Moments of numeric columns: rows, weight, mean and M2 (sum of squared deviations) per class.

Two tallies merge by the formula of Chan, Golub and LeVeque: with d = mean_b - mean_a,

    mean = mean_a + d w_b / w,     M2 = M2_a + M2_b + d^2 w_a w_b / w,

and part from each other by the same formula solved for one side. Taking away cancels digits where
the part taken away holds nearly all of the spread; such a result is refused, not returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block
from tallybayes.errors import TallyBayesError
from tallybayes.kernels import counting
from tallybayes.sources.labels import Label
from tallybayes.tallies.keys import (
    ROUNDING,
    TRUSTED,
    in_columns,
    refuse_lost_in_rounding,
    refuse_never_counted,
    spread,
    weight_left,
    wider,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NEVER = 1e-6  # a relative difference too large for rounding: those rows were never counted


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Moments of the columns (across) in the classes (down).

    `peak` is the largest M2 that the numbers have passed through, which bounds their rounding
    error; it is no part of what was counted, so equality leaves it out.
    """

    rows: Integers
    weight: Floats
    mean: Floats
    m2: Floats
    peak: Floats

    @classmethod
    def empty(cls, n_columns: int) -> Moments:
        """Return the tally of no rows, and of no classes."""
        return cls(np.zeros((0, n_columns), np.int64), *(np.zeros((0, n_columns)),) * 4)

    @classmethod
    def count(
        cls, block: Block, of: counting.RowClasses, names: Sequence[str], start: int
    ) -> Moments:
        """Take the moments of some rows; `start` is the number of the first, for errors."""
        assert isinstance(block, np.ndarray)
        rows, weight, mean, m2 = counting.moments(block, of)
        counted = cls(rows, weight, mean, m2, m2)
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(mean.sum() + m2.sum())
        if suspicious and not (sound := np.isfinite(mean) & np.isfinite(m2)).all():
            column = int(np.argmin(sound.all(0)))
            raise not_finite(block[:, column], names[column], start)
        return counted

    def each(self, change: Callable[[Any], Any]) -> Moments:
        """Apply the same change to all parts."""
        return Moments(
            change(self.rows),
            change(self.weight),
            change(self.mean),
            change(self.m2),
            change(self.peak),
        )

    @property
    def present(self) -> Integers:
        """How many rows have a value of each column (across) in each class (down)."""
        return self.rows

    def spread(self, places: Sequence[int], n_classes: int) -> Moments:
        """Move the classes to new places among more classes."""
        return self.each(lambda part: spread(part, places, n_classes))

    def keep(self, classes: NDArray[np.bool_]) -> Moments:
        """Return the block of only some classes."""
        return self.each(lambda part: part[classes])

    def take(self, columns: Sequence[int]) -> Moments:
        """Return the block of only some columns."""
        return self.each(lambda part: part[:, list(columns)])

    def widen(self, places: Sequence[int], n_columns: int) -> Moments:
        """Move the columns to new places among more columns; new ones have no values."""
        return self.each(lambda part: wider(part, places, n_columns))

    def plus(self, other: Moments, names: Sequence[str], reuse: bool = False) -> Moments:
        """Add the moments of other rows."""
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
        return Moments(self.rows + other.rows, weight, mean, m2, peak)

    def minus(self, other: Moments, classes: Sequence[Label], names: Sequence[str]) -> Moments:
        """Take away rows that were counted here; refuse what cannot be right."""
        where = in_columns(classes, names)
        rows, weight = weight_left(self.rows, self.weight, other.rows, other.weight, where)
        left, taken = rows > 0, other.rows > 0
        ratio = np.divide(other.weight, weight, out=np.zeros(weight.shape), where=left)
        gap = np.where(taken, other.mean - self.mean, 0.0)
        mean = np.where(left, self.mean - gap * ratio, 0.0)
        between = gap**2 * self.weight * ratio
        m2 = self.m2 - other.m2 - between
        scale = self.m2 + other.m2 + between
        # the spread of what is left cannot be negative; of one row or none it is zero
        wrong = (m2 < -NEVER * scale) | ((rows <= 1) & taken & (m2 > NEVER * scale))
        wrong |= (rows == 0) & taken & (np.abs(gap) > NEVER * (np.abs(self.mean) + _root(scale)))
        refuse_never_counted(wrong, where)
        m2 = np.where(rows > 1, m2, 0.0)
        # digits that were lost when the spread was larger stay lost, however many steps ago
        peak = np.maximum(self.peak, scale)
        error = ROUNDING * (peak + np.abs(gap * self.mean) * self.weight * ratio)
        reach = np.abs(mean) + _root(np.divide(m2, weight, out=np.zeros(m2.shape), where=left))
        shaky = (rows > 1) & (error > TRUSTED * m2) & (peak > 0.0)
        shaky |= left & (ROUNDING * np.abs(gap) * ratio > TRUSTED * reach)
        refuse_lost_in_rounding(shaky, where)
        return Moments(rows, weight, mean, m2, np.where(left, peak, 0.0))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, part), getattr(other, part))
            for part in ("rows", "weight", "mean", "m2")
        )

    __hash__ = None  # type: ignore[assignment]


def _root(values: Floats) -> Floats:
    return np.sqrt(np.maximum(values, 0.0))


def not_finite(values: NDArray[Any], name: str, start: int) -> TallyBayesError:
    """Build the error about infinite values, or finite ones too large to add up."""
    infinite = np.isinf(values)
    if infinite.any():
        return TallyBayesError(
            f"column {name!r} holds infinity in row {start + int(np.argmax(infinite))}; replace it "
            "by a number, or by NaN if it is unknown"
        )
    return TallyBayesError(f"column {name!r} holds numbers too large to add up; rescale it")
