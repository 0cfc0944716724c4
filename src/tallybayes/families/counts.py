"""Columns that count: bags (Multinomial, Complement), events (Poisson), yes or no (Bernoulli).

Bernoulli: P(x > threshold | c) = (n + alpha) / (N + 2 alpha), and absence counts too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.batches import Block, Sparse, dense, without_duplicates
from tallybayes.errors import TallyBayesError, number
from tallybayes.families.parameters import ColumnInfo, Entries, Family, Parameters, safe_log
from tallybayes.families.registry import register
from tallybayes.families.running import (
    Bag,
    RunningComplement,
    RunningCounts,
    RunningRate,
    RunningShares,
    RunningStart,
)
from tallybayes.families.smoothing import LAPLACE, Alpha, Ratios, alpha_of_each
from tallybayes.families.terms import Linear, Steps
from tallybayes.kernels import scoring
from tallybayes.schema import Binary, Count
from tallybayes.tallies import Counts

LARGEST_RATE = 1e18  # around which Poisson numbers of 64 bits can be drawn
SHARE_ELSEWHERE = "P({} | any other {{}}), whose -log is the score"


class CountFamily(Family, frozen=True):
    """What families of counted columns have in common."""

    alpha: Alpha | None = None
    bag: str = "words"

    @property
    def kind(self) -> Count:
        return Count(self.bag)

    def shares(self, counted: Counts, info: ColumnInfo) -> Ratios:
        """Return the share of each column in the total of its class."""
        alpha = alpha_of_each(self.alpha, info.names)
        totals = counted.sums.sum(axis=1, keepdims=True)
        return Ratios(counted.sums, alpha, totals, float(alpha.sum()))

    def running_bag(
        self, start: RunningStart, sums: Floats, unit: type[RunningCounts]
    ) -> list[RunningCounts] | None:
        """Return shares that follow the rows; None if a class takes those of all classes."""
        alpha, totals = alpha_of_each(self.alpha, start.info.names), sums.sum(axis=1)
        if not (totals + alpha.sum() > 0.0).all():
            return None
        bag = Bag(totals.tolist(), float(alpha.sum()))
        columns = zip(sums.T.tolist(), alpha.tolist(), start.exponents, strict=True)
        return [unit(of_unit, a, bag, e) for of_unit, a, e in columns]


@register("multinomial", default_for=Count)
class Multinomial(CountFamily, frozen=True):
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

    def estimate(self, counted: Counts, info: ColumnInfo) -> MultinomialParameters:
        shares = self.shares(counted, info)
        return MultinomialParameters.of(shares.log(), counted, shares)

    def running(self, start: RunningStart) -> list[RunningCounts] | None:
        """Return shares that follow the rows; None if a class takes those of all classes."""
        return self.running_bag(start, start.counted.sums, RunningCounts)


@register("complement")
class Complement(CountFamily, frozen=True, kw_only=True):
    """The complement naive Bayes of Rennie and others (2003): absence elsewhere counts.

    Each class scores a word by -log of its smoothed share among the words of all *other* classes,
    which evens out classes of very different size.

    Parameters
    ----------
    alpha, bag
        As for `Multinomial`; alpha is greater than 0.
    norm
        Divide each class's weights by their sum (the paper's second normalisation).
    """

    label: ClassVar[str] = "count"
    joint: ClassVar[bool] = True

    bag: str = "words"
    norm: bool = False

    def __post_init__(self) -> None:
        Family.__post_init__(self)
        if not np.all(np.asarray(LAPLACE if self.alpha is None else self.alpha) > 0.0):
            raise TallyBayesError(
                "Complement needs alpha > 0: a word never seen outside a class would otherwise be "
                "infinite evidence for it"
            )

    def estimate(self, counted: Counts, info: ColumnInfo) -> MultinomialParameters:
        shares = self.shares(counted, info)
        logs = shares.elsewhere().log()
        weights = -logs
        if self.norm:  # a single word has a share of one and a sum of zero: it says nothing
            sums = logs.sum(axis=1, keepdims=True)
            weights = np.divide(logs, sums, out=np.zeros(logs.shape), where=sums != 0.0)
        return MultinomialParameters.of(weights, counted, shares, complement=True)

    def running(self, start: RunningStart) -> list[RunningCounts] | None:
        """Return shares of all others that follow the rows; sums of weights need all of them."""
        if self.norm:
            return None
        sums = start.counted.sums
        return self.running_bag(start, sums.sum(axis=0) - sums, RunningComplement)


@dataclass(frozen=True, eq=False)
class CountParameters(Parameters):
    """What counts add to the score: base + x weight, by class (down) and column (across).

    A row is expected to count `scale` times the `fractions`: NaN in a column without any values.
    """

    LOGS: ClassVar[tuple[str, ...]] = ("weights", "base")

    weights: Floats
    base: Floats
    scale: Floats
    fractions: Ratios

    @property
    def rate(self) -> Floats:
        """What a row is expected to count."""
        return self.scale * self.fractions.p

    @property
    def used(self) -> Mask:
        """Mark the columns that have values."""
        return np.asarray(~np.isnan(self.scale).any(axis=0))

    @property
    def sizes(self) -> tuple[int, int]:
        """A rate for every class and column that has values."""
        return (len(self.scale) * int(self.used.sum()),) * 2

    @cached_property
    def by_column(self) -> Floats:
        """The weights with a row for each column, as sparse rows are scored."""
        return np.ascontiguousarray(self.weights.T)

    @cached_property
    def _empty(self) -> Floats:
        """What a row scores that counts nothing."""
        empty: Floats = self.base.sum(axis=1)
        return empty

    def log_prob(self, block: Block) -> Floats:
        x = dense(block)[:, :, None]
        with np.errstate(invalid="ignore"):
            terms = np.where(x > 0.0, x * self.weights.T, 0.0) + self.base.T
        return np.where(np.isnan(x), 0.0, terms)

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        if isinstance(block, Sparse):
            self.add_sparse(block, out)
            return
        assert isinstance(block, np.ndarray)
        scoring.add("score_counts", block, (self.weights, self.base), out)

    def add_sparse(self, block: Sparse, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns of sparse rows."""
        scoring.sparse_counts(block[:3], None, self.by_column, out)
        out += self._empty

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a Poisson number of every column for each row, whose classes are given as codes.

        In a bag this is a total around the mean total of the class, spread by the shares.
        """
        rate = self.rate[classes]
        drawn: Array = rng.poisson(np.where(rate < LARGEST_RATE, rate, 0.0))
        if not (rate < LARGEST_RATE).all():  # beyond, the spread is less than a billionth
            drawn = np.where(rate < LARGEST_RATE, drawn, np.rint(rate))
        return list(drawn.T)

    def term(self, unit: int) -> Linear:
        return Linear(self.weights[:, unit].tolist(), self.base[:, unit].tolist())

    def occurrences(self, unit: int, value: Any) -> float:
        """Return the value, which says how often something occurs."""
        return float(value)


@dataclass(frozen=True, eq=False)
class MultinomialParameters(CountParameters):
    """What a word adds to the score, by class (down) and word (across).

    The `fractions` are the shares of words, of the whole bag even if only some words are here. The
    weights of a `complement` are no logarithms of probabilities in the class itself.
    """

    complement: bool = False

    @classmethod
    def of(
        cls, weights: Floats, counted: Counts, shares: Ratios, complement: bool = False
    ) -> MultinomialParameters:
        """Add to the weights how many words a row has."""
        rows = counted.weight.max(axis=1, keepdims=True, initial=0.0)
        lengths = shares.total / np.where(rows > 0.0, rows, np.inf)
        scale = np.broadcast_to(lengths, weights.shape)
        return cls(weights, np.zeros(weights.shape), scale, shares, complement)

    @property
    def sizes(self) -> tuple[int, int]:
        """A probability for every class and word; those of a class sum to one."""
        n_classes, words = self.weights.shape
        return n_classes * max(words - 1, 0), n_classes * words

    def entries(self) -> Entries:
        """Return one occurrence of each word.

        Complement weights are no probabilities; those of the multinomial model stand for them.
        """
        n = self.weights.shape[1]
        return Entries.of(np.arange(n), [1] * n, self.fractions.log(), self.fractions)

    @property
    def shows(self) -> tuple[str, str]:
        return "column", SHARE_ELSEWHERE.format("column") if self.complement else "P(column | {})"

    def ratios(self, unit: int) -> Ratios:
        """Return the fraction behind a word's share; of a complement that in all other classes."""
        of = self.fractions[..., [unit]]
        return of.elsewhere() if self.complement else of


