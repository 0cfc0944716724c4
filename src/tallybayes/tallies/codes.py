"""Counts of categories: for each column the values that occurred, and per class how often.

The columns stand side by side in one array; a value that nothing counts any more leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array, Floats, Integers, Mask
from tallybayes.batches import Block, Coded, coded_by_value
from tallybayes.kernels import counting
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label, same_labels, sorted_labels
from tallybayes.tallies.blocks import Support, TallyBlock, Where, among, in_columns, register_block
from tallybayes.tallies.container import Arrays, require, require_labels

Labels = tuple[tuple[Label, ...], ...]

# Integers have a counter each from the least to the greatest, unless that takes more counters than
# this and four times as many as there are cells: then values get codes.
NARROW = 65_536


@register_block("codes")
@dataclass(frozen=True, slots=True, eq=False)
class Codes(TallyBlock):
    """Counts of the values of all columns (across) in the classes (down)."""

    KEYS: ClassVar[tuple[str, ...]] = ("labels",)

    labels: Labels

    @classmethod
    def empty(cls, n_units: int) -> Codes:
        return cls(np.zeros((0, 0), np.int64), np.zeros((0, 0)), ((),) * n_units)

    @classmethod
    def count(
        cls, block: Block, of: counting.RowClasses, kind: Kind, names: Sequence[str], start: int
    ) -> Codes:
        assert isinstance(block, Coded)
        codes, labels = block
        if labels is None:
            return cls._count_integers(codes, of, kind, names)
        width = np.array([len(each) for each in labels], np.int64)
        base = np.zeros(len(width), np.int64)
        rows, weight, _ = counting.codes(codes, of, base, width)
        return cls(rows, weight, tuple(map(tuple, labels)))._observed(names)

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
            least, greatest = (each.astype(np.int64) for each in (sample.min(0), sample.max(0)))
            # in Python's integers: the difference may not fit into 64 bits
            edges = list(zip(least.tolist(), greatest.tolist(), strict=True))
            if sum(last - first + 1 for first, last in edges) > max(4 * codes.size, NARROW):
                recoded = coded_by_value(codes, names)
                return cls.count(recoded, of, kind, names, 0)
            rows, weight, outside = counting.codes(codes, of, least, greatest - least + 1)
            if not outside:
                break
        values = tuple(tuple(range(first, last + 1)) for first, last in edges)
        return cls(rows, weight, values)._observed(names)

    def _observed(self, names: Sequence[str]) -> Codes:
        """Keep the values that occur, sorted."""
        block = self.without_unused()
        columns = zip(names, block.labels, strict=True)
        return block.with_labels(
            tuple(sorted_labels(each, f"column {name!r}") for name, each in columns)
        )

    def columns(self) -> Iterator[slice]:
        """Go through the columns: where each one's values stand."""
        start = 0
        for each in self.labels:
            yield slice(start, start + len(each))
            start += len(each)

    @property
    def present(self) -> Integers:
        there = [self.rows[:, here].sum(axis=1) for here in self.columns()]
        return np.stack(there, axis=1) if there else np.zeros((self.n_classes, 0), np.int64)

    def select(self, units: Sequence[int]) -> Codes:
        slices = list(self.columns())
        places = [k for j in units if j >= 0 for k in range(slices[j].start, slices[j].stop)]
        labels = tuple(self.labels[j] if j >= 0 else () for j in units)
        return Codes(self.rows[:, places], self.weight[:, places], labels)

    def of_absent(self, labels: Sequence[Label | None], rows: Integers, weight: Floats) -> Codes:
        known = tuple(() if label is None else (label,) for label in labels)
        n = sum(map(len, known))
        return Codes(np.repeat(rows[:, None], n, 1), np.repeat(weight[:, None], n, 1), known)

    def with_labels(self, labels: Labels) -> Codes:
        """Return the same counts among more values; new ones have none."""
        if labels == self.labels:
            return self
        start = 0
        places: list[int] = []
        for mine, every in zip(self.labels, labels, strict=True):
            place = {label: start + k for k, label in enumerate(every)}
            places += map(place.__getitem__, mine)
            start += len(every)
        return replace(self.each(lambda part: among(part.T, places, start).T), labels=labels)

    def without_unused(self) -> Codes:
        used: Mask = np.any(self.rows, axis=0)
        if used.all():
            return self
        labels = tuple(
            tuple(each[k] for k in np.flatnonzero(used[here]).tolist())
            for each, here in zip(self.labels, self.columns(), strict=True)
        )
        return Codes(self.rows[:, used], self.weight[:, used], labels)

    def aligned(self, other: Codes, names: Sequence[str]) -> tuple[Codes, Codes]:
        labels = tuple(
            mine
            if same_labels(mine, theirs)
            else sorted_labels((*mine, *theirs), f"column {name!r}")
            for name, mine, theirs in zip(names, self.labels, other.labels, strict=True)
        )
        return self.with_labels(labels), other.with_labels(labels)

    def where(self, classes: Sequence[Label], names: Sequence[str]) -> Where:
        values = [(name, v) for name, each in zip(names, self.labels, strict=True) for v in each]
        column = in_columns(classes, [name for name, _ in values])
        return lambda c, k: f"{column(c, k)}, value {values[k][1]!r}"

    def as_units(self, left: Codes, y: Integers, own: bool) -> Codes:
        """Return this one column once for each row; a value that only the row has is not known."""
        n, (labels,) = len(y), self.labels
        kept: Mask = self.rows.sum(axis=0) > self.rows[y] - left.rows
        known = [labels] * n
        for row in np.flatnonzero(~kept.all(axis=1)).tolist():
            known[row] = tuple(labels[k] for k in np.flatnonzero(kept[row]).tolist())

        def units(whole: Array, of_row: Array) -> Array:
            part = of_row[None] if own else np.repeat(whole[:, None], n, axis=1)
            if not own:
                part[y, np.arange(n)] = of_row
            return part.reshape(len(part), -1)[:, kept.ravel()]

        return Codes(units(self.rows, left.rows), units(self.weight, left.weight), tuple(known))

    def support(self, unit: int, kind: Kind) -> Support | None:
        labels = self.labels[unit]
        values, names = tuple(map(kind.example, labels)), tuple(map(kind.named, labels))
        return Support(values, names, intervals=getattr(kind, "edges", None) is not None)

    def stored_labels(self) -> tuple[tuple[Label, ...], ...]:
        return self.labels

    @classmethod
    def from_arrays(
        cls, labels: Any, arrays: Arrays, kinds: Sequence[Kind], rows: Integers
    ) -> Codes:
        for kind, values in zip(kinds, labels, strict=True):
            require_labels(values)
            require(kind.holds(values))
        return cls.checked(arrays, sum(map(len, labels)), rows, labels=labels)
