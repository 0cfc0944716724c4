"""Columns that count: bags of words (Multinomial, Complement) and independent events (Poisson)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from tallybayes.batches import Block, Sparse, dense, without_duplicates
from tallybayes.errors import TallyBayesError
from tallybayes.families.parameters import (
    NEVER_COUNTED,
    Array,
    ColumnInfo,
    Entries,
    Family,
    Floats,
    Mask,
    Parameters,
    Ratios,
    in_place_log,
    safe_log,
    times,
)
from tallybayes.families.registry import register
from tallybayes.families.smoothing import LAPLACE, Alpha, alpha_of_each, checked_alpha
from tallybayes.families.terms import Linear
from tallybayes.kernels import scoring
from tallybayes.schema import Count
from tallybayes.tallies import Counts


def log_shares(sums: Floats, alpha: Floats, totals: Floats, alphas: float) -> Floats:
    """Return the logarithm of each column's share, one alpha a column.

    `totals` of the classes, and the sum of the `alphas`, are those of all columns, of which these
    may be some.
    """
    total = totals + alphas
    if (total <= 0.0).any():  # a class without any words takes the shares of all together
        pooled = totals.sum()
        if not pooled:  # nothing was ever counted, and nothing is added: the bag says nothing
            return np.zeros(sums.shape)
        sums = np.where((total > 0.0)[:, None], sums, sums.sum(axis=0))
        total = np.where(total > 0.0, total, pooled)
    weights = sums + alpha
    in_place_log(weights)
    weights -= np.log(total)[:, None]
    return weights


def log_shares_elsewhere(sums: Floats, alpha: Floats, totals: Floats, alphas: float) -> Floats:
    """Return the logarithm of each column's share in all other classes together."""
    others = sums.sum(axis=0) - sums + alpha
    total = totals.sum() - totals + alphas
    logs: Floats = np.log(others / total[:, None])
    return logs


@register("multinomial", default_for=Count)
@dataclass(frozen=True, slots=True, repr=False)
class Multinomial(Family):
    """A bag: P(word | c) = (n + alpha) / (N + alpha K), once for every time the word occurs.

    The number of ways to arrange the words is the same in all classes and left out, as is usual.

    Parameters
    ----------
    alpha
        Added to every count. A number, or one a column; 0 is maximum likelihood.
    bag
        The name of the bag: columns of one bag share their total. Binds at counting.
    """

    label: ClassVar[str] = "count"
    joint: ClassVar[bool] = True

    alpha: Alpha | None = None
    bag: str = "words"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))

    @property
    def kind(self) -> Count:
        """What must have been counted: sums."""
        return Count(self.bag)

    @classmethod
    def for_kind(cls, kind: Count) -> Multinomial:
        """Return the family as it suits columns that were counted so."""
        return cls(bag=kind.bag)

    def estimate(self, counted: Counts, info: ColumnInfo) -> MultinomialParameters:
        """Turn sums into shares of the total."""
        alpha = alpha_of_each(self.alpha, info.names)
        totals, alphas = counted.sums.sum(axis=1), float(alpha.sum())
        weights = log_shares(counted.sums, alpha, totals, alphas)
        return MultinomialParameters(weights, counted, alpha, totals, alphas)


@register("complement")
@dataclass(frozen=True, slots=True, repr=False)
class Complement(Family):
    """The complement naive Bayes of Rennie and others (2003): absence elsewhere counts.

    Each class scores a word by -log of its smoothed share among the words of all *other* classes,
    which evens out classes of very different size.

    Parameters
    ----------
    alpha
        Added to every count, greater than 0. A number, or one a column.
    norm
        Divide each class's weights by their sum (the paper's second normalisation).
    bag
        The name of the bag. Binds at counting.
    """

    label: ClassVar[str] = "count"
    joint: ClassVar[bool] = True

    alpha: Alpha | None = None
    norm: bool = False
    bag: str = "words"

    def __post_init__(self) -> None:
        alpha = checked_alpha(self.alpha)
        each = alpha if isinstance(alpha, tuple) else (LAPLACE if alpha is None else alpha,)
        if min(each, default=1.0) <= 0.0:
            raise TallyBayesError(
                "Complement needs alpha > 0: a word never seen outside a class would otherwise be "
                "infinite evidence for it"
            )
        object.__setattr__(self, "alpha", alpha)

    @property
    def kind(self) -> Count:
        """What must have been counted: sums."""
        return Count(self.bag)

    def estimate(self, counted: Counts, info: ColumnInfo) -> MultinomialParameters:
        """Turn sums into weights of evidence."""
        alpha = alpha_of_each(self.alpha, info.names)
        totals, alphas = counted.sums.sum(axis=1), float(alpha.sum())
        logs = log_shares_elsewhere(counted.sums, alpha, totals, alphas)
        weights = -logs
        if self.norm:  # a single word has a share of one and a sum of zero: it says nothing
            sums = logs.sum(axis=1, keepdims=True)
            weights = np.divide(logs, sums, out=np.zeros(logs.shape), where=sums != 0.0)
        return MultinomialParameters(weights, counted, alpha, totals, alphas, complement=True)


