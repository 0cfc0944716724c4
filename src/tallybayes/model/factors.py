"""A factor: the parameters of some columns, and where those columns are."""

from __future__ import annotations

from dataclasses import dataclass

from tallybayes.batches import Batch, Block, take_columns
from tallybayes.families import Parameters


@dataclass(frozen=True, slots=True)
class Factor:
    """Parameters for columns of one group of the schema.

    `columns` are the places of the columns in their group; None stands for all of them.
    """

    group: int
    columns: tuple[int, ...] | None
    parameters: Parameters

    def block_of(self, batch: Batch) -> Block:
        """Return the values of this factor's columns."""
        block = batch.blocks[self.group]
        return block if self.columns is None else take_columns(block, self.columns)

    def places(self, n_columns: int) -> tuple[int, ...]:
        """Return the places of the columns in a group of so many."""
        return tuple(range(n_columns)) if self.columns is None else self.columns
