"""Labelled rows that were encoded once, to be counted as often as one likes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, encode_classes, encoded
from tallybayes.kernels.counting import members
from tallybayes.schema import Schema
from tallybayes.sources import Source
from tallybayes.sources.labels import Label
from tallybayes.sources.weights import weights_of
from tallybayes.tallies.tally import Tally


@dataclass(frozen=True, slots=True)
class Encoded:
    """Labelled rows: a block for each group of the schema, and the class and weight of each row.

    Counting them takes a pass over the blocks, never over the source.
    """

    schema: Schema
    classes: tuple[Label, ...]
    blocks: tuple[Block, ...]
    y: NDArray[np.int64]
    w: NDArray[np.float64] | None

    @classmethod
    def of(cls, source: Source, schema: Schema, labels: Any, weights: Any = None) -> Encoded:
        """Encode the rows of a source."""
        classes, y = coded(labels, source.n_rows)
        w = weights_of(weights, source.n_rows)
        counted = np.ones(len(y), bool) if w is None else w > 0.0
        return cls(schema, classes, encoded(source, schema, counted), y, w)

    def __len__(self) -> int:
        return len(self.y)

    def tally(self, w: NDArray[Any] | None = None) -> Tally:
        """Count the rows, with these weights instead of their own."""
        of = members(self.y, self.w if w is None else w, len(self.classes))
        return Tally.of_blocks(self.schema, self.classes, self.blocks, of)._without_unused()


def coded(labels: Any, n_rows: int) -> tuple[tuple[Label, ...], NDArray[np.int64]]:
    """Return the classes, sorted, and the place of each row's label among them."""
    codes, classes = encode_classes(labels, n_rows)
    return classes, codes
