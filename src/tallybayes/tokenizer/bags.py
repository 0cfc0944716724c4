"""From documents to bags: for each document the numbers of its terms, and how often they occur.

There are two readers, in plain Python for few documents and for tokens made by a function, and a
compiled one. Both hand out bags in pieces, of which only one is there at a time.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array
from tallybayes.kernels.choice import is_large, load_text, text_is_loaded
from tallybayes.kernels.threads import over_rows
from tallybayes.tokenizer.documents import Documents, Letters
from tallybayes.tokenizer.terms import Terms, TermTable
from tallybayes.tokenizer.words import KEPT, Words, analyzer, word_pattern

Result = TypeVar("Result")

WORTH_LOADING = 4_000_000  # bytes of text that pay for loading the compiled reader
WORTH_CALLING = 200  # bytes, once it is loaded
BYTES_IN_A_PIECE = 1_000_000
BYTES_OF_A_TERM = 4  # to read so many takes as long as to put a term into a table
UTF8_LENGTHS = 0x80, 0x800, 0x10000  # from which on characters have one more byte


@dataclass(frozen=True, slots=True)
class Bags:
    """Bags of terms as compressed sparse rows."""

    indptr: Array
    indices: Array
    data: Array

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def owners(self) -> NDArray[np.int64]:
        """The document of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def weighted(self, words: Words) -> Self:
        """Return the bags with what each word counts: its times, or what `words` makes of them."""
        if not words.reweighted:
            return self
        data = self.data.astype(np.float64)
        if words.tf == "log":
            data = np.log1p(data)
        if words.idf is not None:
            data *= words.idf.values[self.indices]
        if words.norm == "l2":
            norms = np.sqrt(np.bincount(self.owners, data * data, len(self)))
            data /= np.where(norms > 0.0, norms, 1.0)[self.owners]
        return replace(self, data=data)


class BagReader(ABC):
    """Reads documents in pieces.

    Parameters
    ----------
    documents, words
        What is read, and what terms are.
    known
        Terms that have numbers, others being left out; or None to learn all terms.
    """

    def __init__(self, documents: Documents, words: Words, known: Terms | None) -> None:
        self._documents, self._words, self._known = documents, words, known

    def pieces(self, rows: Array, bounds: Array | None = None) -> Iterator[tuple[slice, Bags]]:
        """Read the documents of these rows, in this order; a piece ends at each of the bounds.

        The memory of the bags is used again for the next piece.
        """
        ends = np.cumsum(self._documents.sizes[rows] + 1)
        bounds = np.array([len(rows)]) if bounds is None else bounds
        start = before = 0
        while start < len(rows):
            stop = int(np.searchsorted(ends, before + BYTES_IN_A_PIECE, side="right"))
            bound = int(bounds[np.searchsorted(bounds, start, side="right")])
            stop = min(max(stop, start + 1), bound)
            yield slice(start, stop), self._read(rows[start:stop])
            start, before = stop, ends[stop - 1]

    @property
    def terms(self) -> Terms:
        """The terms that have numbers by now; nothing may be read afterwards."""
        return self._learnt() if self._known is None else self._known

    @abstractmethod
    def _read(self, rows: Array) -> Bags:
        """Read the documents of some rows."""

    @abstractmethod
    def _learnt(self) -> Terms:
        """Return the terms that were learnt."""


class PlainReader(BagReader):
    """Reads documents with Python's own text functions."""

    def __init__(self, documents: Documents, words: Words, known: Terms | None) -> None:
        super().__init__(documents, words, known)
        self._texts, self._terms_of = documents.strings(), analyzer(words)
        self._number_of = {} if known is None else known.number_of

    def _read(self, rows: Array) -> Bags:
        bags = [Counter(self._numbers(self._texts[row])) for row in rows.tolist()]
        indptr = np.cumsum([0, *map(len, bags)])
        indices = np.fromiter(chain.from_iterable(bags), np.int32, indptr[-1])
        data = np.fromiter(chain.from_iterable(map(Counter.values, bags)), np.int32, indptr[-1])
        return Bags(indptr, indices, data)

    def _numbers(self, text: str) -> list[int]:
        terms, number_of = self._terms_of(text), self._number_of
        if self._known is None:
            return [number_of.setdefault(term, len(number_of)) for term in terms]
        n = len(self._known)
        return [number for term in terms if (number := number_of.get(term, n)) < n]

    def _learnt(self) -> Terms:
        return Terms.of_numbers(self._number_of)


