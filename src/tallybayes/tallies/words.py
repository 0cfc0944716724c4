"""Counts of words: for each class and word the documents that have it, and how often it occurs.

Most words occur in few classes, so only the pairs that occur are kept: by class the numbers of its
words, sorted, and for each of them three sums. A million words in a hundred classes take memory for
the pairs that were seen, not for a hundred million.

Learning or forgetting a document shares everything that it does not change with the tally before
it: the words of other classes, and the vocabulary, which may therefore hold words that no document
has (any more). What was learnt lately stands beside the rest until it is worth adding up, so that
learning a document costs the document. `without_unused` settles all of that; estimates begin with
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import lt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block
from tallybayes.kernels.choice import load_text, text_is_loaded
from tallybayes.kernels.counting import RowClasses
from tallybayes.kernels.threads import over_rows
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label
from tallybayes.tallies.blocks import (
    ROUNDING,
    TRUSTED,
    Support,
    TallyBlock,
    Where,
    among,
    is_integral,
    refuse_lost_in_rounding,
    refuse_never_counted,
    register_block,
    weight_left,
)
from tallybayes.tallies.container import Arrays, require
from tallybayes.tokenizer import (
    Bagged,
    Bags,
    Buckets,
    Documents,
    Reading,
    Terms,
    Words,
    fixed_terms,
)
from tallybayes.tokenizer.terms import WORTH_COMPILED

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEW = 100  # times fewer
NO_TERMS = Terms.of(())
DOCUMENTS, WEIGHT, COUNT = range(3)  # the three sums
SETTLED = 4  # times as many words as were learnt lately: those are not added to the others yet


class ClassWords(NamedTuple):
    """The numbers of the words of a class, in order, and three sums of each.

    The sums are the documents that have the word, their weight, and the weighted number of times
    (or what `Words` says it counts instead).
    """

    indices: NDArray[np.int32]
    sums: Floats


NOTHING = ClassWords(np.zeros(0, np.int32), np.zeros((0, 3)))


@register_block("words")
@dataclass(frozen=True, slots=True, eq=False)
class WordCounts(TallyBlock):
    """The words of one column of text, by class.

    `rows` and `weight` are of the documents that were there. `lengths` are the weighted sums of
    their lengths in terms, and of the squares of those. `settled` are the words of each class but
    for those learnt lately, which stand in `recent` with their class.
    """

    terms: Terms | Buckets
    rows: Integers
    weight: Floats
    lengths: Floats
    settled: tuple[ClassWords, ...]
    recent: tuple[tuple[int, ClassWords], ...] = ()

    @classmethod
    def empty(cls, n_units: int) -> WordCounts:
        """Return the tally of no documents, and of no classes."""
        return cls(NO_TERMS, np.zeros((0, 1), np.int64), np.zeros((0, 1)), np.zeros((0, 2)), ())

    @classmethod
    def count(
        cls, block: Block, of: RowClasses, kind: Kind, names: Sequence[str], start: int
    ) -> WordCounts:
        """Count the words of some documents."""
        assert isinstance(kind, Words)
        assert isinstance(block, Documents | Bagged)
        kind.check_stop_words()
        there = np.ones(len(block), bool) if block.missing is None else ~block.missing
        if of.w is not None:
            there &= of.w > 0.0
        rows = np.flatnonzero(there)
        rows = rows[np.argsort(of.y[rows], kind="stable")]  # class after class
        if isinstance(block, Bagged):
            return _count_bags(block, rows, of, kind)
        reading = Reading(block, kind)
        if not reading.compiled:
            return _count(reading, rows, of)
        sizes = reading.sizes[rows]
        parts = over_rows(
            lambda share: _count(reading, rows[share], of), len(rows), int(sizes.sum()), sizes
        )
        while len(parts) > 1:  # in pairs, so that nothing is copied more often than need be
            pairs = zip(parts[::2], parts[1::2], strict=False)
            parts = [a.plus(b, names) for a, b in pairs] + parts[len(parts) & ~1 :]
        return parts[0]

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.rows)

    @property
    def present(self) -> Integers:
        """How many rows have a document, in each class (down)."""
        return self.rows

    @property
    def exact(self) -> bool:
        """Whether all sums are whole, so that `less` loses nothing."""
        return all(bool(is_integral(words.sums).all()) for words in self.words)

    @property
    def words(self) -> tuple[ClassWords, ...]:
        """The words of each class."""
        if not self.recent:
            return self.settled
        lately: dict[int, list[ClassWords]] = {}
        for c, words in self.recent:
            lately.setdefault(c, []).append(words)
        together = list(self.settled)
        for c, several in lately.items():
            together[c] = _added(together[c], _united(several))
        return tuple(together)

    def stacked(self) -> tuple[Integers, NDArray[np.int32], Floats]:
        """Return all classes as compressed sparse rows: pointers, numbers of words, sums."""
        words = self.words
        indptr = np.zeros(self.n_classes + 1, np.int64)
        np.cumsum([len(here.indices) for here in words], out=indptr[1:])
        indices, sums = zip(NOTHING, *words, strict=True)
        return indptr, np.concatenate(indices), np.concatenate(sums)

    def totals(self, part: int) -> Floats:
        """Return one of the sums for each word, over all classes."""
        total = np.zeros(len(self.terms))
        for words in self.words:
            total[words.indices] += words.sums[:, part]
        return total

    def with_classes(self, places: Sequence[int], n_classes: int) -> WordCounts:
        """Move the classes to new places, in the same order, among more classes."""
        words = [NOTHING] * n_classes
        for place, here in zip(places, self.words, strict=True):
            words[place] = here
        rows, weight = among(self.rows, places, n_classes), among(self.weight, places, n_classes)
        lengths = among(self.lengths, places, n_classes)
        return WordCounts(self.terms, rows, weight, lengths, tuple(words))

    def select_classes(self, classes: NDArray[np.bool_]) -> WordCounts:
        """Return the block of only some classes."""
        words = tuple(here for here, kept in zip(self.words, classes, strict=True) if kept)
        head = self.rows[classes], self.weight[classes], self.lengths[classes]
        return WordCounts(self.terms, *head, words).without_unused()

    def select(self, units: Sequence[int]) -> WordCounts:
        """Return the block of its column, or of none."""
        return self if len(units) else WordCounts.empty(0).with_classes([], self.n_classes)

    def widen(self, places: Sequence[int], n_units: int) -> WordCounts:
        """Return the block: a column of text has one of its own."""
        return self

    def split(self, n_parts: int) -> list[WordCounts]:
        """Cut the classes into so many parts of equally many classes."""
        n, words = self.n_classes // n_parts, self.words
        cuts = [slice(k * n, k * n + n) for k in range(n_parts)]
        return [
            WordCounts(self.terms, self.rows[c], self.weight[c], self.lengths[c], words[c])
            for c in cuts
        ]

    def without_unused(self) -> WordCounts:
        """Drop the words that no document has, and add up those that were learnt lately."""
        counts = replace(self, settled=self.words, recent=()) if self.recent else self
        if isinstance(self.terms, Buckets):
            return counts
        used = np.zeros(len(self.terms), bool)
        for here in counts.settled:
            used[here.indices] = True
        if used.all():
            return counts
        numbers = np.cumsum(used, dtype=np.int32) - 1
        words = tuple(here._replace(indices=numbers[here.indices]) for here in counts.settled)
        return replace(counts, terms=self.terms.select(np.flatnonzero(used)), settled=words)

    def _among(self, terms: Terms | Buckets, numbers: Array | None) -> WordCounts:
        """Return the block with other terms, among which its own have these numbers."""
        words = self.words
        if numbers is not None:
            words = tuple(_sorted(numbers[here.indices], here.sums) for here in words)
        return replace(self, terms=terms, settled=words, recent=())

    def plus(self, other: WordCounts, names: Sequence[str], reuse: bool = False) -> WordCounts:
        """Add the counts of other documents."""
        terms, more = self.terms, other.terms
        if not any(len(words.indices) for words in self.settled):  # perhaps no buckets are known
            terms, numbers = more, None
        elif isinstance(terms, Buckets) or isinstance(more, Buckets):
            numbers = None
        else:
            terms, numbers = terms.plus(more)
        theirs, settled = other._among(terms, numbers).settled, self.settled
        new = ((c, words) for c, words in enumerate(theirs) if len(words.indices))
        recent = (*self.recent, *new)
        n_recent = sum(len(words.indices) for _, words in recent)
        if SETTLED * n_recent > sum(len(words.indices) for words in settled):
            settled, recent = tuple(map(_added, self.words, theirs)), ()
        head = self.rows + other.rows, self.weight + other.weight, self.lengths + other.lengths
        return WordCounts(terms, *head, settled, recent)

    def minus(
        self, other: WordCounts, classes: Sequence[Label], names: Sequence[str]
    ) -> WordCounts:
        """Take away documents that were counted here; refuse what cannot be right."""

        def where(c: int, _: int) -> str:
            return f"column {names[0]!r}, class {classes[c]!r}"

        def where_in(c: int, terms: Terms | Buckets, indices: Array) -> Where:
            return lambda k, _: f"{where(c, 0)}, word {terms.texts[indices[k]]!r}"

        head = self.rows, self.weight, other.rows, other.weight
        rows, weight = weight_left(*head, where)
        away = other._among(other.terms, None)
        if isinstance(self.terms, Terms) and isinstance(other.terms, Terms):
            numbers = self.terms.numbers_of(other.terms)
            for c, theirs in enumerate(away.settled):
                unknown = numbers[theirs.indices] < 0
                refuse_never_counted(unknown[:, None], where_in(c, other.terms, theirs.indices))
            away = away._among(self.terms, numbers)
        words = list(self.words)
        for c in np.flatnonzero(other.rows[:, 0]).tolist():
            theirs = away.settled[c]
            words[c] = left = _left(words[c], theirs, where_in(c, self.terms, theirs.indices))
            # documents that stay cannot all have been without the word
            many = left.sums[:, DOCUMENTS] > rows[c]
            heavy = left.sums[:, WEIGHT] > weight[c] * (1.0 + TRUSTED)
            refuse_never_counted((many | heavy)[:, None], where_in(c, self.terms, left.indices))
        lengths = np.maximum(self.lengths - other.lengths, 0.0) * (rows > 0)
        counts = WordCounts(self.terms, rows, weight, lengths, tuple(words))
        # words that nobody has any more are kept until they are many
        pairs = sum(len(here.indices) for here in words)
        return counts.without_unused() if 2 * pairs < len(self.terms) else counts

    def less(self, other: WordCounts) -> WordCounts:
        """Take away documents of whole counts that are surely here; the terms stay."""
        return WordCounts(
            self.terms,
            self.rows - other.rows,
            self.weight - other.weight,
            self.lengths - other.lengths,
            tuple(map(_less, self.words, other.words)),
        )

    def sorted(self) -> WordCounts:
        """Return the same counts with the words in the order of the alphabet."""
        counts = self.without_unused()
        if isinstance(counts.terms, Buckets):
            return counts
        rank = np.empty(len(counts.terms), np.int32)
        rank[counts.terms.order] = np.arange(len(counts.terms))
        return counts._among(counts.terms.select(counts.terms.order), rank)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordCounts):
            return NotImplemented
        a, b = self.sorted(), other.sorted()
        nothing = not any(len(words.indices) for words in (*a.words, *b.words))
        mine: list[Array] = [a.rows, a.weight, a.lengths, *a.stacked()]
        theirs: list[Array] = [b.rows, b.weight, b.lengths, *b.stacked()]
        return (nothing or a.terms == b.terms) and all(map(np.array_equal, mine, theirs))

    __hash__ = None

    def support(self, unit: int, kind: Kind) -> Support:
        """Return that a text can be anything."""
        return Support(text=True)

    def notes(self) -> int | None:
        """Return the number of buckets, if words fall into any."""
        return self.terms.n if isinstance(self.terms, Buckets) else None

    def to_arrays(self) -> dict[str, Array]:
        """Return the arrays that make up the block, to store it: words in order, if by name."""
        block = self.sorted()
        names: dict[str, Array] = {}
        if isinstance(block.terms, Terms):
            names = {"letters": block.terms.letters, "edges": block.terms.edges}
        head = {"rows": block.rows, "weight": block.weight, "lengths": block.lengths}
        indptr, indices, sums = block.stacked()
        return {**names, **head, "indptr": indptr, "indices": indices.astype(int), "sums": sums}

    @classmethod
    def from_arrays(
        cls, notes: Any, arrays: Arrays, kinds: Sequence[Kind], rows: Integers
    ) -> WordCounts:
        """Build the block that `notes` and `to_arrays` described; all else is an error."""
        (kind,) = kinds
        require(isinstance(kind, Words))
        assert isinstance(kind, Words)
        require(notes == kind.buckets or notes is None)
        n, of_classes = len(rows), rows
        terms: Terms | Buckets
        if notes is None:
            terms = _words_from(arrays.take((None,), np.uint8), arrays.take((None,), np.int64))
            require(kind.buckets is None or not len(terms))
            require(kind.idf is None or set(terms.texts) <= set(kind.idf.terms))
        else:
            terms = Buckets(notes)
        rows, weight = arrays.take((n, 1), np.int64), arrays.take((n, 1), np.float64)
        lengths, indptr = arrays.take((n, 2), np.float64), arrays.take((n + 1,), np.int64)
        indices, sums = arrays.take((None,), np.int64), arrays.take((None, 3), np.float64)
        require(bool((rows[:, 0] <= of_classes).all() and (rows >= 0).all()))
        require(bool(((rows > 0) == (weight > 0.0)).all() and (weight >= 0.0).all()))
        require(bool((lengths >= 0.0).all() and (sums >= 0.0).all()))
        require(indptr[0] == 0 and indptr[-1] == len(indices) == len(sums))
        require(bool((np.diff(indptr) >= 0).all()))
        require(bool(((indices >= 0) & (indices < len(terms))).all()))
        owner = np.repeat(np.arange(n), np.diff(indptr))
        require(bool((np.diff(indices)[np.diff(owner) == 0] > 0).all()))
        documents = sums[:, DOCUMENTS]
        require(bool(((documents >= 1.0) & (documents <= rows[owner, 0])).all()))
        require(bool((documents == np.rint(documents)).all()))
        require(bool((sums[:, WEIGHT] <= weight[owner, 0] * (1.0 + 1e-9)).all()))
        cuts, numbers = map(slice, indptr[:-1], indptr[1:]), indices.astype(np.int32)
        words = tuple(ClassWords(numbers[here], sums[here]) for here in cuts)
        block = WordCounts(terms, rows, weight, lengths, words)
        require(block.without_unused() is block)  # a word that nobody has would not be there
        return block


def _words_from(letters: Array, edges: Integers) -> Terms:
    """Return distinct words in the order of the alphabet, in UTF-8; refuse all else."""
    require(len(edges) > 0 and edges[0] == 0 and edges[-1] == len(letters))
    require(bool((np.diff(edges) >= 0).all()))
    raw = letters.tobytes()
    raw.decode()  # all at once; then no word may begin within a character
    starts = letters[edges[:-1][edges[:-1] < len(letters)]]
    require(bool((starts & 0xC0 != 0x80).all()))
    words = [raw[a:b] for a, b in pairwise(edges.tolist())]
    require(all(map(lt, words, words[1:])))  # the order of UTF-8 is that of code points
    return Terms.of_letters(letters, edges)


class _Sums:
    """The three sums of each word, for one class at a time."""

    def __init__(self, compiled: bool) -> None:
        self._add = load_text().add_bags if compiled else add_bags
        self._sums = np.zeros((0, 3))
        self._touched = np.zeros(0, np.int32)
        self._n = 0

    def add(self, bags: Bags, w: Array | None, n_terms: int) -> None:
        """Add the bags of documents, whose terms are so many by now."""
        if n_terms > len(self._sums):
            sums, touched = np.zeros((n_terms * 3 // 2, 3)), np.empty(n_terms * 3 // 2, np.int32)
            sums[: len(self._sums)] = self._sums
            touched[: self._n] = self._touched[: self._n]
            self._sums, self._touched = sums, touched
        args = bags.indptr, bags.indices, bags.data, w, self._sums, self._touched, self._n
        self._n = self._add(*args)

    def take_out(self) -> ClassWords:
        """Return the words of the class, and begin another class."""
        indices = np.sort(self._touched[: self._n])
        sums = self._sums[indices]
        self._sums[indices] = 0.0
        self._n = 0
        return ClassWords(indices, sums)


def add_bags(
    indptr: Array, indices: Array, data: Array, w: Array | None, sums: Array, touched: Array, n: int
) -> int:
    """Do what the compiled loop of that name does, in NumPy."""
    lengths = np.diff(indptr)
    stored = slice(int(indptr[0]), int(indptr[-1]))
    weight = np.repeat(np.ones(len(lengths)) if w is None else w, lengths)
    new = np.unique(indices[stored][sums[indices[stored], DOCUMENTS] == 0.0])
    touched[n : n + len(new)] = new
    more = np.stack([np.ones(len(weight)), weight, weight * data[stored]], axis=1)
    np.add.at(sums, indices[stored], more)
    return n + len(new)


def _count(reading: Reading, rows: Integers, of: RowClasses) -> WordCounts:
    """Count some documents, which stand class after class."""
    known = fixed_terms(reading.words)
    reader = reading.reader(known)
    bounds = np.searchsorted(of.y[rows], np.arange(len(of.rows) + 1))
    pieces = ((bags, reader.n_terms) for bags in reading.bags(reader, rows, bounds))
    parts = _summed(pieces, rows, of, reading.words, reading.compiled)
    counted = WordCounts(reader.terms, *parts)
    # what was learnt is used; of terms that were settled before, some may not be
    return counted if known is None else counted.without_unused()


def _count_bags(block: Bagged, rows: Integers, of: RowClasses, words: Words) -> WordCounts:
    """Count documents that were read before, class after class."""
    every = block.take(rows).as_bags()
    bounds = np.searchsorted(of.y[rows], np.arange(len(of.rows) + 1))

    def pieces() -> Iterator[tuple[Bags, int]]:
        for c in np.flatnonzero(np.diff(bounds)).tolist():
            here = slice(int(bounds[c]), int(bounds[c + 1]))
            indptr = every.indptr[here.start : here.stop + 1]
            stored = slice(int(indptr[0]), int(indptr[-1]))
            parts = every.indices[stored], every.data[stored], every.lengths[here]
            yield Bags(here, indptr - indptr[0], *parts), len(block.terms)

    compiled = text_is_loaded() and len(every.indices) >= WORTH_COMPILED
    return WordCounts(block.terms, *_summed(pieces(), rows, of, words, compiled)).without_unused()


def _summed(
    pieces: Iterator[tuple[Bags, int]], rows: Integers, of: RowClasses, words: Words, compiled: bool
) -> tuple[Integers, Floats, Floats, tuple[ClassWords, ...]]:
    """Add up bags class after class: rows, weight, lengths, words."""
    y, n_classes = of.y[rows], len(of.rows)
    w = None if of.w is None else of.w[rows]
    counted = np.bincount(y, minlength=n_classes).astype(np.int64)
    weights = counted if w is None else np.bincount(y, w, n_classes)
    ends = np.cumsum(counted)
    found = [NOTHING] * n_classes
    lengths = np.zeros((n_classes, 2))
    sums = _Sums(compiled)
    for bags, n_terms in pieces:
        c = int(y[bags.rows.start])
        w_here = None if w is None else w[bags.rows]
        length = bags.lengths.astype(np.float64)
        weight = np.ones(len(length)) if w_here is None else w_here
        lengths[c] += (weight @ length, weight @ length**2)
        sums.add(bags.weighted(words), w_here, n_terms)
        if bags.rows.stop == ends[c]:
            found[c] = sums.take_out()
    return counted[:, None], weights.astype(np.float64)[:, None], lengths, tuple(found)


def _sorted(indices: Array, sums: Floats) -> ClassWords:
    """Put words into the order of their numbers."""
    order = np.argsort(indices)
    return ClassWords(indices[order].astype(np.int32, copy=False), sums[order])


def _places(mine: ClassWords, indices: Array) -> tuple[Integers, NDArray[np.bool_]]:
    """Return where words stand or would stand, and mark those that are there."""
    places = np.searchsorted(mine.indices, indices)
    there = places < len(mine.indices)
    there[there] = mine.indices[places[there]] == indices[there]
    return places, there


def _added(mine: ClassWords, theirs: ClassWords) -> ClassWords:
    """Add up the sums of a class."""
    if not len(theirs.indices) or not len(mine.indices):
        return mine if len(mine.indices) else theirs
    places, there = _places(mine, theirs.indices)
    sums = mine.sums.copy()
    sums[places[there]] += theirs.sums[there]
    new = ~there
    if not new.any():
        return ClassWords(mine.indices, sums)
    indices = np.insert(mine.indices, places[new], theirs.indices[new])
    return ClassWords(indices, np.insert(sums, places[new], theirs.sums[new], axis=0))


def _united(several: list[ClassWords]) -> ClassWords:
    """Add up the sums of many pieces of a class at once."""
    indices, places = np.unique(np.concatenate([w.indices for w in several]), return_inverse=True)
    sums = np.zeros((len(indices), 3))
    np.add.at(sums, places, np.concatenate([words.sums for words in several]))
    return ClassWords(indices, sums)


def _less(mine: ClassWords, theirs: ClassWords) -> ClassWords:
    """Subtract the sums of a class, of words that are there; drop those that no document has."""
    if not len(theirs.indices):
        return mine
    places, _ = _places(mine, theirs.indices)
    return _with(mine, places, mine.sums[places] - theirs.sums)


def _with(mine: ClassWords, places: Integers, left: Floats) -> ClassWords:
    """Return the words of a class with other sums at some places."""
    stay = left[:, DOCUMENTS] != 0.0
    gone, here = places[~stay], places[stay]
    indices, sums = _without(mine.indices, gone), _without(mine.sums, gone)
    sums[here - np.searchsorted(gone, here)] = left[stay]
    return ClassWords(indices, sums)


def _without(array: Array, places: Integers) -> Array:
    """Return a copy without some places; if these are few, in long stretches."""
    if FEW * len(places) > len(array):
        return np.delete(array, places, axis=0)
    edges = np.concatenate([[-1], places, [len(array)]]).tolist()
    return np.concatenate([array[a + 1 : b] for a, b in pairwise(edges)])


def _left(mine: ClassWords, theirs: ClassWords, where: Where) -> ClassWords:
    """Take away words of a class; refuse what cannot be right."""
    if not len(theirs.indices):
        return mine
    places, there = _places(mine, theirs.indices)
    refuse_never_counted(~there[:, None], where)
    before, away = mine.sums[places], theirs.sums
    left = before - away
    # whole counts cancel exactly; fractions leave rounding error behind
    whole = is_integral(before, away)
    noise = np.where(whole, 0.0, 1e-12 * before)
    gone = left[:, [DOCUMENTS]] == 0.0
    wrong = (left < -noise) | (gone & (np.abs(left) > np.maximum(noise, TRUSTED * before)))
    refuse_never_counted(wrong, where)
    lost = ~gone & (away > 0.0) & (ROUNDING * before > TRUSTED * left)
    refuse_lost_in_rounding(lost & ~whole, where)
    return _with(mine, places, np.where(gone, 0.0, np.maximum(left, 0.0)))
