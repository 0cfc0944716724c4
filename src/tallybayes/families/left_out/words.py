"""Leave-one-out for text: the counts of a document's own class go down, and so may the vocabulary.

Words that only this document has are unknown without it, and with `min_df` or `max_df` other words
of it may fall out of the vocabulary, or come into it. With V and T the number of words that are
used and the total of a class, both change by the words that switch, and T of the own class by what
the document has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.families.left_out.terms import Array, LeaveOneOutTask, WholeLeftOut, left_out
from tallybayes.families.parameters import Floats, in_place_log
from tallybayes.families.text import Text
from tallybayes.families.vocabulary import df_limits
from tallybayes.families.word_weights import MOST_CELLS
from tallybayes.kernels import leaving_out, scoring
from tallybayes.kernels.leaving_out import row_sums
from tallybayes.tallies import WordCounts
from tallybayes.tallies.words import COUNT, DOCUMENTS, WEIGHT
from tallybayes.tokenizer import Bagged, Buckets


@left_out.register
def _text(family: Text, leaving: LeaveOneOutTask) -> WholeLeftOut | None:
    words = family.words
    weights = leaving.of.w is not None
    chosen_anew = family.max_features is not None or family.best is not None
    limited = not family.takes_all and family.vocabulary is None
    unsmoothed = family.event == "bernoulli" and (weights or family.alpha == 0.0)
    counted: WordCounts = leaving.counted
    too_many = len(counted.terms) * counted.n_classes > MOST_CELLS
    if words.idf or words.norm or chosen_anew or (limited and weights) or unsmoothed or too_many:
        return None
    held = LeftDocuments(family, leaving)
    scores = {"bernoulli": held.bernoulli, "complement": held.complement}
    return WholeLeftOut(scores.get(family.event, held.multinomial), held.doubtful)


@dataclass(frozen=True)
class LeftDocuments:
    """Documents, and the words that are used with and without each of them."""

    text: Text
    leaving: LeaveOneOutTask

    @property
    def counted(self) -> WordCounts:
        """What was counted of all documents."""
        counted: WordCounts = self.leaving.counted
        return counted

    @property
    def alpha(self) -> float:
        """What is added to every count."""
        return self.text.added

    @cached_property
    def used(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
        """Mark the words used without any document, and without one that has them; count both.

        The last is the number of words that are used without a document that has none of them.
        """
        counted, n_terms = self.counted, len(self.counted.terms)
        everything = np.ones(n_terms, bool)
        if isinstance(counted.terms, Buckets):
            return everything, everything, n_terms
        if self.text.vocabulary is not None:
            numbers = counted.terms.numbers(self.text.vocabulary)
            given = np.zeros(n_terms, bool)
            given[numbers[numbers >= 0]] = True
            return given, given, len(numbers)
        documents = counted.totals(DOCUMENTS)
        base, after = documents > 0.5, documents > 1.5
        if not self.text.takes_all:
            n = max(float(counted.weight.sum()) - 1.0, 0.0)
            least, most = df_limits(self.text, n)
            base &= (documents >= least) & (documents <= most)
            after &= (documents - 1.0 >= least) & (documents - 1.0 <= most)
        return base, after, int(base.sum())

    @cached_property
    def bags(self) -> Any:
        """The documents with what each word counts."""
        block = self.leaving.block
        assert isinstance(block, Bagged)
        bags = block.as_bags().weighted(self.text.words)
        if self._once:
            bags = bags._replace(data=np.ones(len(bags.indices)))
        return bags

    @property
    def _once(self) -> bool:
        return self.text.event in ("boolean", "bernoulli")

    @cached_property
    def owner(self) -> Array:
        """The document of each entry."""
        return np.repeat(np.arange(len(self.leaving.of.y)), np.diff(self.bags.indptr))

    @cached_property
    def kept(self) -> tuple[Array, Array, Array]:
        """The words that are used without their document: pointers, numbers and what they count."""
        _, after, _ = self.used
        bags = self.bags
        keep = after[bags.indices]
        if keep.all():
            return bags.indptr, bags.indices, bags.data
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
        return ends[bags.indptr], bags.indices[keep], bags.data[keep]

    @cached_property
    def lengths(self) -> Floats:
        """The total of the words that are used."""
        indptr, _, data = self.kept
        return row_sums(indptr, data)

    @cached_property
    def switched(self) -> tuple[Array, Array, Floats]:
        """The words that come in (1) or fall out (-1) without a document: document, word, which."""
        base, after, _ = self.used
        turn = after.astype(np.int8) - base
        which = np.flatnonzero(turn[self.bags.indices])
        words = self.bags.indices[which]
        return self.owner[which], words, turn[words].astype(np.float64)

    @cached_property
    def n_words(self) -> Floats:
        """How many words are used without each document."""
        owner, _, turn = self.switched
        n = len(self.leaving.of.y)
        return (self.used[2] + np.bincount(owner, turn, n)).astype(np.float64)

    @cached_property
    def counts(self) -> Floats:
        """What was counted, by class (down) and word (across)."""
        counted = self.counted
        out = np.zeros((counted.n_classes, len(counted.terms)))
        for c, words in enumerate(counted.words):
            out[c, words.indices] = words.sums[:, WEIGHT if self._once else COUNT]
        return out

    def totals(self, counts: Floats) -> Floats:
        """Return for each document and class the total of the words used without it.

        What the document itself has is still in it.
        """
        base, _, _ = self.used
        out = np.repeat(counts[:, base].sum(axis=1)[None], len(self.leaving.of.y), axis=0)
        owner, words, turn = self.switched
        if len(words):
            np.add.at(out, owner, turn[:, None] * counts[:, words].T)
        return out

    @cached_property
    def doubtful(self) -> NDArray[np.bool_]:
        """Without smoothing a class may be left with nothing, or there may be no word left."""
        out: NDArray[np.bool_] = self.n_words < 0.5
        if self.alpha == 0.0:
            y, w = self.leaving.of.y, self.leaving.weights
            left = self.totals(self.counts)
            left[np.arange(len(y)), y] -= w * self.lengths
            out = out | (left <= 1e-12).any(axis=1)
        return out

    def multinomial(self) -> Floats:
        """Return the scores of the multinomial model, or of the boolean one."""
        y, w = self.leaving.of.y, self.leaving.weights
        here = np.arange(len(y))
        alpha = np.full(self.counts.shape[1], self.alpha)
        out = np.zeros((len(y), len(self.counts)))
        table = np.ascontiguousarray(self.counts.T) + self.alpha
        in_place_log(table)
        scoring.sparse_counts(*self.kept, None, table, out)
        own = leaving_out.sparse_counts(*self.kept, y, self.leaving.of.w, self.counts, alpha)
        out[here, y] = own
        left = self.totals(self.counts)
        left[here, y] -= w * self.lengths
        left += self.alpha * self.n_words[:, None]
        out -= self.lengths[:, None] * np.log(np.where(left > 0.0, left, 1.0))
        return out

    def complement(self) -> Floats:
        """Return the scores of the complement model."""
        y, w = self.leaving.of.y, self.leaving.weights
        indptr, indices, data = self.kept
        owner = np.repeat(np.arange(len(y)), np.diff(indptr))
        elsewhere = self.counts.sum(axis=0) - self.counts
        total = self.totals(elsewhere) + self.alpha * self.n_words[:, None]
        out = np.empty(total.shape)
        for c in range(len(elsewhere)):
            taken = np.where(y == c, 0.0, w)
            n = np.maximum(elsewhere[c, indices] - taken[owner] * data, 0.0)
            logs = np.bincount(owner, data * np.log(n + self.alpha), len(y))
            rest = np.where(self.lengths > 0.0, total[:, c] - taken * self.lengths, 1.0)
            out[:, c] = self.lengths * np.log(rest) - logs
        return out

    def bernoulli(self) -> Floats:
        """Return the scores of the Bernoulli model, for documents of weight 1."""
        base, _, n_base = self.used
        y, alpha = self.leaving.of.y, self.alpha
        in_row, words = self.owner, self.bags.indices
        in_base = base[words]
        _, after, _ = self.used
        present = after[words]
        n_given = n_base - int(base.sum())  # words of a vocabulary that were never seen
        out = np.empty((len(y), len(self.counts)))
        documents = self.counted.weight[:, 0]
        for c, d in enumerate(self.counts):
            for own in (False, True):
                n = max(documents[c] - own, 0.0)
                mine = (y == c) == own
                never = n - d < -0.5  # all documents of the class have it, so none lacks it
                absent = np.where(never, 0.0, np.log(np.where(never, 1.0, n - d + alpha)))
                absent -= np.where(never, 0.0, np.log(n + 2.0 * alpha))
                has = np.log(np.maximum(d - own, 0.0) + alpha) - np.log(n + 2.0 * alpha)
                terms = present * has[words] - in_base * absent[words]
                empty = absent[base].sum() + n_given * np.log((n + alpha) / (n + 2.0 * alpha))
                scores = empty + np.bincount(in_row, terms, len(y))
                out[mine, c] = scores[mine]
        block = self.leaving.block
        assert isinstance(block, Bagged)
        if block.missing is not None:
            out[block.missing] = 0.0
        return out