class CompiledReader(BagReader):
    """Reads documents as bytes, with the compiled kernels."""

    def __init__(self, documents: Documents, words: Words, known: Terms | None) -> None:
        super().__init__(documents, words, known)
        self._kernels = load_text()
        cuts = {"whitespace": self._kernels.BLANKS, "characters": self._kernels.CHARACTERS}
        cut = cuts.get(str(words.tokens), self._kernels.WORDS)
        self._rules = cut, words.least, *words.ngrams, _stop_slots(words.stop_tokens)
        self._spelling = _NO_SPELLING
        self._table = TermTable(512, 65_536) if known is None else known.table
        self._place = np.zeros(len(self._table.edges), np.int32)
        self._indices = self._data = np.empty(0, np.int32)
        self._longest = -1  # bytes of a document that there is room for

    def _learnt(self) -> Terms:
        return Terms.of_table(self._table)

    def _read(self, rows: Array) -> Bags:
        text, to_lower = self._spelled(self._documents.letters(rows))
        self._make_room(text.ends - text.starts)
        n, done, indptr = len(rows), 0, np.zeros(len(rows) + 1, np.int64)
        while done < n:
            done = self._kernels.bags(
                *text, to_lower, done, *self._rules, self._spelling,
                self._table.arrays, self._known is None,
                *self._buffers, self._place, indptr, self._indices, self._data,
            )  # fmt: skip
            if done < n:
                slots, letters = len(self._table.slots), len(self._table.letters)
                self._table = self._table.grown(slots, 2 * letters)
                self._place = np.zeros(len(self._table.edges), np.int32)
        return Bags(indptr, self._indices[: indptr[-1]], self._data[: indptr[-1]])

    def _spelled(self, text: Letters) -> tuple[Letters, Array]:
        """Return documents as the kernels can read them, and what to add to their capitals."""
        words, n = self._words, len(text.starts)
        to_lower = np.full(n, 32 if words.lowercase else 0, np.uint8)
        odd = self._kernels.odd(*text, _NO_SPELLING, np.zeros(n, bool))
        if odd.any():  # beyond ASCII
            self._spelling = spelling(str(words.tokens), words.lowercase)
            odd = self._kernels.odd(*text, self._spelling, np.zeros(n, bool))
        if odd.any():
            text = text.spelled(odd, words.spelled)
            to_lower[odd] = 0
        return text, to_lower

    def _make_room(self, sizes: Array) -> None:
        """Make room for documents of so many bytes, and for their bags."""
        longest, (least, most) = int(sizes.max(initial=0)), self._words.ngrams
        if longest > self._longest:
            self._longest = longest
            self._buffers = (
                np.empty((3, 2 * self._longest + 64), np.uint8),
                np.empty(2 * self._longest + 64, np.int64),
                np.empty((3, self._kernels.BATCH), np.uint64),
                np.empty(self._kernels.BATCH, np.int32),
            )
        entries = (most - least + 1) * int(sizes.sum())
        if entries > len(self._indices):
            self._indices, self._data = np.empty((2, entries), np.int32)


_NO_SPELLING = np.zeros(0, np.int32)  # all characters beyond ASCII are odd


@cache
def spelling(tokens: str, lowercase: bool) -> NDArray[np.int32]:
    """Return twice the lower case of each code point, plus 1 if it belongs to tokens.

    The lower case is 0 if Python has to find it: that of a capital sigma depends on where it
    stands, and some have not as many bytes in UTF-8.
    """
    codes = np.arange(sys.maxunicode + 1, dtype=np.uint32)
    text = codes.tobytes().decode("utf-32-le", "surrogatepass")
    words = tokens in ("words", "unicode")
    pattern = word_pattern(tokens == "unicode") if words else r"\S"
    belongs = np.zeros(len(codes), bool)
    for run in re.finditer(f"{pattern}+", text):
        belongs[run.start() : run.end()] = True
    lower = codes
    if lowercase:
        one_by_one = text.replace("\u03a3", "0").replace("\u0130", "0").lower()
        lower = np.frombuffer(one_by_one.encode("utf-32-le", "surrogatepass"), np.uint32)
    n_bytes, after = (np.searchsorted(UTF8_LENGTHS, each, "right") for each in (codes, lower))
    return (np.where(n_bytes == after, lower, 0) << 1 | belongs).astype(np.int32)


