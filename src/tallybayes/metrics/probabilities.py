"""Scores of probabilities, for which it matters how sure a prediction was.

With p the probabilities of a row and t its true class, means over rows (weighted ones if rows have
weights) of:

- log-loss, -log p_t, in nats. A p_t of 0 would make it infinite, so p_t is at least `clip`.
- Brier score, sum over classes c of (p_c - [c = t])^2, which lies in 0..2. For two classes it is
  halved to (1 - p_t)^2, in 0..1: both are what scikit-learn's ``brier_score_loss`` returns.
- calibration error (Naeini et al. 2015, Guo et al. 2017): the rows are put into bins of equal width
  by the probability of the winning class; in each bin, the distance of the mean of that probability
  from the share of rows for which the winner is right.

ROC and PR areas say how well rows are ranked, whatever the probabilities themselves. They compare
rows with each other, so all rows must have been scored by the same model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import number, whole
from tallybayes.metrics.checks import Floats, Rows, as_rows
from tallybayes.metrics.ranked import Ranked, ranked
from tallybayes.metrics.tables import amount, decimals, text_table

CLIP = 1e-15
BINS = 15


def log_loss(proba: Any, true_codes: Any, weights: Any = None, clip: float = CLIP) -> float:
    """Return the mean of -log P(true class), each probability taken as at least `clip`.

    Parameters
    ----------
    proba
        Probabilities, rows x classes.
    true_codes
        The column of each row's true class.
    weights
        One number a row.
    clip
        With 0 a single row whose class had probability 0 makes the answer infinite; `impossible`
        counts such rows.

    Examples
    --------
    >>> log_loss([[0.5, 0.5], [0.25, 0.75]], [0, 1])
    0.490414...
    """
    least = number(clip, "clip", least=0.0)
    return log_loss_of(as_rows(proba, true_codes, weights), least)


def log_loss_of(rows: Rows, clip: float = CLIP) -> float:
    """Return the log-loss of checked rows."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(_of_true(rows), clip))
    if rows.weights is None:
        return -rows.mean(logs) + 0.0
    counted = rows.weights > 0.0  # 0 x infinity counts as 0
    return -Rows(rows.proba, rows.true, rows.weights[counted]).mean(logs[counted]) + 0.0


def impossible(proba: Any, true_codes: Any) -> int:
    """Return the number of rows whose true class had probability 0.

    Examples
    --------
    >>> impossible([[1.0, 0.0], [1.0, 0.0]], [0, 1])
    1
    """
    return int((_of_true(as_rows(proba, true_codes)) == 0.0).sum())


def brier(proba: Any, true_codes: Any, weights: Any = None) -> float:
    """Return the mean squared distance from certainty in the true class.

    For two classes it is that of the probability of one of them, in 0..1; for more it is summed
    over the classes, in 0..2: scikit-learn's convention.

    Examples
    --------
    >>> brier([[0.5, 0.5], [0.25, 0.75]], [0, 1])
    0.15625
    """
    return brier_of(as_rows(proba, true_codes, weights))