@register("poisson")
class Poisson(CountFamily, frozen=True):
    """A rate for each class: P(x | c) = rate^x exp(-rate) / x!, rate = (sum + alpha) / N.

    Parameters
    ----------
    alpha
        Events added to each class's sum. A number, or one a column; 0 is maximum likelihood.
    bag
        The name of the counted columns. Binds at counting.
    """

    label: ClassVar[str] = "Poisson"
    apart: ClassVar[bool] = True

    def estimate(self, counted: Counts, info: ColumnInfo) -> PoissonParameters:
        """Turn sums into rates; a class that has no value of a column takes the overall rate."""
        alpha = alpha_of_each(self.alpha, info.names)
        n = np.broadcast_to(counted.weight, counted.sums.shape)
        own, everywhere = n > 0.0, n.sum(axis=0)
        sums = np.where(own, counted.sums, counted.sums.sum(axis=0))
        events = Ratios(sums, alpha, np.where(own, n, everywhere), 0.0)
        used = np.broadcast_to(everywhere > 0.0, n.shape)
        rate, scale = np.where(used, events.p, 1.0), np.where(used, 1.0, np.nan)
        return PoissonParameters(safe_log(rate), np.where(used, -rate, 0.0), scale, events)

    def running(self, start: RunningStart) -> list[RunningRate]:
        sums, alpha = start.counted.sums, alpha_of_each(self.alpha, start.info.names)
        n = np.broadcast_to(start.counted.weight, sums.shape)
        parts = (part.T.tolist() for part in (n, sums, alpha))
        return [RunningRate(*of_unit) for of_unit in zip(*parts, start.exponents, strict=True)]


