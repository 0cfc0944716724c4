"""Bernoulli columns: P(x > threshold | c) = (n + alpha) / (N + 2 alpha); absence counts too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallybayes.batches import Block, Sparse, dense, without_duplicates
from tallybayes.errors import number
from tallybayes.families.parameters import Array, ColumnInfo, Floats, put, safe_log, times
from tallybayes.families.smoothing import LAPLACE, Alpha, alpha_of_each, checked_alpha
from tallybayes.kernels import scoring
from tallybayes.kernels.parts import write_parts
from tallybayes.schema import Binary
from tallybayes.tallies import Counts

CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Bernoulli:
    """A probability of being "on" for each class.

    Parameters
    ----------
    alpha
        Added to the count of both outcomes. A number, or one a column; 0 is maximum likelihood.
    threshold
        A value counts as "on" when it is greater. Binds at counting.
    """

    alpha: Alpha = LAPLACE
    threshold: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))
        object.__setattr__(self, "threshold", number(self.threshold, "threshold"))

    @property
    def kind(self) -> Binary:
        """What must have been counted: how often the threshold is exceeded."""
        return Binary(self.threshold)

    def estimate(self, block: Counts, columns: ColumnInfo) -> BernoulliParameters:
        """Turn counts of "on" into probabilities."""
        alpha = alpha_of_each(self.alpha, columns.names)
        n = np.broadcast_to(block.weight, block.sums.shape)
        # n and sums may have been added up in another order: a difference of rounding is none
        zeros = np.where(n - block.sums > 1e-12 * n, n - block.sums, 0.0)
        on, off, total = block.sums + alpha, zeros + alpha, n + 2.0 * alpha
        # a class that has no value of the column takes the share of all classes together
        everywhere = np.where(n.sum(0) > 0.0, n.sum(0), 1.0)
        there = total > 0.0
        safe = np.where(there, total, 1.0)
        present = np.where(there, on / safe, block.sums.sum(0) / everywhere)
        absent = np.where(there, off / safe, zeros.sum(0) / everywhere)
        used = n.sum(0) > 0.0
        log_present = np.where(used, safe_log(present), 0.0)
        return BernoulliParameters(
            self.threshold, np.where(used, safe_log(absent), 0.0), log_present
        )


@dataclass(frozen=True, slots=True, eq=False)
class BernoulliParameters:
    """Log probabilities of "off" and "on" by class (down) and column (across)."""

    threshold: float
    log_absent: Floats
    log_present: Floats

    @property
    def free_parameters(self) -> int:
        """A probability for every class and column that has values."""
        used = (self.log_present != 0.0) | (self.log_absent != 0.0)
        return len(used) * int(used.any(axis=0).sum())

    @property
    def table_entries(self) -> int:
        """Both outcomes of every class and column that has values."""
        return 2 * self.free_parameters

    def log_prob(self, block: Block) -> Floats:
        """Return log P(x | class) for each row, column and class: 0 where a factor is left out."""
        x = dense(block)[:, :, None]
        terms = np.where(x > self.threshold, self.log_present.T, self.log_absent.T)
        return np.where(np.isnan(x), 0.0, terms)

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns to `out`, of rows and classes."""
        if not isinstance(block, Sparse):
            assert isinstance(block, np.ndarray)
            scoring.binary(block, self.threshold, self.log_absent, self.log_present, out)
            return
        block = without_duplicates(block)
        all_absent = self.log_absent.sum(axis=1)
        if np.isfinite(all_absent).all():
            weights = np.ascontiguousarray((self.log_present - self.log_absent).T)
            scoring.sparse_counts(*block[:3], self.threshold, weights, out)
            out += all_absent
            return
        # an absent column is impossible in some class: no base to add to, so look at every cell
        step = max(1, CELLS_AT_ONCE // max(block.n_columns, 1))
        for start in range(0, len(out), step):
            rows = slice(start, min(start + step, len(out)))
            part = block._replace(indptr=block.indptr[rows.start : rows.stop + 1])
            scoring.binary(
                dense(part), self.threshold, self.log_absent, self.log_present, out[rows]
            )

    def write_parts(self, block: Block, out: Floats, rows: slice, places: Array | None) -> None:
        """Write `log_prob` to out[class, row, place]; without places, columns are in order."""
        if isinstance(block, np.ndarray):
            given = (self.threshold, self.log_absent, self.log_present)
            write_parts("part_binary", block, given, out, rows.start, places)
        else:
            put(self.log_prob(block), out, rows, places)

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes."""
        p = np.exp(self.log_present)[classes]
        # "on" is the least whole number above the threshold, "off" lies one below
        on = int(np.floor(self.threshold)) + 1
        drawn = np.where(rng.random(p.shape) < p, on, on - 1)
        used = (self.log_present != 0.0) | (self.log_absent != 0.0)
        return [
            values if u else np.full(len(p), np.nan)
            for values, u in zip(drawn.T, used.any(axis=0), strict=True)
        ]

    def powered(self, exponents: Floats) -> BernoulliParameters:
        """Return what scores as P(x | class) to a power: one a column, or one for all."""
        absent, present = times(self.log_absent, exponents), times(self.log_present, exponents)
        return BernoulliParameters(self.threshold, absent, present)
