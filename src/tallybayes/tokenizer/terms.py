"""Terms: the words that were seen, each with a number; or buckets, for words without names.

Words stand in a vocabulary that is only ever added to. A tally that learns a document adds the new
words to the vocabulary of the tally before it, so that this costs the document and not the
vocabulary; each of the two has the first so many words of it. Only one can do so: whoever else adds
to the same words takes a copy of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.choice import load_text, text_is_loaded

Array = NDArray[Any]
Integers = NDArray[np.int64]

SLACK = 16  # bytes that may be read behind the last letter
FEWEST_SLOTS = 1024
WORTH_COMPILED = 2_000  # terms, once the compiled kernels are loaded
LONG = 64  # bytes; terms beyond are hashed one by one
_32 = 0xFFFFFFFF

# nobody outside can make words that fall into the same slots of a table
SECRET: NDArray[np.uint64] = np.frombuffer(os.urandom(16), np.uint64) | np.uint64(1)


class Vocabulary:
    """Distinct words in the order of arrival, as UTF-8 letters and edges between them, with room.

    There are two ways to find a word, made when they are first needed: a dictionary, and a table
    for the compiled kernels. Both may know more words than those who ask, but never other numbers.
    """

    def __init__(self, letters: NDArray[np.uint8], edges: Integers, n: int) -> None:
        self.letters, self.edges = letters, edges
        self.number_of: dict[str, int] = {}
        self._table: tuple[Array, Array] | None = None
        self._tip = [n]  # the number of words, unless somebody is adding some

    @classmethod
    def with_room(cls, terms: int, letters: int) -> Vocabulary:
        """Return a vocabulary without words."""
        return cls(np.empty(letters + SLACK, np.uint8), np.zeros(terms + 1, np.int64), 0)

    def claimed(self, n: int) -> Vocabulary:
        """Return a vocabulary of the first n words that the caller may add to: this, or a copy."""
        try:
            tip = self._tip.pop()  # nobody else gets it before it is released
        except IndexError:
            tip = None
        if tip == n:
            return self
        if tip is not None:
            self._tip.append(tip)
        end = int(self.edges[n])
        copy = Vocabulary(np.append(self.letters[:end], _NOTHING), self.edges[: n + 1].copy(), n)
        copy._tip.clear()
        return copy

    def release(self, n: int) -> Terms:
        """Return the words, of which there are n now; the next one may add to them."""
        self._tip.append(n)
        return Terms(self, n)

    def make_room(self, terms: int, letters: int) -> None:
        """Make room for so many words and letters in all."""
        many, long = terms >= len(self.edges), letters + SLACK > len(self.letters)
        if many:
            self.edges = _wider(self.edges, terms + 1)
        if long:
            self.letters = _wider(self.letters, letters + SLACK)
        if (many or long) and self._table is not None:
            # whoever reads with the buffers of before must not find what stands behind their end
            slots, size = self._table
            self._table = _slots(len(slots)), size.copy()
            self._table[0][:] = slots

    def known(self, n: int) -> dict[str, int]:
        """Return the numbers of words, of the first n at least."""
        number_of = self.number_of
        if len(number_of) < n:
            raw = self.letters[: self.edges[n]].tobytes()
            words = (raw[a:b].decode() for a, b in pairwise(self.edges[: n + 1].tolist()))
            self.number_of = number_of = {word: number for number, word in enumerate(words)}
        return number_of

    def table(self, n: int, terms: int = 0) -> tuple[Array, Array, Array, Array, Array]:
        """Return the table of the first n words, with slots for so many `terms`."""
        found = self._table  # others may replace it meanwhile
        if found is None or found[1][0] < n or len(found[0]) < 2 * terms:
            n_slots = FEWEST_SLOTS
            while n_slots < 2 * max(n, terms):
                n_slots *= 2
            table = _slots(n_slots), self.letters, self.edges, np.zeros(2, np.int64), SECRET
            _enter(self.letters, self.edges[: n + 1], table, True)
            self._table = found = table[0], table[3]
        slots, size = found
        return slots, self.letters, self.edges, size, SECRET

    def _by_table(self, n: int, words: int) -> bool:
        """Tell whether to look so many words up in the table: if it is there, or soon made."""
        table = self._table
        if table is not None and table[1][0] >= n:
            return True
        worth = text_is_loaded() and n + words >= WORTH_COMPILED
        return worth and len(self.number_of) < n

    def find(self, n: int, other: Terms) -> Array:
        """Return the numbers of words among the first n, -1 for those not there."""
        if self._by_table(n, len(other)):
            numbers = _enter(other.vocabulary.letters, other.edges, self.table(n), False)
        else:
            known = self.known(n).get
            numbers = np.array([known(word, -1) for word in other.texts], np.int32)
        return np.where(numbers < n, numbers, -1)

    def add(self, n: int, other: Terms) -> tuple[int, Array]:
        """Add words to the n that are there; return how many that makes, and their numbers."""
        if len(self.number_of) != n:  # made by somebody who has fewer words
            self.number_of = {}
        if self._table is not None and self._table[1][0] != n:
            self._table = None
        self.make_room(n + len(other), int(self.edges[n] + other.edges[-1]))
        if not self._by_table(n, len(other)):
            number_of = self.known(n)
            numbers = [number_of.setdefault(word, len(number_of)) for word in other.texts]
            new = other.select(np.flatnonzero(np.array(numbers, np.int64) >= n))
            start, end = int(self.edges[n]), n + 1 + len(new)
            self.letters[start : start + new.edges[-1]] = new.letters
            self.edges[n + 1 : end] = new.edges[1:] + start
            return n + len(new), np.array(numbers, np.int32)
        table = self.table(n, n + len(other))
        found = _enter(other.vocabulary.letters, other.edges, table, True)
        total = int(table[3][0])
        if self.number_of:
            for number, word in enumerate(Terms(self, total).words(n), n):
                self.number_of[word] = number
        return total, found


@dataclass(frozen=True, eq=False)
class Terms:
    """The first n words of a vocabulary.

    Their order is that of arrival and says nothing; `order` sorts them. Words that were selected
    from others remember these, and where they stood.
    """

    vocabulary: Vocabulary
    n: int
    origin: tuple[Terms, Array] | None = None

    @classmethod
    def of(cls, words: Iterable[str]) -> Terms:
        """Return words by number; they must be distinct."""
        encoded = [word.encode() for word in words]
        edges = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(each) for each in encoded], out=edges[1:])
        return cls.of_letters(np.frombuffer(b"".join(encoded), np.uint8), edges)

    @classmethod
    def of_letters(cls, letters: NDArray[np.uint8], edges: Integers) -> Terms:
        """Return words by number, of their letters in UTF-8 and the edges between them."""
        n = len(edges) - 1  # a copy of them: there may be more, and those given may be read-only
        return cls(Vocabulary(np.append(letters, _NOTHING), np.array(edges, np.int64), n), n)

    def __len__(self) -> int:
        return self.n

    @property
    def letters(self) -> NDArray[np.uint8]:
        """The letters of all words, in UTF-8."""
        return self.vocabulary.letters[: self.edges[-1]]

    @property
    def edges(self) -> Integers:
        """Where each word begins among the letters, and the end."""
        return self.vocabulary.edges[: self.n + 1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Terms):
            return NotImplemented
        return np.array_equal(self.edges, other.edges) and np.array_equal(
            self.letters, other.letters
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        """Leave out what is worked out from the rest."""
        return Terms.of_letters, (self.letters.copy(), self.edges.copy())

    def _encoded(self, start: int = 0) -> list[bytes]:
        raw = self.letters.tobytes()
        return [raw[a:b] for a, b in pairwise(self.edges[start:].tolist())]

    def words(self, start: int = 0) -> list[str]:
        """Return the words from a number on as text."""
        return [word.decode() for word in self._encoded(start)]

    @cached_property
    def texts(self) -> list[str]:
        """The words as text."""
        return self.words()

    @cached_property
    def order(self) -> Integers:
        """The numbers of the words in the order of the alphabet (of code points)."""
        words = self._encoded()
        return np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)

    @property
    def table(self) -> tuple[Array, Array, Array, Array, Array]:
        """The words in a table that the compiled kernels look them up in; it may have more."""
        return self.vocabulary.table(self.n)

    def number(self, word: str) -> int:
        """Return the number of a word, -1 if it is not there."""
        number = self.vocabulary.known(self.n).get(word, -1)
        return number if number < self.n else -1

    def numbers(self, words: Sequence[str]) -> Integers:
        """Return the number of each word, -1 for those that are not there."""
        known = self.vocabulary.known(self.n).get
        numbers = np.array([known(word, -1) for word in words], np.int64)
        return np.where(numbers < self.n, numbers, -1)

    def select(self, numbers: Array) -> Terms:
        """Return some of the words, with new numbers in the order given."""
        all_edges = self.edges
        starts, sizes = all_edges[numbers], all_edges[numbers + 1] - all_edges[numbers]
        edges = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(sizes, out=edges[1:])
        places = np.arange(edges[-1]) + np.repeat(starts - edges[:-1], sizes)
        some = Terms.of_letters(self.letters[places], edges)
        root, of_root = self._root
        origin = root, numbers if of_root is None else of_root[numbers]
        return Terms(some.vocabulary, some.n, origin)

    @property
    def _root(self) -> tuple[Terms, Array | None]:
        """The words that these were selected from in the end, and their numbers there."""
        return (self, None) if self.origin is None else self.origin

    def plus(self, other: Terms) -> tuple[Terms, Array]:
        """Return the words of both, those of `other` behind, and the numbers that those have."""
        if other.vocabulary is self.vocabulary:
            return (self if self.n >= other.n else other), np.arange(other.n, dtype=np.int32)
        vocabulary = self.vocabulary.claimed(self.n)
        total, numbers = vocabulary.add(self.n, other)
        return vocabulary.release(total), numbers

    def numbers_of(self, other: Terms) -> Array:
        """Return the numbers that the words of `other` have here, -1 for those not here."""
        numbers: Array
        asked, numbers = vars(self).get("_asked", (None, None))  # often about the same ones
        if asked is not other:
            (mine, of_mine), (theirs, of_theirs) = self._root, other._root
            if mine.vocabulary is theirs.vocabulary:
                here = np.full(max(mine.n, theirs.n), -1, np.int32)
                here[slice(self.n) if of_mine is None else of_mine] = np.arange(self.n)
                numbers = here[: other.n] if of_theirs is None else here[of_theirs]
            else:
                numbers = self.vocabulary.find(self.n, other)
            vars(self)["_asked"] = other, numbers
        return numbers


@dataclass(frozen=True, slots=True)
class Buckets:
    """Words without names: each falls into one of n buckets by its hash."""

    n: int

    def __len__(self) -> int:
        return self.n

    @property
    def texts(self) -> list[str]:
        """Names for the buckets."""
        return [f"#{number}" for number in range(self.n)]

    @property
    def order(self) -> Integers:
        """The numbers of the buckets."""
        return np.arange(self.n)

    def numbers_of(self, terms: Terms, start: int = 0) -> Array:
        """Return the bucket of each word, from a number on: as scikit-learn's HashingVectorizer."""
        hashed = murmur(terms.vocabulary.letters, terms.edges[start:])
        return (np.minimum(hashed, 2**32 - hashed) % self.n).astype(np.int32)