@dataclass(frozen=True, eq=False)
class MultinomialParameters(Parameters):
    """What a word adds to the score, by class (down) and word (across).

    What was counted, and the alpha added to it, is what samples are drawn from: a row's total is
    Poisson around the mean total of its class, and its words are drawn by their shares. `totals` of
    the classes, and of the `alphas`, are those of the whole bag. The weights of a `complement` are
    no logarithms of probabilities in the class itself.
    """

    weights: Floats
    counted: Counts
    alpha: Floats
    totals: Floats
    alphas: float
    complement: bool = False

    @property
    def free_parameters(self) -> int:
        """One less than the words for every class: they sum to one."""
        return len(self.weights) * max(int(self.weights.shape[1]) - 1, 0)

    @property
    def table_entries(self) -> int:
        """A probability for every class and word."""
        return int(self.weights.size)

    def line(self) -> tuple[Floats, Floats]:
        """Return weights and base: what a word adds is base + x weight, with a base of 0."""
        return self.weights, np.zeros(self.weights.shape)

    @cached_property
    def _by_word(self) -> Floats:
        """The weights with a row for each word, as sparse rows are scored."""
        return np.ascontiguousarray(self.weights.T)

    def log_prob(self, block: Block) -> Floats:
        """Return x log P(word | class) for each row, word and class."""
        x = dense(block)[:, :, None]
        with np.errstate(invalid="ignore"):
            return np.where(x > 0.0, x * self.weights.T, 0.0)

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns to `out`, of rows and classes."""
        if isinstance(block, Sparse):
            scoring.sparse_counts(*block[:3], None, self._by_word, out)
            return
        assert isinstance(block, np.ndarray)
        scoring.dense_counts(block, *self.line(), out)

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes."""
        weight = self.counted.weight.max(axis=1)
        lengths = np.divide(self.totals, weight, out=np.zeros(len(weight)), where=weight > 0.0)
        # a multinomial with a Poisson total is a Poisson for every word
        rates = lengths[:, None] * self._shares.p
        return list(rng.poisson(rates[classes]).T)

    def powered(self, exponents: Floats) -> MultinomialParameters:
        """Return what scores as P(bag | class) to a power."""
        return replace(self, weights=times(self.weights, exponents))

    @property
    def _shares(self) -> Ratios:
        """The share of each word among all words of its class."""
        sums, alpha = self.counted.sums, self.alpha
        return Ratios(sums, alpha, self.totals[:, None], self.alphas)

    def select(self, units: Sequence[int]) -> MultinomialParameters:
        """Return the parameters of some words; their shares are still those of the whole bag."""
        some = list(units)
        weights, counted = self.weights[:, some], self.counted.select(some)
        return replace(self, weights=weights, counted=counted, alpha=self.alpha[some])

    def term(self, unit: int) -> Linear:
        """Return what scores one plain value of a word."""
        return Linear(self.weights[:, unit].tolist(), [0.0] * len(self.weights))

    def entries(self) -> Entries:
        """Return one occurrence of each word.

        Complement weights are no probabilities; those of the multinomial model stand for them.
        """
        sums, n = self.counted.sums, self.weights.shape[1]
        logs = log_shares(sums, self.alpha, self.totals, self.alphas)
        return Entries.of(np.arange(n), [1] * n, logs, self._shares)

    def ratios(self, unit: int) -> Ratios:
        """Return the fraction behind a word's share; of a complement that in all other classes."""
        of = self._shares.select([unit])
        if not self.complement:
            return of
        others = of.count.sum(axis=0) - of.count
        return Ratios(others, of.added, of.total.sum(axis=0) - of.total, of.added_total)


