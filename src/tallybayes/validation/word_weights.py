"""An exponent for each word, by how the other documents answer: one convex problem.

With the leave-one-out terms t of columns and words, exponents w >= 0 and constants b of classes,
the score of a row in class c is log P(c) + b_c + sum_j w_j t_j(c), where t of a text's word counts
as often as it occurs, over the document's length to a power. The exponents minimise

    sum of -log P(c | x) + WORD/2 sum_i (w_i - m)^2 + COLUMN/2 sum_k (w_k - n)^2
        + 1/2 (m^2 + n^2 + sum_c b_c^2),

the w_i being those of words, with a mean m for each text, and the w_k those of other columns, with
the mean n: so words are drawn to a common exponent, from which only those move that rows speak of
(Wang and Manning, 2012, draw the weights of words to their mean). What a word says of a row without
it differs from the table of all rows in the row's own class alone. So all that is needed are sparse
products with the words that rows have, whatever the number of classes.

How good the exponents are is told by some of the rows, with exponents fitted on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tallybayes.families.left_out import WordTerms

Array = NDArray[Any]
Floats = NDArray[np.float64]

WORD, COLUMN, MEAN = 0.3, 10.0, 1.0  # how strongly exponents are drawn to their mean, and that to 0
ROUGHLY, WELL = 1e-6, 1e-8  # relative gain of a step that ends the search
MOST_STEPS = 500
FAR = 1e4  # nats that stand for more


class Weighed(NamedTuple):
    """The constants of the classes, and the exponents of columns and of the words of each text."""

    constants: Floats
    columns: Floats
    words: list[Floats]


@dataclass(frozen=True)
class _Text:
    """What the words of one text say, as sparse matrices of rows and words, there and back."""

    times: Any  # how often words count,
    own: Any  # and that times what they say in the row's own class
    table: Floats
    totals: Floats

    @classmethod
    def of(cls, terms: WordTerms) -> _Text:
        from scipy.sparse import csr_array

        shape = len(terms.indptr) - 1, len(terms.table)
        times, own = (
            csr_array((data, terms.indices, terms.indptr), shape)
            for data in (terms.data, terms.data * terms.own)
        )
        return cls(times, own, terms.table, terms.totals)

    def of_rows(self, rows: Array) -> _Text:
        totals = self.totals if len(self.totals) == 1 else self.totals[rows]
        return _Text(self.times[rows], self.own[rows], self.table, totals)

    def scores(self, exponents: Floats, y: Array) -> Floats:
        """Return what the words say of each row, by class."""
        scores: Floats = self.times @ (exponents[:, None] * self.table)
        scores -= (self.times @ exponents)[:, None] * self.totals
        scores[np.arange(len(y)), y] = self.own @ exponents
        return scores

    def slope(self, rest: Floats, y: Array) -> Floats:
        """Return how the loss changes with each exponent, `rest` being how with the scores."""
        here = np.arange(len(y))
        others = rest.copy()
        others[here, y] = 0.0
        slope = ((self.times.T @ others) * self.table).sum(axis=1)
        slope -= self.times.T @ (others * self.totals).sum(axis=1)
        out: Floats = slope + self.own.T @ rest[here, y]
        return out


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
    """

    def __init__(
        self, terms: Floats, words: Sequence[WordTerms], log_prior: Floats, y: Array, w: Floats
    ) -> None:
        self._gaps = np.clip(terms - terms[np.arange(len(y)), :, y][:, :, None], -FAR, FAR)
        self._texts = [_Text.of(each) for each in words]
        self._prior, self._y, self._w = log_prior, y, w
        sizes = [terms.shape[1], *(len(each.table) for each in self._texts)]
        self._group = np.repeat(np.arange(len(sizes)), sizes)
        self._cuts = log_prior.shape[1] + np.cumsum([0, *sizes[:-1]])
        self._strength = np.array([COLUMN, *[WORD] * len(words)])

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
        return np.exp(self._logs(found, log_prior))

    def _logs(self, found: Weighed, log_prior: Floats) -> Floats:
        scores = log_prior + found.constants
        scores += np.einsum("nkc,k->nc", self._gaps, found.columns)
        for text, exponents in zip(self._texts, found.words, strict=True):
            scores += text.scores(exponents, self._y)
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores

    def _parts(self, unknowns: Floats) -> Weighed:
        constants, columns, *words = np.split(unknowns, self._cuts)
        return Weighed(constants, columns, words)

    def _objective(self, unknowns: Floats) -> tuple[float, Floats]:
        """Return what is minimised, and its slope."""
        found, c = self._parts(unknowns), self._prior.shape[1]
        here = np.arange(len(self._y))
        logs = self._logs(found, self._prior)
        value = -float(self._w @ logs[here, self._y])
        rest = np.exp(logs)
        rest[here, self._y] -= 1.0
        rest *= self._w[:, None]
        slopes = [np.einsum("nkc,nc->k", self._gaps, rest)]
        slopes += [text.slope(rest, self._y) for text in self._texts]
        exponents, group = unknowns[c:], self._group
        n = np.maximum(np.bincount(group, minlength=len(self._strength)), 1)
        mean = np.bincount(group, exponents, len(n)) / n
        away, strength = exponents - mean[group], self._strength[group]
        value += 0.5 * float(strength @ away**2 + MEAN * mean @ mean)
        value += 0.5 * MEAN * float(found.constants @ found.constants)
        slope_c = rest.sum(axis=0) + MEAN * found.constants
        slope = np.concatenate(slopes) + strength * away + MEAN * (mean / n)[group]
        return value, np.append(slope_c, slope)

    def solved(self, start: Weighed | None = None, small: float = WELL) -> Weighed:
        """Return the exponents and constants, found in steps that gain more than is `small`.

        First without bounds and in other unknowns, the mean of each group and what is away from it,
        which goes several times faster; then at least 0.
        """
        c, k = self._prior.shape[1], len(self._strength)

        def together(parts: Floats) -> Floats:
            return np.append(parts[:c], parts[c + k :] + parts[c : c + k][self._group])

        def by_mean(parts: Floats) -> tuple[float, Floats]:
            value, slope = self._objective(together(parts))
            means = np.bincount(self._group, slope[c:], k)
            return value, np.concatenate([slope[:c], means, slope[c:]])

        if start is None:
            parts = np.concatenate([np.zeros(c), np.ones(k), np.zeros(len(self._group))])
            unknowns = together(_lowest(by_mean, parts, np.full(len(parts), -np.inf), ROUGHLY))
        else:
            unknowns = np.concatenate([start.constants, start.columns, *start.words])
        unknowns[c:] = np.maximum(unknowns[c:], 0.0)
        least = np.repeat([-np.inf, 0.0], [c, len(self._group)])
        return self._parts(_lowest(self._objective, unknowns, least, small))


def _lowest(
    objective: Callable[[Floats], tuple[float, Floats]], start: Floats, least: Floats, small: float
) -> Floats:
    """Return where a convex function of unknowns that are at least so great is lowest."""
    from scipy.optimize import Bounds, minimize

    options: Any = {"maxiter": MOST_STEPS, "ftol": small, "gtol": 1e-6}
    with threadpool_limits(1, "blas"):  # whose threads take longer to wake than these sums
        found = minimize(
            objective, start, jac=True, method="L-BFGS-B", bounds=Bounds(least), options=options
        )
    lowest: Floats = found.x
    return lowest
