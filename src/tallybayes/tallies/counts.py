"""Sums of non-negative columns per class: word counts, events, or how often a column is "on".

`rows` and `weight` say how much was there to count; they are kept once a class while no value is
missing, and once a column otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tallybayes.arrays import Floats, Integers
from tallybayes.batches import Block, Sparse, refuse_flaws, unusable, without_duplicates
from tallybayes.errors import TallyBayesError
from tallybayes.kernels import counting
from tallybayes.schema import Kind
from tallybayes.sources.weights import MOST_WEIGHT
from tallybayes.tallies.blocks import Support, TallyBlock, register_block
from tallybayes.tallies.container import require
from tallybayes.tallies.moments import DEVIATIONS


@register_block("counts")
@dataclass(frozen=True, slots=True, eq=False)
class Counts(TallyBlock):
    """Sums of the columns (across) in the classes (down)."""

    SHARED: ClassVar[tuple[str, ...]] = ("rows", "weight")

    sums: Floats

    @classmethod
    def count(
        cls, block: Block, of: counting.RowClasses, kind: Kind, names: Sequence[str], start: int
    ) -> Counts:
        """Add up some rows, or count how often each column exceeds the kind's threshold."""
        threshold = getattr(kind, "threshold", None)
        if isinstance(block, Sparse):
            return cls(*_count_sparse(block, of, names, threshold))
        assert isinstance(block, np.ndarray)
        rows, weight, sums, negative = counting.dense_counts(block, of, threshold)
        if negative or not np.isfinite(sums.sum()):
            raise unusable(block, names, start)
        return cls(rows, weight, sums).without_unused()

    def without_unused(self) -> Counts:
        """Keep rows and weight once a class if all columns agree."""
        if self.rows.shape[1] <= 1:
            return self
        same = (self.rows == self.rows[:, :1]).all() and (self.weight == self.weight[:, :1]).all()
        return Counts(self.rows[:, :1], self.weight[:, :1], self.sums) if same else self

    def support(self, unit: int, kind: Kind) -> Support | None:
        """Return both values of a yes or no, or how far counts reach."""
        threshold = getattr(kind, "threshold", None)
        if threshold is not None:
            names = f"off (≤ {threshold:g})", f"on (> {threshold:g})"
            return Support((min(threshold, 0.0), threshold + 1.0), names)
        weight = np.broadcast_to(self.weight, self.sums.shape)[:, unit]
        there = weight > 0.0
        if not there.any():
            return None
        rates = self.sums[there, unit] / weight[there]
        rate = float(rates.max())
        return Support(
            span=(0.0, float(np.ceil(rate + DEVIATIONS * np.sqrt(rate) + 1.0))),
            whole=True,
            spread=float(np.sqrt(max(rate, 1e-300))),
            centres=tuple(rates.tolist()),
        )

    def require_sound(self, kinds: Sequence[Kind]) -> None:
        """Refuse sums that leave the range of numbers, or are of more rows than there are."""
        require(self.sums <= 1e40 * MOST_WEIGHT)
        if len(kinds) and getattr(kinds[0], "threshold", None) is not None:
            require(self.sums <= self.weight * (1.0 + 1e-9))


def _count_sparse(
    block: Sparse, of: counting.RowClasses, names: Sequence[str], threshold: float | None
) -> tuple[Integers, Floats, Floats]:
    """Count compressed sparse rows, and refuse those that are broken or hold what is no count."""
    refuse_flaws(block, names, counts=threshold is None)
    if threshold is not None:
        block = without_duplicates(block)
    rows, weight, sums = counting.sparse_counts(block[:3], block.n_columns, of, threshold)
    # stored values are finite and not negative, so no sum exceeds the sum of all
    heaviest = 1.0 if of.w is None else float(of.w.max(initial=0.0))
    few = block.data.size < sums.size
    total = block.data.sum() * heaviest if few and threshold is None else sums.sum()
    if not np.isfinite(total) and not np.isfinite(sums).all():
        raise TallyBayesError("the counts are too large to add up; rescale them")
    return rows, weight, sums
