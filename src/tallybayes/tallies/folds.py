"""The tally of all parts of a table but one, for each part: what cross-validation learns from.

The parts are counted in one pass, as if each class were another class in each part. What is left
without a part is then total less part where numbers are whole, which is exact, and otherwise the
merge of all parts before it with all parts behind it, which subtracts nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block
from tallybayes.kernels.counting import members
from tallybayes.schema import Schema
from tallybayes.sources.labels import Label
from tallybayes.tallies.blocks import TallyBlock, is_integral
from tallybayes.tallies.tally import Tally

Array = NDArray[Any]
Part = TypeVar("Part")


class FoldTallies:
    """The parts of a table, counted in one pass.

    Parameters
    ----------
    schema, classes, blocks
        The columns, the labels, and the encoded rows.
    y, w
        The class of each row, and its weight (None: 1).
    part, n_parts
        The part of each row, 0, 1, ..., and how many parts there are.
    """

    def __init__(
        self,
        schema: Schema,
        classes: tuple[Label, ...],
        blocks: Sequence[Block],
        y: Array,
        w: Array | None,
        part: Array,
        n_parts: int,
    ) -> None:
        n = len(classes)
        of = members(part * n + y, w, n_parts * n)
        counted = Tally.of_blocks(schema, (), blocks, of)
        self.schema, self.classes = schema, classes
        self._rows = _without(np.split(of.rows, n_parts), np.add, np.subtract)
        whole = bool(is_integral(of.weight).all())
        weights = np.split(of.weight, n_parts)
        self._weight = _without(weights, np.add, np.subtract if whole else None)
        self._blocks = [
            _blocks_without(block, n_parts, schema.names_of(group))
            for group, block in zip(schema.groups, counted.blocks, strict=True)
        ]

    def without(self, part: int) -> Tally:
        """Return the tally of all rows but those of a part."""
        blocks = [of_part(part).without_unused() for of_part in self._blocks]
        left = self._rows(part), self._weight(part), blocks
        return Tally(self.schema, self.classes, *left)._without_unused()


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
        total = parts[0]
        for each in parts[1:]:
            total = add(total, each)
        return lambda part: subtract(total, parts[part])
    before, behind = [parts[0]], [parts[-1]]
    for each in parts[1:-1]:
        before.append(add(before[-1], each))
    for each in parts[-2:0:-1]:
        behind.append(add(each, behind[-1]))
    last = len(parts) - 1

    def merged(part: int) -> Part:
        if part in (0, last):
            return behind[last - 1] if part == 0 else before[last - 1]
        return add(before[part - 1], behind[last - part - 1])

    return merged
