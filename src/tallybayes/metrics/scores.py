"""Every score by its name.

With p the probabilities of a row and t its true class, (weighted) means over rows of:

- log_loss, -log p_t in nats; p_t is taken as at least `CLIP`, or one row could make it infinite.
- brier_score, the sum over classes c of (p_c - [c = t])^2, in 0..2; for two classes it is halved
  to (1 - p_t)^2, in 0..1. Both are what scikit-learn's ``brier_score_loss`` returns.
- expected_calibration_error (Naeini et al. 2015, Guo et al. 2017): in bins of equal width of the
  probability of the winner, the distance of its mean from the share of rows where it is right.

roc_auc is the chance that a row of a class outranks another one, ties counting half;
average_precision the mean precision over the rows of the class, each taken as the threshold. Both
compare rows with each other, so they are means over folds, in each of which one model scored all
rows; and they are undefined for leave-one-out, where each row has a model of its own: leaving a row
out makes its class a little rarer and ranks it a little lower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.metrics.confusion import MEASURES, Confusion
from tallybayes.rendering import Part, Renderable, Table

if TYPE_CHECKING:
    from tallybayes.metrics.predictions import Predictions


CLIP = 1e-15
BINS = 15
LOSSES = ("log_loss", "brier_score", "expected_calibration_error")
RANKING = ("roc_auc", "average_precision")
NAMES = (
    "accuracy",
    "balanced_accuracy",
    *MEASURES,
    *(f"{name}_macro" for name in ("precision", "recall", "f1")),
    *(f"{name}_micro" for name in ("precision", "recall", "f1")),
    "matthews_corrcoef",
    *LOSSES,
    *RANKING,
)
GREATER_IS_BETTER = {name: name not in LOSSES for name in NAMES}


def check_score(name: str) -> None:
    """Refuse a name that is no score."""
    if name not in NAMES:
        raise TallyBayesError(f"{name!r} is not a score; {did_you_mean(name, NAMES)}")


def score_of(name: str, rows: Predictions, confusion: Confusion) -> float:
    """Return one score: see `Predictions.score`."""
    check_score(name)
    if name.endswith("_micro"):  # every row is a positive once, so all of these are equal
        return confusion.accuracy
    if name in MEANS:
        return mean(MEANS[name](rows), rows.shares)
    if name in RANKING:
        return _ranking(name, rows)
    if name == "expected_calibration_error":
        return rows.reliability().error
    if name in MEASURES and len(rows.classes) == 2:
        return float(getattr(confusion, name)[rows.positive_place])
    if (measure := name.removesuffix("_macro")) in MEASURES:
        return confusion.macro(measure)
    return float(getattr(confusion, name))


def of_true(rows: Predictions) -> Floats:
    """Return the probability of each row's true class."""
    return rows.proba[np.arange(len(rows)), rows.true]


def _log_losses(rows: Predictions) -> Floats:
    logs: Floats = np.log(np.maximum(of_true(rows), CLIP))
    return -logs + 0.0


def _squares(rows: Predictions) -> Floats:
    distance = rows.proba.copy()
    distance[np.arange(len(rows)), rows.true] -= 1.0
    squares: Floats = np.einsum("ij,ij->i", distance, distance)
    return squares / (2.0 if rows.proba.shape[1] == 2 else 1.0)


# What each row adds to the scores that are means over rows.
MEANS: dict[str, Callable[[Predictions], Floats]] = {
    "accuracy": lambda rows: (rows.predicted == rows.true).astype(np.float64),
    "log_loss": _log_losses,
    "brier_score": _squares,
}


def mean(values: Floats, weights: Floats | None = None) -> float:
    """Return the weighted mean; NaN of nothing."""
    total = float(len(values) if weights is None else weights.sum())
    if total <= 0.0:
        return math.nan
    return float(values.mean() if weights is None else values @ weights / total)


def standard_error(rows: Predictions, name: str) -> float:
    """Return s / sqrt(n) of a mean over rows, in which a weight counts as that many rows.

    Other scores have the standard error of their mean over folds; NaN where there are none.
    """
    check_score(name)
    if name in MEANS:
        values, weights = MEANS[name](rows), rows.shares
        n = float(len(values) if weights is None else weights.sum())
        variance = mean((values - mean(values, weights)) ** 2, weights)
        return math.sqrt(variance / (n - 1.0)) if n > 1.0 else math.nan
    values = fold_scores(rows, name)
    return sd_of_defined(values) / math.sqrt(max(1, len(_defined(values))))


def fold_scores(rows: Predictions, name: str) -> Floats:
    """Return the score of each validation set."""
    return np.array([part.score(name) for part in rows.folds()])


def _ranking(name: str, rows: Predictions) -> float:
    """Return the mean over folds, and over the classes against the rest if there are several."""
    if rows.held_out == "leave-one-out":
        return math.nan if rows.ranking is None else _ranking(name, rows.ranking)
    if rows.fold is not None:
        return mean_of_defined(fold_scores(rows, name))
    return mean_of_defined([getattr(rows.ranked_at(k), name) for k in rows.ranked_places])


def _defined(values: ArrayLike) -> Floats:
    array = np.asarray(values, np.float64)
    return array[~np.isnan(array)]


