"""The bytes form of word counts: their arrays, checked when they are read."""

from __future__ import annotations

from itertools import pairwise
from operator import lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.plain_text import SLACK
from tallybayes.tallies.container import Arrays, require
from tallybayes.tallies.words import DOCUMENTS, WEIGHT, WordCounts
from tallybayes.tokenizer import Buckets, Terms, Words

Array = NDArray[Any]
Integers = NDArray[np.int64]


def words_to_arrays(counts: WordCounts) -> dict[str, Array]:
    """Return the arrays that make up the block."""
    block = counts.sorted()
    names: dict[str, Array] = {}
    if isinstance(block.terms, Terms):
        names = {
            "letters": block.terms.letters[: block.terms.edges[-1]],
            "edges": block.terms.edges,
        }
    parts = {"rows": block.rows, "weight": block.weight, "lengths": block.lengths}
    places = {"indptr": block.indptr, "indices": block.indices.astype(np.int64)}
    return {**names, **parts, **places, "sums": block.sums}


def words_from(kind: Words, buckets: Any, arrays: Arrays, of_classes: Integers) -> WordCounts:
    """Build the block that `to_arrays` took apart; anything that cannot be one is an error."""
    n = len(of_classes)
    require(buckets == kind.buckets or buckets is None)
    terms: Terms | Buckets
    if buckets is None:
        letters, edges = arrays.take((None,), np.uint8), arrays.take((None,), np.int64)
        _check_words(letters, edges)
        terms = Terms(np.append(letters, np.zeros(SLACK, np.uint8)), edges)
        require(kind.buckets is None or not len(terms))
        require(kind.idf is None or set(terms.texts) <= set(kind.idf.terms))
    else:
        terms = Buckets(buckets)
    rows, weight = arrays.take((n, 1), np.int64), arrays.take((n, 1), np.float64)
    lengths, indptr = arrays.take((n, 2), np.float64), arrays.take((n + 1,), np.int64)
    indices, sums = arrays.take((None,), np.int64), arrays.take((None, 3), np.float64)
    require(bool((rows[:, 0] <= of_classes).all() and (rows >= 0).all() and (lengths >= 0.0).all()))
    require(bool(((rows > 0) == (weight > 0.0)).all() and (weight >= 0.0).all()))
    require(indptr[0] == 0 and indptr[-1] == len(indices) == len(sums))
    require(bool((np.diff(indptr) >= 0).all()))
    require(bool(((indices >= 0) & (indices < len(terms))).all() and (sums >= 0.0).all()))
    owner = np.repeat(np.arange(n), np.diff(indptr))
    inside = np.diff(owner) == 0
    require(bool((np.diff(indices)[inside] > 0).all()))
    documents = sums[:, DOCUMENTS]
    require(bool(((documents >= 1.0) & (documents <= rows[owner, 0])).all()))
    require(bool((documents == np.rint(documents)).all()))
    require(bool((sums[:, WEIGHT] <= weight[owner, 0] * (1.0 + 1e-9)).all()))
    if buckets is None:  # a word that nobody has would not be there
        counted = np.zeros(len(terms), bool)
        counted[indices] = True
        require(bool(counted.all()))
    return WordCounts(terms, rows, weight, lengths, indptr, indices.astype(np.int32), sums)


def _check_words(letters: Array, edges: Integers) -> None:
    """Refuse what are not distinct words in the order of the alphabet, in UTF-8."""
    require(len(edges) > 0 and edges[0] == 0 and edges[-1] == len(letters))
    require(bool((np.diff(edges) >= 0).all()))
    raw = letters.tobytes()
    raw.decode()  # all at once; then no word may begin within a character
    starts = letters[edges[:-1][edges[:-1] < len(letters)]]
    require(bool((starts & 0xC0 != 0x80).all()))
    words = [raw[a:b] for a, b in pairwise(edges.tolist())]
    require(all(map(lt, words, words[1:])))  # the order of UTF-8 is that of code points
