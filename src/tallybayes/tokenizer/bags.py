"""From documents to bags: for each document the numbers of its terms, and how often they occur.

There are two readers, in plain Python for few documents and for tokens made by a function, and a
compiled one. Both hand out bags in pieces, of which only one is there at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.choice import load_text, text_is_loaded
from tallybayes.kernels.plain_text import murmur
from tallybayes.tokenizer.documents import Documents, Memory
from tallybayes.tokenizer.terms import Buckets, Terms, empty_table, from_table
from tallybayes.tokenizer.words import KEPT, Words, analyzer, in_utf8, stop_tokens

Array = NDArray[Any]
Known = Terms | Buckets | None

WORTH_LOADING = 4_000_000  # bytes of text that pay for loading the compiled reader
WORTH_CALLING = 200  # bytes, once it is loaded
BYTES_IN_A_PIECE = 1_000_000
ENTRIES_IN_A_PIECE = 250_000  # to begin with
MOST_ENTRIES = 2**30  # that are told apart by 32 bits
MOST_REMEMBERED = 100_000  # terms whose buckets a plain reader need not work out again


class Bags(NamedTuple):
    """The bags of some documents in a row as compressed sparse rows, and their lengths in terms.

    The memory is used again for the next piece.
    """

    rows: slice
    indptr: Array
    indices: Array
    data: Array
    lengths: Array


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
        self._number_of: dict[str, int] = known.number_of if isinstance(known, Terms) else {}

    @property
    def n_terms(self) -> int:
        """How many terms have numbers by now."""
        return self._known.n if isinstance(self._known, Buckets) else len(self._number_of)

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
            for term in set(terms) - number_of.keys():
                hashed = murmur(term.encode())
                number_of[term] = min(hashed, 2**32 - hashed) % known.n
        return [number_of[term] for term in terms if term in number_of]


class CompiledReader:
    """Reads documents where they are in memory, with the compiled kernels."""

    def __init__(self, words: Words, known: Known) -> None:
        self._words, self._known = words, known
        self._kernels = load_text()
        self._rules = self._rules_with(unicode=words.tokens == "characters")
        self._stop = _stop_table(stop_tokens(words))
        self._table = known.table if isinstance(known, Terms) else empty_table(0, 65_536)
        self._indices = np.empty(ENTRIES_IN_A_PIECE, np.int32)
        self._data = np.empty(ENTRIES_IN_A_PIECE, np.int32)
        self.longest = 0
        self._room: Any = None
        self._entries = 1  # written so far, plus one

    @property
    def n_terms(self) -> int:
        """How many terms have numbers by now."""
        return self._known.n if isinstance(self._known, Buckets) else int(self._table.size[0])

    @property
    def terms(self) -> Terms | Buckets:
        """The terms that have numbers by now; nothing may be read afterwards."""
        return from_table(self._table) if self._known is None else self._known

    def _rules_with(self, unicode: bool) -> Any:
        """Return the rules for the kernels, with or without the tables of Unicode."""
        words = self._words
        assert isinstance(words.tokens, str)
        kinds = np.uint32, np.uint16, np.int32, np.uint8, np.int64
        tables: Any = [np.zeros(0, kind) for kind in kinds]
        self._growth = 1
        if unicode:
            from tallybayes.tokenizer.spelling import spelling

            found = spelling(words.tokens, words.lowercase, words.strip_accents)
            tables, self._growth = found[:5], found.growth
        from tallybayes.kernels.compiled_tokens import Rules

        made: Any = Rules
        return made(
            np.uint8(32 if words.lowercase else 0),
            words.tokens in ("words", "unicode"),
            *tables,
            words.tokens == "characters",
            words.least,
            *words.ngrams,
        )

    def _new_room(self) -> Any:
        """Return buffers for the longest of the documents."""
        size = self.longest * self._growth + 64
        piece = self._kernels.PIECE
        places = self._known.n if isinstance(self._known, Buckets) else len(self._table.edges)
        inside = np.empty(size, np.uint8)
        inside[0] = 0
        return self._kernels.Room(
            np.empty(size, np.uint8),
            np.empty(2 * size, np.uint8),
            inside,
            np.empty(size, np.uint8),
            np.empty(2 * size, np.int64),
            np.empty(piece, np.uint64),
            np.empty(piece, np.uint64),
            np.empty(piece, np.uint64),
            np.empty(piece, np.int32),
            np.zeros(places, np.int32),
            np.zeros(4, np.int64),
        )

    def pieces(
        self, documents: Documents, rows: Array, bounds: Array | None = None
    ) -> Iterator[Bags]:
        """Read the documents of these rows, in this order; a piece ends at each of the bounds."""
        for here in _pieces(documents.sizes[rows], bounds):
            memory = documents.memory(rows[here])
            longest = int(memory.size.max(initial=0))
            if self._room is None or longest > self.longest or self._entries > MOST_ENTRIES:
                self.longest = max(longest, min(2 * self.longest, BYTES_IN_A_PIECE))
                self._room = self._new_room()
                self._entries = 1
            n = here.stop - here.start
            indptr, lengths = np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
            done = self._read(memory, 0, indptr, lengths)
            while done < n:
                self._make_room(int(indptr[done]))
                done = self._read(memory, done, indptr, lengths)
            self._entries += int(indptr[-1])
            yield Bags(here, indptr, self._indices, self._data, lengths)

    def _read(self, memory: Memory, done: int, indptr: Array, lengths: Array) -> int:
        """Read on from a document; return how many are done, fewer than all if room is lacking."""
        known = self._known
        read: int = self._kernels.bags(
            memory.address,
            memory.size,
            done,
            self._entries,
            self._rules,
            self._stop,
            self._table,
            known.n if isinstance(known, Buckets) else 0,
            known is None,
            self._room,
            indptr,
            lengths,
            self._indices,
            self._data,
        )
        return read

    def _make_room(self, used: int) -> None:
        """Make room for what was lacking; `used` entries of this piece are there already."""
        terms, letters, entries, unicode = self._room.need.tolist()
        table = self._table
        if unicode:
            self._rules = self._rules_with(unicode=True)
        if self._known is None:
            more_slots = 2 * terms > len(table.slots)
            if more_slots or letters > len(table.letters):
                slots = 2 * terms if more_slots else len(table.slots)
                self._table = empty_table(slots, max(letters * 3 // 2, len(table.letters)), table)
        if entries > len(self._indices):
            for name in ("_indices", "_data"):
                wider = np.empty(2 * entries, np.int32)
                wider[:used] = getattr(self, name)[:used]
                setattr(self, name, wider)
        self._room = self._new_room()


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


Reader = PlainReader | CompiledReader


def expect_text(n_bytes: int) -> None:
    """Prepare for so many bytes in all, even if they arrive in small batches."""
    if n_bytes >= WORTH_LOADING:
        load_text()


class Reading:
    """Documents that are about to be read, in the way that suits how many there are."""

    def __init__(self, documents: Documents, words: Words) -> None:
        self.words, self.sizes = words, documents.sizes
        self.n_bytes = int(self.sizes.sum())
        worth = WORTH_CALLING if text_is_loaded() else WORTH_LOADING
        self.compiled = self.n_bytes >= worth and not callable(words.tokens)
        self.compiled = self.compiled and load_text() is not None
        self._documents: Any = documents if self.compiled else documents.strings()

    def reader(self, known: Known) -> Reader:
        """Return a reader that suits these documents: one for each thread."""
        return (CompiledReader if self.compiled else PlainReader)(self.words, known)

    def bags(self, reader: Reader, rows: Array, bounds: Array | None = None) -> Iterator[Bags]:
        """Read the documents of these rows, in this order; a piece ends at each of the bounds."""
        return reader.pieces(self._documents, rows, bounds)


@lru_cache(KEPT)
def _stop_table(stop: frozenset[str]) -> Any:
    """Return the stop words in a table that the compiled kernels look them up in."""
    return Terms.of(stop).table
