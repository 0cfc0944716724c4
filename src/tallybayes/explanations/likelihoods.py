"""The probabilities of a model with their working: which counts, and what smoothing adds to them.

Each function goes back from the numbers that a family estimated to the counts that they come from:
`share` is what the family was given, the parameters are what it made of it. A class that has no
values of its own, where nothing is added, takes what all classes have together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.ratio import Ratio
from tallybayes.families import (
    BernoulliParameters,
    Bins,
    Categorical,
    CategoricalParameters,
    Complement,
    MultinomialParameters,
    PoissonParameters,
    TextParameters,
)
from tallybayes.families.counts import log_shares_elsewhere
from tallybayes.families.smoothing import alpha_of_each, guesses
from tallybayes.model.factors import FactorPlan
from tallybayes.priors import Empirical, Fixed, Prior
from tallybayes.sources.labels import Label
from tallybayes.tallies import Codes, Counts, Tally

Floats = NDArray[np.float64]
Ratios = list[tuple[Ratio, ...]]  # a line for each value, a ratio for each class


def of_prior(prior: Prior, tally: Tally, probabilities: Floats) -> tuple[Ratio, ...]:
    """Return the prior of each class."""
    n = len(tally.classes)
    p, weight = probabilities.tolist(), tally.weight.tolist()
    if isinstance(prior, Fixed):
        return tuple(Ratio(each, each) for each in p)
    if not isinstance(prior, Empirical):
        return tuple(Ratio(each, 1.0, total=float(n)) for each in p)
    total = float(tally.weight.sum())
    more = prior.alpha * n
    return tuple(Ratio(p[c], weight[c], prior.alpha, total, more) for c in range(n))


def of_values(
    share: FactorPlan, tables: CategoricalParameters, j: int, lines: Sequence[int]
) -> Ratios:
    """Return P(value | class) of some values, or intervals, of column j."""
    assert isinstance(share.counted, Codes)
    labels = tables.labels[j]
    block = share.counted.select([j]).with_labels((labels,))
    start = sum(map(len, tables.labels[:j]))
    p = np.exp(tables.log_probabilities[:, start : start + len(labels)])
    extra, more = _added(share, j, labels, bool(block.rows.any()))
    total = block.weight.sum(axis=1)
    own = total + more > 0.0
    n, total = _pooled(block.weight, total, own)
    extra, more = np.where(own[:, None], extra, 0.0), np.where(own, more, 0.0)
    return _ratios(lines, p, n, extra, total[:, None], more[:, None])


def _ratios(lines: Sequence[int], *parts: Any) -> Ratios:
    """Make ratios of their parts, which stand by class (down) and line (across)."""
    wide = [part[:, list(lines)].tolist() for part in np.broadcast_arrays(*parts)]
    return [
        tuple(Ratio(*(part[c][k] for part in wide)) for c in range(len(wide[0])))
        for k in range(len(lines))
    ]


def _added(
    share: FactorPlan, j: int, labels: Sequence[Label], any_value: bool
) -> tuple[Floats, Any]:
    """Return what is added to the count of each value (across) in each class (down), and in all."""
    family: Any = share.family
    shape = (len(share.info.classes), len(labels))
    if isinstance(family, Categorical) and family.m is not None:
        name = share.info.names[j]
        return family.m * guesses(family.p, share.info.classes, labels, name), family.m
    alpha = float(alpha_of_each(family.alpha, share.info.names)[j])
    if isinstance(family, Bins) and not any_value:
        alpha = 1.0  # of a column without values all intervals are equally probable
    return np.full(shape, alpha), alpha * len(labels)


def _pooled(n: Floats, total: Floats, own: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Put the counts of all classes together where a class has no estimate of its own."""
    return np.where(own[:, None], n, n.sum(axis=0)), np.where(own, total, n.sum())


def of_switches(share: FactorPlan, switches: BernoulliParameters, columns: Sequence[int]) -> Ratios:
    """Return P(on | class) of some columns."""
    assert isinstance(share.counted, Counts)
    family: Any = share.family
    alpha = alpha_of_each(family.alpha, share.info.names)
    sums, n = share.counted.sums, np.broadcast_to(share.counted.weight, share.counted.sums.shape)
    own = n + 2.0 * alpha > 0.0
    sums, n = np.where(own, sums, sums.sum(axis=0)), np.where(own, n, n.sum(axis=0))
    return _ratios(columns, np.exp(switches.log_present), sums, alpha, n, 2.0 * alpha)


def of_bag(share: FactorPlan, bag: MultinomialParameters, columns: Sequence[int]) -> Ratios:
    """Return P(column | class) of some columns of a bag; of Complement, in all other classes."""
    sums, alpha = bag.counted.sums, bag.alpha
    totals, more = sums.sum(axis=1), float(alpha.sum())
    if isinstance(share.family, Complement):
        p = np.exp(log_shares_elsewhere(sums, alpha, totals, more))
        sums, totals = sums.sum(axis=0) - sums, totals.sum() - totals
    else:
        p = np.exp(bag.weights)
        sums, totals = _pooled(sums, totals, totals + more > 0.0)
    return _ratios(columns, p, sums, alpha, totals[:, None], more)


def of_rates(share: FactorPlan, rates: PoissonParameters, columns: Sequence[int]) -> Ratios:
    """Return the events a row of some columns."""
    assert isinstance(share.counted, Counts)
    family: Any = share.family
    alpha = alpha_of_each(family.alpha, share.info.names)
    sums, n = share.counted.sums, np.broadcast_to(share.counted.weight, share.counted.sums.shape)
    own = n > 0.0
    sums, n = np.where(own, sums, sums.sum(axis=0)), np.where(own, n, n.sum(axis=0))
    return _ratios(columns, rates.rate, sums, alpha, n, 0.0)


def of_words(weights: TextParameters, words: Sequence[int]) -> Ratios:
    """Return P(word | class) of some words: for Bernoulli that a document has it.

    For Complement it is the probability of the multinomial model, as complement weights are none.
    """
    numbers = np.array(words, np.int64)
    counts = weights.counts_of(numbers).T
    p = np.exp(weights.log_probabilities(numbers)).T
    alpha = weights.text.added
    totals, more = weights.class_totals, alpha * len(weights.terms)
    if weights.text.event == "bernoulli":
        totals, more = weights.counted.weight[:, 0], 2.0 * alpha
    own = totals + more > 0.0
    totals = np.where(own, totals, totals.sum())
    counts = np.where(own[:, None], counts, counts.sum(axis=0))
    return _ratios(range(len(numbers)), p, counts, alpha, totals[:, None], more)
