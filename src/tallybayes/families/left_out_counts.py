"""Leave-one-out in closed form for what is counted: tables, bags and texts.

- Categories: (n - w + extra) / (N - w + added) in the row's own class. A value that only this row
  has is unknown without it. If it is ignored its factor is left out, for all classes; if it is
  smoothed it counts as one value more in a column that has one value less.
- Multinomial: (n - w x + alpha) / (N - w L + sum of alpha), L being the row's total.
- Complement: the same for all classes but the row's own.
- Bernoulli, sparse: (n - w [x > threshold] + alpha) / (N - w + 2 alpha).
- Text: the same for words, of which some may be unknown without a document that has them, and with
  `min_df` or `max_df` others may fall out of the vocabulary, or come into it. With V and T the
  number of words that are used and the total of a class, both change by the words that switch, and
  T of the own class by what the document has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, Coded, Sparse, coded_by_value, dense, without_duplicates
from tallybayes.families.bernoulli import Bernoulli
from tallybayes.families.bins import Bins
from tallybayes.families.categorical import Categorical, CategoricalParameters
from tallybayes.families.counts import Complement, Multinomial, Poisson
from tallybayes.families.left_out import (
    JointLeftOut,
    LeaveOneOutTask,
    LeftOut,
    UnitsLeftOut,
    left_out,
)
from tallybayes.families.parameters import Array, Floats, Mask, in_place_log, safe_log
from tallybayes.families.smoothing import alpha_of_each, guess_for_unseen, guesses
from tallybayes.families.text import Text
from tallybayes.families.vocabulary import df_limits
from tallybayes.families.word_weights import MOST_CELLS
from tallybayes.kernels import scoring
from tallybayes.kernels.scoring import row_sums
from tallybayes.tallies import Codes, Counts, WordCounts
from tallybayes.tallies.words import COUNT, DOCUMENTS, WEIGHT
from tallybayes.tokenizer import Bagged, Buckets

HELD = 1e5  # times what other rows have


@left_out.register
def _categorical(family: Categorical, task: LeaveOneOutTask) -> LeftOut:
    declared = task.info.declared or ((),) * len(task.info.names)
    settled = [
        np.array([label in stated for label in known], bool)
        for known, stated in zip(task.parameters.labels, declared, strict=True)
    ]
    return TablesLeftOut(task, family, settled)


@left_out.register
def _bins(family: Bins, task: LeaveOneOutTask) -> LeftOut:
    settled = [np.ones(len(known), bool) for known in task.parameters.labels]
    return TablesLeftOut(task, Categorical(family.alpha), settled)


class TablesLeftOut(UnitsLeftOut):
    """Tables, which lose a row of one value in one class.

    `settled` marks for each column the values that always belong. The rows for which this does not
    tell, and those `unsure`, are left to the family itself.
    """

    def __init__(
        self,
        task: LeaveOneOutTask,
        family: Categorical,
        settled: Sequence[Mask],
        unsure: Mask | None = None,
    ) -> None:
        self.task = task
        self.inexact = np.zeros(len(task.of.y), bool)
        tables: CategoricalParameters = task.parameters
        counted: Codes = task.counted.with_labels(tables.labels)
        places, y, w = by_place(task.block, tables), task.of.y, task.weights
        alphas = alpha_of_each(family.alpha, task.info.names)
        self._own = np.zeros(places.shape)
        self._all: list[tuple[int, Array, Floats]] = []  # column, rows, their terms in all classes
        asked = np.zeros(places.shape, bool) if unsure is None else unsure
        for j, here in enumerate(counted.columns()):
            n, rows = counted.weight[:, here], counted.rows[:, here]
            there = places[:, j] >= 0
            if not there.any():
                asked[:, j] = False
                continue
            extra, added = _smoothing(family, task, j, float(alphas[j]))
            at = np.where(there, places[:, j], 0)
            count = np.where(rows[y, at] > 1, n[y, at] - w, 0.0) + extra[y, at]
            # a class without any value of the column has nothing but what is added
            rest = np.where(rows.sum(axis=1)[y] > 1, n.sum(axis=1)[y] - w, 0.0) + added
            share = np.where(there, count / np.where(rest > 0.0, rest, 1.0), 1.0)
            self._own[:, j] = safe_log(np.maximum(share, 0.0))
            # if nothing is added, such a class takes what all classes together say
            if added <= 0.0 and (rows.sum(axis=1) == 0).any():
                asked[:, j] |= there
            asked[:, j] |= there & (rest <= 0.0)
            only = there & ((rows.sum(axis=0) == 1) & ~settled[j])[at] & ~asked[:, j]
            if only.any():
                places[only, j] = -1  # leaves the factor out
                self._own[only, j] = 0.0
                if family.unseen == "smooth" and len(tables.labels[j]) > 1:
                    terms = _one_more(family, task, j, n, only, float(alphas[j]))
                    self._all.append((j, np.flatnonzero(only), terms))
                elif family.unseen in ("smooth", "error"):
                    self.inexact |= only
            if asked[:, j].any():
                some = np.flatnonzero(asked[:, j])
                places[some, j] = -1
                self._own[some, j] = 0.0
                self._all.append((j, some, self.unit(j, some)))
        self._tables, self._block = tables, Coded(places, tables.labels)

    def scores(self) -> Floats:
        """Return the sums of the terms, by row and class."""
        y = self.task.of.y
        out = np.zeros((len(y), self.task.n_classes))
        self._tables.add_log_likelihood(self._block, out)
        out[np.arange(len(y)), y] = self._own.sum(axis=1)
        for _, rows, terms in self._all:
            out[rows] += terms
        return out

    def terms(self) -> Floats:
        """Return the terms by row, unit and class."""
        y = self.task.of.y
        out = self._tables.log_prob(self._block)
        out[np.arange(len(y)), :, y] = self._own
        for j, rows, terms in self._all:
            out[rows, j] += terms
        return out


def _smoothing(
    family: Categorical, task: LeaveOneOutTask, j: int, alpha: float
) -> tuple[Floats, float]:
    """Return what is added to each class and value of a column, and to each class's total."""
    labels, classes = task.parameters.labels[j], task.info.classes
    if family.m is None:
        return np.full((len(classes), len(labels)), alpha), alpha * len(labels)
    return family.m * guesses(family.p, classes, labels, task.info.names[j]), family.m


