"""Labelled rows that were encoded once, to be counted as often as one likes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, encode_classes, encoded, take_rows
from tallybayes.kernels.counting import members
from tallybayes.schema import Schema
from tallybayes.sources import Source
from tallybayes.sources.labels import Label
from tallybayes.sources.weights import weights_of
from tallybayes.tallies.tally import Tally


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

    def taken(self, rows: NDArray[Any]) -> list[Block]:
        """Return the blocks of some rows."""
        return [take_rows(block, rows) for block in self.blocks]

    def tally(self, w: NDArray[Any] | None = None) -> Tally:
        """Count the rows, with these weights instead of their own."""
        of = members(self.y, self.w if w is None else w, len(self.classes))
        return Tally.of_blocks(self.schema, self.classes, self.blocks, of)._without_unused()
