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
    alone = np.ones(len(texts), bool)
    if words.ngrams != (1, 1) and words.tokens != "characters":
        alone = np.array([" " not in text for text in texts], bool)
        alone |= not alone.any()  # longer n-grams repeat the single words, if there are any
    usable = np.flatnonzero(alone)
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
            out[row] = " ".join(texts[numbers].tolist())
    return out


def _present(weights: Any, rng: np.random.Generator, c: int, usable: Array, n: int) -> list[Array]:
    """Draw which words are there, each on its own."""
    alpha = float(weights.text.alpha)
    total = weights.counted.weight[c, 0] + 2.0 * alpha
    p = (weights.counts_of(usable)[:, c] + alpha) / total if total else np.zeros(len(usable))
    return [usable[rng.random(len(usable)) < p] for _ in range(n)]


def _repeated(weights: Any, rng: np.random.Generator, c: int, usable: Array, n: int) -> list[Array]:
    """Draw a length, and so many words by their shares."""
    shares = weights.counts_of(usable)[:, c] + float(weights.text.alpha)
    if not shares.sum() > 0.0:
        shares = weights.counts_of(usable).sum(axis=1)
    shares = shares / shares.sum()
    return [rng.choice(usable, size=length, p=shares) for length in _lengths(weights, rng, c, n)]


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
    if weights.text.words.ngrams != (1, 1):  # as many single tokens as terms of all lengths
        orders = weights.text.words.ngrams[1] - weights.text.words.ngrams[0] + 1
        mean, square = mean / orders, square / orders**2
    more = square - mean**2 - mean
    rates: Floats = np.full(n, mean)
    if more > 1e-9 * max(mean, 1.0) and mean > 0.0:
        rates = rng.gamma(mean**2 / more, more / mean, n)
    return rng.poisson(rates)
