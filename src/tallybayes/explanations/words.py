"""What each word of a text adds to the score of each class.

A word adds its weight as often as it counts. In the Bernoulli model a word that is there adds
log P(w | c), and all words that are not there add log(1 - P(w | c)): they are one contribution.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.contribution import Contribution
from tallybayes.families import BernoulliParameters, TextParameters
from tallybayes.families.parameters import Floats, times
from tallybayes.tokenizer import Bagged, Bags, Buckets, Documents, Words
from tallybayes.tokenizer.words import in_utf8

ABSENT = "words that are absent"
UNKNOWN = "not a word that the model knows"


def words_of(weights: TextParameters, column: str, document: str) -> tuple[Contribution, ...]:
    """Return the contributions of a document's words, in the order in which they first occur."""
    read = Counter(in_utf8(term) for term in weights.text.words.terms(document))
    number_of = numbers_of(weights, list(read))
    nothing = (0.0,) * weights.counted.n_classes
    known: dict[int, list[str]] = {}
    unknown = []
    for term, number in number_of.items():
        if number < 0:
            left_out = Contribution(column, term, nothing, read[term], 0.0, left_out=UNKNOWN)
            unknown.append(left_out)
        else:
            known.setdefault(number, []).append(term)
    numbers = np.array(list(known), np.int64)
    occurrences = np.array([sum(read[term] for term in each) for each in known.values()], np.int64)
    counted = _counted(weights, numbers, occurrences)
    logs = _logs(weights, numbers, counted).tolist()
    found = [
        Contribution(column, ", ".join(terms), tuple(row), float(n), float(x), weights.exponent)
        for terms, row, n, x in zip(known.values(), logs, occurrences, counted, strict=True)
    ]
    if weights.text.event == "bernoulli":
        found += _absent(weights, column, numbers)
    return tuple(replace(each, is_word=True) for each in (*found, *unknown))


def numbers_of(weights: TextParameters, terms: list[str]) -> dict[str, int]:
    """Return the number of each word in the model: -1 for words that it does not know."""
    if not isinstance(weights.terms, Buckets):
        return dict(zip(terms, weights.terms.numbers(terms).tolist(), strict=True))
    # a bucket is found by reading: each word as a document of one token
    whole = Words(_whole, lowercase=False, buckets=weights.terms.n)
    bags = Bagged.of(Documents(terms), whole)
    return dict(zip(terms, bags.indices.tolist(), strict=True))


def _whole(text: str) -> list[str]:
    """Return the text as its only token."""
    return [text]


def _counted(weights: TextParameters, numbers: NDArray[Any], occurrences: NDArray[Any]) -> Floats:
    """Return what the occurrences of each word count."""
    if weights.text.event in ("boolean", "bernoulli"):
        return np.ones(len(numbers))
    ends = np.array([0, len(numbers)], np.int64)
    bags = Bags(slice(0, 1), ends, numbers, occurrences, occurrences.sum(keepdims=True))
    return np.asarray(bags.weighted(weights.text.words).data, np.float64)


def _logs(weights: TextParameters, numbers: NDArray[Any], counted: Floats) -> Floats:
    """Return what each word (down) adds to each class (across)."""
    if weights.text.event == "bernoulli":
        return times(weights.log_probabilities(numbers), np.array(weights.exponent))
    return times(weights.weights_of(numbers), counted[:, None])


def _absent(weights: TextParameters, column: str, present: NDArray[Any]) -> list[Contribution]:
    """Return what all words that are not there add together."""
    absent = np.setdiff1d(np.arange(len(weights.terms)), present)
    if not len(absent):
        return []
    switches = weights.bag
    assert isinstance(switches, BernoulliParameters)
    total = switches.log_absent[:, absent].sum(axis=1)
    together = Contribution(column, ABSENT, tuple(total.tolist()), float(len(absent)))
    return [replace(together, exponent=weights.exponent)]
