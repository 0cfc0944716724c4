"""An exponent for each word, by how the other documents answer: one convex problem.

With the leave-one-out terms t of columns and words, exponents w >= 0 and constants b of classes,
the score of a row in class c is log P(c) + b_c + sum_j w_j t_j(c), where t of a text's word counts
as often as it occurs, over the document's length to a power. The exponents minimise

    sum of -log P(c | x) + word/2 sum_i (w_i - m)^2 + COLUMN/2 sum_k (w_k - n)^2
        + mean/2 (m^2 + n^2 + sum_c b_c^2),

the w_i being those of words, with a mean m for each text, and the w_k those of other columns, with
the mean n: so words are drawn to a common exponent, from which only those move that rows speak of
(Wang and Manning, 2012, draw the weights of words to their mean). What a word says of a row without
it differs from the table of all rows in the row's own class alone. So all that is needed are sparse
products with the words that rows have, whatever the number of classes. Newton's method takes some
fifty of them, on all threads: its steps are worked out by conjugate gradients, in single precision.

How good the exponents are is told by some of the rows, with exponents fitted on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.families.left_out import WordTerms
from tallybayes.kernels.threads import over_rows

COLUMN = 10.0  # how strongly exponents of columns that are no texts are drawn to their mean
ROUGHLY, WELL = 1e-3, 1e-5  # relative gain of a step that ends the search; the next gains a tenth
STEPS, PRODUCTS = 60, 60  # at most, and in each step
LEFT_OVER = 0.25  # share of the slope that a step may leave
LEAST = 1e-6  # share of a step
FAR = 1e4  # nats that stand for more
TINY = 1e-300


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


class _Rows:
    """A sparse matrix in parts, which are multiplied side by side."""

    def __init__(self, matrix: Any) -> None:
        self.shape, self._n = matrix.shape, matrix.nnz
        sizes = np.diff(matrix.indptr)
        parts = over_rows(lambda rows: rows, len(sizes), matrix.nnz, sizes)
        self._parts = [(rows, matrix[rows]) for rows in parts]

    def times(self, dense: Floats, weights: Floats | None = None, power: int = 1) -> Floats:
        """Return the product with a dense matrix, or the sums of its rows with such weights.

        The sparse one is raised to a power first, number by number.
        """
        out = np.empty(self.shape[:1] + (dense.shape[1:] if weights is None else ()), dense.dtype)

        def multiply(some: slice) -> None:
            for rows, matrix in self._parts[some]:
                found = (matrix if power == 1 else matrix.power(power)) @ dense
                if weights is not None:
                    found = np.einsum("nc,nc->n", found, weights[rows])
                out[rows] = found

        over_rows(multiply, len(self._parts), self._n)
        return out


class _Text:
    """What the words of one text say: how often they count by row, that times what they say there.

    Its table has ones beside it: they add up how often words count, which multiplies the totals.
    """

    def __init__(self, times: Any, own: Any, table: Floats, totals: Floats) -> None:
        self._times, self._own, self._table, self._totals = times, own, table, totals
        self._there, self._back = _Rows(times), _Rows(times.T.tocsr())

    @classmethod
    def of(cls, terms: WordTerms) -> _Text:
        from scipy.sparse import csr_array

        shape = len(terms.indptr) - 1, len(terms.table)
        size: Any = np.int32 if len(terms.data) < 2**31 else np.int64
        places = terms.indices.astype(size), terms.indptr.astype(size)
        times, own = (
            csr_array((data, *places), shape) for data in (terms.data, terms.data * terms.own)
        )
        table = np.column_stack([terms.table, np.ones(len(terms.table))])
        return cls(times, own, table, terms.totals)

    def of_rows(self, rows: Array) -> _Text:
        totals = self._totals if len(self._totals) == 1 else self._totals[rows]
        return _Text(self._times[rows], self._own[rows], self._table, totals)

    def in_single_precision(self) -> _Text:
        """Return the same in half the bytes."""
        parts: list[Any] = [self._times, self._own, self._table, self._totals]
        return _Text(*(part.astype(np.float32) for part in parts))

    def scores(self, exponents: Floats, y: Array) -> Floats:
        """Return what the words say of each row, by class."""
        exponents = exponents.astype(self._table.dtype)
        found = self._there.times(exponents[:, None] * self._table)
        scores = found[:, :-1] - found[:, -1:] * self._totals
        scores[np.arange(len(y)), y] = self._own @ exponents
        return scores

    def slope(self, rest: Floats, y: Array) -> Floats:
        """Return how the loss changes with each exponent, `rest` being how with the scores."""
        here = np.arange(len(y))
        rest = rest.astype(self._table.dtype)
        others = rest.copy()
        others[here, y] = 0.0
        left = np.column_stack([others, -(others * self._totals).sum(axis=1)])
        out: Floats = self._back.times(left, self._table) + self._own.T @ rest[here, y]
        return out

    def bends(self, spread: Floats) -> Floats:
        """Return about how the slopes change; of two classes, but for what is left out, exactly."""
        c = spread.shape[1]
        said = self._table[:, :-1] - self._totals.mean(axis=0)
        said -= said.mean(axis=1, keepdims=True)
        found: Floats = self._back.times(spread.astype(said.dtype), said * said, 2)
        found *= c / max(c - 1, 1)
        return found


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
        self._gaps: Floats = np.clip(terms - terms[np.arange(len(y)), :, y][:, :, None], -FAR, FAR)
        self._texts = [_Text.of(each) for each in words]
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
        """Return the problem for only some of the rows."""
        some = object.__new__(WordProblem)
        vars(some).update(vars(self))
        some._gaps, some._prior = self._gaps[rows], self._prior[rows]
        some._y, some._w = self._y[rows], self._w[rows]
        some._texts = [each.of_rows(rows) for each in self._texts]
        return some

    def proba(self, found: Weighed, log_prior: Floats) -> Floats:
        """Return the posterior of each row, by class, with this prior."""
        return np.exp(self._logs(self._scores(found, self._texts) + log_prior))

    def _scores(self, found: Weighed, texts: Sequence[_Text]) -> Floats:
        """Return the scores but for the prior."""
        scores: Floats = np.einsum("nkc,k->nc", self._gaps, found.columns) + found.constants
        for text, exponents in zip(texts, found.words, strict=True):
            scores += text.scores(exponents, self._y)
        return scores

    def _logs(self, scores: Floats) -> Floats:
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores

    def _parts(self, unknowns: Floats) -> Weighed:
        constants, columns, *words = np.split(unknowns, self._cuts)
        return Weighed(constants, columns, words)

    def _slope(self, rest: Floats, unknowns: Floats, texts: Sequence[_Text]) -> Floats:
        """Return the slope, `rest` being that of the loss with the scores."""
        slopes = [rest.sum(axis=0), np.einsum("nkc,nc->k", self._gaps, rest)]
        slopes += [text.slope(rest, self._y) for text in texts]
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
        logs = self._logs(self._scores(self._parts(unknowns), self._texts) + self._prior)
        here = np.arange(len(self._y))
        value = -float(self._w @ logs[here, self._y])
        posterior = np.exp(logs)
        rest = posterior * self._w[:, None]
        rest[here, self._y] -= self._w
        value += 0.5 * float(unknowns @ self._pull(unknowns))
        return value, self._slope(rest, unknowns, self._texts), posterior

    def _step(self, slope: Floats, posterior: Floats, free: Mask) -> Floats:
        """Return about Newton's step of the unknowns that are free, by conjugate gradients.

        They start from what would be the step if each bent the loss by itself.
        """
        p, w = posterior, self._w[:, None]
        spread = p * (1.0 - p) * w
        of_columns = np.einsum("nkc,nc->k", self._gaps**2, spread)
        bends = np.concatenate(
            [
                spread.sum(axis=0) + self._pulls.mean,
                of_columns,
                *(text.bends(spread) for text in self._quick),
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
            scores = self._scores(self._parts(towards), self._quick)
            scores -= (p * scores).sum(axis=1, keepdims=True)
            product = np.where(free, self._slope(p * scores * w, towards, self._quick), 0.0)
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
            self._quick = [text.in_single_precision() for text in self._texts]
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
