"""How sure a score is: an interval that holds the score of ever more such rows.

Everything is in closed form, so the same rows always give the same limits:

- What is a share of rows (accuracy, the precision, recall and specificity of one class) has
  *Wilson's* interval (1927): all p for which the share found is within z sqrt(p (1 - p) / n) of p.
  The F1 of a class is 2 s / (1 + s) with s = TP / (TP + FP + FN), a share as well.
- The *influence* of a row on the ROC area is its derivative by the weight of the row; the sum of
  the squares of all influences is the variance of the area (DeLong, DeLong and Clarke-Pearson
  1988). The area has the Wilson interval of a share with the same variance: it keeps within 0 and
  1, and has a width also where all went well. Where the variance comes to 0, as for a perfect
  ranking, there were as many trials as the smaller side has rows.
- Log-loss and Brier score are means over rows: mean +- z standard errors, as far as such values
  can occur.
- All other scores have none (`NO_INTERVAL`).

The n of weighted rows is their effective number, (sum of w)^2 / sum of w^2, so nothing changes when
all weights are doubled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, number
from tallybayes.metrics.predictions import Predictions
from tallybayes.metrics.scores import CLIP, MEANS, NAMES, check_score

Interval = tuple[float, float]

# chance alone makes the calibration error greater than 0; precision depends on how rare a class is
# in these very rows; the others are no shares of rows, but made of several
NO_INTERVAL = (
    *("expected_calibration_error", "average_precision", "balanced_accuracy"),
    *("matthews_corrcoef", "precision_macro", "recall_macro", "f1_macro"),
)
UNKNOWN: Interval = (math.nan, math.nan)
LEAST = 1e-100  # of the greatest weight; a row of less is no row


def score_intervals(
    rows: Predictions, level: float = 0.95, names: Sequence[str] = NAMES
) -> dict[str, Interval]:
    """Return the lower and the upper limit of each score.

    Parameters
    ----------
    rows
        The predictions.
    level
        How often such intervals hold the truth.
    names
        Which scores.

    Limits are NaN where the score is undefined, or where rows that are all alike say nothing of
    its variance.

    Examples
    --------
    >>> proba = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]
    >>> rows = Predictions.of(["n", "y", "y", "n"], proba)
    >>> low, high = score_intervals(rows)["accuracy"]  # 3 of 4
    >>> round(low, 3), round(high, 3)
    (0.301, 0.954)
    """
    check_level(level)
    z, rows = NormalDist().inv_cdf((1.0 + level) / 2.0), _scaled(rows)
    counts = squares = rows.confusion.counts.astype(np.float64)
    if rows.weights is not None:
        squares = rows.counted(rows.weights**2).counts
    return {name: _interval(name, rows, counts, squares, z) for name in names}


def check_level(level: float) -> None:
    """Refuse a level that is no probability."""
    if not 0.0 < number(level, "level") < 1.0:
        raise TallyBayesError(f"level is {level!r}; it must be between 0 and 1, such as 0.95")


def wilson(share: float, trials: float, z: float) -> Interval:
    """Return Wilson's interval; a share of 0 or 1 has that as its limit exactly."""
    if not trials > 0.0 or math.isnan(share):
        return UNKNOWN
    shrunk = 1.0 + z * z / trials
    middle = (share + z * z / (2.0 * trials)) / shrunk
    half = z * math.sqrt(share * (1.0 - share) / trials + z * z / (4.0 * trials**2)) / shrunk
    low = 0.0 if share <= 0.0 else max(0.0, middle - half)
    return low, 1.0 if share >= 1.0 else min(1.0, middle + half)


def _scaled(rows: Predictions) -> Predictions:
    """Return the rows that count, the greatest weight 1: squares of tiny weights are no numbers."""
    shares = rows.shares
    if shares is None or not shares.any():
        return rows
    weights = shares / shares.max()
    return replace(rows, weights=weights, fold=None).take(weights > LEAST)


