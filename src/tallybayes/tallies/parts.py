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
from tallybayes.tallies.codes import Codes
from tallybayes.tallies.counts import Counts
from tallybayes.tallies.keys import is_whole
from tallybayes.tallies.moments import Moments
from tallybayes.tallies.tally import Tally, TallyBlock
from tallybayes.tallies.words import WordCounts
from tallybayes.tokenizer import Bagged, Terms

Array = NDArray[Any]
Part = TypeVar("Part")


class Parts:
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
        self._rows = _without(_split_array(of.rows, n_parts), np.add, np.subtract)
        self._weight = _without_numbers(_split_array(of.weight, n_parts))
        # words that only rows of weight 0 have were not counted
        self._numbers = [
            block.numbers_of(w > 0.0) if isinstance(block, Bagged) and w is not None else None
            for block in blocks
        ]
        self._blocks = [
            _blocks_without(block, n_parts, schema.names_of(group))
            for group, block in zip(schema.groups, counted.blocks, strict=True)
        ]

    def without(self, part: int) -> tuple[Tally, list[Array | None]]:
        """Return the tally of all rows but those of a part.

        With it come, for each group of text, the numbers that its words have in that tally: -1 for
        words that it does not know.
        """
        blocks, numbers = [], []
        for of_part, of_all in zip(self._blocks, self._numbers, strict=True):
            block, number_of = of_part(part), None
            if isinstance(block, WordCounts) and isinstance(block.terms, Terms):
                used = np.zeros(len(block.terms), bool)
                used[block.indices] = True
                number_of = np.where(used, np.cumsum(used) - 1, -1)
                if of_all is not None:
                    number_of = np.append(number_of, -1)[of_all]  # the last is for -1
                block = block.without_unused()
            blocks.append(block)
            numbers.append(number_of)
        left = Tally._from_parts(
            self.schema, self.classes, self._rows(part), self._weight(part), blocks
        )
        return left._without_unused(), numbers


def _split_array(values: Array, n_parts: int) -> list[Array]:
    return list(values.reshape(n_parts, len(values) // n_parts, *values.shape[1:]))


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


def _without_numbers(parts: list[Array]) -> Callable[[int], Array]:
    """Return what gives the sum of all arrays but one, exact where they are whole."""
    whole = all(bool(is_whole(each).all()) for each in parts)
    return _without(parts, np.add, np.subtract if whole else None)


def _blocks_without(
    block: TallyBlock, n_parts: int, names: Sequence[str]
) -> Callable[[int], TallyBlock]:
    """Return what gives the block of all rows but those of one part."""
    if isinstance(block, Moments):
        n = len(block.rows) // n_parts
        classes = np.arange(len(block.rows))
        parts = [block.keep(classes // max(n, 1) == k) for k in range(n_parts)]
        return _without(parts, lambda a, b: a.plus(b, names))
    rows = _without(_split_array(block.rows, n_parts), np.add, np.subtract)
    weight = _without_numbers(_split_array(block.weight, n_parts))
    if isinstance(block, Codes):
        labels = block.labels
        return lambda part: Codes(labels, rows(part), weight(part)).without_unused()
    if isinstance(block, Counts):
        sums = _without_numbers(_split_array(block.sums, n_parts))
        return lambda part: Counts(rows(part), weight(part), sums(part)).folded()
    return _words_without(block, n_parts, names)


def _words_without(
    block: WordCounts, n_parts: int, names: Sequence[str]
) -> Callable[[int], WordCounts]:
    """Return what gives the words of all documents but those of one part."""
    n = block.n_classes // n_parts
    parts = []
    for k in range(n_parts):
        here = slice(k * n, k * n + n)
        indptr = block.indptr[k * n : k * n + n + 1]
        stored = slice(int(indptr[0]), int(indptr[-1]))
        parts.append(
            WordCounts(
                block.terms,
                block.rows[here],
                block.weight[here],
                block.lengths[here],
                indptr - indptr[0],
                block.indices[stored],
                block.sums[stored],
            )
        )
    whole = bool(is_whole(block.sums).all())
    return _without(parts, lambda a, b: a.plus(b, names), WordCounts.less if whole else None)
