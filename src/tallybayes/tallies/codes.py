"""Counts of categories: for each column the values that occurred, and per class how often.

The columns stand side by side in one array; a value that nothing counts any more leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, Coded, coded_by_value
from tallybayes.kernels import counting
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label, same_labels, sorted_labels
from tallybayes.tallies.blocks import (
    Array,
    ArrayBlock,
    EachRow,
    Integers,
    Support,
    register_block,
    weight_left,
)
from tallybayes.tallies.container import Arrays, labels_from, plain_labels, require

Labels = tuple[tuple[Label, ...], ...]

# Integers have a counter each from the least to the greatest, unless that takes more counters than
# this and four times as many as there are cells: then values get codes.
NARROW = 65_536


@register_block("codes")
@dataclass(frozen=True, slots=True, eq=False)
class Codes(ArrayBlock):
    """Counts of the values of all columns (across) in the classes (down)."""

    KEYS: ClassVar[tuple[str, ...]] = ("labels",)

    labels: Labels

    @classmethod
    def empty(cls, n_units: int) -> Codes:
        """Return the tally of no rows, and of no classes."""
        return cls(np.zeros((0, 0), np.int64), np.zeros((0, 0)), ((),) * n_units)

    @classmethod
    def count(
        cls, block: Block, of: counting.RowClasses, kind: Kind, names: Sequence[str], start: int
    ) -> Codes:
        """Count the categories of some rows."""
        assert isinstance(block, Coded)
        codes, labels = block
        if labels is None:
            return cls._count_integers(codes, of, kind, names)
        width = np.array([len(each) for each in labels], np.int64)
        base = np.zeros(len(width), np.int64)
        counted = counting.codes(codes, of, base, width)
        return cls._observed(counted, labels, names)

    @classmethod
    def _count_integers(
        cls, codes: NDArray[Any], of: counting.RowClasses, kind: Kind, names: Sequence[str]
    ) -> Codes:
        """Count integers that stand for themselves: a counter for each from least to greatest."""
        if not len(codes):
            return cls.empty(codes.shape[1]).with_classes([], len(of.rows))
        # The first rows nearly always show the whole range; if not, look at all rows and count
        # again. That spares a pass over the data.
        for sample in (codes[:4096], codes):
            least, greatest = counting.extent(sample)
            # in Python's integers: the difference may not fit into 64 bits
            edges = list(zip(least.tolist(), greatest.tolist(), strict=True))
            if sum(last - first + 1 for first, last in edges) > max(4 * codes.size, NARROW):
                recoded = coded_by_value(codes, names)
                return cls.count(recoded, of, kind, names, 0)
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
            return cls(counted.rows, counted.weight, tuple(map(tuple, labels)))
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
        return cls(counted.rows[:, places], counted.weight[:, places], tuple(kept))

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

    def select(self, units: Sequence[int]) -> Codes:
        """Return the block of only some columns."""
        slices = list(self.columns())
        places = [k for j in units for k in range(slices[j].start, slices[j].stop)]
        labels = tuple(self.labels[j] for j in units)
        return Codes(self.rows[:, places], self.weight[:, places], labels)

    def widen(self, places: Sequence[int], n_units: int) -> Codes:
        """Move the columns to new places among more columns; new ones have no values."""
        labels: list[tuple[Label, ...]] = [()] * n_units
        for place, each in zip(places, self.labels, strict=True):
            labels[place] = each
        mine = list(self.columns())
        order = sorted(range(len(places)), key=lambda k: places[k])
        across = [k for j in order for k in range(mine[j].start, mine[j].stop)]
        return Codes(self.rows[:, across], self.weight[:, across], tuple(labels))

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
        places: list[int] = []
        for mine, all_of_them in zip(self.labels, labels, strict=True):
            place = dict(zip(all_of_them, range(start, start + len(all_of_them)), strict=True))
            places += map(place.__getitem__, mine)
            start += len(all_of_them)
        rows[:, places], weight[:, places] = self.rows, self.weight
        return Codes(rows, weight, labels)

    def without_unused(self) -> Codes:
        """Drop the values that no row has."""
        used = self.rows.sum(axis=0) > 0
        if used.all():
            return self
        labels = tuple(
            tuple(label for label, u in zip(each, used[where], strict=True) if u)
            for each, where in zip(self.labels, self.columns(), strict=True)
        )
        return Codes(self.rows[:, used], self.weight[:, used], labels)

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
        return Codes(a.rows + b.rows, a.weight + b.weight, labels)

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
        return Codes(rows, weight, labels).without_unused()

    def without_each(
        self,
        block: Block,
        of: counting.RowClasses,
        unit: int,
        kind: Kind,
        *,
        rows: Integers | None = None,
        own: bool = False,
    ) -> Codes:
        """Return the counts of a column without each row in turn, as one unit a row.

        A value that only the row has is not known without it.
        """
        assert isinstance(block, Coded)
        one, labels = self.select([unit]), self.labels[unit]
        if not labels:
            n = len(of.y) if rows is None else len(rows)
            return Codes.empty(n).with_classes([], 1 if own else self.n_classes)
        k = _places(block, unit, labels)
        cells = of.y * len(labels) + np.maximum(k, 0)
        each = EachRow.of(k >= 0, of, cells, rows, (one.rows.ravel(), one.weight.ravel()))
        there, some = each.there[each.some], each.some
        here, y, k = np.arange(len(some))[there], of.y[some], k[some][there]
        kept = np.ones((len(some), len(labels)), bool)
        lone = one.rows.sum(axis=0)[k] == 1
        kept[here[lone], k[lone]] = False
        known = [labels] * len(some)
        for i, j in zip(here[lone].tolist(), k[lone].tolist(), strict=True):
            known[i] = (*labels[:j], *labels[j + 1 :])

        def without(whole: Array, left: Array) -> Array:
            part = whole[y][None] if own else np.repeat(whole[:, None], len(y), axis=1)
            part[0 if own else y[there], here, k] = left[there]
            return part.reshape(len(part), -1)[:, kept.ravel()]

        rows_left, weight = without(one.rows, each.rows), without(one.weight, each.weight)
        return Codes(rows_left, weight, tuple(known))

    def support(self, unit: int, kind: Kind) -> Support | None:
        """Return the values that occurred."""
        labels = self.labels[unit]
        return Support(labels, tuple(map(kind.named, labels)))

    def notes(self) -> Any:
        """Return the values of each column."""
        return [plain_labels(each) for each in self.labels]

    @classmethod
    def from_arrays(
        cls, notes: Any, arrays: Arrays, kinds: Sequence[Kind], rows: Integers
    ) -> Codes:
        """Build the block that `notes` and `to_arrays` took apart; all else is an error."""
        labels = tuple(labels_from(each, tuples=True) for each in notes)
        require(len(labels) == len(kinds))
        require(all(kind.holds(each) for kind, each in zip(kinds, labels, strict=True)))
        return cls.checked(arrays, sum(map(len, labels)), rows, labels=labels)


def _places(block: Coded, unit: int, labels: tuple[Label, ...]) -> Integers:
    """Return the place of each row's value among the labels, -1 where it is not among them."""
    codes = block.codes[:, unit]
    if block.labels is None:
        values = np.array(labels, np.int64)
        if not len(values):
            return np.full(len(codes), -1)
        found = np.minimum(np.searchsorted(values, codes), len(values) - 1)
        return np.where(values[found] == codes, found, -1).astype(np.int64)
    place = {label: k for k, label in enumerate(labels)}
    numbers = np.array([*(place.get(label, -1) for label in block.labels[unit]), -1], np.int64)
    return numbers[np.where(codes < 0, len(numbers) - 1, codes)]
