"""Leave-one-out in closed form for what is counted: tables, bags and texts.

- Categories: (n - w + extra) / (N - w + added) in the row's own class. A value that only this row
  has is unknown without it. If it is ignored its factor is left out, for all classes; if it is
  smoothed it counts as one value more in a column that has one value less.
- Multinomial: (n - w x + alpha) / (N - w L + sum of alpha), L being the row's total.
- Complement: the same for all classes but the row's own.
- Bernoulli, sparse: (n - [x > threshold] + alpha) / (N - 1 + 2 alpha).
- Text: the same for words, of which some may be unknown without a document that has them, and with
  `min_df` or `max_df` others may fall out of the vocabulary, or come into it. What is added up over
  the words that are used changes by the words that switch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tallybayes.batches import Block, Sparse, dense, without_duplicates
from tallybayes.families.bins import Bins
from tallybayes.families.categorical import Categorical, CategoricalParameters
from tallybayes.families.counts import Bernoulli, Complement, CountFamily, Multinomial
from tallybayes.families.left_out import (
    LeaveOneOutTask,
    LeftOut,
    UnitsLeftOut,
    WordTerms,
    engine,
    left_out,
)
from tallybayes.families.parameters import Array, Floats, Mask, safe_log
from tallybayes.families.smoothing import alpha_of_each
from tallybayes.families.text import ROOT, Text, sums_of
from tallybayes.kernels import scoring
from tallybayes.kernels.scoring import row_sums
from tallybayes.tallies import WordCounts
from tallybayes.tallies.word_counts import DOCUMENTS
from tallybayes.tokenizer import Bagged

HELD = 1e5  # times what other rows have


@left_out.register
def _categorical(family: Categorical, task: LeaveOneOutTask) -> LeftOut:
    declared = task.info.declared or ((),) * len(task.info.names)
    pairs = zip(task.parameters.labels, declared, strict=True)
    settled = [np.array([label in stated for label in known], bool) for known, stated in pairs]
    return TablesLeftOut(task, settled)


@left_out.register
def _bins(family: Bins, task: LeaveOneOutTask) -> LeftOut:
    return TablesLeftOut(task)


class TablesLeftOut(UnitsLeftOut):
    """Tables, which lose a row of one value in one class.

    `settled` marks for each column the values that always belong, None that all do. The rows for
    which this does not tell, and those `unsure`, are left to the family itself.
    """

    def __init__(
        self,
        task: LeaveOneOutTask,
        settled: Sequence[Mask] | None = None,
        unsure: Mask | None = None,
    ) -> None:
        self.task, self.inexact = task, np.zeros(len(task.of.y), bool)
        self._settled, self._unsure = settled, unsure
        self._tables: CategoricalParameters = task.parameters
        self._places = self._tables.places(task.block)
        self._rows: Array = task.counted.with_labels(self._tables.labels).rows

    def _unit_terms(self, unit: int) -> Floats:
        """Return the terms of one column, by row and class."""
        task, tables = self.task, self._tables
        of, here = tables.ratios(unit), tables.here(unit)
        some, which = self._alike(self._places[:, unit], here.stop - here.start)
        y, w, places = task.of.y[some], task.weights[some], self._places[some, unit]
        rows = self._rows[:, here]
        there = places >= 0
        # the last is for missing values, which have the place -1
        terms: Floats = np.vstack([tables.log_probabilities[:, here].T, np.zeros(len(rows))])[
            places
        ]
        if of is None or not there.any():
            return terms[which]
        at = y, np.where(there, places, 0)
        count = np.where(rows[at] > 1, of.count[at] - w, 0.0) + of.added[at]
        # a class without any value of the column has nothing but what is added
        rest = np.where(rows.sum(axis=1)[y] > 1, of.total[at] - w, 0.0) + of.added_total[at]
        share = np.where(there, count / np.where(rest > 0.0, rest, 1.0), 1.0)
        terms[np.arange(len(y)), y] = safe_log(np.maximum(share, 0.0))
        # if nothing is added, such a class takes what all classes together say
        asked = there & ((rest <= 0.0) | (of.total + of.added_total <= 0.0).any())
        asked |= False if self._unsure is None else self._unsure[some, unit]
        if self._settled is not None:
            only = there & ((rows.sum(axis=0) == 1) & ~self._settled[unit])[at[1]] & ~asked
            terms[only] = self._without_value(unit, some[only])
        terms[asked] = self.unit(unit, some[asked])
        return terms[which]

    def _alike(self, places: Array, n: int) -> tuple[Array, Array]:
        """Return a row of each class and value, and which of them each row is like."""
        rows, of = np.arange(len(places)), self.task.of
        if of.w is not None:
            return rows, rows
        keys, one = of.y * (n + 1) + places + 1, np.full(len(of.rows) * (n + 1), -1)
        one[keys] = rows
        return one[one >= 0], (np.cumsum(one >= 0) - 1)[keys]

    def _without_value(self, unit: int, rows: Array) -> Floats | float:
        """Return the terms of rows whose value is unknown without them."""
        unseen = getattr(self.task.family, "unseen", None)
        self.inexact[rows] |= unseen == "error"
        if unseen != "smooth":
            return 0.0
        keys = np.stack([self.task.of.y, self.task.weights])[:, rows]  # which is all that matters
        _, some, which = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        return self.unit(unit, rows[some])[which.ravel()]

    def scores(self) -> Floats:
        """Return the sums of the terms, by row and class."""
        out = np.zeros((len(self._places), len(self.task.of.rows)))
        for unit in range(self._places.shape[1]):
            out += self._unit_terms(unit)
        return out

    def terms(self) -> Floats:
        """Return the terms by row, unit and class."""
        return np.stack([*map(self._unit_terms, range(self._places.shape[1]))], axis=1)


@left_out.register(Multinomial)
@left_out.register(Complement)
def _bag(family: Multinomial | Complement, task: LeaveOneOutTask) -> LeftOut | None:
    if isinstance(family, Complement) and family.norm:
        return None
    bags = _columns(family, task, as_sparse(task.block))
    if isinstance(family, Complement):
        return LeftOut(bags.complement, bags.holds_most(bags.counts.sum(axis=0)[None]))
    return LeftOut(bags.multinomial, bags.emptied | bags.holds_most(bags.counts))


@left_out.register
def _bernoulli(family: Bernoulli, task: LeaveOneOutTask) -> LeftOut | None:
    unsmoothed = not alpha_of_each(family.alpha, task.info.names).all()
    if not isinstance(task.block, Sparse) or task.of.w is not None or unsmoothed:
        return engine(task)
    rows = as_sparse(task.block)
    rows = _stored(rows, rows.data > family.threshold)
    rows = rows._replace(data=np.ones(len(rows.data)))
    return LeftOut(_columns(family, task, rows).bernoulli, np.zeros(len(task.of.y), bool))


def _columns(family: CountFamily | Bernoulli, task: LeaveOneOutTask, rows: Sparse) -> LeftBags:
    """Return columns that count as bags in which all words are always used."""
    every = np.ones(len(task.info.names), bool)
    alpha = alpha_of_each(family.alpha, task.info.names)
    return LeftBags(task, rows, task.counted.sums, alpha, every, every)


@left_out.register
def _text(family: Text, task: LeaveOneOutTask) -> LeftOut | None:
    words, weights = family.words, task.of.w is not None
    chosen_anew = family.max_features is not None or family.best is not None
    limited = not family.takes_all and family.vocabulary is None
    unsmoothed = family.event == "bernoulli" and (weights or family.alpha == 0.0)
    if words.idf or words.norm or chosen_anew or (limited and weights) or unsmoothed:
        return None
    counts, block = sums_of(task.counted, family.once), task.block
    base, after = _used(family, task.counted)
    # words of a given vocabulary that were never seen come last
    never = np.zeros((len(counts), len(base) - counts.shape[1]))
    counts = np.ascontiguousarray(np.hstack([counts, never]) if never.size else counts)
    assert isinstance(block, Bagged)
    bags = block.weighted(words)
    data = np.ones(len(bags.indices)) if family.once else bags.data
    rows = Sparse(bags.indptr, bags.indices, data, len(base))
    alpha = alpha_of_each(family.alpha, base).copy()
    left = LeftBags(task, rows, counts, alpha, base, after, block.missing)
    inexact = left.emptied | (left.used_sum(np.ones(len(base))) < 0.5)
    if family.event == "bernoulli":
        return LeftOut(left.bernoulli, inexact)
    power, stated = family.length_power or 0.0, family.length_power
    made = left.complement if family.event == "complement" else left.multinomial
    found = LeftOut(lambda: made() * left.shortened(power)[:, None], inexact)
    if family.event != "complement" and family.alpha != 0.0:
        names, of_words = task.counted.terms.texts, ROOT if stated is None else stated
        found.words = lambda: left.by_word(names, of_words)
    return found


def _used(text: Text, counted: WordCounts) -> tuple[Mask, Mask]:
    """Mark the words used without any document, and without one that has them."""
    if text.vocabulary is not None:
        numbers = counted.terms.numbers(text.vocabulary)
        given = np.append(np.zeros(len(counted.terms), bool), numbers[numbers < 0] < 0)
        given[numbers[numbers >= 0]] = True
        return given, given
    documents = counted.totals(DOCUMENTS)
    base, after = documents > 0.5, documents > 1.5
    if not text.takes_all:
        least, most = text.df_limits(max(float(counted.weight.sum()) - 1.0, 0.0))
        base &= (documents >= least) & (documents <= most)
        after &= (documents - 1.0 >= least) & (documents - 1.0 <= most)
    return base, after


@dataclass(frozen=True)
class LeftBags:
    """Rows as bags, and the words that are used with and without each of them.

    `counts` stand by class (down) and word (across). `base` marks the words that are used without a
    row that does not have them, `after` those used without a row that has them. Rows that are
    `missing` say nothing, by the words that they lack either.
    """

    task: LeaveOneOutTask
    rows: Sparse
    counts: Floats
    alpha: Floats
    base: Mask
    after: Mask
    missing: Mask | None = None

    @cached_property
    def owner(self) -> Array:
        """The row of each stored value."""
        return np.repeat(np.arange(self.rows.n_rows), np.diff(self.rows.indptr))

    @cached_property
    def kept(self) -> tuple[Array, Array, Array]:
        """The words that are used without their row: pointers, numbers and what they count."""
        rows = self.rows
        return (rows if self.after.all() else _stored(rows, self.after[rows.indices]))[:3]

    @cached_property
    def lengths(self) -> Floats:
        """The total of the words that are used, by row."""
        indptr, _, data = self.kept
        return row_sums(indptr, data)

    @cached_property
    def _switched(self) -> tuple[Array, Array, Floats]:
        """The words that come in (1) or fall out (-1) without a row: row, word, which."""
        turn = self.after.astype(np.float64) - self.base
        which = np.flatnonzero(turn[self.rows.indices]) if turn.any() else np.zeros(0, np.int64)
        words = self.rows.indices[which]
        return self.owner[which], words, turn[words]

    def used_sum(self, values: Floats) -> Floats:
        """Add up, for each row, values of the words that are used without it: one sum if all."""
        owner, words, turn = self._switched
        total: Floats = values[self.base].sum(keepdims=True)
        n = self.rows.n_rows if len(owner) else 1
        return total + np.bincount(owner, turn * values[words], n)

    def totals(self, counts: Floats) -> Floats:
        """Return for each row and class the total of the words used without it, and of alpha.

        What the row itself has is still in it. There is one row if it is the same for all.
        """
        return np.stack([self.used_sum(each + self.alpha) for each in counts], axis=1)

    @cached_property
    def _left(self) -> tuple[Floats, Floats]:
        """The totals by row and class, and those of each row's own class without the row."""
        totals, y = self.totals(self.counts), self.task.of.y
        own = totals[0, y] if len(totals) == 1 else totals[np.arange(len(y)), y]
        return totals, own - self.task.weights * self.lengths

    @property
    def emptied(self) -> Mask:
        """Mark the rows without which a class has no words: it takes what all classes say."""
        (totals, own), least = self._left, 1e-12 * self.counts.sum(axis=1)
        return np.asarray((totals <= least).any(axis=1) | (own <= least[self.task.of.y]))

    def holds_most(self, sums: Floats) -> Mask:
        """Mark rows that hold nearly all of a sum of fractions: what is left of it has few digits.

        The sums are of each class, or of all classes together.
        """
        out = np.zeros(self.rows.n_rows, bool)
        if not (sums == np.rint(sums)).all():
            taken = self.task.weights[self.owner] * self.rows.data
            own = self.task.of.y[self.owner] if len(sums) > 1 else 0
            out[self.owner[taken > HELD * (sums[own, self.rows.indices] - taken)]] = True
        return out

    def multinomial(self) -> Floats:
        """Return the scores of the multinomial model, by row and class."""
        y = self.task.of.y
        out = np.zeros((len(y), len(self.counts)))
        table = np.ascontiguousarray(safe_log(self.counts + self.alpha).T)
        scoring.sparse_counts(self.kept, None, table, out)
        others, own = (np.log(np.where(each > 0.0, each, 1.0)) for each in self._left)
        out -= self.lengths[:, None] * others
        sums = scoring.left_out_counts(self.kept, y, self.task.of.w, self.counts, self.alpha)
        out[np.arange(len(y)), y] = sums - self.lengths * own
        return out

    def shortened(self, power: float) -> Floats:
        """Return what evidence is multiplied by: one over the length to a power, by row."""
        return np.where(self.lengths > 0.0, self.lengths, 1.0) ** -power

    def by_word(self, names: Sequence[str], power: float) -> WordTerms:
        """Return what each word says in the multinomial model, as far as some row has it."""
        task, (indptr, indices, data) = self.task, self.kept
        owner = np.repeat(np.arange(len(task.of.y)), np.diff(indptr))
        there = np.zeros(len(self.base), bool)
        there[indices] = True
        numbers, places = np.flatnonzero(there), (np.cumsum(there) - 1)[indices]
        of_class = task.of.y[owner]
        left = self.counts[of_class, indices] - task.weights[owner] * data
        totals, own = (np.log(np.where(each > 0.0, each, 1.0)) for each in self._left)
        return WordTerms(
            [names[number] for number in numbers.tolist()],
            indptr,
            places,
            data * self.shortened(power)[owner],
            safe_log(np.maximum(left, 0.0) + self.alpha[indices]) - own[owner],
            safe_log(self.counts[:, numbers] + self.alpha[numbers]).T,
            totals,
        )

    def complement(self) -> Floats:
        """Return the scores of the complement model, by row and class."""
        y, w = self.task.of.y, self.task.weights
        indptr, indices, data = self.kept
        owner = np.repeat(np.arange(len(y)), np.diff(indptr))
        elsewhere = self.counts.sum(axis=0) - self.counts
        totals, out = self.totals(elsewhere), np.empty((len(y), len(elsewhere)))
        for c, sums in enumerate(elsewhere):
            taken = np.where(y == c, 0.0, w)
            n = np.maximum(sums[indices] - taken[owner] * data, 0.0)
            logs = row_sums(indptr, data * np.log(n + self.alpha[indices]))
            total = np.where(self.lengths > 0.0, totals[:, c] - taken * self.lengths, 1.0)
            out[:, c] = self.lengths * np.log(total) - logs
        return out

    def bernoulli(self) -> Floats:
        """Return the scores of the Bernoulli model for rows of weight 1, by row and class."""
        y = self.task.of.y
        weights, empty = self._switches(0.0)
        out = np.repeat(empty[None], len(y), axis=0)
        scoring.sparse_counts(self.rows[:3], None, np.ascontiguousarray(weights.T), out)
        weights, empty = self._switches(1.0)
        gain = weights[y[self.owner], self.rows.indices]
        out[np.arange(len(y)), y] = empty[y] + np.bincount(self.owner, gain, len(y))
        out[slice(0) if self.missing is None else self.missing] = 0.0
        return out

    def _switches(self, rows: float) -> tuple[Floats, Floats]:
        """Return what words add that are there, and what all add that are not, to each class.

        They are those of classes from which so many rows are taken, all of which have the word.
        """
        n = np.maximum(self.task.counted.weight[:, :1] - rows, 0.0)
        below = np.log(n + 2.0 * self.alpha)
        never = n - self.counts < -0.5  # all rows of the class have it, so none lacks it
        absent = np.where(never, 1.0, n - self.counts + self.alpha)
        absent = np.where(never, 0.0, np.log(absent) - below)
        present = np.log(np.maximum(self.counts - rows, 0.0) + self.alpha) - below
        return self.after * present - self.base * absent, absent[:, self.base].sum(axis=1)


def _stored(rows: Sparse, keep: Mask) -> Sparse:
    """Return the rows with only some of the stored values."""
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
    return Sparse(ends[rows.indptr], rows.indices[keep], rows.data[keep], rows.n_columns)


def as_sparse(block: Block) -> Sparse:
    """Return the rows as compressed sparse rows, each cell once; missing values are none."""
    from scipy.sparse import csr_array

    if isinstance(block, Sparse):
        return without_duplicates(block)
    matrix = csr_array(np.nan_to_num(dense(block), nan=0.0))
    return Sparse(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])
