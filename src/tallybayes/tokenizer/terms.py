"""Terms: the words that were seen, each with a number."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice, pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.choice import load_text, text_is_loaded

Array = NDArray[Any]
Integers = NDArray[np.int64]
Letters = NDArray[np.uint8]

SLACK = 16  # bytes that may be read behind the last letter
FEWEST_SLOTS = 1024
WORTH_COMPILED = 2_000  # terms, once the compiled kernels are loaded

# nobody outside can make words that fall into the same slots of a table
SECRET: NDArray[np.uint64] = np.frombuffer(os.urandom(16), np.uint64) | np.uint64(1)

_adding = Lock()


class TermTable:
    """Terms in the slots in which the compiled kernels look for them, with room for more."""

    def __init__(self, terms: int = 0, letters: int = 0) -> None:
        n_slots = FEWEST_SLOTS
        while n_slots < 2 * terms:
            n_slots *= 2
        raw = np.zeros(n_slots * 32 + 64, np.uint8)
        start = -raw.ctypes.data % 64  # so that no slot lies across two lines of the cache
        self.slots = raw[start : start + n_slots * 32].view(np.uint64).reshape(n_slots, 4)
        self.letters = np.empty(letters + SLACK, np.uint8)
        self.edges = np.zeros(n_slots // 2 + 1, np.int64)
        self.size = np.zeros(2, np.int64)  # terms, and letters

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What the kernels are handed."""
        return self.slots, SECRET, self.letters, self.edges, self.size

    def numbers(self, letters: Letters, edges: Integers, learn: bool) -> Array:
        """Return the numbers of terms: -1 for those not there, or there must be room for them."""
        kernels = load_text()
        numbers = np.empty(len(edges) - 1, np.int32)
        keys = np.empty((3, kernels.BATCH), np.uint64)
        text, places = np.append(letters, _NOTHING), np.repeat(edges, 2)[1:-1]
        kernels.enter_all(text, places, keys, numbers, self.arrays, learn)
        return numbers

    def grown(self, terms: int, letters: int) -> TermTable:
        """Return a copy with room for so many in all."""
        n, end = self.size.tolist()
        wider = TermTable(max(n, terms), max(end, letters))
        wider.numbers(self.letters[:end], self.edges[: n + 1], learn=True)
        return wider


class Terms:
    """Distinct words, whose numbers are their places in the order of arrival; `order` sorts them.

    There are two forms, either of which is made of the other when it is needed: letters in UTF-8
    with the edges between words, and a dictionary. The dictionary is only ever added to: words that
    join others are put behind them, so that learning a document costs the document and not the
    vocabulary; each `Terms` has the first `n`. Words selected from others remember these.
    """

    def __init__(self, n: int, *, origin: tuple[Terms, Array] | None = None, **forms: Any) -> None:
        self.n, self._origin = n, origin
        vars(self).update(forms)

    @classmethod
    def of(cls, words: Iterable[str]) -> Terms:
        """Return words by number; they must be distinct."""
        return cls.of_numbers({word: number for number, word in enumerate(words)})

    @classmethod
    def of_numbers(cls, number_of: dict[str, int]) -> Terms:
        """Return words that have numbers, in the order of these, and may get more."""
        return cls(len(number_of), number_of=number_of)

    @classmethod
    def of_letters(cls, letters: Letters, edges: Integers) -> Terms:
        """Return words by number, of their letters in UTF-8 and the edges between them."""
        return cls(len(edges) - 1, _in_utf8=(letters, edges))

    @classmethod
    def of_table(cls, table: TermTable) -> Terms:
        """Return the words of a table, which nobody adds to any more."""
        n, end = table.size.tolist()
        return cls(n, table=table, _in_utf8=(table.letters[:end], table.edges[: n + 1]))

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The number of each word, and perhaps of others that have greater ones."""
        raw = self.letters.tobytes()
        words = (raw[a:b].decode() for a, b in pairwise(self.edges.tolist()))
        return {word: number for number, word in enumerate(words)}

    @cached_property
    def _in_utf8(self) -> tuple[Letters, Integers]:
        encoded = [word.encode() for word in self.texts]
        edges = np.zeros(self.n + 1, np.int64)
        np.cumsum([len(word) for word in encoded], out=edges[1:])
        return np.frombuffer(b"".join(encoded), np.uint8), edges

    @cached_property
    def table(self) -> TermTable:
        """The words as the compiled kernels look them up."""
        table = TermTable(self.n, int(self.edges[-1]))
        table.numbers(*self._in_utf8, learn=True)
        return table

    @property
    def edges(self) -> Integers:
        """Where each word begins among the letters, and the end."""
        return self._in_utf8[1]

    @property
    def letters(self) -> Letters:
        """The letters of all words, in UTF-8."""
        return self._in_utf8[0]

    @cached_property
    def texts(self) -> list[str]:
        """The words as text."""
        with _adding:
            return list(islice(self.number_of, self.n))

    @cached_property
    def order(self) -> Integers:
        """The numbers of the words in the order of the alphabet (of code points)."""
        return np.array(sorted(range(self.n), key=self.texts.__getitem__), np.int64)

    def __len__(self) -> int:
        return self.n

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Terms) and self.texts == other.texts

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        """Leave out what is worked out from the rest."""
        return Terms.of_letters, (self.letters, self.edges)

    def numbers(self, words: Sequence[str]) -> Integers:
        """Return the number of each word, -1 for those that are not there."""
        known = self.number_of.get
        numbers = np.array([known(word, -1) for word in words], np.int64)
        return np.where(numbers < self.n, numbers, -1)

    def select(self, numbers: Array) -> Terms:
        """Return some of the words, with new numbers in the order given."""
        starts, sizes = self.edges[numbers], np.diff(self.edges)[numbers]
        edges = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(sizes, out=edges[1:])
        places = np.arange(edges[-1]) + np.repeat(starts - edges[:-1], sizes)
        some = Terms.of_letters(self.letters[places], edges)
        root, of_root = self._origin or (self, None)
        some._origin = root, numbers if of_root is None else of_root[numbers]
        return some

    def plus(self, other: Terms) -> tuple[Terms, Array]:
        """Return the words of both, those of `other` behind, and the numbers that those have."""
        if other is self or not self.n:
            return other, np.arange(other.n, dtype=np.int32)
        if self._by_table(other):
            table = self.table.grown(self.n + other.n, int(self.edges[-1] + other.edges[-1]))
            numbers = table.numbers(*other._in_utf8, learn=True)
            return Terms.of_table(table), numbers
        words = other.texts
        with _adding:
            number_of = self.number_of
            if len(number_of) > self.n:  # others have added to these words
                number_of = dict(islice(number_of.items(), self.n))
            found = [number_of.setdefault(word, len(number_of)) for word in words]
            return Terms.of_numbers(number_of), np.array(found, np.int32)

    def numbers_of(self, other: Terms) -> Array:
        """Return the numbers that the words of `other` have here, -1 for those not here."""
        (mine, of_mine), (theirs, of_theirs) = (
            each._origin or (each, None) for each in (self, other)
        )
        if mine is theirs:
            here = np.full(mine.n, -1, np.int32)
            here[slice(None) if of_mine is None else of_mine] = np.arange(self.n)
            return here if of_theirs is None else here[of_theirs]
        if self._by_table(other):
            return self.table.numbers(*other._in_utf8, learn=False)
        return self.numbers(other.texts).astype(np.int32)

    def _by_table(self, other: Terms) -> bool:
        """Tell whether to look words up in the table."""
        return text_is_loaded() and other.n >= WORTH_COMPILED


_NOTHING = np.zeros(SLACK, np.uint8)