class PoissonParameters(CountParameters):
    """Events a row by class (down) and column (across); x! is the same in all classes."""

    shows = "column", "events a row"

    def log_prob(self, block: Block) -> Floats:
        logs = np.where(self.used, _log_factorial(dense(block)), 0.0)
        return super().log_prob(block) - logs[:, :, None]

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        block = without_duplicates(block) if isinstance(block, Sparse) else block
        super().add_log_likelihood(block, out)
        logs: Any = block
        if isinstance(block, Sparse):
            logs = block._replace(data=_log_factorial(block.data)).as_matrix()
        else:
            logs = _log_factorial(logs)
        out -= (logs @ self.used.astype(np.float64))[:, None]


def _log_factorial(x: Any) -> Floats:
    """Return log x!, 0 where x is missing."""
    from scipy.special import gammaln

    logs: Floats = gammaln(np.nan_to_num(np.asarray(x, np.float64)) + 1.0)
    return logs


@register("bernoulli", default_for=Binary)
class Bernoulli(Family, frozen=True):
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
    apart: ClassVar[bool] = True

    alpha: Alpha | None = None
    threshold: float = 0.0

    def __post_init__(self) -> None:
        Family.__post_init__(self)
        self._put(threshold=number(self.threshold, "threshold"))

    @property
    def kind(self) -> Binary:
        return Binary(self.threshold)

    def estimate(self, counted: Counts, info: ColumnInfo) -> BernoulliParameters:
        alpha = alpha_of_each(self.alpha, info.names)
        n = np.broadcast_to(counted.weight, counted.sums.shape)
        on = Ratios(counted.sums, alpha, n, 2.0 * alpha)
        used = n.sum(axis=0) > 0.0
        absent, present = (np.where(used, each.log(), 0.0) for each in (on.opposite(), on))
        return BernoulliParameters(self.threshold, absent, present, on)

    def running(self, start: RunningStart) -> list[RunningShares] | None:
        sums, alpha = start.counted.sums, alpha_of_each(self.alpha, start.info.names)
        n = np.broadcast_to(start.counted.weight, sums.shape)
        if not ((alpha > 0.0) | n.all(axis=0)).all():
            return None
        tables = np.stack([Ratios(sums, 0.0, n, 0.0).opposite().count, sums], axis=2)
        units = zip(tables.swapaxes(0, 1), alpha.tolist(), start.exponents, strict=True)
        return [RunningShares((False, True), table, a, "error", e) for table, a, e in units]


