"""Documents read once: their bags, kept for as many uses as one likes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.threads import over_rows
from tallybayes.tokenizer.bags import Bags, Reading
from tallybayes.tokenizer.documents import Documents
from tallybayes.tokenizer.terms import Buckets, Terms
from tallybayes.tokenizer.words import Words

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Bagged:
    """The terms of documents as compressed sparse rows, with their lengths.

    `missing` marks the documents that are not there, None if all are.
    """

    terms: Terms | Buckets
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: Array
    lengths: NDArray[np.int64]
    missing: NDArray[np.bool_] | None

    @classmethod
    def of(cls, documents: Documents, words: Words) -> Bagged:
        """Read all documents."""
        reading = Reading(documents, words)
        known: Terms | Buckets | None = None
        if words.buckets is not None:
            known = Buckets(words.buckets)
        elif words.idf is not None:
            known = words.idf.as_terms

        def work(rows: slice) -> tuple[Any, list[Bags]]:
            reader = reading.reader(known)
            found = []
            for bags in reading.bags(reader, np.arange(rows.start, rows.stop)):
                stored = slice(0, int(bags.indptr[-1]))  # the memory is used again
                indices, data = bags.indices[stored].copy(), bags.data[stored].copy()
                found.append(bags._replace(indices=indices, data=data))
            return reader.terms, found

        if reading.compiled:
            parts = over_rows(work, len(documents), reading.n_bytes, reading.sizes)
        else:
            parts = [work(slice(0, len(documents)))]
        terms, _ = parts[0]
        pieces = list(parts[0][1])
        for more, found in parts[1:]:
            numbers: Array | None = None
            if known is None:
                terms, numbers = terms.plus(more)
            for bags in found:
                indices = bags.indices if numbers is None else numbers[bags.indices]
                pieces.append(bags._replace(indices=indices.astype(np.int32, copy=False)))
        sizes = [np.zeros(1, np.int64), *(np.diff(bags.indptr) for bags in pieces)]
        return cls(
            terms,
            np.cumsum(np.concatenate(sizes)),
            _joined([bags.indices for bags in pieces], np.int32),
            _joined([bags.data for bags in pieces], np.int32),
            _joined([bags.lengths for bags in pieces], np.int64),
            documents.missing,
        )

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The document of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def numbers_of(self, rows: NDArray[np.bool_]) -> Array:
        """Return new numbers for the terms that some documents have: -1 for all others."""
        used = np.zeros(len(self.terms), bool)
        used[self.indices if rows.all() else self.indices[rows[self.owners]]] = True
        return np.where(used, np.cumsum(used) - 1, -1)

    def known_from(self, rows: NDArray[np.bool_]) -> Bagged:
        """Return the documents with only the terms that some of them have: those marked."""
        if isinstance(self.terms, Buckets) or rows.all():
            return self
        number_of = self.numbers_of(rows)
        if (number_of >= 0).all():
            return self
        return self.renumbered(self.terms.take(np.flatnonzero(number_of >= 0)), number_of)

    def take(self, rows: Array) -> Bagged:
        """Return some of the documents."""
        sizes = np.diff(self.indptr)[rows]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)
        missing = None if self.missing is None else self.missing[rows]
        parts = self.indices[places], self.data[places], self.lengths[rows]
        return Bagged(self.terms, indptr, *parts, missing)

    def renumbered(self, terms: Terms | Buckets, number_of: Array) -> Bagged:
        """Return the documents with other numbers for their terms; -1 leaves a term out."""
        numbers = number_of[self.indices]
        kept = numbers >= 0
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        indices = numbers[kept].astype(np.int32)
        return Bagged(
            terms, ends[self.indptr], indices, self.data[kept], self.lengths, self.missing
        )

    def as_bags(self) -> Bags:
        """Return all documents as one piece."""
        return Bags(slice(0, len(self)), self.indptr, self.indices, self.data, self.lengths)


def _joined(parts: list[Array], dtype: Any) -> Array:
    return np.concatenate([np.zeros(0, dtype), *parts])
