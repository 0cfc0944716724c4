"""Bernoulli columns: P(x > threshold | c) = (n + alpha) / (N + 2 alpha); absence counts too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tallybayes.batches import Block, Sparse, dense, without_duplicates
from tallybayes.errors import number
from tallybayes.families.parameters import (
    NEVER_COUNTED,
    Array,
    ColumnInfo,
    Entries,
    Family,
    Floats,
    Mask,
    Parameters,
    times,
)
from tallybayes.families.registry import register
from tallybayes.families.smoothing import Alpha, Ratios, alpha_of_each
from tallybayes.families.terms import Steps
from tallybayes.kernels import scoring
from tallybayes.schema import Binary
from tallybayes.tallies import Counts


@register("bernoulli", default_for=Binary)
@dataclass(frozen=True, slots=True, repr=False)
class Bernoulli(Family):
    """A probability of being "on" for each class.

    Parameters
    ----------
    alpha
        Added to the count of both outcomes. A number, or one a column; 0 is maximum likelihood, and
        1 is taken when nothing is said.
    threshold
        A value counts as "on" when it is greater. Binds at counting.
    """

    label: ClassVar[str] = "yes or no"

    alpha: Alpha | None = None
    threshold: float = 0.0

    def __post_init__(self) -> None:
        Family.__post_init__(self)
        object.__setattr__(self, "threshold", number(self.threshold, "threshold"))

    @property
    def kind(self) -> Binary:
        """What must have been counted: how often the threshold is exceeded."""
        return Binary(self.threshold)

    @classmethod
    def for_kind(cls, kind: Binary) -> Bernoulli:
        """Return the family as it suits columns that were counted so."""
        return cls(threshold=kind.threshold)

    def estimate(self, counted: Counts, info: ColumnInfo) -> BernoulliParameters:
        """Turn counts of "on" into probabilities."""
        alpha = alpha_of_each(self.alpha, info.names)
        n = np.broadcast_to(counted.weight, counted.sums.shape)
        # n and sums may have been added up in another order: a difference of rounding is none
        zeros = np.where(n - counted.sums > 1e-12 * n, n - counted.sums, 0.0)
        on = Ratios(counted.sums, alpha, n, 2.0 * alpha)
        off = Ratios(zeros, alpha, n, 2.0 * alpha)
        used = n.sum(axis=0) > 0.0
        absent, present = (np.where(used, each.log(), 0.0) for each in (off, on))
        return BernoulliParameters(self.threshold, absent, present, on)

    def classes_apart(self, counted: Counts, info: ColumnInfo, heaviest: float) -> Mask:
        """Mark the columns in which no class is left without values: alone it would say nothing."""
        rows = np.broadcast_to(counted.rows, counted.sums.shape)
        return np.asarray((rows > 1).all(axis=0))


@dataclass(frozen=True, eq=False)
class BernoulliParameters(Parameters):
    """Log probabilities of "off" and "on" by class (down) and column (across).

    The `fractions` are those behind the probabilities of "on"; None if they were stated.
    """

    threshold: float
    log_absent: Floats
    log_present: Floats
    fractions: Ratios | None = None

    @property
    def free_parameters(self) -> int:
        """A probability for every class and column that has values."""
        return len(self.log_present) * int(self._used.sum())

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
        if isinstance(block, Sparse):
            self.add_sparse(without_duplicates(block), out)
            return
        assert isinstance(block, np.ndarray)
        scoring.binary(block, self.threshold, self.log_absent, self.log_present, out)

    def add_sparse(self, block: Sparse, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns of sparse rows, each cell stored once.

        Where nothing is smoothed and all rows of a class are "on", "off" is impossible there.
        """
        scoring.sparse_counts(*block[:3], self.threshold, self.by_column, out)
        base, required = self.all_off
        out += base
        if len(required):
            there = np.zeros(out.shape)
            scoring.sparse_counts(*block[:3], self.threshold, required, there)
            out[there < required.sum(axis=0)] = -np.inf

    @cached_property
    def by_column(self) -> Floats:
        """What "on" adds instead of "off", with a row for each column; "off" if it is possible."""
        absent = np.where(np.isneginf(self.log_absent), 0.0, self.log_absent)
        return np.ascontiguousarray((self.log_present - absent).T)

    @cached_property
    def all_off(self) -> tuple[Floats, Floats]:
        """What it adds that all columns are "off" that can be; and those that cannot, marked."""
        impossible = np.isneginf(self.log_absent)
        required = impossible.T.astype(np.float64) if impossible.any() else np.zeros((0, 0))
        return np.where(impossible, 0.0, self.log_absent).sum(axis=1), required

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes."""
        p = np.exp(self.log_present)[classes]
        # "on" is the least whole number above the threshold, "off" lies one below
        on = int(np.floor(self.threshold)) + 1
        drawn = np.where(rng.random(p.shape) < p, on, on - 1)
        return [
            values if u else np.full(len(p), np.nan)
            for values, u in zip(drawn.T, self._used.tolist(), strict=True)
        ]

    def powered(self, exponents: Floats) -> BernoulliParameters:
        """Return what scores as P(x | class) to a power: one a column, or one for all."""
        absent, present = times(self.log_absent, exponents), times(self.log_present, exponents)
        return replace(self, log_absent=absent, log_present=present)

    @property
    def _used(self) -> Mask:
        """Mark the columns that have values."""
        used: Mask = ((self.log_present != 0.0) | (self.log_absent != 0.0)).any(axis=0)
        return used

    def term(self, unit: int) -> Steps:
        """Return what scores one plain value of a column."""
        rows = (self.log_absent[:, unit].tolist(), self.log_present[:, unit].tolist())
        return Steps((self.threshold,), rows)

    def detail(self, unit: int, value: Any) -> str:
        """Say whether a value is on or off."""
        return "on" if value > self.threshold else "off"

    def silence(self, unit: int) -> str | None:
        """Say why a column says nothing at all, if that is so."""
        return None if self._used[unit] else NEVER_COUNTED

    def entries(self) -> Entries:
        """Return the columns that are "on"."""
        units = np.arange(self.log_present.shape[1])
        return Entries.of(units, [True] * len(units), self.log_present, self.fractions)
