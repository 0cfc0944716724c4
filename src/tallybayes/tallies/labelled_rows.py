"""Labelled rows that were encoded once, to be counted as often as one likes.

Cross-validation learns from the tally of all parts of them but one, for each part. The parts are
counted in one pass, as if each class were another class in each part. What is left without a part
is then total less part where numbers are whole, which is exact, and otherwise the merge of all
parts before it with all parts behind it, which subtracts nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array
from tallybayes.batches import Block, encode_classes, encoded, take_rows
from tallybayes.kernels.counting import members
from tallybayes.schema import Schema
from tallybayes.sources import Source
from tallybayes.sources.labels import Label
from tallybayes.sources.weights import weights_of
from tallybayes.tallies.blocks import TallyBlock, is_integral
from tallybayes.tallies.tally import Tally

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Labelled rows: a block for each group of the schema, and the class and weight of each row.

    Counting them takes a pass over the blocks, never over the source.
    """

    schema: Schema
    classes: tuple[Label, ...]
    blocks: tuple[Block, ...]
    y: NDArray[np.int64]
    w: NDArray[np.float64] | None

    @classmethod
    def of(cls, source: Source, schema: Schema, labels: Any, weights: Any = None) -> LabelledRows:
        """Encode the rows of a source."""
        y, classes = encode_classes(labels, source.n_rows)
        w = weights_of(weights, source.n_rows)
        counted = np.ones(len(y), bool) if w is None else w > 0.0
        return cls(schema, classes, encoded(source, schema, counted), y, w)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weight of each row, 1 unless given."""
        return np.ones(len(self)) if self.w is None else self.w

    def taken(self, rows: Array) -> list[Block]:
        """Return the blocks of some rows."""
        return [take_rows(block, rows) for block in self.blocks]

    def tally(self, w: Array | None = None) -> Tally:
        """Count the rows, with these weights instead of their own."""
        of = members(self.y, self.w if w is None else w, len(self.classes))
        return Tally.of_blocks(self.schema, self.classes, self.blocks, of)._without_unused()


class FoldTallies:
    """The parts of labelled rows, counted in one pass.

    `part` is that of each row, 0, 1, ..., and `n_parts` how many there are.
    """

    def __init__(self, data: LabelledRows, part: Array, n_parts: int) -> None:
        self._data, n = data, len(data.classes)
        of = members(part * n + data.y, data.w, n_parts * n)
        counted = Tally.of_blocks(data.schema, (), data.blocks, of)
        whole = bool(is_integral(of.weight).all())
        weights = np.split(of.weight, n_parts)
        self._rows = _without(np.split(of.rows, n_parts), np.add, np.subtract)
        self._weight = _without(weights, np.add, np.subtract if whole else None)
        self._blocks = [
            _blocks_without(block, n_parts, data.schema.names_of(group))
            for group, block in zip(data.schema.groups, counted.blocks, strict=True)
        ]

    def without(self, part: int) -> Tally:
        """Return the tally of all rows but those of a part."""
        blocks = [of_part(part).without_unused() for of_part in self._blocks]
        left = self._rows(part), self._weight(part), blocks
        return Tally(self._data.schema, self._data.classes, *left)._without_unused()


def _blocks_without(
    block: TallyBlock, n_parts: int, names: Sequence[str]
) -> Callable[[int], TallyBlock]:
    """Return what gives the block of all rows but those of one part."""
    subtract = (lambda total, part: total.less(part)) if block.exact else None
    return _without(block.split(n_parts), lambda a, b: a.plus(b, names), subtract)


def _without(
    parts: Sequence[Part],
    add: Callable[[Part, Part], Part],
    subtract: Callable[[Part, Part], Part] | None = None,
) -> Callable[[int], Part]:
    """Return what gives the sum of all parts but one."""
    if subtract is not None:
        total = reduce(add, parts)
        return lambda part: subtract(total, parts[part])
    before = list(accumulate(parts[:-1], add))
    behind = list(accumulate(parts[:0:-1], lambda later, part: add(part, later)))[::-1]

    def merged(part: int) -> Part:
        if part in (0, len(parts) - 1):
            return behind[0] if part == 0 else before[-1]
        return add(before[part - 1], behind[part])

    return merged