@lru_cache(KEPT)
def _stop_slots(stop: frozenset[str]) -> NDArray[np.uint64]:
    """Return the slots in which the compiled kernels look stop words up."""
    return Terms.of(stop).table.slots if stop else np.zeros((0, 4), np.uint64)


class Reading:
    """Documents that are about to be read, in the way that suits how many there are.

    `known` is as for the readers; weights of words settle it before counting.
    """

    def __init__(self, documents: Documents, words: Words, known: Terms | None = None) -> None:
        if known is None and words.idf is not None:
            known = words.idf.terms
        self.learns, self.n_bytes = known is None, int(documents.sizes.sum())
        worth = WORTH_CALLING if text_is_loaded() or is_large() else WORTH_LOADING
        if known is not None and "table" not in vars(known):
            worth = max(worth, BYTES_OF_A_TERM * len(known))
        self.compiled = self.n_bytes >= worth and not callable(words.tokens)
        self.compiled = self.compiled and load_text(self.n_bytes) is not None
        if self.compiled and known is not None:
            known.table  # noqa: B018 (made once, before threads ask for it)
        self._sizes, self._read = documents.sizes, (documents, words, known)

    def reader(self) -> BagReader:
        """Return a reader of these documents: one for each thread."""
        return (CompiledReader if self.compiled else PlainReader)(*self._read)

    def shared(self, work: Callable[[slice], Result], rows: Array | None = None) -> list[Result]:
        """Call `work` on shares of the documents, or of some rows, on the threads that pay."""
        sizes = self._sizes if rows is None else self._sizes[rows]
        if not self.compiled:
            return [work(slice(0, len(sizes)))]
        return over_rows(work, len(sizes), int(sizes.sum()), sizes)


@dataclass(frozen=True, slots=True)
class Bagged(Bags):
    """Documents read once, for as many uses as one likes.

    `missing` marks the documents that are not there, None if all are.
    """

    terms: Terms
    missing: NDArray[np.bool_] | None

    @classmethod
    def of(cls, documents: Documents, words: Words) -> Bagged:
        """Read all documents."""
        reading = Reading(documents, words)

        def work(rows: slice) -> tuple[list[Any], Terms]:
            reader = reading.reader()
            pieces = [
                (np.diff(bags.indptr), bags.indices.copy(), bags.data.copy())
                for _, bags in reader.pieces(np.arange(rows.start, rows.stop))
            ]
            return pieces, reader.terms

        (pieces, terms), *others = reading.shared(work)
        for found, more in others:
            if reading.learns:
                terms, numbers = terms.plus(more)
                found = [(sizes, numbers[at], times) for sizes, at, times in found]
            pieces += found
        nothing = [np.zeros(0, kind) for kind in (np.int64, np.int32, np.int32)]
        sizes, indices, data = map(np.concatenate, zip(nothing, *pieces, strict=True))
        return cls(np.append(0, np.cumsum(sizes)), indices, data, terms, documents.missing)

    def pieces(self, rows: Array, bounds: Array) -> Iterator[tuple[slice, Bags]]:
        """Go through the documents of these rows; a piece ends at each of the bounds."""
        for first, last in pairwise(np.unique([0, *bounds]).tolist()):
            yield slice(first, last), self.take(rows[first:last])

    def known_from(self, rows: NDArray[np.bool_]) -> Bagged:
        """Return the documents with only the terms that some of them have: those marked."""
        if rows.all():
            return self
        return self.renumbered(self.terms.select(np.unique(self.indices[rows[self.owners]])))

    def take(self, rows: Array) -> Bagged:
        """Return some of the documents."""
        sizes = np.diff(self.indptr)[rows]
        indptr = np.append(0, np.cumsum(sizes))
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)
        missing = None if self.missing is None else self.missing[rows]
        return Bagged(indptr, self.indices[places], self.data[places], self.terms, missing)

    def renumbered(self, terms: Terms) -> Bagged:
        """Return the documents with the numbers that terms have among others, and only those."""
        numbers = terms.numbers_of(self.terms)[self.indices]
        kept = numbers >= 0
        indptr = np.append(0, np.cumsum(kept))[self.indptr]
        indices = numbers[kept].astype(np.int32)
        return Bagged(indptr, indices, self.data[kept], terms, self.missing)
