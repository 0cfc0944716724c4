"""Inverse document frequencies: words that few documents have weigh more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, number
from tallybayes.tokenizer.terms import Terms

Floats = NDArray[np.float64]


class Idf:
    """A weight for every word: idf = log((1 + N) / (1 + n)) + 1 when made from counts.

    N is the number of documents, n that of documents with the word. Weights have to be known before
    documents can be counted by them: that takes one pass over the documents to find n, and another
    one to count.

    Parameters
    ----------
    weights
        The weight of each word.

    Examples
    --------
    >>> Idf({"lottery": 2.5, "the": 1.0})
    Idf(2 words, afdd75)
    """

    __slots__ = ("_digest", "_terms", "terms", "values")

    def __init__(self, weights: Mapping[str, float]) -> None:
        if not isinstance(weights, Mapping) or not all(isinstance(w, str) for w in weights):
            raise TallyBayesError("Idf takes a mapping of words to weights")
        terms = sorted(weights)
        given = [weights[w] for w in terms]
        if all(type(weight) is float and 0.0 <= weight < inf for weight in given):
            values = given  # as they are stored: hundreds of thousands are checked at once
        else:
            named = zip(terms, given, strict=True)
            values = [number(weight, f"the idf of {w!r}", least=0.0) for w, weight in named]
        self._settle(terms, np.array(values, np.float64))

    def _settle(self, terms: list[str], values: Floats) -> None:
        self.terms, self.values = tuple(terms), values
        values.flags.writeable = False
        try:
            "".join(terms).encode()
        except UnicodeEncodeError:
            raise TallyBayesError("Idf has half a surrogate pair, which is no text") from None
        self._terms: Terms | None = None
        self._digest = blake2b(repr(self.terms).encode() + values.tobytes()).digest()

    @classmethod
    def of_counts(cls, terms: Sequence[str], documents: Floats, n_documents: float) -> Idf:
        """Return the weights that follow from the number of documents with each word."""
        order = sorted(range(len(terms)), key=terms.__getitem__)
        idf = cls.__new__(cls)
        values = np.log((1.0 + n_documents) / (1.0 + documents[order])) + 1.0
        idf._settle([terms[k] for k in order], values)
        return idf

    @property
    def as_terms(self) -> Terms:
        """The words by number."""
        if self._terms is None:
            self._terms = Terms.of(self.terms)
        return self._terms

    def __reduce__(self) -> Any:
        return Idf, (dict(zip(self.terms, self.values.tolist(), strict=True)),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Idf) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f"Idf({len(self.terms)} words, {self._digest.hex()[:6]})"