@dataclass(frozen=True, eq=False)
class BernoulliParameters(Parameters):
    """Log probabilities of "off" and "on" by class (down) and column (across).

    The `fractions` are those behind the probabilities of "on"; None if they were stated.
    """

    LOGS: ClassVar[tuple[str, ...]] = ("log_absent", "log_present")

    threshold: float
    log_absent: Floats
    log_present: Floats
    fractions: Ratios | None = None

    @property
    def used(self) -> Mask:
        """Mark the columns that have values."""
        used: Mask = ((self.log_present != 0.0) | (self.log_absent != 0.0)).any(axis=0)
        return used

    @property
    def sizes(self) -> tuple[int, int]:
        """Two probabilities for every class and column that has values, which sum to one."""
        n = len(self.log_present) * int(self.used.sum())
        return n, 2 * n

    def log_prob(self, block: Block) -> Floats:
        x = dense(block)[:, :, None]
        terms = np.where(x > self.threshold, self.log_present.T, self.log_absent.T)
        return np.where(np.isnan(x), 0.0, terms)

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        if isinstance(block, Sparse):
            self.add_sparse(without_duplicates(block), out)
            return
        assert isinstance(block, np.ndarray)
        parameters = self.threshold, self.log_absent, self.log_present
        scoring.add("score_binary", block, parameters, out)

    def add_sparse(self, block: Sparse, out: Floats) -> None:
        """Add the same of sparse rows, each cell stored once; "off" may be impossible."""
        scoring.sparse_counts(block[:3], self.threshold, self.by_column, out)
        base, required = self._all_off
        out += base
        if len(required):
            there = np.zeros(out.shape)
            scoring.sparse_counts(block[:3], self.threshold, required, there)
            out[there < required.sum(axis=0)] = -np.inf

    @cached_property
    def by_column(self) -> Floats:
        """What "on" adds instead of "off", with a row for each column; "off" if it is possible."""
        absent = np.where(np.isneginf(self.log_absent), 0.0, self.log_absent)
        return np.ascontiguousarray((self.log_present - absent).T)

    @cached_property
    def _all_off(self) -> tuple[Floats, Floats]:
        """What it adds that all columns are "off" that can be; and those that cannot, marked."""
        impossible = np.isneginf(self.log_absent)
        required = impossible.T.astype(np.float64) if impossible.any() else np.zeros((0, 0))
        return np.where(impossible, 0.0, self.log_absent).sum(axis=1), required

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        p = np.exp(self.log_present)[classes]
        # "on" is the least whole number above the threshold, "off" lies one below
        on = int(np.floor(self.threshold)) + 1
        drawn = np.where(rng.random(p.shape) < p, on, on - 1)
        return list(drawn.T if self.used.all() else np.where(self.used, drawn, np.nan).T)

    def term(self, unit: int) -> Steps:
        rows = (self.log_absent[:, unit].tolist(), self.log_present[:, unit].tolist())
        return Steps((self.threshold,), rows)

    def detail(self, unit: int, value: Any) -> str:
        """Say whether a value is on or off."""
        return "on" if value > self.threshold else "off"

    @property
    def shows(self) -> tuple[str, str]:
        return "column", f"P(above {self.threshold:g} | {{}})"

    def entries(self) -> Entries:
        """Return the columns that are "on"."""
        units = np.arange(self.log_present.shape[1])
        return Entries.of(units, [True] * len(units), self.log_present, self.fractions)
