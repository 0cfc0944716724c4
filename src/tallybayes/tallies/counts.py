"""Sums of non-negative columns per class: word counts, events, or how often a column is "on".

`rows` and `weight` say how much was there to count; they are kept once a class while no value is
missing, and once a column otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, Sparse, refuse_flaws, without_duplicates
from tallybayes.errors import TallyBayesError
from tallybayes.kernels import counting
from tallybayes.sources.labels import Label
from tallybayes.tallies.keys import (
    ROUNDING,
    TRUSTED,
    in_columns,
    is_whole,
    refuse_lost_in_rounding,
    refuse_never_counted,
    spread,
    weight_left,
    wider,
)
from tallybayes.tallies.moments import not_finite

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Sums of the columns (across) in the classes (down)."""

    rows: Integers
    weight: Floats
    sums: Floats

    @classmethod
    def empty(cls, n_columns: int) -> Counts:
        """Return the tally of no rows, and of no classes."""
        return cls(np.zeros((0, 1), np.int64), np.zeros((0, 1)), np.zeros((0, n_columns)))

    @classmethod
    def count(
        cls,
        block: Block,
        of: counting.RowClasses,
        names: Sequence[str],
        start: int,
        threshold: float | None = None,
    ) -> Counts:
        """Add up some rows, or count how often each column exceeds the threshold."""
        if isinstance(block, Sparse):
            counted = _count_sparse(block, of, names, threshold)
        else:
            assert isinstance(block, np.ndarray)
            counted = counting.dense_counts(block, of, threshold)
            if counted.negative or not np.isfinite(counted.sums.sum()):
                raise unusable(block, names, start)
        return cls(counted.rows, counted.weight, counted.sums).folded()

    def folded(self) -> Counts:
        """Keep rows and weight once a class if all columns agree."""
        if self.rows.shape[1] <= 1:
            return self
        same = (self.rows == self.rows[:, :1]).all() and (self.weight == self.weight[:, :1]).all()
        return Counts(self.rows[:, :1], self.weight[:, :1], self.sums) if same else self

    @property
    def present(self) -> Integers:
        """How many rows have a value of each column (across) in each class (down)."""
        return self.rows

    def spread(self, places: Sequence[int], n_classes: int) -> Counts:
        """Move the classes to new places among more classes."""
        rows, weight = spread(self.rows, places, n_classes), spread(self.weight, places, n_classes)
        return Counts(rows, weight, spread(self.sums, places, n_classes))

    def keep(self, classes: NDArray[np.bool_]) -> Counts:
        """Return the block of only some classes."""
        return Counts(self.rows[classes], self.weight[classes], self.sums[classes]).folded()

    def take(self, columns: Sequence[int]) -> Counts:
        """Return the block of only some columns."""
        chosen = list(columns)
        if self.rows.shape[1] == 1:
            return Counts(self.rows, self.weight, self.sums[:, chosen])
        return Counts(self.rows[:, chosen], self.weight[:, chosen], self.sums[:, chosen]).folded()

    def widen(self, places: Sequence[int], n_columns: int) -> Counts:
        """Move the columns to new places among more columns; new ones have no values."""
        shape = self.sums.shape
        rows = wider(np.broadcast_to(self.rows, shape), places, n_columns)
        weight = wider(np.broadcast_to(self.weight, shape), places, n_columns)
        return Counts(rows, weight, wider(self.sums, places, n_columns)).folded()

    def plus(self, other: Counts, names: Sequence[str], reuse: bool = False) -> Counts:
        """Add the sums of other rows; `reuse` says that their memory may be written over."""
        rows, weight = self.rows + other.rows, self.weight + other.weight
        sums = np.add(self.sums, other.sums, out=other.sums if reuse else None)
        return Counts(rows, weight, sums).folded()

    def minus(self, other: Counts, classes: Sequence[Label], names: Sequence[str]) -> Counts:
        """Take away rows that were counted here; refuse what cannot be right."""
        where = in_columns(classes, names)
        rows, weight = weight_left(self.rows, self.weight, other.rows, other.weight, where)
        sums = self.sums - other.sums
        # whole counts cancel exactly; fractions leave rounding error behind
        whole = is_whole(self.sums, other.sums)
        noise = np.where(whole, 0.0, 1e-12 * self.sums)
        refuse_never_counted((sums < -noise) | ((rows == 0) & (np.abs(sums) > noise)), where)
        sums = np.where(np.abs(sums) <= noise, 0.0, sums)
        lost = (sums > 0.0) & (other.sums > 0.0) & (ROUNDING * self.sums > TRUSTED * sums)
        refuse_lost_in_rounding(lost & ~whole, where)
        return Counts(rows, weight, sums).folded()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        a, b = self.folded(), other.folded()
        return all(
            np.array_equal(getattr(a, part), getattr(b, part))
            for part in ("rows", "weight", "sums")
        )

    __hash__ = None  # type: ignore[assignment]


def _count_sparse(
    block: Sparse, of: counting.RowClasses, names: Sequence[str], threshold: float | None
) -> counting.ClassSums:
    """Count compressed sparse rows, and refuse those that are broken or hold what is no count."""
    refuse_flaws(block, names, counts=threshold is None)
    if threshold is not None:
        block = without_duplicates(block)
    counted = counting.sparse_counts(*block, of, threshold)
    # stored values are finite and not negative, so no sum exceeds the sum of all
    heaviest = 1.0 if of.w is None else float(of.w.max(initial=0.0))
    few = block.data.size < counted.sums.size
    total = block.data.sum() * heaviest if few and threshold is None else counted.sums.sum()
    if not np.isfinite(total) and not np.isfinite(counted.sums).all():
        raise TallyBayesError("the counts are too large to add up; rescale them")
    return counted


def unusable(block: NDArray[Any], names: Sequence[str], start: int) -> TallyBayesError:
    """Build the error about a count that is negative or infinite."""
    negative = np.argwhere(block < 0)
    if not len(negative):
        with np.errstate(over="ignore"):
            column = int(np.argmax(np.isinf(np.nansum(block, axis=0))))
        return not_finite(block[:, column], names[column], start)
    row, column = map(int, negative[0])
    return TallyBayesError(
        f"column {names[column]!r} is {block[row, column]} in row {start + row}; counts must be "
        "finite and not negative"
    )
