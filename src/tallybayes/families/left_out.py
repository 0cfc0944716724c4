"""What each row scores under the parameters of the other rows: leave-one-out, exactly.

The default is an engine that asks the family itself. For each unit it hands the family as many
units as there are rows, each of them the unit without one row, and asks each about its row: what
comes out is what estimating anew without the row gives, with all the family's rules. That holds for
every family that estimates each unit by itself, of which a family of one's own is tried once. Where
a row changes nothing but its own class (`Family.classes_apart`), only that class is estimated anew.

There are closed forms beside it, W, N and n being what was counted of the row's own class:

- Numbers: see `left_out_normals`.
- Categories: (n - w + extra) / (N - w + added). A value that only this row has is unknown without
  it. If it is ignored its factor is left out, for all classes; if it is smoothed it counts as one
  value more in a column that has one value less.
- Multinomial: (n - w x + alpha) / (N - w L + sum of alpha), L being the row's total.
- Complement: the same for all classes but the row's own.
- Bernoulli, sparse: (n - [x > threshold] + alpha) / (N - 1 + 2 alpha).
- Text: the same for words, of which some may be unknown without a document that has them, and with
  `min_df` or `max_df` others may fall out of the vocabulary, or come into it. What is added up over
  the words that are used changes by the words that switch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any, NamedTuple, cast

import numpy as np
from msgspec import structs

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.batches import (
    Block,
    Coded,
    Sparse,
    dense,
    take_columns,
    take_rows,
    without_duplicates,
)
from tallybayes.families.bins import Bins
from tallybayes.families.categorical import Categorical
from tallybayes.families.counts import Bernoulli, Complement, Multinomial
from tallybayes.families.parameters import ColumnInfo, Family, safe_log
from tallybayes.families.smoothing import alpha_of_each
from tallybayes.families.text import ROOT, Text, sums_of
from tallybayes.kernels import scoring
from tallybayes.kernels.counting import RowClasses
from tallybayes.kernels.threads import over_rows
from tallybayes.schema import Kind
from tallybayes.tallies import WordCounts
from tallybayes.tallies.word_counts import DOCUMENTS
from tallybayes.tokenizer import Bagged

CELLS_AT_ONCE = 200_000  # rows times classes: what fits into a processor's cache
MOST_CELLS = 40_000_000  # of a sparse matrix that is laid out
TRIED = 50  # rows that a family of one's own is tried with
HELD = 1e5  # times what other rows have


@dataclass(frozen=True)
class LeaveOneOutTask:
    """What there is to leave rows out of.

    `counted` is the block of the tally of all rows that the `family` estimates from, `info` names
    its units, `kind` says what was counted, `block` holds the rows, and `of` says of which class
    they are. If these are not all rows that were counted, what would have to be counted anew is
    NaN.
    """

    family: Family
    counted: Any
    info: ColumnInfo
    kind: Kind
    block: Block
    of: RowClasses

    @cached_property
    def parameters(self) -> Any:
        """The parameters of all rows."""
        return self.family.estimate(self.counted, self.info)

    @cached_property
    def places(self) -> Any:
        """The place of each row's value among those of its unit, of families of tables."""
        return self.parameters.places(self.block)

    @cached_property
    def weights(self) -> Array:
        """The weight of each row."""
        return np.ones(len(self.of.y)) if self.of.w is None else self.of.w


class WordTerms(NamedTuple):
    """What each word of a text says of each row without it.

    By row the words `indices` are there, `data` times. In the row's own class each of them says
    `own`, and in the others what the `table` has, by word and class, less `totals`, which may be
    one row for all. The words go by their `names`.
    """

    names: list[str]
    indptr: Array
    indices: Array
    data: Floats
    own: Floats
    table: Floats
    totals: Floats


@dataclass
class LeftOut:
    """The terms of every row without it; `inexact` marks the rows for which they are not that.

    Unless a class says otherwise they are of units that stand for one: a bag, a text. `words` are
    what the single words of a text say, if that is known.
    """

    made: Callable[[], Floats]
    inexact: Mask
    words: Callable[[], WordTerms] | None = None

    def scores(self) -> Floats:
        """Return the sums of the terms, by row and class."""
        return self.made()

    def terms(self) -> Floats:
        """Return the terms by row, unit and class."""
        return self.scores()[:, None, :]


