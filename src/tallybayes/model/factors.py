"""A factor: the parameters of some units, where these are, and what they were estimated from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tallybayes.arrays import Floats
from tallybayes.batches import Batch, Block, take_columns
from tallybayes.families import Family, Parameters
from tallybayes.families.parameters import ColumnInfo
from tallybayes.families.running import RunningStart, RunningUnit
from tallybayes.rendering.words import composed
from tallybayes.schema import Count, Kind
from tallybayes.tokenizer import Words, WordWeights
from tallybayes.value import Stated


@dataclass(frozen=True, eq=False)
class Factor(Stated):
    """The units of one group that one family estimates, and their parameters.

    `units` are their places in the group: none stands for all of them. Of parameters that were
    `stated` nothing was counted. With `exponents` the factor of each unit is raised to a power:
    `scored` is what predictions use, while `parameters` are the distributions themselves. Words of
    a text may have `weights`, with the column's exponent as their mean.
    """

    group: int
    units: tuple[int, ...]
    kind: Kind
    info: ColumnInfo
    family: Family
    counted: Any  # a TallyBlock
    exponents: Floats | None = None
    stated: Parameters | None = None
    weights: WordWeights | None = None

    @property
    def names(self) -> Sequence[str]:
        """The names of the units."""
        return self.info.names

    @property
    def places(self) -> Sequence[int]:
        """The places of the units in their group."""
        return self.units or range(len(self.info.names))

    @property
    def label(self) -> str:
        """What the units are taken for, in a word."""
        label: str = self.family.label or type(self.family).__name__
        return label

    @property
    def title(self) -> str:
        """What the units are called where they are one piece of evidence: a bag, a text."""
        first: str = self.names[0] if len(self.names) else ""
        if isinstance(self.kind, Words):
            return first
        if isinstance(self.kind, Count) and self.family.joint:
            return f"bag {self.kind.bag!r}"
        family = type(self.family).__name__
        return composed(lambda names: f"{family} columns from {names[0]!r}", [first])

    @cached_property
    def parameters(self) -> Parameters:
        """The distributions of the units."""
        if self.stated is not None:
            return self.stated
        estimated: Parameters = self.family.estimate(self.counted, self.info)
        return (
            estimated if self.weights is None else estimated.weighed(self.weights, self.exponent(0))
        )

    @cached_property
    def scored(self) -> Parameters:
        """The parameters with their exponents."""
        if self.exponents is None:
            return self.parameters
        return self.parameters.powered(self.exponents)

    def running(self) -> Sequence[RunningUnit] | None:
        """Return what scores each unit and learns rows in place; None: there is no short way."""
        how = {
            name: next(base for base in type(self.family).__mro__ if name in vars(base))
            for name in ("estimate", "running")
        }
        if self.stated is not None or not issubclass(how["running"], how["estimate"]):
            return None
        exponents = [self.exponent(unit) for unit in range(len(self.names))]
        start = RunningStart(self.counted, self.info, exponents, self.weights)
        units: Sequence[RunningUnit] | None = self.family.running(start)
        return units

    def exponent(self, unit: int) -> float:
        """Return the exponent of a unit; one may stand for all."""
        if self.exponents is None:
            return 1.0
        return float(self.exponents[unit if len(self.exponents) > 1 else 0])

    def block_of(self, batch: Batch) -> Block:
        """Return the values of these units."""
        block = batch.blocks[self.group]
        return take_columns(block, self.units) if self.units else block
