"""Rows in the order of a score, those of equal score together: what every ranking curve is made of.

With thresholds t from high to low, the rows that score at least t are flagged. Of the weight W_1 of
the rows of a class and W_0 of all others, with TP(t) and FP(t) that of those flagged:

- ROC curve: TP(t) / W_1 against FP(t) / W_0; its area A is the chance that a row of the class
  outscores another one, ties counting half.
- precision-recall curve: TP / (TP + FP) against TP / W_1; its area is the mean of the precision
  over the rows of the class, each taken as the threshold (average precision).

How an area changes with the weight of one row (its *influence*) follows in closed form:

- ROC: (share of others below s, half of those beside it - A) / W_1 for a row of the class that
  scores s, and (share of the class above s, half of those beside it - A) / W_0 for another row.
  The sum of their squares is DeLong's variance (DeLong, DeLong and Clarke-Pearson 1988).
- PR: (precision at s - A + F(s)) / W_1 and -T(s) / W_1, with F and T the sums of FP / (TP + FP)^2
  and TP / (TP + FP)^2 over the rows of the class that score at most s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallybayes.metrics.checks import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """The weight of a class and of all others at each distinct score.

    Parameters
    ----------
    thresholds
        The distinct scores, from high to low.
    hits, others
        The weight of the rows of the class, and of all others, that have each score.
    places
        For each row, the place of its score among the thresholds.
    """

    thresholds: Floats
    hits: Floats
    others: Floats
    places: NDArray[np.intp]

    @property
    def found(self) -> Floats:
        """TP at each threshold."""
        total: Floats = self.hits.cumsum()
        return total

    @property
    def false(self) -> Floats:
        """FP at each threshold."""
        total: Floats = self.others.cumsum()
        return total

    @property
    def precision(self) -> Floats:
        """Of the flagged weight, the share of the class; NaN where nothing has any weight."""
        found = self.found
        return _over(found, found + self.false)

    @property
    def roc_area(self) -> float:
        """The area under the ROC curve; NaN without rows of the class or without others."""
        return self._roc_area(self._below())

    @property
    def pr_area(self) -> float:
        """The average precision; NaN without rows of the class."""
        return self._pr_area(self.precision)

    def roc_influence(self) -> tuple[Floats, Floats]:
        """Return how the ROC area grows with a row of the class, and with another, by score."""
        inside, outside, below = self.hits.sum(), self.others.sum(), self._below()
        area = self._roc_area(below)
        above = self.found - self.hits / 2.0
        return (below / outside - area) / inside, (above / inside - area) / outside

    def pr_influence(self) -> tuple[Floats, Floats]:
        """Return how the PR area grows with a row of the class, and with another, by score."""
        found, false, inside = self.found, self.false, self.hits.sum()
        flagged = found + false
        precision = _over(found, flagged)
        each = _over(self.hits, flagged * flagged)
        by_hit, by_other = (np.cumsum((each * part)[::-1])[::-1] for part in (false, found))
        return (precision - self._pr_area(precision) + by_hit) / inside, -by_other / inside

    def _roc_area(self, below: Floats) -> float:
        return float(_over(self.hits @ below, self.hits.sum() * self.others.sum()))

    def _pr_area(self, precision: Floats) -> float:
        # where nothing has any weight, there is no precision and nothing to add
        return float(_over(self.hits @ np.nan_to_num(precision), self.hits.sum()))

    def _below(self) -> Floats:
        """Return the weight of others below each score, and half of that beside it."""
        beneath: Floats = self.others[::-1].cumsum()[::-1] - self.others / 2.0
        return beneath


def ranked(scores: Floats, of_class: NDArray[np.bool_], weights: Floats | None = None) -> Ranked:
    """Sort rows by their score, and add up those of equal score.

    Examples
    --------
    >>> import numpy as np
    >>> order = ranked(np.array([0.1, 0.6, 0.4, 0.6]), np.array([False, False, True, True]))
    >>> order.thresholds.tolist(), order.found.tolist(), order.false.tolist()
    ([0.6, 0.4, 0.1], [1.0, 2.0, 2.0], [1.0, 1.0, 2.0])
    >>> order.roc_area
    0.625
    """
    scores = np.ascontiguousarray(scores)  # a column of a table takes several times as long
    order = np.argsort(scores)[::-1]
    fallen = scores[order]
    new = np.empty(len(order), np.bool_)
    new[:1], new[1:] = True, fallen[1:] != fallen[:-1]
    places = np.empty(len(order), np.intp)
    places[order] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    one = np.ones(len(order)) if weights is None else weights[order]
    hits = np.where(of_class[order], one, 0.0)
    others = one - hits
    if len(starts) < len(order):
        fallen, hits, others = (
            fallen[starts],
            *(np.add.reduceat(part, starts) for part in (hits, others)),
        )
    return Ranked(fallen, hits, others, places)


def _over(part: Floats, whole: Floats) -> Floats:
    """Divide; 0/0 is NaN."""
    whole = np.asarray(whole, np.float64)
    share: Floats = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0.0)
    return share
