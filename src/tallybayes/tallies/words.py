"""Counts of words: for each class and word the documents that have it, and how often it occurs.

Most words occur in few classes, so only the pairs that occur are kept: by class the numbers of its
words, and for each of them three sums. A million words in a hundred classes take memory for the
pairs that were seen, not for a hundred million.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block
from tallybayes.kernels.choice import text_is_loaded
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
from tallybayes.tallies.word_sums import WordSums, fixed_terms, weighted
from tallybayes.tokenizer import Bagged, Buckets, Documents, Reading, Terms, Words
from tallybayes.tokenizer.terms import WORTH_COMPILED

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NO_TERMS = Terms.of(())
DOCUMENTS, WEIGHT, COUNT = range(3)  # the three sums
NOTHING: tuple[Array, Floats] = np.zeros(0, np.int32), np.zeros((0, 3))


@register_block("words")
@dataclass(frozen=True, slots=True, eq=False)
class WordCounts(TallyBlock):
    """The words of one column of text, by class.

    `rows` and `weight` are of the documents that were there. `lengths` are the weighted sums of
    their lengths in terms, and of the squares of those. The words of class c are
    ``indices[indptr[c] : indptr[c + 1]]``; each has a row of `sums`: documents that have it, their
    weight, and the weighted number of times (or what `Words` says it counts instead).
    """

    terms: Terms | Buckets
    rows: Integers
    weight: Floats
    lengths: Floats
    indptr: Integers
    indices: NDArray[np.int32]
    sums: Floats

    @classmethod
    def empty(cls, n_units: int) -> WordCounts:
        """Return the tally of no documents, and of no classes."""
        rows, weight = np.zeros((0, 1), np.int64), np.zeros((0, 1))
        nothing = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros((0, 3))
        return cls(NO_TERMS, rows, weight, np.zeros((0, 2)), *nothing)

    @classmethod
    def count(
        cls, block: Block, of: RowClasses, kind: Kind, names: Sequence[str], start: int
    ) -> WordCounts:
        """Count the words of some documents."""
        assert isinstance(kind, Words)
        words = kind
        words.check_stop_words()
        if isinstance(block, Bagged):
            return cls.of_bags(block, of, words)
        assert isinstance(block, Documents)
        there = np.ones(len(block), bool) if block.missing is None else ~block.missing
        if of.w is not None:
            there &= of.w > 0.0
        rows = np.flatnonzero(there)
        rows = rows[np.argsort(of.y[rows], kind="stable")]  # class after class
        reading = Reading(block, words)
        if not reading.compiled:
            return _count(reading, rows, of)
        sizes = reading.sizes[rows]
        parts = over_rows(
            lambda share: _count(reading, rows[share], of), len(rows), int(sizes.sum()), sizes
        )
        total = parts[0]
        for part in parts[1:]:
            total = total.plus(part, names)
        return total

    @classmethod
    def of_bags(cls, block: Bagged, of: RowClasses, words: Words) -> WordCounts:
        """Count the words of documents that were read before."""
        from scipy.sparse import csr_array

        bags = weighted(block.as_bags(), words)
        there = np.ones(len(block), bool) if block.missing is None else ~block.missing
        if of.w is not None:
            there &= of.w > 0.0
        rows = np.flatnonzero(there)
        n, shape = len(of.rows), (len(block), len(block.terms))
        w = np.ones(len(rows)) if of.w is None else of.w[rows]
        length = block.lengths[rows].astype(np.float64)

        def by_class(weights: Floats, data: Array) -> Any:
            members = csr_array((weights, (of.y[rows], rows)), shape=(n, len(block)))
            return members @ csr_array((data, bags.indices, bags.indptr), shape=shape)

        ones = np.ones(len(bags.indices))
        documents = by_class(np.ones(len(rows)), ones)
        weight = documents if of.w is None else by_class(w, ones)
        counts = by_class(w, bags.data)
        y = of.y[rows]
        lengths = np.zeros((n, 2))
        for k in (1, 2):
            lengths[:, k - 1] = np.bincount(y, w * length**k, n)
        sums = np.stack([documents.data, weight.data, counts.data], axis=1)
        counted = cls(
            block.terms,
            np.bincount(y, minlength=n).astype(np.int64)[:, None],
            np.bincount(y, w, n).astype(np.float64)[:, None],
            lengths,
            documents.indptr.astype(np.int64),
            documents.indices.astype(np.int32, copy=False),
            sums,
        )
        return counted.without_unused()

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.rows)

    @property
    def present(self) -> Integers:
        """How many rows have a document, in each class (down)."""
        return self.rows

    def of_class(self, c: int) -> slice:
        """Return where the words of a class are."""
        return slice(int(self.indptr[c]), int(self.indptr[c + 1]))

    def totals(self, part: int) -> Floats:
        """Return one of the sums for each word, over all classes."""
        weights = self.sums[:, part]
        return np.bincount(self.indices, weights, len(self.terms)).astype(np.float64)

    def with_classes(self, places: Sequence[int], n_classes: int) -> WordCounts:
        """Move the classes to new places, in the same order, among more classes."""
        sizes = among(np.diff(self.indptr), places, n_classes)
        rows, weight = among(self.rows, places, n_classes), among(self.weight, places, n_classes)
        lengths, indptr = among(self.lengths, places, n_classes), _pointers(sizes)
        return WordCounts(self.terms, rows, weight, lengths, indptr, self.indices, self.sums)

    def select_classes(self, classes: NDArray[np.bool_]) -> WordCounts:
        """Return the block of only some classes."""
        sizes = np.diff(self.indptr)
        kept = np.repeat(classes, sizes)
        return WordCounts(
            self.terms,
            self.rows[classes],
            self.weight[classes],
            self.lengths[classes],
            _pointers(sizes[classes]),
            self.indices[kept],
            self.sums[kept],
        ).without_unused()

    def select(self, units: Sequence[int]) -> WordCounts:
        """Return the block of its column, or of none."""
        return self if len(units) else WordCounts.empty(0).with_classes([], self.n_classes)

    def widen(self, places: Sequence[int], n_units: int) -> WordCounts:
        """Return the block: a column of text has one of its own."""
        return self

    def without_unused(self) -> WordCounts:
        """Drop the words that no document has."""
        if isinstance(self.terms, Buckets):
            return self
        used = np.zeros(len(self.terms), bool)
        used[self.indices] = True
        if used.all():
            return self
        kept = np.flatnonzero(used)
        numbers = np.cumsum(used, dtype=np.int32) - 1
        return self._replaced(self.terms.take(kept), numbers[self.indices])

    def _replaced(self, terms: Terms | Buckets, indices: Array) -> WordCounts:
        """Return the block with other terms and numbers."""
        head = self.rows, self.weight, self.lengths
        return WordCounts(
            terms, *head, self.indptr, indices.astype(np.int32, copy=False), self.sums
        )

    def _among(self, other: WordCounts) -> tuple[WordCounts, WordCounts]:
        """Return both with the same terms."""
        a, b = self.terms, other.terms
        if a is b or (isinstance(a, Buckets) and a == b):
            return self, other
        if isinstance(b, Terms) and len(b) == 0:
            return self, other._replaced(a, other.indices)
        if isinstance(a, Terms) and len(a) == 0:
            return self._replaced(b, self.indices), other
        assert isinstance(a, Terms)
        assert isinstance(b, Terms)
        terms, numbers = a.plus(b)
        return self._replaced(terms, self.indices), other._replaced(terms, numbers[other.indices])

    def plus(self, other: WordCounts, names: Sequence[str], reuse: bool = False) -> WordCounts:
        """Add the counts of other documents."""
        a, b = self._among(other)
        parts = _added(a, b, b.sums)
        lengths = a.lengths + b.lengths
        return WordCounts(a.terms, a.rows + b.rows, a.weight + b.weight, lengths, *parts)

    def minus(
        self, other: WordCounts, classes: Sequence[Label], names: Sequence[str]
    ) -> WordCounts:
        """Take away documents that were counted here; refuse what cannot be right."""
        rows, weight = weight_left(
            self.rows,
            self.weight,
            other.rows,
            other.weight,
            lambda c, _: f"column {names[0]!r}, class {classes[c]!r}",
        )
        a, b = self._among(other)
        indptr, indices, sums = _added(a, b, -b.sums)
        of_class = np.repeat(np.arange(len(classes)), np.diff(indptr))

        def where(k: int, _: int) -> str:
            word = a.terms.texts[indices[k]]
            return f"column {names[0]!r}, class {classes[of_class[k]]!r}, word {word!r}"

        sums = _left(a, indptr, indices, sums, where)
        # documents that stay cannot all have been without the word
        many = sums[:, [DOCUMENTS]] > rows[of_class]
        heavy = sums[:, [WEIGHT]] > weight[of_class] * (1.0 + TRUSTED)
        refuse_never_counted(many | heavy, where)
        kept = sums[:, DOCUMENTS] > 0.0
        sizes = np.bincount(of_class[kept], minlength=len(classes))
        lengths = np.maximum(self.lengths - other.lengths, 0.0) * (rows > 0)
        left = WordCounts(
            a.terms, rows, weight, lengths, _pointers(sizes), indices[kept], sums[kept]
        )
        return left.without_unused()

    @property
    def exact(self) -> bool:
        """Whether all sums are whole, so that `less` loses nothing."""
        return bool(is_integral(self.sums).all())

    def split(self, n_parts: int) -> list[WordCounts]:
        """Cut the classes into so many parts of equally many classes."""
        n = self.n_classes // n_parts
        parts = []
        for k in range(n_parts):
            here, indptr = slice(k * n, k * n + n), self.indptr[k * n : k * n + n + 1]
            stored = slice(int(indptr[0]), int(indptr[-1]))
            head = self.rows[here], self.weight[here], self.lengths[here], indptr - indptr[0]
            parts.append(WordCounts(self.terms, *head, self.indices[stored], self.sums[stored]))
        return parts

    def numbers_in(
        self, kept: WordCounts, block: Block, counted: NDArray[np.bool_] | None
    ) -> Array | None:
        """Return the numbers that the words of documents have in what is `kept`, -1 for others."""
        if isinstance(self.terms, Buckets):
            return None
        used = np.zeros(len(self.terms), bool)
        used[self.indices] = True
        numbers: Array = np.where(used, np.cumsum(used) - 1, -1)
        if counted is not None and isinstance(block, Bagged):
            # words that only rows of weight 0 have were not counted
            numbers = np.append(numbers, -1)[block.numbers_of(counted)]  # the last is for -1
        return numbers

    def support(self, unit: int, kind: Kind) -> Support:
        """Return that a text can be anything."""
        return Support(text=True)

    def notes(self) -> int | None:
        """Return the number of buckets, if words fall into any."""
        return self.terms.n if isinstance(self.terms, Buckets) else None

    def to_arrays(self) -> dict[str, Array]:
        """Return the arrays that make up the block, to store it."""
        from tallybayes.tallies.word_packing import words_to_arrays

        return words_to_arrays(self)

    @classmethod
    def from_arrays(
        cls, notes: Any, arrays: Arrays, kinds: Sequence[Kind], rows: Integers
    ) -> WordCounts:
        """Build the block that `notes` and `to_arrays` described; all else is an error."""
        from tallybayes.tallies.word_packing import words_from

        (kind,) = kinds
        require(isinstance(kind, Words))
        assert isinstance(kind, Words)
        return words_from(kind, notes, arrays, rows)

    def less(self, other: WordCounts) -> WordCounts:
        """Take away documents of whole counts that are surely here; the terms stay."""
        indptr, indices, sums = _added(self, other, -other.sums)
        kept = sums[:, DOCUMENTS] > 0.0
        of_class = np.repeat(np.arange(self.n_classes), np.diff(indptr))
        sizes = np.bincount(of_class[kept], minlength=self.n_classes)
        return WordCounts(
            self.terms,
            self.rows - other.rows,
            self.weight - other.weight,
            self.lengths - other.lengths,
            _pointers(sizes),
            indices[kept],
            sums[kept],
        )

    def sorted(self) -> WordCounts:
        """Return the same counts with the words in the order of the alphabet."""
        rank = np.empty(len(self.terms), np.int64)
        rank[self.terms.order] = np.arange(len(self.terms))
        indices = rank[self.indices].astype(np.int32)
        of_class = np.repeat(np.arange(self.n_classes), np.diff(self.indptr))
        order = np.lexsort((indices, of_class))
        terms = self.terms if isinstance(self.terms, Buckets) else self.terms.take(self.terms.order)
        head = self.rows, self.weight, self.lengths, self.indptr
        return WordCounts(terms, *head, indices[order], self.sums[order])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordCounts):
            return NotImplemented
        a, b = self.sorted(), other.sorted()
        nothing = len(a.indices) == len(b.indices) == 0
        return (nothing or a.terms == b.terms) and all(
            np.array_equal(getattr(a, part), getattr(b, part))
            for part in ("rows", "weight", "lengths", "indptr", "indices", "sums")
        )

    __hash__ = None


def _pointers(sizes: Array) -> Integers:
    """Return where each class begins when they stand one behind the other."""
    pointers = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=pointers[1:])
    return pointers


def _count(reading: Reading, rows: Integers, of: RowClasses) -> WordCounts:
    """Count some documents, which stand class after class."""
    y, n_classes = of.y[rows], len(of.rows)
    w = None if of.w is None else of.w[rows]
    bounds = np.searchsorted(y, np.arange(n_classes + 1))
    known = fixed_terms(reading.words)
    reader = reading.reader(known)
    sums = WordSums(reading.compiled)
    found = [NOTHING] * n_classes
    lengths = np.zeros((n_classes, 2))
    for bags in reading.bags(reader, rows, bounds):
        c = int(y[bags.rows.start])
        w_here = None if w is None else w[bags.rows]
        length = bags.lengths.astype(np.float64)
        weight = np.ones(len(length)) if w_here is None else w_here
        lengths[c] += (weight @ length, weight @ length**2)
        sums.make_room(reader.n_terms)
        sums.add_bags(weighted(bags, reading.words), w_here)
        if bags.rows.stop == bounds[c + 1]:
            found[c] = sums.take_out()
    counted = np.bincount(y, minlength=n_classes).astype(np.int64)
    weights = counted if w is None else np.bincount(y, w, n_classes)
    head = counted[:, None], weights.astype(np.float64)[:, None], lengths
    counted_words = WordCounts(reader.terms, *head, *_stacked(found))
    # what was learnt is used; of terms that were settled before, some may not be
    return counted_words if known is None else counted_words.without_unused()


def _added(
    a: WordCounts, b: WordCounts, sums_of_b: Floats
) -> tuple[Integers, NDArray[np.int32], Floats]:
    """Add up the sums of two blocks with the same terms, class by class."""
    sizes = np.diff(a.indptr) + np.diff(b.indptr)
    size = int(sizes.sum())

    def work(classes: slice) -> list[tuple[Array, Floats]]:
        sums = WordSums(text_is_loaded() and size >= WORTH_COMPILED)
        sums.make_room(len(a.terms))
        found = []
        for c in range(classes.start, classes.stop):
            parts = [
                (block.indices[here], values[here])
                for block, values in ((a, a.sums), (b, sums_of_b))
                if (here := block.of_class(c)).stop > here.start
            ]
            if len(parts) < 2:  # threads share out the documents by class, so most are like this
                found += parts or [NOTHING]
                continue
            for indices, values in parts:
                sums.add(indices, values)
            found.append(sums.take_out())
        return found

    return _stacked([each for part in over_rows(work, a.n_classes, size, sizes) for each in part])


def _stacked(
    found: Sequence[tuple[Array, Floats]],
) -> tuple[Integers, NDArray[np.int32], Floats]:
    """Put the words of one class behind those of another."""
    indptr = _pointers(np.array([len(indices) for indices, _ in found], np.int64))
    indices, sums = zip(NOTHING, *found, strict=True)
    return indptr, np.concatenate(indices), np.concatenate(sums)


def _left(a: WordCounts, indptr: Integers, indices: Array, sums: Floats, where: Where) -> Floats:
    """Check what is left of a block after others were taken away; refuse what cannot be right."""
    before = np.zeros(sums.shape)
    table = np.zeros((len(a.terms), 3))
    for c in range(a.n_classes):
        mine, here = a.of_class(c), slice(int(indptr[c]), int(indptr[c + 1]))
        table[a.indices[mine]] = a.sums[mine]
        before[here] = table[indices[here]]
        table[a.indices[mine]] = 0.0
    away = before - sums
    # whole counts cancel exactly; fractions leave rounding error behind
    whole = is_integral(before, away)
    noise = np.where(whole, 0.0, 1e-12 * before)
    gone = sums[:, [DOCUMENTS]] == 0.0
    wrong = (sums < -noise) | (gone & (np.abs(sums) > np.maximum(noise, TRUSTED * before)))
    refuse_never_counted(wrong, where)
    lost = ~gone & (away > 0.0) & (ROUNDING * before > TRUSTED * sums)
    refuse_lost_in_rounding(lost & ~whole, where)
    return np.where(gone, 0.0, np.maximum(sums, 0.0))
