"""From documents to bags: for each document the numbers of its terms, and how often they occur.

There are two readers, in plain Python for few documents and for tokens made by a function, and a
compiled one. Both hand out bags in pieces, of which only one is there at a time.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.choice import load_text, prepare_text, text_is_loaded
from tallybayes.kernels.threads import over_rows
from tallybayes.tokenizer.documents import Documents, Letters
from tallybayes.tokenizer.terms import Buckets, Terms, Vocabulary
from tallybayes.tokenizer.words import (
    KEPT,
    Words,
    analyzer,
    in_utf8,
    speller,
    stop_tokens,
    word_pattern,
)

Array = NDArray[Any]
Known = Terms | Buckets | None

WORTH_LOADING = 4_000_000  # bytes of text that pay for loading the compiled reader
WORTH_CALLING = 200  # bytes, once it is loaded
BYTES_IN_A_PIECE = 1_000_000
ENTRIES_IN_A_PIECE = 250_000  # to begin with
MOST_ENTRIES = 2**30  # that are told apart by 32 bits
MOST_REMEMBERED = 100_000  # terms whose buckets a reader need not work out again


class Bags(NamedTuple):
    """The bags of some documents in a row as compressed sparse rows, and their lengths in terms.

    The memory is used again for the next piece.
    """

    rows: slice
    indptr: Array
    indices: Array
    data: Array
    lengths: Array

    def weighted(self, words: Words) -> Bags:
        """Return the bags with what each word counts: its times, or what `words` makes of them."""
        if not words.reweighted:
            return self
        stored = slice(0, int(self.indptr[-1]))
        indices = self.indices[stored]
        data = self.data[stored].astype(np.float64)
        if words.tf == "log":
            data = np.log1p(data)
        if words.idf is not None:
            data *= words.idf.values[indices]
        if words.norm == "l2":
            owner = np.repeat(np.arange(len(self.lengths)), np.diff(self.indptr))
            norms = np.sqrt(np.bincount(owner, weights=data * data, minlength=len(self.lengths)))
            data /= np.where(norms > 0.0, norms, 1.0)[owner]
        return self._replace(indices=indices, data=data)


class PlainReader:
    """Reads documents with Python's own text functions.

    Parameters
    ----------
    words
        What terms are.
    known
        Terms that have numbers, others being left out; buckets; or None to learn all terms.
    """

    longest = 0  # bytes of a document for which there are buffers

    def __init__(self, words: Words, known: Known) -> None:
        self._known = known
        self._terms_of = analyzer(words)
        self._foreign = callable(words.tokens)
        self._number_of: dict[str, int] = {}
        if isinstance(known, Terms):
            self._number_of = known.vocabulary.known(known.n)

    @property
    def n_terms(self) -> int:
        """How many terms have numbers by now."""
        return len(self._number_of) if self._known is None else len(self._known)

    @property
    def terms(self) -> Terms | Buckets:
        """The terms that have numbers by now."""
        return Terms.of(self._number_of) if self._known is None else self._known

    def pieces(self, texts: list[str], rows: Array, bounds: Array | None = None) -> Iterator[Bags]:
        """Read the documents of these rows, in this order; a piece ends at each of the bounds."""
        sizes = np.array([len(texts[row]) for row in rows.tolist()], np.int64)
        for here in _pieces(sizes, bounds):
            indptr: list[int] = [0]
            indices: list[int] = []
            data: list[int] = []
            for row in rows[here].tolist():
                bag = Counter(self._numbers(self._terms_of(texts[row])))
                indices += bag
                data += bag.values()
                indptr.append(len(indices))
            pointers, counts = np.array(indptr, np.int64), np.array(data, np.int32)
            total = np.concatenate([[0], np.cumsum(counts)])
            lengths = total[pointers[1:]] - total[pointers[:-1]]
            yield Bags(here, pointers, np.array(indices, np.int32), counts, lengths)

    def _numbers(self, terms: list[str]) -> list[int]:
        if self._foreign:
            terms = [in_utf8(term) for term in terms]
        known, number_of = self._known, self._number_of
        if known is None:
            return [number_of.setdefault(term, len(number_of)) for term in terms]
        if isinstance(known, Buckets):
            if len(number_of) > MOST_REMEMBERED:
                number_of.clear()
            new = list(set(terms) - number_of.keys())
            number_of.update(zip(new, known.numbers_of(Terms.of(new)).tolist(), strict=True))
        n = len(known)
        return [number for term in terms if (number := number_of.get(term, n)) < n]


class CompiledReader:
    """Reads documents as bytes, with the compiled kernels."""

    def __init__(self, words: Words, known: Known) -> None:
        self._known, self._kernels = known, load_text()
        self._spelled = speller(words.lowercase, words.strip_accents)
        cuts = {"whitespace": self._kernels.BLANKS, "characters": self._kernels.CHARACTERS}
        cut = cuts.get(str(words.tokens), self._kernels.WORDS)
        self._tokens = str(words.tokens)
        to_lower = np.uint8(32 if words.lowercase else 0)
        self._rules = cut, to_lower, words.least, *words.ngrams
        self._stop = _stop_terms(stop_tokens(words)).table[:4]
        self._vocabulary = known.vocabulary if isinstance(known, Terms) else _new_vocabulary()
        self._table = self._vocabulary.table(known.n if isinstance(known, Terms) else 0)
        self._bucket_of = np.zeros(0, np.int32)
        self._indices = np.empty(ENTRIES_IN_A_PIECE, np.int32)
        self._data = np.empty(ENTRIES_IN_A_PIECE, np.int32)
        self.longest = 0
        self._make_buffers(0)

    @property
    def n_terms(self) -> int:
        """How many terms have numbers by now."""
        return int(self._table[3][0]) if self._known is None else len(self._known)

    @property
    def terms(self) -> Terms | Buckets:
        """The terms that have numbers by now; nothing may be read afterwards."""
        return self._vocabulary.release(self.n_terms) if self._known is None else self._known

    def _make_buffers(self, longest: int) -> None:
        """Make room for documents of so many bytes, and for what was put where of each term."""
        self.longest = max(longest, min(2 * self.longest, BYTES_IN_A_PIECE))
        batch = self._kernels.BATCH
        self._buffers = (
            np.empty((4, 2 * self.longest + 64), np.uint8),
            np.empty(2 * self.longest + 64, np.int64),
            np.empty((3, batch), np.uint64),
            np.empty(batch, np.int32),
        )
        self._forget_places()

    def _forget_places(self) -> None:
        self._place = np.zeros(len(self._table[2]), np.int32)
        self._bins = np.zeros(self._known.n if isinstance(self._known, Buckets) else 0, np.int32)
        self._entries = 1  # written so far, plus one

    def pieces(
        self, documents: Documents, rows: Array, bounds: Array | None = None
    ) -> Iterator[Bags]:
        """Read the documents of these rows, in this order; a piece ends at each of the bounds."""
        for here in _pieces(documents.sizes[rows], bounds):
            text = documents.letters(rows[here], self._spelled)
            longest = int((text.ends - text.starts).max(initial=0))
            if longest > self.longest:
                self._make_buffers(longest)
            elif self._entries > MOST_ENTRIES:
                self._forget_places()
            n = here.stop - here.start
            indptr, lengths = np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
            done = self._read(text, 0, indptr, lengths)
            while done < n:
                done = self._read(text, done, indptr, lengths)
            written = int(indptr[-1])
            if isinstance(self._known, Buckets):
                self._fill_buckets(self._known, indptr)
            self._entries += written
            yield Bags(here, indptr, self._indices, self._data, lengths)

    def _read(self, text: Letters, done: int, indptr: Array, lengths: Array) -> int:
        """Read on from a document; return how many are done, having made room for the others."""
        known = self._known.n if isinstance(self._known, Terms) else self._kernels.LEARN
        unicode = not text.in_ascii.all()
        done, terms, letters, entries = self._kernels.bags(
            *text, done, self._entries,
            *self._rules, belonging(self._tokens) if unicode else _NO_TABLE,
            *self._stop, *self._table, known, *self._buffers, self._place,
            indptr, lengths, self._indices, self._data,
        )  # fmt: skip
        if terms:
            self._vocabulary.make_room(terms, letters)
            self._table = self._vocabulary.table(int(self._table[3][0]), terms)
            self._place = np.zeros(len(self._table[2]), np.int32)
        if entries > len(self._indices):
            used = int(indptr[done])
            for name in ("_indices", "_data"):
                wider = np.empty(2 * entries, np.int32)
                wider[:used] = getattr(self, name)[:used]
                setattr(self, name, wider)
        return done

    def _fill_buckets(self, known: Buckets, indptr: Array) -> None:
        """Turn the numbers of terms into those of buckets; some may hold several of a document."""
        n = int(self._table[3][0])
        new = known.numbers_of(Terms(self._vocabulary, n), len(self._bucket_of))
        self._bucket_of = np.append(self._bucket_of, new)
        self._kernels.merge(
            indptr, self._indices, self._data, self._bucket_of, self._bins, self._entries
        )
        if n > MOST_REMEMBERED:
            self._vocabulary, self._bucket_of = _new_vocabulary(), self._bucket_of[:0]
            self._table = self._vocabulary.table(0)
            self._place = np.zeros(len(self._table[2]), np.int32)


def _pieces(sizes: Array, bounds: Array | None) -> Iterator[slice]:
    """Cut rows into pieces of about so many bytes; a piece ends at each of the bounds."""
    ends = np.cumsum(sizes + 1)
    start = 0
    while start < len(sizes):
        before = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, before + BYTES_IN_A_PIECE, side="right"))
        stop = max(stop, start + 1)
        if bounds is not None:
            stop = min(stop, int(bounds[np.searchsorted(bounds, start, side="right")]))
        yield slice(start, stop)
        start = stop


_NO_TABLE = np.zeros(0, bool)


@cache
def belonging(tokens: str) -> NDArray[np.bool_]:
    """Mark the code points that belong to tokens, as the running Python has them."""
    words = tokens in ("words", "unicode")
    pattern = word_pattern(tokens == "unicode") if words else r"\S"
    codes = np.arange(sys.maxunicode + 1, dtype=np.uint32)
    kept = np.zeros(len(codes), bool)
    for run in re.finditer(f"{pattern}+", codes.tobytes().decode("utf-32-le", "surrogatepass")):
        kept[run.start() : run.end()] = True
    return kept


@lru_cache(KEPT)
def _stop_terms(stop: frozenset[str]) -> Terms:
    """Return the stop words, with a table that the compiled kernels look them up in."""
    return Terms.of(stop)


def _new_vocabulary() -> Vocabulary:
    """Return room for words, of which more is made when it is needed."""
    vocabulary = Vocabulary.with_room(512, 65_536)
    return vocabulary.claimed(0)


def fixed_terms(words: Words) -> Terms | Buckets | None:
    """Return the terms that are settled before counting, if they are."""
    if words.buckets is not None:
        return Buckets(words.buckets)
    return None if words.idf is None else words.idf.as_terms


def expect_text(n_bytes: int) -> None:
    """Prepare for so many bytes in all, even if they arrive in small batches."""
    if n_bytes >= WORTH_LOADING:
        prepare_text(n_bytes)


class Reading:
    """Documents that are about to be read, in the way that suits how many there are."""

    def __init__(self, documents: Documents, words: Words) -> None:
        self.words, self.sizes = words, documents.sizes
        self.n_bytes = int(self.sizes.sum())
        worth = WORTH_CALLING if text_is_loaded() else WORTH_LOADING
        self.compiled = self.n_bytes >= worth and not callable(words.tokens)
        self.compiled = self.compiled and prepare_text(self.n_bytes)
        self._documents: Any = documents if self.compiled else documents.strings()

    def reader(self, known: Known) -> PlainReader | CompiledReader:
        """Return a reader that suits these documents: one for each thread."""
        return (CompiledReader if self.compiled else PlainReader)(self.words, known)

    def bags(
        self, reader: PlainReader | CompiledReader, rows: Array, bounds: Array | None = None
    ) -> Iterator[Bags]:
        """Read the documents of these rows, in this order; a piece ends at each of the bounds."""
        return reader.pieces(self._documents, rows, bounds)


@dataclass(frozen=True, slots=True)
class Bagged:
    """Documents read once, for as many uses as one likes: compressed sparse rows of their terms.

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
        reading, known = Reading(documents, words), fixed_terms(words)

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
        terms, pieces = parts[0]
        for more, found in parts[1:]:
            if known is None:
                terms, numbers = terms.plus(more)
                found = [bags._replace(indices=numbers[bags.indices]) for bags in found]
            pieces += found
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

    def known_from(self, rows: NDArray[np.bool_]) -> Bagged:
        """Return the documents with only the terms that some of them have: those marked."""
        if isinstance(self.terms, Buckets) or rows.all():
            return self
        return self.renumbered(self.terms.select(np.unique(self.indices[rows[self.owners]])))

    def take(self, rows: Array) -> Bagged:
        """Return some of the documents."""
        sizes = np.diff(self.indptr)[rows]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)
        missing = None if self.missing is None else self.missing[rows]
        parts = self.indices[places], self.data[places], self.lengths[rows]
        return Bagged(self.terms, indptr, *parts, missing)

    def renumbered(self, terms: Terms) -> Bagged:
        """Return the documents with the numbers that terms have among others, and only those."""
        assert isinstance(self.terms, Terms)
        numbers = terms.numbers_of(self.terms)[self.indices]
        kept = numbers >= 0
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[self.indptr]
        parts = numbers[kept].astype(np.int32), self.data[kept], self.lengths
        return Bagged(terms, indptr, *parts, self.missing)

    def as_bags(self) -> Bags:
        """Return all documents as one piece."""
        return Bags(slice(0, len(self)), self.indptr, self.indices, self.data, self.lengths)


def _joined(parts: list[Array], dtype: Any) -> Array:
    return np.concatenate([np.zeros(0, dtype), *parts])