def _interval(name: str, rows: Predictions, counts: Floats, squares: Floats, z: float) -> Interval:
    """Return the interval of one score."""
    check_score(name)
    n = len(rows.classes)
    if name in NO_INTERVAL or not counts.sum() > 0.0:
        return UNKNOWN
    if name == "accuracy" or name.endswith("_micro"):
        return _share(counts.trace(), counts.sum(), squares.sum(), z)
    if name in MEANS:
        most = -math.log(CLIP) if name == "log_loss" else 1.0 if n == 2 else 2.0
        return _of_mean(MEANS[name](rows), rows.weight, z, most)
    if name == "roc_auc":
        return _of_roc_auc(rows, z)
    # of more classes they are macro averages
    return _of_class(name, counts, squares, rows.positive_place, z) if n == 2 else UNKNOWN


def _share(hits: float, total: float, squares: float, z: float) -> Interval:
    """Return the interval of a share, of rows whose squared weights add up to this."""
    if not total > 0.0:
        return UNKNOWN
    return wilson(min(1.0, float(hits / total)), float(total**2 / squares), z)


def _of_class(name: str, counts: Floats, squares: Floats, k: int, z: float) -> Interval:
    """Return the interval of a measure of one class."""
    is_class = np.arange(len(counts)) == k
    predicted, true = np.meshgrid(is_class, is_class, indexing="ij")
    hits = predicted & true if name != "specificity" else ~predicted & ~true
    among = {"precision": predicted, "recall": true, "specificity": ~true}
    of = among.get(name, predicted | true)
    low, high = _share(counts[hits].sum(), counts[of].sum(), squares[of].sum(), z)
    return (low, high) if name != "f1" else (2 * low / (1 + low), 2 * high / (1 + high))


def _of_mean(values: Floats, weights: Floats, z: float, most: float) -> Interval:
    """Return the interval of the mean of one value a row, each of them from 0 to `most`."""
    share, trials = weights / weights.sum(), _effective(weights)
    if trials < 1.0 + 1e-9 or np.ptp(values) <= 1e-12 * most:
        return UNKNOWN
    mean = float(share @ values)
    apart = share * (values - mean)
    half = z * math.sqrt(float(apart @ apart) * trials / (trials - 1.0))
    return max(0.0, mean - half), min(most, mean + half)


def _of_roc_auc(rows: Predictions, z: float) -> Interval:
    """Return the interval of the area, or of the mean area of the classes against the rest.

    The influence of a row of the class that scores s is (share of others below s, half of those
    beside it, less the area) / weight of the class; for the others likewise from above.
    """
    weights = rows.weight
    influence = np.zeros(len(weights))
    areas, sizes = [], []
    for k in rows.ranked_places:
        of_class = rows.true == k
        inside, outside = (_effective(weights[side]) for side in (of_class, ~of_class))
        if not inside or not outside:
            continue
        order = rows.ranked_at(k)
        area, above = order.roc_auc, order.found - order.hits / 2.0
        hit = (order.below / order.others.sum() - area) / order.hits.sum()
        other = (above / order.hits.sum() - area) / order.others.sum()
        # variances within the class and within the others divide by n - 1
        unbiased = [math.sqrt(n / (n - 1.0)) if n > 1.0 + 1e-9 else 1.0 for n in (inside, outside)]
        of_rows = hit[order.places] * unbiased[0], other[order.places] * unbiased[1]
        influence += np.where(of_class, *of_rows)
        areas.append(area)
        sizes.append(min(inside, outside))
    if not areas:
        return UNKNOWN
    if len(areas) == 1 and min(sizes) < 2.0:
        influence[:] = 0.0  # a single row has no variance to show
    area, trials = math.fsum(areas) / len(areas), len(sizes) ** 2 / sum(1.0 / n for n in sizes)
    spread, variance = area * (1.0 - area), float(((weights * influence / len(areas)) ** 2).sum())
    if variance > 1e-14 and spread > 1e-12:
        trials = spread / variance
    return wilson(area, trials, z)


def _effective(weights: Floats) -> float:
    """Return the effective number of rows."""
    return float(weights.sum() ** 2 / (weights @ weights)) if len(weights) else 0.0