def brier_of(rows: Rows) -> float:
    """Return the Brier score of checked rows."""
    distance = rows.proba.copy()
    distance[np.arange(len(distance)), rows.true] -= 1.0
    squares = np.einsum("ij,ij->i", distance, distance)
    return rows.mean(squares) / (2.0 if distance.shape[1] == 2 else 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """How sure the predictions were, and how often they were right, in bins of equal width.

    Parameters
    ----------
    edges
        The bins' limits, one more than there are bins. A bin includes its upper limit.
    confidence
        The mean probability of the winning class in each bin; NaN in an empty one.
    right
        The share of rows in each bin for which the winner is right; NaN in an empty one.
    rows
        The number of rows in each bin, or their weights added up.
    """

    edges: Floats
    confidence: Floats
    right: Floats
    rows: Floats

    @property
    def error(self) -> float:
        """The mean distance of confidence from the share right, weighted by rows."""
        total, filled = self.rows.sum(), self.rows > 0.0
        if not total:
            return math.nan
        gap = abs(self.confidence[filled] - self.right[filled])
        return float(gap @ self.rows[filled] / total)

    def __str__(self) -> str:
        lines = [
            [f"{low:.3f} to {high:.3f}", decimals(sure), decimals(right), amount(rows)]
            for low, high, sure, right, rows in zip(
                self.edges[:-1], self.edges[1:], self.confidence, self.right, self.rows, strict=True
            )
            if rows
        ]
        return text_table(["probability", "mean", "right", "rows"], lines)


def reliability(proba: Any, true_codes: Any, bins: int = BINS, weights: Any = None) -> Reliability:
    """Return how often the winning class is right where it was so sure.

    Of classes with the same probability the first wins.

    Examples
    --------
    >>> table = reliability([[0.6, 0.4], [0.3, 0.7], [0.1, 0.9]], [1, 1, 1], bins=2)
    >>> print(table)
    probability       mean   right  rows
    0.500 to 1.000  0.7333  0.6667     3
    """
    return reliability_of(as_rows(proba, true_codes, weights), whole(bins, "bins", 1))


def reliability_of(rows: Rows, bins: int = BINS) -> Reliability:
    """Return the reliability of checked rows."""
    edges = np.arange(bins + 1) / bins
    sure = rows.proba.max(1, initial=0.0)
    right = rows.proba.argmax(1) == rows.true
    place = np.searchsorted(edges[1:-1], sure, side="left")
    weights = np.ones(len(sure)) if rows.weights is None else rows.weights
    total: Floats = np.bincount(place, weights, bins).astype(np.float64)

    def share(values: NDArray[Any]) -> Floats:
        summed = np.bincount(place, values * weights, bins)
        mean: Floats = np.divide(summed, total, out=np.full(bins, np.nan), where=total > 0.0)
        return mean

    return Reliability(edges, share(sure), share(right), total)


def calibration_error(proba: Any, true_codes: Any, bins: int = BINS, weights: Any = None) -> float:
    """Return the expected calibration error of the winning class's probability.

    Examples
    --------
    >>> calibration_error([[0.75, 0.25]] * 4, [0, 0, 0, 1])
    0.0
    >>> calibration_error([[1.0, 0.0]] * 4, [0, 0, 0, 1])
    0.25
    """
    return reliability(proba, true_codes, bins, weights).error


def roc_area(
    proba: Any, true_codes: Any, weights: Any = None, positive: int | None = None
) -> float:
    """Return the area under the ROC curve: how probably a row of the class outranks another row.

    Parameters
    ----------
    proba, true_codes, weights
        As for `log_loss`.
    positive
        For two classes, the column of the positive one (the last unless given). For more classes
        the answer is the mean over classes, each against all others, of those for which there are
        rows both of the class and of others. NaN if there is no such class.

    Examples
    --------
    >>> roc_area([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]], [0, 0, 1, 1])
    0.75
    """
    return roc_area_of(as_rows(proba, true_codes, weights), positive)


def roc_area_of(rows: Rows, positive: int | None = None) -> float:
    """Return the ROC area of checked rows."""
    return _against_the_rest(lambda order: order.roc_area, rows, positive)


def pr_area(proba: Any, true_codes: Any, weights: Any = None, positive: int | None = None) -> float:
    """Return the area under the precision-recall curve, as average precision.

    Nothing is interpolated. For two classes it is that of the positive one; for more the mean over
    the classes that have rows. NaN if there is none.

    Examples
    --------
    >>> pr_area([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]], [0, 0, 1, 1])
    0.833333...
    """
    return pr_area_of(as_rows(proba, true_codes, weights), positive)


def pr_area_of(rows: Rows, positive: int | None = None) -> float:
    """Return the PR area of checked rows."""
    return _against_the_rest(lambda order: order.pr_area, rows, positive)


def _against_the_rest(area: Callable[[Ranked], float], rows: Rows, positive: int | None) -> float:
    """Return the mean area over the classes that have one, or that of the positive one of two."""
    proba, true, weights = rows
    if weights is not None:
        counted = weights > 0.0
        proba, true, weights = proba[counted], true[counted], weights[counted]
    n = proba.shape[1]
    columns = range(n)
    if n == 2:
        column = n - 1 if positive is None else whole(positive, "positive", 0, n - 1)
        columns = range(column, column + 1)
    areas = (area(ranked(proba[:, k], true == k, weights)) for k in columns)
    found = [each for each in areas if not math.isnan(each)]
    return math.fsum(found) / len(found) if found else math.nan


def _of_true(rows: Rows) -> Floats:
    """Return the probability of each row's true class."""
    return rows.proba[np.arange(len(rows.true)), rows.true]