def _one_more(
    family: Categorical, task: LeaveOneOutTask, j: int, n: Floats, only: Array, alpha: float
) -> Floats:
    """Return the terms of values that are seen once, and unknown without their row."""
    classes = task.info.classes
    labels = task.parameters.labels[j][1:]  # one value less, whichever it is
    y, w = task.of.y[only], task.weights[only]
    total = np.repeat(n.sum(axis=1)[None], len(y), axis=0)
    total[np.arange(len(y)), y] -= w
    if family.m is None:
        more, total = np.full(len(classes), alpha), total + alpha * len(labels)
    else:
        guess = guess_for_unseen(family.p, classes, labels, task.info.names[j])
        more, total = family.m * guess, total + family.m
    return safe_log(more / np.where(total > 0.0, total, 1.0))


def by_place(block: object, tables: CategoricalParameters) -> NDArray[np.int64]:
    """Return the codes as places in each column's labels, -1 where missing."""
    assert isinstance(block, Coded)
    if block.labels is None:
        block = coded_by_value(block.codes, tables.names)
    assert block.labels is not None
    places = np.empty(block.codes.shape, np.int64)
    for j, (known, given) in enumerate(zip(tables.labels, block.labels, strict=True)):
        number_of = {label: k for k, label in enumerate(known)}
        place = np.array([*(number_of.get(label, -1) for label in given), -1], np.int64)
        places[:, j] = place[block.codes[:, j]]  # the last is for missing values
    return places


@left_out.register
def _multinomial(family: Multinomial, task: LeaveOneOutTask) -> LeftOut:
    alpha = alpha_of_each(family.alpha, task.info.names)
    sums: Floats = task.counted.sums
    y, w = task.of.y, task.weights
    totals, rows = sums.sum(axis=1), as_sparse(task.block)
    lengths = row_sums(rows.indptr, rows.data)
    left = totals[y] - w * lengths + alpha.sum()
    # without smoothing a class may be left with nothing, and take what all classes say
    inexact = (left <= 1e-12 * totals[y]) | _cancelled(rows, sums, y, w)
    if not alpha.any() and not totals.all():
        inexact[:] = True

    def scores() -> Floats:
        out = np.zeros((len(y), len(sums)))
        task.parameters.add_log_likelihood(task.block, out)
        own = scoring.left_out_counts(*rows[:3], y, task.of.w, sums, alpha)
        out[np.arange(len(y)), y] = own - lengths * np.log(np.where(inexact, 1.0, left))
        return out

    return JointLeftOut(scores, inexact)


