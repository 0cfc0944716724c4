"""Counts of words: for each class and word the documents that have it, and how often it occurs.

Most words occur in few classes, so only the pairs that occur are kept, in order, each with three
sums. A million words in a hundred classes take memory for the pairs that were seen, not for a
hundred million.

Learning a document shares everything with the tally before it: the vocabulary, which may therefore
hold words that no document has (any more), and the pairs. What was learnt lately stands beside the
rest until it is worth adding up, so that learning a document costs the document.
`without_unused` settles all of that; estimates begin with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, ClassVar, NamedTuple
from zlib import crc32

import numpy as np

from tallybayes.arrays import Array, Floats, Integers, Mask
from tallybayes.batches import Block
from tallybayes.kernels.choice import load_text, text_is_loaded
from tallybayes.kernels.counting import RowClasses
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label
from tallybayes.tallies.blocks import (
    NOT_COUNTED,
    TRUSTED,
    Support,
    TallyBlock,
    Where,
    faded,
    in_columns,
    is_integral,
    refuse,
    register_block,
    sum_left,
    weight_left,
)
from tallybayes.tallies.container import Arrays, require
from tallybayes.tokenizer import Bagged, BagReader, Documents, Reading, Terms, Words
from tallybayes.tokenizer.terms import WORTH_COMPILED

DOCUMENTS, WEIGHT, COUNT = range(3)  # the three sums
SETTLED = 4  # times as many pairs as were learnt lately: those are not added to the others yet
MOST_CLAIMED = 2**26  # words x classes that a file may state without holding any
BITS = 32  # of a word's number, in front of which that of the class stands
CLASS, WORD = 1 << BITS, (1 << BITS) - 1


class Pairs(NamedTuple):
    """Pairs of a class and a word as one number, in order, and three sums of each.

    The sums are the documents that have the word, their weight, and the weighted number of times
    (or what `Words` says it counts instead).
    """

    keys: Integers
    sums: Floats

    @classmethod
    def united(cls, pieces: Sequence[Pairs]) -> Pairs:
        """Add up the sums of pairs that are in some pieces, in any order."""
        keys = np.concatenate([NOTHING.keys, *(piece.keys for piece in pieces)])
        sums = np.concatenate([NOTHING.sums, *(piece.sums for piece in pieces)])
        order = np.argsort(keys, kind="stable")  # soon done with pieces that are in order
        keys, sums = keys[order], sums[order]
        new = np.diff(keys, prepend=-1) > 0
        if new.all():
            return cls(keys, sums)
        together = sums[new]
        np.add.at(together, np.cumsum(new)[~new] - 1, sums[~new])
        return cls(keys[new], together)

    @property
    def classes(self) -> Integers:
        """The class of each pair."""
        return self.keys >> BITS

    @property
    def words(self) -> Integers:
        """The number of the word of each pair."""
        return self.keys & WORD

    def renumbered(self, classes: Any, words: Any) -> Pairs:
        """Return pairs with other numbers of their classes and words: by the old one, or as is."""
        c = self.classes if classes is None else classes[self.classes]
        return self._replace(keys=c * CLASS + (self.words if words is None else words[self.words]))

    def places(self, keys: Integers) -> tuple[Integers, Mask]:
        """Return where other pairs stand or would stand, and mark those that are here."""
        places = np.searchsorted(self.keys, keys)
        here = places < len(self.keys)
        here[here] = self.keys[places[here]] == keys[here]
        return places, here

    def changed(self, places: Integers, left: Floats) -> Pairs:
        """Return the pairs with other sums at some places; drop those without documents."""
        sums, gone = self.sums.copy(), places[left[:, DOCUMENTS] == 0.0]
        sums[places] = left
        if not len(gone):
            return self._replace(sums=sums)
        return Pairs(np.delete(self.keys, gone), np.delete(sums, gone, axis=0))

    def plus(self, pieces: Sequence[Pairs]) -> Pairs:
        """Add the sums of some more pairs, in any order, to these, which are in order."""
        more = Pairs.united(pieces)
        places, here = self.places(more.keys)
        sums, new = self.sums.copy(), places[~here]
        sums[places[here]] += more.sums[here]
        keys = np.insert(self.keys, new, more.keys[~here])
        return Pairs(keys, np.insert(sums, new, more.sums[~here], axis=0))


NOTHING = Pairs(np.zeros(0, np.int64), np.zeros((0, 3)))


@register_block("words")
@dataclass(frozen=True, eq=False)
class WordCounts(TallyBlock):
    """The words of one column of text, by class.

    `rows` and `weight` are of the documents that were there. `pieces` add up to the sums of the
    words.
    """

    KEYS: ClassVar[tuple[str, ...]] = ("terms", "pieces")
    SHARED: ClassVar[tuple[str, ...]] = ("rows", "weight")

    terms: Terms = field(default_factory=lambda: Terms.of(()))
    pieces: tuple[Pairs, ...] = (NOTHING,)

    @classmethod
    def count(
        cls, block: Block, of: RowClasses, kind: Kind, names: Sequence[str], start: int
    ) -> WordCounts:
        assert isinstance(kind, Words)
        assert isinstance(block, Documents | Bagged)
        there = np.ones(len(block), bool) if block.missing is None else ~block.missing
        if of.w is not None:
            there &= of.w > 0.0
        rows = np.flatnonzero(there)
        rows = rows[np.argsort(of.y[rows], kind="stable")]  # class after class
        if isinstance(block, Bagged):
            compiled = text_is_loaded() and len(block.indices) >= WORTH_COMPILED
            return _count(block, rows, of, kind, compiled).without_unused()
        reading = Reading(block, kind)

        def work(share: slice) -> WordCounts:
            return _count(reading.reader(), rows[share], of, kind, reading.compiled)

        counts = reduce(lambda a, b: a.plus(b, names), reading.shared(work, rows))
        # what was learnt is used; of terms that were settled before, some may not be
        return counts if reading.learns else counts.without_unused()

    @property
    def exact(self) -> bool:
        return all(bool(is_integral(piece.sums).all()) for piece in self.pieces)

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs with their sums."""
        return self.pieces[0].plus(self.pieces[1:]) if self.pieces[1:] else self.pieces[0]

    def totals(self, part: int) -> Floats:
        """Return one of the sums for each word, over all classes."""
        totals = np.bincount(self.pairs.words, self.pairs.sums[:, part], len(self.terms))
        return np.asarray(totals, np.float64)

    def with_classes(self, places: Sequence[int], n_classes: int) -> WordCounts:
        to = np.array(places, np.int64)
        pieces = tuple(piece.renumbered(to, None) for piece in self.pieces)
        return replace(super().with_classes(places, n_classes), pieces=pieces)

    def select_classes(self, classes: Mask) -> WordCounts:
        kept = classes[self.pairs.classes]
        pairs = Pairs(self.pairs.keys[kept], self.pairs.sums[kept])
        pieces = (pairs.renumbered(np.cumsum(classes) - 1, None),)
        return replace(self.each(lambda part: part[classes]), pieces=pieces).without_unused()

    def select(self, units: Sequence[int]) -> WordCounts:
        return self if len(units) else WordCounts.empty(0).with_classes([], self.n_classes)

    def split(self, n_parts: int) -> list[WordCounts]:
        keys, sums = self.pairs
        size = self.n_classes // n_parts * CLASS
        starts = np.arange(n_parts) * size
        cuts = map(slice, *np.searchsorted(keys, [starts, starts + size]).tolist())
        return [
            replace(part, pieces=(Pairs(keys[cut] - start, sums[cut]),))
            for part, cut, start in zip(super().split(n_parts), cuts, starts, strict=True)
        ]

    def scaled(self, factor: float) -> WordCounts:
        sums = np.column_stack([self.pairs.sums[:, 0], faded(self.pairs.sums[:, 1:], factor)])
        return replace(super().scaled(factor), pieces=(self.pairs._replace(sums=sums),))

    def without_unused(self) -> WordCounts:
        """Drop the words that no document has, and add up those that were learnt lately."""
        used = np.zeros(len(self.terms), bool)
        for piece in self.pieces:
            used[piece.words] = True
        if used.all():
            return self
        pairs = self.pairs.renumbered(None, np.cumsum(used) - 1)
        return replace(self, terms=self.terms.select(np.flatnonzero(used)), pieces=(pairs,))

    def of_documents(self, least: int) -> WordCounts:
        """Return the counts of only the words that so many documents have."""
        kept = self.totals(DOCUMENTS)[self.pairs.words] >= least - 0.5
        pairs = Pairs(self.pairs.keys[kept], self.pairs.sums[kept])
        return replace(self, pieces=(pairs,)).without_unused()

    def having(self, place: int, words: Sequence[str]) -> list[str]:
        """Return those of some words that documents of a class have."""
        numbers = self.terms.numbers(words)
        _, here = self.pairs.places(place * CLASS + np.maximum(numbers, 0))
        there = (here & (numbers >= 0)).tolist()
        return [word for word, known in zip(words, there, strict=True) if known]

    def plus(self, other: WordCounts, names: Sequence[str]) -> WordCounts:
        terms, numbers = self.terms.plus(other.terms)
        theirs = [piece.renumbered(None, numbers) for piece in other.pieces]
        pieces = (*self.pieces, Pairs.united(theirs))
        if SETTLED * sum(len(piece.keys) for piece in pieces[1:]) > len(pieces[0].keys):
            pieces = (pieces[0].plus(pieces[1:]),)
        return WordCounts(self.rows + other.rows, self.weight + other.weight, terms, pieces)

    def minus(
        self, other: WordCounts, classes: Sequence[Label], names: Sequence[str]
    ) -> WordCounts:
        """Take away documents that were counted here; refuse what cannot be right."""
        column = in_columns(classes, names)

        def where(pairs: Pairs, terms: Terms = self.terms) -> Where:
            return lambda k, *_: (
                f"{column(pairs.classes[k], 0)}, word {terms.texts[pairs.words[k]]!r}"
            )

        rows, weight = weight_left(self.rows, self.weight, other.rows, other.weight, column)
        numbers = self.terms.numbers_of(other.terms).astype(np.int64)
        refuse(numbers[other.pairs.words] < 0, where(other.pairs, other.terms), NOT_COUNTED)
        away = Pairs.united([other.pairs.renumbered(None, numbers)])
        places, there = self.pairs.places(away.keys)
        refuse(~there, where(away), NOT_COUNTED)
        before = self.pairs.sums[places]
        documents = (before - away.sums)[:, [DOCUMENTS]]
        left = self.pairs.changed(places, sum_left(before, away.sums, documents, where(away)))
        # documents that stay cannot all have been without the word
        many = left.sums[:, DOCUMENTS] > rows[left.classes, 0]
        heavy = left.sums[:, WEIGHT] > weight[left.classes, 0] * (1.0 + TRUSTED)
        refuse(many | heavy, where(left), NOT_COUNTED)
        counts = WordCounts(rows, weight, self.terms, (left,))
        # words that nobody has any more are kept until they are many
        return counts.without_unused() if 2 * len(left.keys) < len(self.terms) else counts

    def less(self, other: WordCounts) -> WordCounts:
        """Take away documents of whole counts that are surely here; the terms stay."""
        places, _ = self.pairs.places(other.pairs.keys)
        left = self.pairs.changed(places, self.pairs.sums[places] - other.pairs.sums)
        return replace(super().less(other), pieces=(left,))

    @property
    def n_words(self) -> int:
        return len(self.terms)

    def dealt(self, n: int, nothing: WordCounts) -> list[WordCounts]:
        """Cut into n blocks that add up to this one; the place of a word depends on it alone."""
        block = self.without_unused()
        hand = np.array([crc32(text.encode()) % n for text in block.terms.texts], np.int64)
        new = np.empty(len(hand), np.int64)
        parts = []
        for place, base in enumerate([block, *[nothing] * (n - 1)]):
            mine = np.flatnonzero(hand == place)
            new[mine] = np.arange(len(mine))
            kept = hand[block.pairs.words] == place
            pairs = Pairs(block.pairs.keys[kept], block.pairs.sums[kept]).renumbered(None, new)
            parts.append(replace(base, terms=block.terms.select(mine), pieces=(pairs,)))
        return parts

    def sorted(self) -> WordCounts:
        """Return the same counts with the words in the order of the alphabet."""
        counts = self.without_unused()
        rank = np.empty(len(counts.terms), np.int64)
        rank[counts.terms.order] = np.arange(len(counts.terms))
        pairs = Pairs.united([counts.pairs.renumbered(None, rank)])
        return replace(counts, terms=counts.terms.select(counts.terms.order), pieces=(pairs,))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordCounts):
            return NotImplemented
        a, b = self.sorted(), other.sorted()
        same_words = not len(a.pairs.keys) or a.terms == b.terms
        mine, theirs = (*a.parts().values(), *a.pairs), (*b.parts().values(), *b.pairs)
        return same_words and all(map(np.array_equal, mine, theirs))

    __hash__ = None

    def support(self, unit: int, kind: Kind) -> Support:
        return Support(text=True)

    def to_arrays(self) -> dict[str, Array]:
        """Return the arrays that make up the block, to store it: words in order."""
        block = self.sorted()
        words: dict[str, Array] = dict(zip(("letters", "edges"), block.terms.in_utf8, strict=True))
        return {**block.parts(), **words, **block.pairs._asdict()}

    @classmethod
    def from_arrays(
        cls, labels: Any, arrays: Arrays, kinds: Sequence[Kind], rows: Integers
    ) -> WordCounts:
        (kind,) = kinds
        require(isinstance(kind, Words))
        assert isinstance(kind, Words)
        terms, n = arrays.terms(), len(rows)
        require(kind.idf is None or kind.idf.weights.keys() >= set(terms.texts))
        keys = arrays.take("keys", (None,), np.int64)
        sums = arrays.take("sums", (len(keys), 3), np.float64)
        pairs = Pairs(keys, sums)
        require((keys >= 0) & (np.diff(keys, prepend=-1) > 0))
        require((pairs.classes < n) & (pairs.words < len(terms)))
        # a model takes memory for every word of every class, so most of them are no mere claim
        require(n * len(terms) <= max(MOST_CLAIMED, 1000 * len(keys)))
        block = cls.checked(arrays, 1, rows, terms=terms, pieces=(pairs,))
        documents = sums[:, DOCUMENTS]
        require((documents >= 1.0) & (documents <= block.rows[pairs.classes, 0]))
        require((documents == np.rint(documents)) & (sums >= 0.0).all(axis=1))
        require(sums[:, WEIGHT] <= block.weight[pairs.classes, 0] * (1.0 + TRUSTED))
        require(block.without_unused() is block)  # a word that nobody has would not be there
        return block


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