@register("poisson")
@dataclass(frozen=True, slots=True, repr=False)
class Poisson(Family):
    """A rate for each class: P(x | c) = rate^x exp(-rate) / x!, rate = (sum + alpha) / N.

    Parameters
    ----------
    alpha
        Events added to each class's sum. A number, or one a column; 0 is maximum likelihood.
    bag
        The name of the counted columns. Binds at counting.
    """

    label: ClassVar[str] = "Poisson"

    alpha: Alpha | None = None
    bag: str = "words"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))

    @property
    def kind(self) -> Count:
        """What must have been counted: sums."""
        return Count(self.bag)

    def estimate(self, counted: Counts, info: ColumnInfo) -> PoissonParameters:
        """Turn sums into rates; a class that has no value of a column takes the overall rate."""
        alpha = alpha_of_each(self.alpha, info.names)
        n = np.broadcast_to(counted.weight, counted.sums.shape)
        own, everywhere = n > 0.0, n.sum(axis=0)
        sums = np.where(own, counted.sums, counted.sums.sum(axis=0))
        events = Ratios(sums, alpha, np.where(own, n, everywhere), 0.0)
        return PoissonParameters(np.where(everywhere > 0.0, events.p, np.nan), events=events)

    def classes_apart(self, counted: Counts, info: ColumnInfo, heaviest: float) -> Mask:
        """Mark the columns in which no class is left without values."""
        rows = np.broadcast_to(counted.rows, counted.sums.shape)
        return np.asarray((rows > 1).all(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class PoissonParameters(Parameters):
    """Events a row by class (down) and column (across); NaN in a column without any values.

    `events` has the fractions behind the rates.
    """

    rate: Floats
    exponents: Floats | None = None
    events: Ratios | None = None

    @property
    def free_parameters(self) -> int:
        """A rate for every class and column that has values."""
        return int((~np.isnan(self.rate)).sum())

    @property
    def table_entries(self) -> int:
        """A rate for every class and column that has values."""
        return self.free_parameters

    def line(self) -> tuple[Floats, Floats]:
        """Return weights and base: log P(x) = base + x weight - log x!; 0 if there is no rate."""
        there = ~np.isnan(self.rate)
        weights, base = np.where(there, safe_log(self.rate), 0.0), np.where(there, -self.rate, 0.0)
        if self.exponents is not None:
            weights, base = times(weights, self.exponents), base * self.exponents
        return weights, base

    def log_prob(self, block: Block) -> Floats:
        """Return log P(x | class) for each row, column and class: 0 where a factor is left out."""
        weights, base = self.line()
        x = dense(block)[:, :, None]
        with np.errstate(invalid="ignore"):
            terms = np.where(x > 0.0, x * weights.T, 0.0) + base.T
        out = terms - np.where(np.isnan(self.rate).T, 0.0, _log_factorial(x))
        return np.where(np.isnan(x), 0.0, out)

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns to `out`, of rows and classes."""
        weights, base = self.line()
        if isinstance(block, Sparse):
            scoring.sparse_counts(*block[:3], None, np.ascontiguousarray(weights.T), out)
            out += base.sum(axis=1)
            block = without_duplicates(block)
            owner = np.repeat(np.arange(len(out)), np.diff(block.indptr))
            stored = slice(int(block.indptr[0]), int(block.indptr[-1]))
            with_rate = ~np.isnan(self.rate[0, block.indices[stored]])
            logs = _log_factorial(block.data[stored]) * with_rate
            out -= np.bincount(owner, weights=logs, minlength=len(out))[:, None]
            return
        assert isinstance(block, np.ndarray)
        scoring.dense_counts(block, weights, base, out)
        with_rate = ~np.isnan(self.rate[0])
        out -= np.nansum(_log_factorial(block[:, with_rate]), axis=1, keepdims=True)

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes."""
        there = ~np.isnan(self.rate)
        drawn = rng.poisson(np.where(there, self.rate, 0.0)[classes])
        return list(np.where(there[classes], drawn, np.nan if not there.all() else 0).T)

    def powered(self, exponents: Floats) -> PoissonParameters:
        """Return what scores as P(x | class) to a power, but for x!: one a column, or for all."""
        return replace(self, exponents=exponents)

    def select(self, units: Sequence[int]) -> PoissonParameters:
        """Return the parameters of some columns."""
        some, exponents = list(units), self.exponents
        if exponents is not None and len(exponents) > 1:
            exponents = exponents[some]
        events = None if self.events is None else self.events.select(some)
        return PoissonParameters(self.rate[:, some], exponents, events)

    def term(self, unit: int) -> Linear:
        """Return what scores one plain value of a column, but for x!, which all classes have."""
        weights, base = self.select([unit]).line()
        return Linear(weights[:, 0].tolist(), base[:, 0].tolist())

    def silence(self, unit: int) -> str | None:
        """Say why a column says nothing at all, if that is so."""
        return NEVER_COUNTED if np.isnan(self.rate[:, unit]).any() else None

    def ratios(self, unit: int) -> Ratios | None:
        """Return the fraction behind the rate."""
        return None if self.events is None else self.events.select([unit])


def _log_factorial(x: Array) -> Floats:
    from scipy.special import gammaln

    logs: Floats = gammaln(np.asarray(x, np.float64) + 1.0)
    return logs
