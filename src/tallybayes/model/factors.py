"""A factor: the parameters of some columns, and where those columns are."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from tallybayes.batches import Batch, Block, take_columns
from tallybayes.families import Parameters
from tallybayes.families.parameters import Floats


@dataclass(frozen=True, eq=False)
class Factor:
    """Parameters for columns of one group of the schema.

    `columns` are the places of the columns in their group; None stands for all of them. With
    `exponents` the factor of each column is raised to a power: `scored` is what predictions use,
    while `parameters` are the distributions themselves.
    """

    group: int
    columns: tuple[int, ...] | None
    parameters: Parameters
    exponents: Floats | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is worked out from the rest."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def scored(self) -> Parameters:
        """The parameters with their exponents."""
        if self.exponents is None:
            return self.parameters
        return self.parameters.powered(self.exponents)

    def block_of(self, batch: Batch) -> Block:
        """Return the values of this factor's columns."""
        block = batch.blocks[self.group]
        return block if self.columns is None else take_columns(block, self.columns)

    def places(self, n_columns: int) -> tuple[int, ...]:
        """Return the places of the columns in a group of so many."""
        return tuple(range(n_columns)) if self.columns is None else self.columns