@left_out.register
def _complement(family: Complement, task: LeaveOneOutTask) -> LeftOut | None:
    if family.norm:
        return None
    alpha = alpha_of_each(family.alpha, task.info.names)
    sums: Floats = task.counted.sums
    totals, rows = sums.sum(axis=1), as_sparse(task.block)
    y, w = task.of.y, task.weights
    lengths, data = row_sums(rows.indptr, rows.data), rows.data.astype(np.float64)
    owner = _owner(rows)

    def scores() -> Floats:
        out = np.zeros((len(y), len(sums)))
        task.parameters.add_log_likelihood(task.block, out)
        everything = sums.sum(axis=0)
        taken, added = w[owner] * data, alpha[rows.indices]
        for c in range(len(sums)):
            elsewhere = (everything - sums[c])[rows.indices] - taken
            total = totals.sum() - totals[c] - w * lengths + alpha.sum()
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = data * np.log(np.maximum(elsewhere, 0.0) + added)
                scores_c = lengths * np.log(total) - row_sums(rows.indptr, logs)
            out[:, c] = np.where(y == c, out[:, c], scores_c)
        return out

    return JointLeftOut(scores, _cancelled(rows, sums.sum(axis=0)[None], np.zeros(len(y), int), w))


def _cancelled(rows: Sparse, sums: Floats, y: Array, w: Floats) -> Mask:
    """Mark rows that hold nearly all of a sum of fractions: what is left of it has few digits."""
    out = np.zeros(len(y), bool)
    if not (sums == np.rint(sums)).all():
        owner = _owner(rows)
        taken = w[owner] * rows.data
        out[owner[taken > HELD * (sums[y[owner], rows.indices] - taken)]] = True
    return out


@left_out.register
def _bernoulli(family: Bernoulli, task: LeaveOneOutTask) -> LeftOut | None:
    if not isinstance(task.block, Sparse):
        return UnitsLeftOut(task)
    alpha = alpha_of_each(family.alpha, task.info.names)
    if task.of.w is not None or not alpha.all():
        return None
    return _sparse_switches(task, alpha, family.threshold)


def _sparse_switches(task: LeaveOneOutTask, alpha: Floats, threshold: float) -> LeftOut:
    """Leave rows of weight 1 out of a sparse matrix: each class has one base without one row."""
    counted: Counts = task.counted
    rows, y = as_sparse(task.block), task.of.y
    above = rows.data > threshold
    owner, indices = _owner(rows)[above], rows.indices[above]
    left = counted.weight - 1.0
    # where all rows are "on", none is left that could be "off"
    never_off = left - counted.sums < -0.5
    log_off = np.log(np.where(never_off, 1.0, left - counted.sums + alpha))
    base = log_off.sum(axis=1)

    def scores() -> Floats:
        out = np.zeros((len(y), len(counted.sums)))
        task.parameters.add_log_likelihood(task.block, out)
        c = y[owner]
        gain = np.log(counted.sums[c, indices] - 1.0 + alpha[indices]) - log_off[c, indices]
        total = np.log(left + 2.0 * alpha).sum(axis=1)
        own = np.bincount(owner, gain, len(y)) + (base - total)[y]
        out[np.arange(len(y)), y] = own
        return out

    inexact = (counted.rows[:, 0] == 1)[y]
    return JointLeftOut(scores, inexact)


@left_out.register
def _poisson(family: Poisson, task: LeaveOneOutTask) -> LeftOut:
    if not isinstance(task.block, Sparse):
        return UnitsLeftOut(task)
    return _sparse_rates(task, alpha_of_each(family.alpha, task.info.names))