def murmur(letters: NDArray[np.uint8], edges: Integers) -> Integers:
    """Return the 32-bit MurmurHash3 of each term, with seed 0; bytes must follow the last one."""
    starts, sizes = edges[:-1], np.diff(edges)
    hashed = np.zeros(len(sizes), np.int64)
    rest = np.zeros(len(sizes), np.int64)
    for block in range(min(int(sizes.max(initial=0)), LONG) // 4 + 1):
        some = np.flatnonzero((sizes >= 4 * block) & (sizes <= LONG))
        bytes_ = letters[(starts[some] + 4 * block)[:, None] + np.arange(4)].astype(np.int64)
        left = sizes[some] - 4 * block
        part = (bytes_ * (np.arange(4) < left[:, None])) @ (1 << 8 * np.arange(4))
        hashed[some] = np.where(left >= 4, _stirred(hashed[some], part), hashed[some])
        rest[some] = np.where(left < 4, part, 0)
    for k in np.flatnonzero(sizes > LONG).tolist():
        raw = letters[starts[k] : starts[k] + sizes[k]].tobytes()
        h, end = 0, len(raw) - len(raw) % 4
        for part in np.frombuffer(raw[:end], "<u4").tolist():
            h = _stirred(h, part)
        hashed[k], rest[k] = h, int.from_bytes(raw[end:], "little")
    hashed ^= _scrambled(rest) ^ sizes
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _32
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _32
    return hashed ^ hashed >> 16


def _scrambled(part: Any) -> Any:
    part = part * 0xCC9E2D51 & _32
    return ((part << 15 | part >> 17) & _32) * 0x1B873593 & _32


def _stirred(h: Any, part: Any) -> Any:
    h = h ^ _scrambled(part)
    return ((h << 13 | h >> 19) & _32) * 5 + 0xE6546B64 & _32


_NOTHING = np.zeros(SLACK, np.uint8)


def _wider(array: Array, size: int) -> Array:
    """Return a copy with room for so many, and at least twice as many as before."""
    wide = np.empty(max(size, 2 * len(array)), array.dtype)
    wide[: len(array)] = array
    return wide


def _enter(letters: Array, edges: Integers, table: tuple[Any, ...], learn: bool) -> Array:
    """Return the numbers that terms have in a table, in which there is room for them; or -1."""
    kernels = load_text()
    numbers = np.empty(len(edges) - 1, np.int32)
    keys = np.empty((3, kernels.BATCH), np.uint64)
    kernels.enter_all(letters, np.repeat(edges, 2)[1:-1], keys, numbers, *table, learn)
    return numbers


def _slots(n: int) -> NDArray[np.uint64]:
    """Return empty slots none of which lies across two lines of the cache."""
    raw = np.zeros(n * 32 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n * 32].view(np.uint64).reshape(n, 4)
