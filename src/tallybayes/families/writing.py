"""Documents drawn from a model: as many words as documents of the class have, in no order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.families.parameters import Array, Floats
from tallybayes.tokenizer import Terms


def documents(weights: Any, rng: np.random.Generator, classes: Array) -> Array:
    """Draw a document for each row, whose classes are given as codes."""
    if not isinstance(weights.terms, Terms):
        raise TallyBayesError("words without names (buckets) make no documents")
    texts = np.array(weights.terms.texts, dtype=object)
    words = weights.text.words
    shortest, glue = words.ngrams[0], "" if words.tokens == "characters" else " "
    sizes = np.array([len(t) if not glue else t.count(" ") + 1 for t in texts], np.int64)
    # longer n-grams repeat the shorter ones
    usable = np.flatnonzero(sizes == shortest if (sizes == shortest).any() else sizes > 0)
    out = np.empty(len(classes), object)
    if not len(usable):
        out[:] = ""
        return out
    draw = _present if weights.text.event == "bernoulli" else _repeated
    for c in np.unique(classes).tolist():
        rows = np.flatnonzero(classes == c)
        for row, numbers in zip(
            rows.tolist(), draw(weights, rng, c, usable, len(rows)), strict=True
        ):
            out[row] = glue.join(texts[numbers].tolist())
    return out


def _present(weights: Any, rng: np.random.Generator, c: int, usable: Array, n: int) -> list[Array]:
    """Draw which words are there, each on its own."""
    p = np.exp(weights.log_probabilities(usable)[:, c])
    return [usable[rng.random(len(usable)) < p] for _ in range(n)]


def _repeated(weights: Any, rng: np.random.Generator, c: int, usable: Array, n: int) -> list[Array]:
    """Draw a length, and so many words by their shares."""
    shares = weights.counts_of(usable)[:, c] + weights.text.added
    if not shares.sum() > 0.0:
        shares = weights.counts_of(usable).sum(axis=1)
    ends = np.cumsum(shares)
    drawn = (rng.random(length) * ends[-1] for length in _lengths(weights, rng, c, n).tolist())
    return [usable[np.searchsorted(ends, places, side="right")] for places in drawn]


def _lengths(weights: Any, rng: np.random.Generator, c: int, n: int) -> Array:
    """Draw lengths with the mean and the spread of those that were counted.

    A Poisson number spreads as its mean; where lengths spread more, its rate is drawn from a gamma
    distribution first (which makes a negative binomial number).
    """
    block = weights.counted
    rows = block.weight[c, 0]
    if not rows:
        return np.zeros(n, np.int64)
    mean, square = (block.lengths[c] / rows).tolist()
    variance = max(square - mean**2, 0.0)
    shortest, longest = weights.text.words.ngrams
    # t tokens make t - n + 1 terms of n tokens; drawn are terms of the shortest length
    orders = longest - shortest + 1
    overlap = sum(range(shortest - 1, longest))
    if mean > 0.0:
        mean = (mean + overlap) / orders / shortest
    more = variance / (orders * shortest) ** 2 - mean
    rates: Floats = np.full(n, mean)
    if more > 1e-9 * max(mean, 1.0) and mean > 0.0:
        rates = rng.gamma(mean**2 / more, more / mean, n)
    return rng.poisson(rates)
