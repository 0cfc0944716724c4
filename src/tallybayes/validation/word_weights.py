"""An exponent for each word, by how the other documents answer: one convex problem.

With the leave-one-out terms t of columns and words, exponents w >= 0 (those of words may be said to
be free) and constants b of classes, the score of a row in class c is log P(c) + b_c + sum_j w_j
t_j(c), where t of a text's word counts as often as it occurs, over the document's length to a
power. The exponents minimise

    sum of -log P(c | x) + word/2 sum_i (w_i - m)^2 + COLUMN/2 sum_k (w_k - n)^2
        + mean/2 (m^2 + n^2 + sum_c b_c^2),

the w_i being those of words, with a mean m for each text, and the w_k those of other columns, with
the mean n: so words are drawn to a common exponent, from which only those move that rows speak of
(Wang and Manning, 2012, draw the weights of words to their mean). What a word says of a row without
it differs from the table of all rows in the row's own class alone. So all that is needed is to go
through the words that rows have, whatever the number of classes: Newton's method does so some
seventy times, on all threads. Its steps are worked out by conjugate gradients, in single precision
and with the classes that are not out of the question for a row: most rows are settled soon.

How good the exponents are is told by some of the rows, with exponents fitted on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.families.left_out import WordTerms
from tallybayes.kernels.choice import loops_for
from tallybayes.kernels.threads import SMALLEST_SHARE, over_rows

COLUMN = 10.0  # how strongly exponents of columns that are no texts are drawn to their mean
ROUGHLY, WELL = 1e-3, 1e-5  # relative gain of a step that ends the search; the next gains a tenth
STEPS, PRODUCTS = 60, 60  # at most, and in each step
LEFT_OVER = 0.25  # share of the slope that a step may leave
LEAST = 1e-6  # share of a step
FAR = 1e4  # nats that stand for more
TINY = 1e-300
LITTLE = 0.003  # of a posterior, that has no part in how the loss bends
USED = 10  # times at least, so that loops pay that are compiled
MOST_PARTS = 8  # of the rows, which are gone through side by side


class Pulls(NamedTuple):
    """How strongly exponents of words are drawn to their mean, and all means to 0.

    `least` is the least exponent of a word: one below 0 turns round what the word says, where
    others that come with it have said more than that.
    """

    word: float = 0.3
    mean: float = 1.0
    least: float = 0.0


class Weighed(NamedTuple):
    """The constants of the classes, and the exponents of columns and of the words of each text."""

    constants: Floats
    columns: Floats
    words: list[Floats]


class _Bags:
    """The words of all texts, row by row, and what they say, in double or single precision."""

    def __init__(self, terms: Sequence[WordTerms], n_rows: int) -> None:
        sizes = np.array([np.diff(each.indptr) for each in terms], np.int64)  # by text and row
        ends = np.append(0, sizes.T.cumsum())
        n_words = sum(len(each.table) for each in terms)
        indices, times, own = (np.empty(ends[-1], kind) for kind in (np.int32, float, float))
        before = 0
        for t, each in enumerate(terms):
            to = np.arange(len(each.indices))
            if len(terms) > 1:  # between the words of the other texts
                to += np.repeat(ends[t : -1 : len(terms)] - each.indptr[:-1], sizes[t])
            indices[to] = each.indices + before
            times[to] = each.data
            own[to] = each.data * each.own
            before += len(each.table)
        self.bags: tuple[Array, ...] = (ends, indices, times, own)
        self.table = np.ascontiguousarray(np.concatenate([each.table for each in terms]))
        wide = any(len(each.totals) > 1 for each in terms)
        shape = n_rows if wide else 1, self.table.shape[1]
        self.totals = np.stack([np.broadcast_to(each.totals, shape) for each in terms], axis=1)
        # the same for any number of threads, and each with as much to do
        parts = int(np.clip(len(indices) // max(n_words, SMALLEST_SHARE), 1, MOST_PARTS))
        cuts = np.searchsorted(ends[:: len(terms)], ends[-1] * np.arange(parts + 1) // parts)
        cuts[-1] = n_rows
        self._parts = [slice(*each) for each in pairwise(cuts.tolist())]

    def in_single_precision(self) -> _Bags:
        """Return the same in half the bytes."""
        half = copy(self)
        ends, indices, *values = self.bags
        half.bags = (ends, indices, *(each.astype(np.float32) for each in values))
        half.table, half.totals = self.table.astype(np.float32), self.totals.astype(np.float32)
        return half

    def _added(self, kernel: str, rows: Sequence[Array], words: Sequence[Floats]) -> Any:
        """Call a kernel on all rows; return what its parts gave, and the sums by word.

        It takes the bags and what they say, then what there is for rows, the words' own in fourth
        place.
        """
        ends, *stored = self.bags
        n_texts, kind = self.totals.shape[1], self.table.dtype
        cells = len(stored[0]) * self.table.shape[1]
        twin = getattr(loops_for(USED * cells), kernel)

        def work(some: slice) -> list[tuple[Any, Floats]]:
            found = []
            for part in self._parts[some]:
                sums = np.zeros(len(self.table))
                bags = ends[part.start * n_texts : part.stop * n_texts + 1], *stored
                totals = self.totals if len(self.totals) == 1 else self.totals[part]
                y, w, *others = (each[part] for each in rows)
                of_words = (each.astype(kind, copy=False) for each in words)
                answer = twin(bags, self.table, totals, y, w, *of_words, *others, sums)
                found.append((answer, sums))
            return found

        parts = over_rows(work, len(self._parts), cells)
        answers, sums = zip(*(each for part in parts for each in part), strict=True)
        return answers, sum(sums[1:], sums[0])

    def slopes(self, y: Array, w: Floats, exponents: Floats, scores: Floats) -> Any:
        """Return the loss and its slope with each exponent; see the kernel `word_slopes`."""
        losses, slopes = self._added("word_slopes", (y, w, scores), (exponents,))
        return sum(losses), slopes

    def curves(self, y: Array, w: Floats, change: Floats, posterior: Array, scores: Array) -> Any:
        """Return how the slopes change with the exponents; see the kernel `word_curves`."""
        return self._added("word_curves", (y, w, posterior, scores), (change,))[1]

    def bends(self, y: Array, w: Floats, posterior: Floats) -> Floats:
        """Return how the loss bends with each exponent by itself."""
        bends: Floats = self._added("word_bends", (y, w, posterior), ())[1]
        return bends


class WordProblem:
    """The problem for some rows.

    Parameters
    ----------
    terms
        What the columns that are no such texts say, by row, column and class.
    words
        What the words of each text say.
    log_prior
        By row and class.
    y, w
        The class and weight of each row.
    pulls
        How strongly exponents are drawn together.
    """

    def __init__(
        self,
        terms: Floats,
        words: Sequence[WordTerms],
        log_prior: Floats,
        y: Array,
        w: Floats,
        pulls: Pulls | None = None,
    ) -> None:
        here = np.arange(len(y))
        gaps: Floats = np.clip(terms - terms[here, :, y][:, :, None], -FAR, FAR)
        self._gaps = np.nan_to_num(gaps)
        self._bags = _Bags(words, len(y))
        self._prior, self._y, self._w = log_prior, y, w
        sizes = [terms.shape[1], *(len(each.table) for each in words)]
        self._group = np.repeat(np.arange(len(sizes)), sizes)
        self._sizes = np.maximum(sizes, 1)
        self._cuts = log_prior.shape[1] + np.cumsum([0, *sizes[:-1]])
        self._pulls = Pulls() if pulls is None else pulls
        self._strength = np.array([COLUMN, *[self._pulls.word] * len(words)])
        leasts = np.array([0.0, *[self._pulls.least] * len(words)])
        free = np.full(log_prior.shape[1], -np.inf)  # the constants
        self._least = np.append(free, leasts[self._group])

    def of_rows(self, rows: Array) -> WordProblem:
        """Return the problem for only some of the rows: the others have no weight."""
        some = copy(self)
        some._w = np.zeros(len(self._w))
        some._w[rows] = self._w[rows]
        return some

    def proba(self, found: Weighed, log_prior: Floats) -> Floats:
        """Return the posterior of each row that has a weight, by class, with this prior."""
        posterior: Floats = self._scores(found) + log_prior
        self._bags.slopes(self._y, self._w, np.concatenate(found.words), posterior)
        return posterior

    def _scores(self, found: Weighed) -> Floats:
        """Return the scores but for the prior and the words."""
        scores = np.tile(found.constants, (len(self._w), 1))
        if len(found.columns):
            scores += np.einsum("nkc,k->nc", self._gaps, found.columns)
        return scores

    def _parts(self, unknowns: Floats) -> Weighed:
        constants, columns, *words = np.split(unknowns, self._cuts)
        return Weighed(constants, columns, words)

    def _slope(self, rest: Array, of_words: Floats, unknowns: Floats) -> Floats:
        """Return the slope, `rest` being that of the loss with the scores."""
        slopes = rest.sum(axis=0), np.einsum("nkc,nc->k", self._gaps, rest), of_words
        return np.concatenate(slopes) + self._pull(unknowns)

    def _pull(self, unknowns: Floats) -> Floats:
        """Return the slope of the penalty, which is half of its product with the unknowns."""
        c = self._prior.shape[1]
        exponents, group = unknowns[c:], self._group
        mean = np.bincount(group, exponents, len(self._sizes)) / self._sizes
        pull = self._strength[group] * (exponents - mean[group])
        pull += self._pulls.mean * (mean / self._sizes)[group]
        return np.append(self._pulls.mean * unknowns[:c], pull)

    def _objective(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return what is minimised, its slope, and the posterior of each row."""
        found, w = self._parts(unknowns), self._w
        posterior = self._scores(found) + self._prior
        exponents = np.concatenate(found.words)
        value, of_words = self._bags.slopes(self._y, w, exponents, posterior)
        rest = posterior * w[:, None]
        rest[np.arange(len(w)), self._y] -= w
        value += 0.5 * float(unknowns @ self._pull(unknowns))
        return value, self._slope(rest, of_words, unknowns), posterior

    def _step(self, slope: Floats, posterior: Floats, free: Mask) -> Floats:
        """Return about Newton's step of the unknowns that are free, by conjugate gradients.

        They start from what would be the step if each bent the loss by itself.
        """
        w, p = self._w, np.where(posterior > LITTLE, posterior, 0.0)
        p /= np.maximum(p.sum(axis=1, keepdims=True), LITTLE)
        spread = p * (1.0 - p) * w[:, None]
        of_columns = np.einsum("nkc,nc->k", self._gaps**2, spread)
        p = p.astype(np.float32)
        bends = np.concatenate(
            [
                spread.sum(axis=0) + self._pulls.mean,
                of_columns,
                self._quick.bends(self._y, w, p),
            ]
        )
        bends[p.shape[1] :] += self._strength[self._group]
        alone = free / bends

        def by_itself(rest: Floats) -> Floats:
            """Solve for how each bends the loss by itself, and all of a group by the penalty."""
            found: Floats = alone * rest
            c, group = p.shape[1], self._group
            common = (self._pulls.mean / self._sizes - self._strength) / self._sizes
            common /= 1.0 + common * np.bincount(group, alone[c:], len(common))
            common *= np.bincount(group, found[c:], len(common))
            found[c:] -= common[group] * alone[c:]
            return found

        step, rest = np.zeros(len(slope)), np.where(free, -slope, 0.0)
        scaled = by_itself(rest)
        towards, left = scaled, float(rest @ scaled)
        enough = LEFT_OVER**2 * left
        for _ in range(PRODUCTS):
            parts = self._parts(towards)
            rest_of = self._scores(parts).astype(np.float32)
            of_words = self._quick.curves(self._y, w, np.concatenate(parts.words), p, rest_of)
            product = np.where(free, self._slope(rest_of, of_words, towards), 0.0)
            size = left / max(float(towards @ product), TINY)
            step += size * towards
            rest = rest - size * product
            scaled = by_itself(rest)
            before, left = left, float(rest @ scaled)
            if left <= enough:
                break
            towards = scaled + left / before * towards
        return step

    def solved(self, start: Weighed | None = None, small: float = WELL) -> Weighed:
        """Return the exponents and constants, found in steps until one gains less than is `small`.

        It is Newton's method on the unknowns that are not held at the least that they may be.
        """
        with threadpool_limits(1, "blas"):  # whose threads take longer to wake than these sums
            # how far to go need not be known as exactly as where from
            self._quick = self._bags.in_single_precision()
            return self._parts(self._solved(start, small))

    def _solved(self, start: Weighed | None, small: float) -> Floats:
        c = self._prior.shape[1]
        unknowns = np.repeat([0.0, 1.0], [c, len(self._group)])
        if start is not None:
            unknowns = np.concatenate([start.constants, start.columns, *start.words])
        least = self._least
        value, slope, posterior = self._objective(unknowns)
        for _ in range(STEPS):
            free = (unknowns > least) | (slope <= 0.0)
            step, size, before = self._step(slope, posterior, free), 1.0, value
            while size > LEAST:
                tried = np.maximum(unknowns + size * step, least)
                value, slopes, posterior = self._objective(tried)
                if value <= before + 1e-4 * float(slope @ (tried - unknowns)):
                    break
                size /= 2.0
            else:
                break
            unknowns, slope = tried, slopes
            if before - value <= small * abs(before):
                break
        return unknowns
