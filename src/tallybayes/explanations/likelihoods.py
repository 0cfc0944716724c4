"""The probabilities of a model with their working: which counts, and what smoothing adds to them.

Parameters know the fractions that they come from. A class that has no values of its own, where
nothing is added, takes what all classes have together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.ratio import Ratio
from tallybayes.families import Parameters, TextParameters
from tallybayes.priors import Empirical, Fixed, Prior
from tallybayes.tallies import Tally

Floats = NDArray[np.float64]
Lines = list[tuple[Ratio, ...]]  # a line for each value, a ratio for each class


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


def of_values(parameters: Parameters, j: int, lines: Sequence[int]) -> Lines:
    """Return P(value | class) of some values, or intervals, of column j."""
    of = parameters.ratios(j)
    assert of is not None
    of = of.pooled()
    return _ratios(lines, of.p, of.count, of.added, of.total, of.added_total)


def of_columns(parameters: Parameters, columns: Sequence[int]) -> Lines:
    """Return the one fraction behind each of some columns: P(on), a share of a bag, a rate."""
    return [of_values(parameters, j, [0])[0] for j in columns]


def _ratios(lines: Sequence[int], *parts: Any) -> Lines:
    """Make ratios of their parts, which stand by class (down) and line (across)."""
    wide = [part[:, list(lines)].tolist() for part in np.broadcast_arrays(*parts)]
    return [
        tuple(Ratio(*(part[c][k] for part in wide)) for c in range(len(wide[0])))
        for k in range(len(lines))
    ]


def of_words(weights: TextParameters, words: Sequence[int]) -> Lines:
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