def _sparse_rates(task: LeaveOneOutTask, alpha: Floats) -> LeftOut:
    """Leave rows out of a sparse matrix: the sum of the rates needs only the row's total."""
    from scipy.special import gammaln

    counted: Counts = task.counted
    rows, y, w = as_sparse(task.block), task.of.y, task.weights
    n = counted.weight[:, 0]

    def scores() -> Floats:
        out = np.zeros((len(y), len(counted.sums)))
        task.parameters.add_log_likelihood(task.block, out)
        left = np.where(counted.rows[y, 0] > 1, n[y] - w, 1.0)
        lengths = row_sums(rows.indptr, rows.data)
        own = scoring.left_out_counts(*rows[:3], y, task.of.w, counted.sums, alpha)
        own -= lengths * np.log(left)
        own -= (counted.sums.sum(axis=1)[y] - w * lengths + alpha.sum()) / left
        own -= row_sums(rows.indptr, gammaln(rows.data + 1.0))
        out[np.arange(len(y)), y] = own
        return out

    return JointLeftOut(scores, (counted.rows[:, 0] == 1)[y])


def as_sparse(block: Block) -> Sparse:
    """Return the rows as compressed sparse rows, each cell once; missing values are none."""
    from scipy.sparse import csr_array

    if isinstance(block, Sparse):
        return without_duplicates(block)
    matrix = csr_array(np.nan_to_num(dense(block), nan=0.0))
    return Sparse(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])


def _owner(rows: Sparse) -> Array:
    """Return the row of each stored value."""
    return np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))


@left_out.register
def _text(family: Text, task: LeaveOneOutTask) -> LeftOut | None:
    words = family.words
    weights = task.of.w is not None
    chosen_anew = family.max_features is not None or family.best is not None
    limited = not family.takes_all and family.vocabulary is None
    unsmoothed = family.event == "bernoulli" and (weights or family.added == 0.0)
    counted: WordCounts = task.counted
    too_many = len(counted.terms) * counted.n_classes > MOST_CELLS
    if words.idf or words.norm or chosen_anew or (limited and weights) or unsmoothed or too_many:
        return None
    held = LeftDocuments(family, task)
    scores = {"bernoulli": held.bernoulli, "complement": held.complement}
    return JointLeftOut(scores.get(family.event, held.multinomial), held.inexact)


@dataclass(frozen=True)
class LeftDocuments:
    """Documents, and the words that are used with and without each of them."""

    text: Text
    task: LeaveOneOutTask

    @property
    def counted(self) -> WordCounts:
        """What was counted of all documents."""
        counted: WordCounts = self.task.counted
        return counted

    @property
    def alpha(self) -> float:
        """What is added to every count."""
        return self.text.added

    @cached_property
    def used(self) -> tuple[Mask, Mask, int]:
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
        block = self.task.block
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
        return np.repeat(np.arange(len(self.task.of.y)), np.diff(self.bags.indptr))

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
        n = len(self.task.of.y)
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
        out = np.repeat(counts[:, base].sum(axis=1)[None], len(self.task.of.y), axis=0)
        owner, words, turn = self.switched
        if len(words):
            np.add.at(out, owner, turn[:, None] * counts[:, words].T)
        return out

    @cached_property
    def inexact(self) -> Mask:
        """Without smoothing a class may be left with nothing, or there may be no word left."""
        out: Mask = self.n_words < 0.5
        if self.alpha == 0.0:
            y, w = self.task.of.y, self.task.weights
            left = self.totals(self.counts)
            left[np.arange(len(y)), y] -= w * self.lengths
            out = out | (left <= 1e-12).any(axis=1)
        return out

    def multinomial(self) -> Floats:
        """Return the scores of the multinomial model, or of the boolean one."""
        y, w = self.task.of.y, self.task.weights
        here = np.arange(len(y))
        alpha = np.full(self.counts.shape[1], self.alpha)
        out = np.zeros((len(y), len(self.counts)))
        table = np.ascontiguousarray(self.counts.T) + self.alpha
        in_place_log(table)
        scoring.sparse_counts(*self.kept, None, table, out)
        own = scoring.left_out_counts(*self.kept, y, self.task.of.w, self.counts, alpha)
        out[here, y] = own
        left = self.totals(self.counts)
        left[here, y] -= w * self.lengths
        left += self.alpha * self.n_words[:, None]
        out -= self.lengths[:, None] * np.log(np.where(left > 0.0, left, 1.0))
        return out

    def complement(self) -> Floats:
        """Return the scores of the complement model."""
        y, w = self.task.of.y, self.task.weights
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
        y, alpha = self.task.of.y, self.alpha
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
        block = self.task.block
        assert isinstance(block, Bagged)
        if block.missing is not None:
            out[block.missing] = 0.0
        return out
