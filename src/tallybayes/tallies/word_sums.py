"""The sums of words over the documents of a class, while they are being counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels import plain_text
from tallybayes.kernels.choice import load_text
from tallybayes.tokenizer import Bags, Buckets, Terms, Words

Array = NDArray[Any]
Floats = NDArray[np.float64]


def weighted(bags: Bags, words: Words) -> Bags:
    """Return the bags with what each word counts: its times, or what `words` makes of them."""
    if not words.reweighted:
        return bags
    stored = slice(0, int(bags.indptr[-1]))
    indices = bags.indices[stored]
    data = bags.data[stored].astype(np.float64)
    if words.tf == "log":
        data = np.log1p(data)
    if words.idf is not None:
        data *= words.idf.values[indices]
    if words.norm == "l2":
        owner = np.repeat(np.arange(len(bags.lengths)), np.diff(bags.indptr))
        norms = np.sqrt(np.bincount(owner, weights=data * data, minlength=len(bags.lengths)))
        data /= np.where(norms > 0.0, norms, 1.0)[owner]
    return bags._replace(indices=indices, data=data)


def fixed_terms(words: Words) -> Terms | Buckets | None:
    """Return the terms that are settled before counting, if they are."""
    if words.buckets is not None:
        return Buckets(words.buckets)
    return None if words.idf is None else words.idf.as_terms


class WordSums:
    """The three sums of each word, for one class at a time."""

    def __init__(self, compiled: bool) -> None:
        self._loops = load_text() if compiled else plain_text
        self._sums = np.zeros((0, 3))
        self._touched = np.zeros(0, np.int32)
        self._n = 0

    def make_room(self, n_terms: int) -> None:
        """Grow with the number of terms."""
        if n_terms > len(self._sums):
            room = n_terms * 3 // 2
            sums, touched = np.zeros((room, 3)), np.empty(room, np.int32)
            sums[: len(self._sums)] = self._sums
            touched[: self._n] = self._touched[: self._n]
            self._sums, self._touched = sums, touched

    def add_bags(self, bags: Bags, w: Array | None) -> None:
        """Add the bags of documents."""
        loop = self._loops.add_bags
        parts = bags.indptr, bags.indices, bags.data
        self._n = loop(*parts, w, self._sums, self._touched, self._n)

    def add(self, indices: Array, sums: Floats) -> None:
        """Add what was already added up."""
        loop = self._loops.add_sums
        self._n = loop(indices, sums, self._sums, self._touched, self._n)

    def take_out(self) -> tuple[Array, Floats]:
        """Return the words of the class and their sums, and begin another class."""
        indices = self._touched[: self._n].copy()
        sums = np.empty((self._n, 3))
        self._loops.take_out(indices, self._sums, sums)
        self._n = 0
        return indices, sums
