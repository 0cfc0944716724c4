"""What the words of a text weigh: the parameters that `Text` estimates."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block
from tallybayes.families.bernoulli import Bernoulli, BernoulliParameters
from tallybayes.families.counts import log_shares, log_shares_elsewhere
from tallybayes.families.parameters import (
    NO_WORDS,
    Array,
    ColumnInfo,
    Entries,
    Floats,
    Parameters,
    Ratios,
    times,
)
from tallybayes.families.terms import Scored
from tallybayes.families.writing import documents
from tallybayes.kernels.choice import loops_for
from tallybayes.kernels.threads import over_rows
from tallybayes.sources import NumberedNames
from tallybayes.tallies import Counts, WordCounts
from tallybayes.tallies.words import COUNT, WEIGHT
from tallybayes.tokenizer import Bagged, Bags, Buckets, Documents, Reading, Terms

if TYPE_CHECKING:
    from tallybayes.families.text import Text

MOST_CELLS = 40_000_000  # words times classes whose weights are kept; beyond, they are made anew
WORDS_AT_ONCE = 100_000
BYTES_OF_A_WORD = 6  # about
PRESENT = -1.0  # what is in a bag is there, even with an idf of 0
READERS = 8
LONGEST_KEPT = 1_000_000  # bytes of a document, for which a reader keeps buffers


@dataclass(frozen=True, eq=False)
class TextParameters(Parameters):
    """What each word adds to the score of each class.

    `terms` are the words that are used, and `numbers` their places among those that were counted:
    None stands for all of them, and -1 for a word of a given vocabulary that was never seen.
    """

    text: Text
    counted: WordCounts
    terms: Terms | Buckets
    numbers: Array | None
    exponent: float = 1.0

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is worked out from the rest."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def free_parameters(self) -> int:
        """One less than the words for every class, as they sum to one; all for Bernoulli."""
        fewer = 0 if self.text.event == "bernoulli" else 1
        return self.counted.n_classes * max(len(self.terms) - fewer, 0)

    @property
    def table_entries(self) -> int:
        """A probability for every class and word; for Bernoulli also that of its absence."""
        both = 2 if self.text.event == "bernoulli" else 1
        return both * self.counted.n_classes * len(self.terms)

    @cached_property
    def _by_word(self) -> Any:
        """The counts that the event model looks at: a sparse row for each word that is used."""
        from scipy.sparse import csr_array

        block, part = self.counted, WEIGHT if self._once else COUNT
        shape = (block.n_classes, len(block.terms))
        indptr, indices, sums = block.stacked()
        by_class = csr_array((sums[:, part], indices, indptr), shape=shape)
        by_word = by_class.T.tocsr()
        if self.numbers is None:
            return by_word
        seen = self.numbers >= 0
        if not shape[1]:
            return csr_array((len(seen), shape[0]))
        rows = by_word[np.where(seen, self.numbers, 0)]
        rows.data[np.repeat(~seen, np.diff(rows.indptr))] = 0.0
        rows.eliminate_zeros()
        return rows

    @property
    def _once(self) -> bool:
        """Whether a word counts once a document."""
        return self.text.event in ("boolean", "bernoulli")

    @cached_property
    def class_totals(self) -> Floats:
        """The sum of the counts of all words that are used, by class."""
        return np.asarray(self._by_word.sum(axis=0)).ravel()

    def counts_of(self, words: Array | slice) -> Floats:
        """Return the counts of some words (down) in each class (across)."""
        rows: Floats = self._by_word[words].toarray()
        return rows

    def weights_of(self, words: Array | slice) -> Floats:
        """Return what one occurrence of some words (down) adds to each class (across)."""
        weights = self._plain_weights(words)
        return weights if self.exponent == 1.0 else times(weights, np.array(self.exponent))

    def _plain_weights(self, words: Array | slice) -> Floats:
        if self.text.event == "bernoulli":
            found = self._switches(words)
            absent = np.where(np.isneginf(found.log_absent), 0.0, found.log_absent)
            return np.ascontiguousarray((found.log_present - absent).T)
        if self.text.event == "complement":
            return np.ascontiguousarray(-log_shares_elsewhere(*self._bag(words)).T)
        return self._multinomial(words)

    def _bag(self, words: Array | slice) -> tuple[Floats, Floats, Floats, float]:
        """Return the counts of some words and their alphas, and the totals of both."""
        alpha = self.text.added
        counts = self.counts_of(words).T
        return counts, np.full(counts.shape[1], alpha), self.class_totals, alpha * len(self.terms)

    def _multinomial(self, words: Array | slice) -> Floats:
        return np.ascontiguousarray(log_shares(*self._bag(words)).T)

    def log_probabilities(self, words: Array | slice) -> Floats:
        """Return log P(w | c) of some words (down) in each class (across): for Bernoulli presence.

        Complement weights are no probabilities; those of the multinomial model stand for them.
        """
        if self.text.event == "bernoulli":
            return np.ascontiguousarray(self._switches(words).log_present.T)
        if self.text.event == "complement":
            return self._multinomial(words)
        return self.weights_of(words) if self.table is None else self.table[words]

    def _switches(self, words: Array | slice) -> BernoulliParameters:
        """Estimate how probable it is that a document has some of the words."""
        counts = self.counts_of(words)
        block = Counts(self.counted.rows, self.counted.weight, np.ascontiguousarray(counts.T))
        return Bernoulli(self.text.added).estimate(
            block, ColumnInfo((), NumberedNames(len(counts)), ())
        )

    @cached_property
    def table(self) -> Floats | None:
        """The weights of all words, unless they are too many to keep."""
        if len(self.terms) * self.counted.n_classes > MOST_CELLS:
            return None
        return self.weights_of(slice(None))

    @cached_property
    def _idle(self) -> tuple[deque[Any], deque[Any]]:
        """A few readers that wait for the next documents, plain and compiled."""
        return deque(maxlen=READERS), deque(maxlen=READERS)

    @cached_property
    def _absence(self) -> tuple[Floats, Array]:
        """For Bernoulli: the score of a document without words, and the words it must not lack.

        A word that every document of a class has must be there, when nothing is smoothed: the
        second part marks such words (down) by class (across), and leaves them out of the first.
        """
        n = self.counted.n_classes
        base, required = np.zeros(n), np.zeros((0, n), bool)
        if self.text.event != "bernoulli":
            return base, required
        parts = []
        for start in range(0, len(self.terms), WORDS_AT_ONCE):
            some = np.arange(start, min(start + WORDS_AT_ONCE, len(self.terms)))
            absent = self._switches(some).log_absent
            impossible = np.isneginf(absent)
            base += np.where(impossible, 0.0, absent).sum(axis=1)
            parts.append(impossible.T)
        if any(part.any() for part in parts):
            required = np.concatenate(parts)
        return self.exponent * base, required if self.exponent else required[:0]

    def log_prob(self, block: Block) -> Floats:
        """Return log P(document | class) for each row, its one column, and class."""
        assert isinstance(block, Documents)
        out = np.zeros((len(block), self.counted.n_classes))
        self.add_log_likelihood(block, out)
        return out[:, None, :]

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add log P(document | class) to `out`, of rows and classes."""
        if not len(self.terms):
            return
        if isinstance(block, Bagged):
            bags = self._used(block)
            loops = loops_for(int(bags.indptr[-1]) * out.shape[1])
            self._add_bags(bags, block.missing, loops, out)
            return
        assert isinstance(block, Documents)
        reading = Reading(block, self.text.words)
        # by the size of all documents: how they are cut into pieces depends on the reader
        loops = loops_for(reading.n_bytes // BYTES_OF_A_WORD * out.shape[1])
        self._absence  # noqa: B018
        if self.table is None:  # made once, before the threads ask for it
            self.class_totals  # noqa: B018
        if reading.compiled and isinstance(self.terms, Terms):
            self.terms.table  # noqa: B018

        def work(rows: slice) -> None:
            idle = self._idle[reading.compiled]
            try:
                reader = idle.pop()
            except IndexError:
                reader = reading.reader(self.terms)
            for bags in reading.bags(reader, np.arange(rows.start, rows.stop)):
                here = slice(rows.start + bags.rows.start, rows.start + bags.rows.stop)
                missing = None if block.missing is None else block.missing[here]
                self._add_bags(bags, missing, loops, out[here])
            if reader.longest <= LONGEST_KEPT:
                idle.append(reader)

        if reading.compiled:
            over_rows(work, len(block), reading.n_bytes, reading.sizes)
        else:
            work(slice(0, len(block)))

    def _used(self, block: Bagged) -> Bags:
        """Return the bags with the numbers that the words have here, and only the used ones."""
        if isinstance(self.terms, Terms) and block.terms is not self.terms:
            block = block.renumbered(self.terms)
        return block.as_bags()

    def _add_bags(
        self, bags: Bags, missing: NDArray[np.bool_] | None, loops: Any, out: Floats
    ) -> None:
        """Add the scores of some bags."""
        base, required = self._absence
        there: Any = True if missing is None else ~missing[:, None]
        self._score(bags.weighted(self.text.words), loops, out)
        if len(required):
            out[self._lacking(bags, required, loops) & there] = -np.inf
        if self.text.event == "bernoulli":
            out += there * base

    def _lacking(self, bags: Bags, required: Array, loops: Any) -> NDArray[np.bool_]:
        """Mark the bags (down) that lack words they must have in each class (across)."""
        found = np.zeros((len(bags.lengths), required.shape[1]))
        must = required.astype(np.float64)
        loops.score_sparse(bags.indptr, bags.indices, bags.data, PRESENT, must, found)
        lacking: NDArray[np.bool_] = found < must.sum(axis=0)
        return lacking

    def _score(self, bags: Bags, loops: Any, out: Floats) -> None:
        """Add the weights of the words in some bags."""
        indices = bags.indices[: bags.indptr[-1]]
        # few documents do not need the weights of all words, unless these are known already
        few = "table" not in vars(self) and len(indices) < len(self.terms)
        table = None if few else self.table
        if table is None:
            used = np.zeros(len(self.terms), bool)
            used[indices] = True
            table = self.weights_of(np.flatnonzero(used))
            indices = (np.cumsum(used, dtype=np.int32) - 1)[indices]
        threshold = PRESENT if self._once else None
        loops.score_sparse(bags.indptr, indices, bags.data, threshold, table, out)

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a document for each row, whose classes are given as codes."""
        return [documents(self, rng, classes)]

    def powered(self, exponents: Floats) -> TextParameters:
        """Return what scores as P(document | class) to a power."""
        return replace(self, exponent=float(exponents[0]))

    def select(self, units: Sequence[int]) -> TextParameters:
        """Return the parameters: there is one column."""
        return self

    def term(self, unit: int) -> Scored:
        """Return what scores one document."""
        zeros = np.zeros((1, self.counted.n_classes))

        def score(document: Any) -> list[float]:
            out = zeros.copy()
            self.add_log_likelihood(Documents([document]), out)
            scores: list[float] = out[0].tolist()
            return scores

        return Scored(score)

    def silence(self, unit: int) -> str | None:
        """Say why the column says nothing at all, if that is so."""
        return None if len(self.terms) else NO_WORDS

    def entries(self) -> Entries:
        """Return the words that are used, in the order of the alphabet.

        Complement weights are no probabilities; those of the multinomial model stand for them.
        """
        order, texts = self.terms.order, self.terms.texts
        words = [texts[k] for k in order.tolist()]
        logs, counts = self.log_probabilities(order), self.counts_of(order)
        return Entries(np.zeros(len(order), np.int64), words, logs, counts)

    def ratios(self, unit: int) -> Ratios:
        """Return the fractions behind the probabilities of all words that are used."""
        counts, alpha = self.counts_of(slice(None)).T, self.text.added
        if self.text.event == "bernoulli":
            return Ratios(counts, alpha, self.counted.weight[:, :1], 2.0 * alpha)
        of = Ratios(counts, alpha, self.class_totals[:, None], alpha * len(self.terms))
        if self.text.event != "complement":
            return of
        return Ratios(
            counts.sum(axis=0) - counts, alpha, of.total.sum(axis=0) - of.total, of.added_total
        )
