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

from tallybayes.arrays import Array, Integers
from tallybayes.kernels.choice import load_text, text_is_loaded

Letters = NDArray[np.uint8]

SLACK = 16  # bytes that may be read behind the last letter
FEWEST_SLOTS = 1024
WORTH_COMPILED = 2_000  # terms, once the compiled kernels are loaded
AT_ONCE = 1 << 14  # words that are copied or turned into the other form: all at once take memory

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
    vocabulary; each `Terms` has the first `n`.
    """

    def __init__(self, n: int, **forms: Any) -> None:
        self.n = n
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
        return cls(len(edges) - 1, in_utf8=(letters, edges))

    @classmethod
    def of_table(cls, table: TermTable) -> Terms:
        """Return the words of a table, which nobody adds to any more."""
        n, end = table.size.tolist()
        return cls(n, table=table, in_utf8=(table.letters[:end], table.edges[: n + 1]))

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The number of each word, and perhaps of others that have greater ones."""
        letters, edges = self.in_utf8
        raw = letters.data
        cuts = (edges[k : k + AT_ONCE + 1].tolist() for k in range(0, self.n, AT_ONCE))
        words = (str(raw[a:b], "utf-8") for some in cuts for a, b in pairwise(some))
        return {word: number for number, word in enumerate(words)}

    @cached_property
    def in_utf8(self) -> tuple[Letters, Integers]:
        """The letters of all words in UTF-8, and where each word begins, and the end."""
        edges, letters = np.zeros(self.n + 1, np.int64), bytearray()
        for k in range(0, self.n, AT_ONCE):
            some = [word.encode() for word in self.texts[k : k + AT_ONCE]]
            edges[k + 1 : k + 1 + len(some)] = np.fromiter(map(len, some), np.int64, len(some))
            letters += b"".join(some)
        return np.frombuffer(bytes(letters), np.uint8), np.cumsum(edges)

    @cached_property
    def table(self) -> TermTable:
        """The words as the compiled kernels look them up."""
        table = TermTable(self.n, len(self.in_utf8[0]))
        table.numbers(*self.in_utf8, learn=True)
        return table

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
        return Terms.of_letters, self.in_utf8

    def numbers(self, words: Sequence[str]) -> Integers:
        """Return the number of each word, -1 for those that are not there."""
        known = self.number_of.get
        numbers = np.array([known(word, -1) for word in words], np.int64)
        return np.where(numbers < self.n, numbers, -1)

    def select(self, numbers: Array) -> Terms:
        """Return some of the words, with new numbers in the order given."""
        letters, before = self.in_utf8
        sizes = np.diff(before)[numbers]
        edges = np.append(0, np.cumsum(sizes))
        chosen = np.empty(edges[-1], np.uint8)
        for k in range(0, len(sizes), AT_ONCE):
            some = slice(k, min(k + AT_ONCE, len(sizes)))
            start, end = edges[k], edges[some.stop]
            shifts = np.repeat(before[numbers[some]] - edges[some], sizes[some])
            chosen[start:end] = letters[np.arange(start, end) + shifts]
        return Terms.of_letters(chosen, edges)

    def plus(self, other: Terms) -> tuple[Terms, Array]:
        """Return the words of both, those of `other` behind, and the numbers that those have."""
        if other is self or not self.n:
            return other, np.arange(other.n, dtype=np.int32)
        if self._by_table(other):
            table = self.table.grown(
                self.n + other.n, sum(len(each.in_utf8[0]) for each in (self, other))
            )
            numbers = table.numbers(*other.in_utf8, learn=True)
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
        if self._by_table(other):
            return self.table.numbers(*other.in_utf8, learn=False)
        return self.numbers(other.texts).astype(np.int32)

    def _by_table(self, other: Terms) -> bool:
        """Tell whether to look words up in the table."""
        return text_is_loaded() and other.n >= WORTH_COMPILED


_NOTHING = np.zeros(SLACK, np.uint8)
