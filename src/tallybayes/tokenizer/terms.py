"""Terms: the words that were seen, each with a number; or buckets, for words without names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.choice import text_is_loaded
from tallybayes.kernels.plain_text import SLACK

Array = NDArray[Any]
Integers = NDArray[np.int64]

FEWEST_SLOTS = 1024
TERMS_AT_ONCE = 256
WORTH_COMPILED = 2_000  # terms, once the compiled kernels are loaded


@dataclass(frozen=True, eq=False)
class Terms:
    """Words in the order of their numbers, as UTF-8 letters and edges between them.

    The order is that of arrival and says nothing; `order` sorts them.
    """

    letters: NDArray[np.uint8]
    edges: Integers

    @classmethod
    def of(cls, words: Iterable[str]) -> Terms:
        """Return words by number; they must be distinct."""
        encoded = [word.encode() for word in words]
        letters = np.frombuffer(b"".join([*encoded, bytes(SLACK)]), np.uint8).copy()
        edges = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(each) for each in encoded], out=edges[1:])
        return cls(letters, edges)

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Terms):
            return NotImplemented
        end = self.edges[-1]
        return np.array_equal(self.edges, other.edges) and np.array_equal(
            self.letters[:end], other.letters[:end]
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is worked out from the rest."""
        return {"letters": self.letters, "edges": self.edges}

    @cached_property
    def _encoded(self) -> list[bytes]:
        raw = self.letters.tobytes()
        return [raw[a:b] for a, b in pairwise(self.edges.tolist())]

    @cached_property
    def texts(self) -> list[str]:
        """The words as text."""
        return [word.decode() for word in self._encoded]

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.texts)}

    @cached_property
    def order(self) -> Integers:
        """The numbers of the words in the order of the alphabet (of code points)."""
        words = self._encoded
        return np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)

    @cached_property
    def table(self) -> Any:
        """The words in a table that the compiled kernels look them up in."""
        from tallybayes.kernels import compiled_terms

        table = empty_table(2 * len(self), int(self.edges[-1]))
        numbers, hashes = np.empty(len(self), np.int64), np.empty(TERMS_AT_ONCE, np.uint64)
        compiled_terms.enter_all(self.letters, self.edges, table, hashes, numbers)
        return table

    def take(self, numbers: Array) -> Terms:
        """Return some of the words, with new numbers in the order given."""
        starts, sizes = self.edges[numbers], self.edges[numbers + 1] - self.edges[numbers]
        edges = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(sizes, out=edges[1:])
        letters = np.zeros(edges[-1] + SLACK, np.uint8)
        places = np.arange(edges[-1]) + np.repeat(starts - edges[:-1], sizes)
        letters[: edges[-1]] = self.letters[places]
        return Terms(letters, edges)

    def plus(self, other: Terms) -> tuple[Terms, Integers]:
        """Return the words of both, those of `other` behind, and the numbers that those have."""
        if text_is_loaded() and len(self) + len(other) >= WORTH_COMPILED:
            return self._entered(other)
        number_of = dict(self.number_of)
        numbers = np.array([number_of.setdefault(w, len(number_of)) for w in other.texts], np.int64)
        new = other.take(np.flatnonzero(numbers >= len(self)))
        letters = np.concatenate([self.letters[: self.edges[-1]], new.letters])
        edges = np.concatenate([self.edges, new.edges[1:] + self.edges[-1]])
        together = Terms(letters, edges)
        # a stream of small batches need not work these out anew
        vars(together).update(texts=list(number_of), number_of=number_of)
        return together, numbers

    def _entered(self, other: Terms) -> tuple[Terms, Integers]:
        from tallybayes.kernels import compiled_terms

        n, size = len(self) + len(other), int(self.edges[-1] + other.edges[-1])
        table = empty_table(2 * n, size, fill=self.table)
        numbers = np.empty(len(other), np.int64)
        compiled_terms.enter_table(other.table, table, numbers)
        return from_table(table), numbers

    def numbers(self, words: Sequence[str]) -> Integers:
        """Return the number of each word, -1 for those that are not there."""
        return np.array([self.number_of.get(word, -1) for word in words], np.int64)


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


def empty_table(slots: int, letters: int, fill: Any = None) -> Any:
    """Return a table with room for half as many terms as slots; `fill` it with those of another."""
    from tallybayes.kernels import compiled_terms

    n_slots = FEWEST_SLOTS
    while n_slots < slots:
        n_slots *= 2
    table = compiled_terms.Slots(
        _aligned(n_slots),
        np.empty(letters + SLACK, np.uint8),
        np.zeros(n_slots // 2 + 1, np.int64),
        np.zeros(2, np.int64),
    )
    if fill is not None:
        n, size = fill.size.tolist()
        table.letters[:size] = fill.letters[:size]
        table.edges[: n + 1] = fill.edges[: n + 1]
        table.size[:] = fill.size
        if len(fill.slots) == n_slots:
            table.slots[:] = fill.slots
        else:
            compiled_terms.move(fill.slots, table.slots)
    return table


def from_table(table: Any) -> Terms:
    """Return the terms that are in a table, which nobody may change any more."""
    n, size = table.size.tolist()
    table.letters[size : size + SLACK] = 0
    terms = Terms(table.letters[: size + SLACK], table.edges[: n + 1])
    vars(terms)["table"] = table
    return terms


def _aligned(n_slots: int) -> NDArray[np.uint64]:
    """Return empty slots none of which lies across two lines of the cache."""
    raw = np.zeros(n_slots * 32 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n_slots * 32].view(np.uint64).reshape(n_slots, 4)