@singledispatch
def left_out(family: Any, task: LeaveOneOutTask) -> LeftOut | None:
    """Return the terms of every row without it; None if only refitting tells."""
    return engine(task) if not family.joint and _estimates_units_alone(task) else None


def engine(task: LeaveOneOutTask) -> LeftOut | None:
    """Return the terms of units one by one; None if a sparse matrix has too many cells for that."""
    if not isinstance(task.block, Sparse):
        return UnitsLeftOut(task)
    if task.block.n_rows * task.block.n_columns > MOST_CELLS:
        return None
    units = UnitsLeftOut(replace(task, block=dense(task.block)))
    return LeftOut(units.scores, units.inexact)


def _estimates_units_alone(task: LeaveOneOutTask) -> bool:
    """Try whether a unit that is estimated alone has the terms that it has among the others."""
    units = len(task.info.names)
    if units < 2:
        return True
    rows = take_rows(task.block, np.arange(min(TRIED, len(task.of.y))))
    together = task.parameters.log_prob(rows)
    for unit in {0, units - 1}:
        family = task.family.repeated(unit, 1)
        alone = family.estimate(task.counted.select([unit]), task.info.select([unit]))
        terms = alone.log_prob(take_columns(rows, [unit]))[:, 0]
        if not np.allclose(terms, together[:, unit], rtol=1e-12, atol=1e-12, equal_nan=True):
            return False
    return True


