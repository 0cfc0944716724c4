"""Counts of categories: for each column the values that occurred, and per class how often.

The columns stand side by side in one array; a value that nothing counts any more leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, Coded, coded_by_value
from tallybayes.kernels import counting
from tallybayes.sources.labels import Label, same_labels, sorted_labels
from tallybayes.tallies.keys import spread, weight_left

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = tuple[tuple[Label, ...], ...]

# Integers have a counter each from the least to the greatest, unless that takes more counters than
# this and four times as many as there are cells: then values get codes.
NARROW = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Counts of the values of all columns (across) in the classes (down)."""

    labels: Labels
    rows: Integers
    weight: Floats

    @classmethod
    def empty(cls, n_columns: int) -> Codes:
        """Return the tally of no rows, and of no classes."""
        return cls(((),) * n_columns, np.zeros((0, 0), np.int64), np.zeros((0, 0)))

    @classmethod
    def count(
        cls, block: Block, of: counting.RowClasses, names: Sequence[str], start: int
    ) -> Codes:
        """Count the categories of some rows."""
        assert isinstance(block, Coded)
        codes, labels = block
        if labels is None:
            return cls._count_integers(codes, of, names)
        width = np.array([len(each) for each in labels], np.int64)
        base = np.zeros(len(width), np.int64)
        counted = counting.codes(codes, of, base, width)
        return cls._observed(counted, labels, names)

    @classmethod
    def _count_integers(
        cls, codes: NDArray[Any], of: counting.RowClasses, names: Sequence[str]
    ) -> Codes:
        """Count integers that stand for themselves: a counter for each from least to greatest."""
        if not len(codes):
            return cls.empty(codes.shape[1]).spread([], len(of.rows))
        # The first rows nearly always show the whole range; if not, look at all rows and count
        # again. That spares a pass over the data.
        for sample in (codes[:4096], codes):
            least, greatest = counting.extent(sample)
            # in Python's integers: the difference may not fit into 64 bits
            edges = list(zip(least.tolist(), greatest.tolist(), strict=True))
            if sum(last - first + 1 for first, last in edges) > max(4 * codes.size, NARROW):
                recoded = coded_by_value(codes, names)
                return cls.count(recoded, of, names, 0)
            counted = counting.codes(codes, of, least, greatest - least + 1)
            if not counted.outside:
                break
        return cls._observed(counted, [range(first, last + 1) for first, last in edges], names)

    @classmethod
    def _observed(
        cls, counted: counting.CodeCounts, labels: Sequence[Sequence[Label]], names: Sequence[str]
    ) -> Codes:
        """Keep the values that occur, sorted."""
        seen = counted.rows.sum(axis=0) > 0
        all_sorted = all(isinstance(each, range) for each in labels)
        if all_sorted and seen.all():
            return cls(tuple(map(tuple, labels)), counted.rows, counted.weight)
        kept: list[tuple[Label, ...]] = []
        places: list[int] = []
        start = 0
        for name, each in zip(names, labels, strict=True):
            here = np.flatnonzero(seen[start : start + len(each)]).tolist()
            place = {each[k]: start + k for k in here}
            found = tuple(place) if all_sorted else sorted_labels(place, f"column {name!r}")
            kept.append(found)
            places += [place[label] for label in found]
            start += len(each)
        return cls(tuple(kept), counted.rows[:, places], counted.weight[:, places])

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.rows)

    def columns(self) -> Iterator[slice]:
        """Go through the columns: where each one's values stand."""
        start = 0
        for each in self.labels:
            yield slice(start, start + len(each))
            start += len(each)

    @property
    def present(self) -> Integers:
        """How many rows have a value of each column (across) in each class (down)."""
        there = [self.rows[:, here].sum(axis=1) for here in self.columns()]
        return np.stack(there, axis=1) if there else np.zeros((self.n_classes, 0), np.int64)

    def spread(self, places: Sequence[int], n_classes: int) -> Codes:
        """Move the classes to new places among more classes."""
        rows = spread(self.rows, places, n_classes)
        return Codes(self.labels, rows, spread(self.weight, places, n_classes))

    def keep(self, classes: NDArray[np.bool_]) -> Codes:
        """Return the block of only some classes."""
        return Codes(self.labels, self.rows[classes], self.weight[classes]).without_unused()

    def take(self, columns: Sequence[int]) -> Codes:
        """Return the block of only some columns."""
        slices = list(self.columns())
        places = [k for j in columns for k in range(slices[j].start, slices[j].stop)]
        labels = tuple(self.labels[j] for j in columns)
        return Codes(labels, self.rows[:, places], self.weight[:, places])

    def widen(self, places: Sequence[int], n_columns: int) -> Codes:
        """Move the columns to new places among more columns; new ones have no values."""
        labels: list[tuple[Label, ...]] = [()] * n_columns
        for place, each in zip(places, self.labels, strict=True):
            labels[place] = each
        mine = list(self.columns())
        order = sorted(range(len(places)), key=lambda k: places[k])
        across = [k for j in order for k in range(mine[j].start, mine[j].stop)]
        return Codes(tuple(labels), self.rows[:, across], self.weight[:, across])

    def with_labels(self, labels: Labels) -> Codes:
        """Return the same counts among more values; new ones have none."""
        if labels == self.labels:
            return self
        width = sum(map(len, labels))
        rows, weight = (
            np.zeros((self.n_classes, width), np.int64),
            np.zeros((self.n_classes, width)),
        )
        start = 0
        places = []
        for mine, all_of_them in zip(self.labels, labels, strict=True):
            place = {label: start + k for k, label in enumerate(all_of_them)}
            places += [place[label] for label in mine]
            start += len(all_of_them)
        rows[:, places], weight[:, places] = self.rows, self.weight
        return Codes(labels, rows, weight)

    def without_unused(self) -> Codes:
        """Drop the values that no row has."""
        used = self.rows.sum(axis=0) > 0
        if used.all():
            return self
        labels = tuple(
            tuple(label for label, u in zip(each, used[where], strict=True) if u)
            for each, where in zip(self.labels, self.columns(), strict=True)
        )
        return Codes(labels, self.rows[:, used], self.weight[:, used])

    def _union(self, other: Codes, names: Sequence[str]) -> Labels:
        pairs = zip(names, self.labels, other.labels, strict=True)
        return tuple(
            mine
            if same_labels(mine, theirs)
            else sorted_labels((*mine, *theirs), f"column {name!r}")
            for name, mine, theirs in pairs
        )

    def plus(self, other: Codes, names: Sequence[str], reuse: bool = False) -> Codes:
        """Add the counts of other rows."""
        labels = self._union(other, names)
        a, b = self.with_labels(labels), other.with_labels(labels)
        return Codes(labels, a.rows + b.rows, a.weight + b.weight)

    def minus(self, other: Codes, classes: Sequence[Label], names: Sequence[str]) -> Codes:
        """Take away rows that were counted here; refuse what cannot be right."""
        labels = self._union(other, names)
        a, b = self.with_labels(labels), other.with_labels(labels)
        values = [(name, v) for name, each in zip(names, labels, strict=True) for v in each]
        rows, weight = weight_left(
            a.rows,
            a.weight,
            b.rows,
            b.weight,
            lambda c, k: f"column {values[k][0]!r}, class {classes[c]!r}, value {values[k][1]!r}",
        )
        return Codes(labels, rows, weight).without_unused()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Codes):
            return NotImplemented
        return (
            self.labels == other.labels
            and np.array_equal(self.rows, other.rows)
            and np.array_equal(self.weight, other.weight)
        )

    __hash__ = None  # type: ignore[assignment]