def mean_of_defined(values: ArrayLike) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    return mean(_defined(values))


def sd_of_defined(values: ArrayLike) -> float:
    """Return the sample standard deviation of the values that are not NaN."""
    kept = _defined(values)
    return float(kept.std(ddof=1)) if len(kept) > 1 else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Rows in the order of a score, those of equal score together.

    Of each of the `thresholds`, the distinct scores from high to low, `hits` and `others` are the
    weights of the rows of the class, and of all others, that have it. `places` holds the threshold
    of each row that counts.
    """

    thresholds: Floats
    hits: Floats
    others: Floats
    places: NDArray[np.intp]

    @classmethod
    def of(
        cls, scores: Floats, of_class: NDArray[np.bool_], weights: Floats | None = None
    ) -> Ranked:
        """Sort rows by their score, and add up those of equal score.

        Examples
        --------
        >>> order = Ranked.of(np.array([0.1, 0.6, 0.4, 0.6]), np.array([0, 0, 1, 1]) > 0)
        >>> order.thresholds.tolist(), order.found.tolist(), order.false.tolist()
        ([0.6, 0.4, 0.1], [1.0, 2.0, 2.0], [1.0, 1.0, 2.0])
        >>> order.roc_auc
        0.625
        """
        one = np.ones(len(scores)) if weights is None else weights
        counts = one > 0.0
        scores, of_class, one = scores[counts], of_class[counts], one[counts]
        distinct, places = np.unique(scores, return_inverse=True)
        thresholds, places = distinct[::-1], len(distinct) - 1 - places

        def count(side: NDArray[np.bool_]) -> Floats:
            return np.bincount(places[side], one[side], len(distinct)).astype(np.float64)

        return cls(thresholds, count(of_class), count(~of_class), places)

    @property
    def found(self) -> Floats:
        """The true positives at each threshold."""
        return np.cumsum(self.hits)

    @property
    def false(self) -> Floats:
        """The false positives at each threshold."""
        return np.cumsum(self.others)

    @property
    def precision(self) -> Floats:
        """Of the rows at least at a threshold, the share of the class."""
        return np.divide(self.found, self.found + self.false)

    @property
    def below(self) -> Floats:
        """The weight of others below each score, and half of that beside it."""
        return np.cumsum(self.others[::-1])[::-1] - self.others / 2.0

    @property
    def roc_auc(self) -> float:
        """The area under the ROC curve; NaN without rows of the class or without others."""
        pairs = self.hits.sum() * self.others.sum()
        return float(self.hits @ self.below / pairs) if pairs > 0.0 else math.nan

    @property
    def average_precision(self) -> float:
        """The area under the precision-recall curve; NaN without rows of the class."""
        total = self.hits.sum()
        return float(self.hits @ self.precision / total) if total > 0.0 else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Reliability(Renderable):
    """How sure the predictions were, and how often they were right, in bins of equal width.

    A bin lies between two `edges` and includes the upper one. Of its `rows`, their number or their
    weights added up, `confidence` is the mean probability and `right` the share for which the
    prediction is right; both are NaN in an empty bin.

    Examples
    --------
    >>> from tallybayes.metrics import Predictions
    >>> table = [[0.6, 0.4], [0.3, 0.7], [0.1, 0.9]]
    >>> print(Predictions.of([1, 1, 1], table, classes=[0, 1]).reliability(bins=2))
    how often predictions of so high a probability are right
    probability     rows    mean   right
    0.500 to 1.000     3  0.7333  0.6667
    """

    edges: Floats
    confidence: Floats
    right: Floats
    rows: Floats

    @classmethod
    def of(cls, rows: Predictions, bins: int = BINS, place: int | None = None) -> Reliability:
        """Put rows into bins by the probability of the winner, or of the class of this place."""
        edges = np.arange(whole(bins, "bins", 1) + 1) / bins
        column = rows.predicted if place is None else np.full(len(rows), place)
        sure = rows.proba[np.arange(len(rows)), column]
        at = np.searchsorted(edges[1:-1], sure, side="left")
        total: Floats = np.bincount(at, rows.weight, bins).astype(np.float64)

        def share(values: NDArray[Any]) -> Floats:
            summed = np.bincount(at, values * rows.weight, bins)
            part: Floats = np.divide(summed, total, out=np.full(bins, np.nan), where=total > 0.0)
            return part

        return cls(edges, share(sure), share(column == rows.true), total)

    @property
    def error(self) -> float:
        """The mean distance of confidence from the share right, weighted by rows."""
        filled = self.rows > 0.0
        return mean(abs(self.confidence - self.right)[filled], self.rows[filled])

    def document(self) -> Iterator[Part]:
        """Show the bins that have rows."""
        columns = ("probability", "text"), ("rows", "count"), ("mean", "score"), ("right", "score")
        bins = zip(self.edges, self.edges[1:], self.rows, self.confidence, self.right, strict=False)
        yield Table.of(
            "how often predictions of so high a probability are right",
            columns,
            [(f"{low:.3f} to {high:.3f}", *rest) for low, high, *rest in bins if rest[0]],
            name="reliability",
        )