def _count(
    reader: BagReader | Bagged, rows: Integers, of: RowClasses, words: Words, compiled: bool
) -> WordCounts:
    """Count some documents, which stand class after class."""
    y, w, counted, weight = of.moved(rows, of.y[rows], len(of.rows))
    ends, found = np.cumsum(counted), []
    add = load_text().add_bags if compiled else add_bags
    sums, touched, n = np.zeros((0, 3)), np.zeros(0, np.int32), 0  # of one class at a time
    for here, bags in reader.pieces(rows, ends):
        c = int(y[here.start])
        w_here = None if w is None else w[here]
        n_terms = int(bags.indices.max(initial=-1)) + 1
        if n_terms > len(sums):
            more = n_terms * 3 // 2 - len(sums)
            sums = np.concatenate([sums, np.zeros((more, 3))])
            touched = np.concatenate([touched, np.zeros(more, np.int32)])
        bags = bags.weighted(words)
        n = add(bags.indptr, bags.indices, bags.data, w_here, sums, touched, n)
        if here.stop == ends[c]:
            numbers = np.sort(touched[:n]).astype(np.int64)
            found.append(Pairs(c * CLASS + numbers, sums[numbers]))
            sums[numbers] = 0.0
            n = 0
    pairs = Pairs(*map(np.concatenate, zip(NOTHING, *found, strict=True)))
    return WordCounts(counted[:, None], weight[:, None], reader.terms, (pairs,))