class UnitsLeftOut(LeftOut):
    """Units one by one, each estimated as often as there are rows."""

    def __init__(self, task: LeaveOneOutTask, apart: Mask | None = None) -> None:
        if apart is None:
            heaviest = float(task.weights.max(initial=0.0))
            apart = task.family.classes_apart(task.counted, task.info, heaviest)
        self.task, self.apart, self.inexact = task, apart, np.zeros(len(task.of.y), bool)

    def _family(self, unit: int, rows: Array) -> Family:
        """Return the family that estimates a unit without each row."""
        return self.task.family.repeated(unit, len(rows))

    def _estimated(self, unit: int, rows: Array, own: bool) -> Floats:
        """Return the terms of some rows in one unit, by row and class, or of their own class."""
        out = np.empty((len(rows), 1 if own else len(self.task.of.rows)))
        step = max(1, CELLS_AT_ONCE // max(out.shape[1], 1))

        def fill(part: slice) -> None:
            for start in range(part.start, part.stop, step):
                some = slice(start, min(start + step, part.stop))
                out[some] = self._terms_of(unit, rows[some], own)

        over_rows(fill, len(rows), out.size)
        return out

    def _terms_of(self, unit: int, rows: Array, own: bool) -> Floats:
        """Return the same for as many rows as are worked out at once."""
        task, info = self.task, self.task.info.select([unit] * len(rows))
        if own:
            info = replace(info, classes=info.classes[:1])
        without = task.counted.without_each(
            task.block, task.of, unit, task.kind, rows=rows, own=own
        )
        unknown = np.zeros(len(rows), bool)
        for part in without.to_arrays().values():
            if part.dtype.kind == "f" and part.shape[1] == len(rows):
                unknown |= np.isnan(part).any(axis=0)
        if unknown.any():
            without = without.each(np.nan_to_num)
        row = _as_row(task.block, unit, rows)
        terms: Floats = self._family(unit, rows).estimate(without, info).log_prob(row)[0]
        terms[unknown] = np.nan
        return terms

    def anew(self, unit: int, rows: Array) -> Floats:
        """Return the terms of some rows in one unit, by row and class: all classes estimated."""
        return self._estimated(unit, rows, own=False)

    def own(self, unit: int) -> Floats:
        """Return the term of each row's own class, in a unit that stands apart."""
        return self._estimated(unit, np.arange(len(self.task.of.y)), own=True)[:, 0]

    def unsure(self, unit: int) -> Array:
        """Return the rows without which all classes may change, in a unit that stands apart."""
        return np.zeros(0, np.int64)

    def unit(self, unit: int) -> Floats:
        """Return the terms of one unit, by row and class."""
        task, rows = self.task, np.arange(len(self.task.of.y))
        if not self.apart[unit]:
            return self.anew(unit, rows)
        out = np.zeros((len(rows), len(task.of.rows)))
        parameters = task.parameters.select([unit])
        parameters.add_log_likelihood(take_columns(task.block, [unit]), out)
        out[rows, task.of.y] = self.own(unit)
        if len(unsure := self.unsure(unit)):
            out[unsure] = self.anew(unit, unsure)
        return out

    def own_sum(self, units: list[int]) -> tuple[Floats, Array]:
        """Return the sums of the terms of each row's own class, and the rows that are unsure."""
        unsure = np.unique(np.concatenate([self.unsure(unit) for unit in units]))
        return sum((self.own(unit) for unit in units), np.zeros(len(self.task.of.y))), unsure

    def scores(self) -> Floats:
        """Return the sums of the terms, by row and class: of all units that stand apart at once."""
        task, units = self.task, np.flatnonzero(self.apart).tolist()
        out = np.zeros((len(task.of.y), len(task.of.rows)))
        if units:
            block, parameters = task.block, task.parameters
            if not self.apart.all():
                block, parameters = take_columns(block, units), parameters.select(units)
            parameters.add_log_likelihood(block, out)
            out[np.arange(len(out)), task.of.y], unsure = self.own_sum(units)
            if len(unsure):
                out[unsure] = sum(self.unit(unit)[unsure] for unit in units)
        return sum((self.unit(unit) for unit in np.flatnonzero(~self.apart).tolist()), out)

    def terms(self) -> Floats:
        task = self.task
        out = np.empty((len(task.of.y), len(self.apart), len(task.of.rows)))
        for unit in range(len(self.apart)):
            out[:, unit] = self.unit(unit)
        return out


def _as_row(block: Block, unit: int, rows: Array) -> Block:
    """Return the values of some rows in one unit as one row of as many units."""
    if isinstance(block, Coded):
        labels = None if block.labels is None else (block.labels[unit],) * len(rows)
        return Coded(block.codes[rows, unit][None], labels)
    assert isinstance(block, np.ndarray)
    return np.asarray(block[rows, unit][None])


@left_out.register
def _categorical(family: Categorical, task: LeaveOneOutTask) -> LeftOut:
    tables, places = task.parameters, task.places
    rows = task.counted.with_labels(tables.labels).rows.sum(axis=0)
    alone = np.zeros(places.shape, bool)
    for unit, declared in enumerate(task.info.declared or [()] * len(tables.labels)):
        single = rows[tables.here(unit)] == 1
        if single.any():
            single &= [label not in declared for label in tables.labels[unit]]
            alone[:, unit] = np.append(single, False)[places[:, unit]]
    return TablesLeftOut(task, alone)


@left_out.register
def _bins(family: Bins, task: LeaveOneOutTask) -> LeftOut:
    return TablesLeftOut(task, np.zeros((len(task.of.y), len(task.info.names)), bool))


class TablesLeftOut(UnitsLeftOut):
    """Tables, which lose a row of one value in one class.

    `alone` marks the values, by row and unit, that nobody knows without the row.
    """

    def __init__(self, task: LeaveOneOutTask, alone: Mask) -> None:
        unseen, alone = getattr(task.family, "unseen", None), alone & (task.weights > 0.0)[:, None]
        if unseen == "error":
            task = replace(task, family=structs.replace(cast(Any, task.family), unseen="ignore"))
        super().__init__(task, np.array(list(map(bool, task.parameters.labels)), bool))
        self.inexact |= alone.any(axis=1) & (unseen == "error")
        self._alone, self._smooth = alone, unseen == "smooth"
        self._places = task.places
        self._rows = task.counted.with_labels(task.parameters.labels).rows

    def _left(self, unit: int) -> tuple[Floats, Floats, Any]:
        """Return what is left above and below fractions without a row, and which is each row's."""
        of, w = self.task.parameters.ratios(unit), self.task.weights
        counted = self._rows[:, self.task.parameters.here(unit)]
        which: Any = self.task.of.y, np.maximum(self._places[:, unit], 0)
        at = which
        if self.task.of.w is None:  # then rows of a cell have the same
            at, w = ..., np.ones(1)
        above = (np.where(counted > 1, of.count, 0.0)[at] - w * (counted > 1)[at]) + of.added[at]
        some = np.broadcast_to(counted.sum(axis=1, keepdims=True) > 1, counted.shape)
        below = (np.where(some, of.total, 0.0)[at] - w * some[at]) + of.added_total[at]
        return np.maximum(above, 0.0), below, which if at is ... else ...

    def own(self, unit: int) -> Floats:
        above, below, which = self._left(unit)
        logs = safe_log(above / np.where(below > 0.0, below, 1.0))
        return np.where(self._places[:, unit] >= 0, logs[which], 0.0)

    def unsure(self, unit: int) -> Array:
        """Return the rows without which all classes may change.

        They are those of values that are unknown without them; and where nothing is added, those
        without which, or with which, a class takes what all classes together say.
        """
        of, unsure = self.task.parameters.ratios(unit), self._alone[:, unit]
        if not (of.added_total > 0.0).all():
            _, below, which = self._left(unit)
            pooled = (below <= 0.0)[which] | (of.total + of.added_total <= 0.0).any()
            unsure = unsure | (pooled & (self._places[:, unit] >= 0))
        return np.flatnonzero(unsure)

    def anew(self, unit: int, rows: Array) -> Floats:
        """Return the terms of some rows, by row and class; rows that are alike have the same."""
        alone, y, w = self._alone[rows, unit], self.task.of.y[rows], self.task.weights[rows]
        if not self._smooth:  # a factor that is left out
            y, w = np.where(alone, 0, y), np.where(alone, 0.0, w)
        alike = np.stack([y, w, np.where(alone, -2, self._places[rows, unit])])
        _, some, which = np.unique(alike, axis=1, return_index=True, return_inverse=True)
        return super().anew(unit, rows[some])[which.ravel()]


@left_out.register(Multinomial)
@left_out.register(Complement)
@left_out.register(Bernoulli)
def _bag(family: Any, task: LeaveOneOutTask) -> LeftOut | None:
    alpha, yes_or_no = alpha_of_each(family.alpha, task.info.names), isinstance(family, Bernoulli)
    if yes_or_no and not (isinstance(task.block, Sparse) and task.of.w is None and alpha.all()):
        return engine(task)
    if getattr(family, "norm", False):
        return None
    counts, every = task.counted.sums, np.ones(len(alpha), bool)
    # a sum of logarithms may take the values of a cell one by one, and sorting all takes long
    whole = isinstance(family, Multinomial) and bool((counts == np.rint(counts)).all())
    apart = whole and isinstance(task.block, Sparse)
    rows = cast(Sparse, task.block) if apart else _as_sparse(task.block)
    if yes_or_no:
        rows = _stored(rows, rows.data > family.threshold)
        rows = rows._replace(data=np.ones(len(rows.data)))
    bags = LeftBags(task, rows, counts, alpha, every, every, apart=apart)
    sums = counts.sum(axis=0)[None] if isinstance(family, Complement) else counts
    return LeftOut(bags.scores_of(family), bags.emptied | bags.holds_most(sums))


@left_out.register
def _text(family: Text, task: LeaveOneOutTask) -> LeftOut | None:
    words, like, weights = family.words, family.like(), task.of.w is not None
    chosen_anew = family.max_features is not None or family.best is not None
    limited = not family.takes_all and family.vocabulary is None
    unsmoothed = isinstance(like, Bernoulli) and (weights or like.alpha == 0.0)
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
    alpha = alpha_of_each(like.alpha, base).copy()
    left = LeftBags(task, rows, counts, alpha, base, after, block.missing)
    wordless = left.totals(np.ones((1, len(base))))[:, 0] < 0.5
    made, power = left.scores_of(like), family.length_power or 0.0
    found = LeftOut(made, left.emptied | wordless)
    if power:
        found.made = lambda: made() * left.shortened(power, family.length_offset)[:, None]
    if isinstance(like, Multinomial) and like.alpha != 0.0:
        names, stated = task.counted.terms.texts, family.length_power
        power = ROOT if stated is None else stated
        found.words = lambda: left.by_word(names, left.shortened(power, family.length_offset))
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
    `missing` say nothing, by the words that they lack either. Values of one cell may be `apart`.
    """

    task: LeaveOneOutTask
    rows: Sparse
    counts: Floats
    alpha: Floats
    base: Mask
    after: Mask
    missing: Mask | None = None
    apart: bool = False

    @cached_property
    def owner(self) -> Array:
        """The row of each stored value."""
        return _owner(self.rows)

    @cached_property
    def kept(self) -> Sparse:
        """The words that are used without their row."""
        rows = self.rows
        return rows if self.after.all() else _stored(rows, self.after[rows.indices])

    @cached_property
    def lengths(self) -> Floats:
        """The total of the words that are used, by row."""
        return _row_sums(self.kept, self.kept.data)

    def totals(self, values: Floats) -> Floats:
        """Return the sums of values of words (across) over those that are used without each row.

        What the row itself has is still in it. There is one row if it is the same for all.
        """
        total: Floats = values[:, self.base].sum(axis=1)[None]
        turn = self.after * 1.0 - self.base  # 1 comes in without a row that has it, -1 falls out
        if not turn.any():
            return total
        switched = _stored(self.rows, turn[self.rows.indices] != 0.0)
        turned = switched._replace(data=turn[switched.indices]).as_matrix()
        return np.asarray(total + turned @ values.T)

    @cached_property
    def _left(self) -> tuple[Floats, Floats]:
        """The totals by row and class, and those of each row's own class without the row."""
        totals, y = self.totals(self.counts + self.alpha), self.task.of.y
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

    def scores_of(self, family: Family) -> Callable[[], Floats]:
        """Return what works the scores out, by row and class."""
        if isinstance(family, Bernoulli):
            return self.bernoulli
        return self.complement if isinstance(family, Complement) else self.multinomial

    def multinomial(self) -> Floats:
        """Return the scores of the multinomial model, by row and class."""
        y = self.task.of.y
        out = np.zeros((len(y), len(self.counts)))
        table = np.ascontiguousarray(safe_log(self.counts + self.alpha).T)
        scoring.sparse_counts(self.kept[:3], None, table, out)
        others, own = (np.log(np.where(each > 0.0, each, 1.0)) for each in self._left)
        out -= self.lengths[:, None] * others
        sums = scoring.left_out_counts(
            self.kept[:3], y, self.task.of.w, self.counts, self.alpha, self.apart
        )
        out[np.arange(len(y)), y] = sums - self.lengths * own
        return out

    def shortened(self, power: float, offset: float) -> Floats:
        """Return what evidence is multiplied by: one over the length to a power, by row."""
        return np.asarray((np.where(self.lengths > 0.0, self.lengths, 1.0) + offset) ** -power)

    def by_word(self, names: Sequence[str], shortened: Floats) -> WordTerms:
        """Return what each word says in the multinomial model, as far as some row has it."""
        task, (indptr, indices, data, _) = self.task, self.kept
        owner = np.repeat(np.arange(len(task.of.y)), np.diff(indptr))
        there = np.zeros(len(self.base), bool)
        there[indices] = True
        numbers, places = np.flatnonzero(there), (np.cumsum(there) - 1)[indices]
        left = self.counts[task.of.y[owner], indices] - task.weights[owner] * data
        totals, own = (np.log(np.where(each > 0.0, each, 1.0)) for each in self._left)
        return WordTerms(
            [names[number] for number in numbers.tolist()],
            indptr,
            places,
            data * shortened[owner],
            np.log(np.maximum(left, 0.0) + self.alpha[indices]) - own[owner],
            np.log(self.counts[:, numbers] + self.alpha[numbers]).T,
            totals,
        )

    def complement(self) -> Floats:
        """Return the scores of the complement model, by row and class."""
        y, w = self.task.of.y, self.task.weights
        _, indices, data, _ = self.kept
        owner = _owner(self.kept)
        elsewhere = self.counts.sum(axis=0) - self.counts
        totals, out = self.totals(elsewhere + self.alpha), np.empty((len(y), len(elsewhere)))
        for c, sums in enumerate(elsewhere):
            taken = np.where(y == c, 0.0, w)
            n = np.maximum(sums[indices] - taken[owner] * data, 0.0)
            logs = _row_sums(self.kept, data * np.log(n + self.alpha[indices]))
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
        out[np.arange(len(y)), y] = empty[y] + _row_sums(self.rows, gain)
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


def _as_sparse(block: Block) -> Sparse:
    """Return the rows as compressed sparse rows, each cell once; missing values are none."""
    from scipy.sparse import csr_array

    if isinstance(block, Sparse):
        return without_duplicates(block)
    matrix = csr_array(np.nan_to_num(dense(block), nan=0.0))
    return Sparse(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])


def _owner(rows: Sparse) -> Array:
    """Return the row of each stored value."""
    return np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))


def _row_sums(rows: Sparse, values: Array) -> Floats:
    """Add up what belongs to the stored values, by row."""
    return np.asarray(rows._replace(data=values).as_matrix() @ np.ones(rows.n_columns))
