"""Scores of rows without end: what each row adds to them, summed up.

Predictions of a billion rows fit nowhere; their confusion matrix, the sums that means are made of
and the bins of a reliability diagram do, and those of several parts add up. Scores that compare
rows with each other (`roc_auc`, `average_precision`) have no such sums and are NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError
from tallybayes.metrics.classification_report import ClassificationReport
from tallybayes.metrics.confusion import Confusion, place_of
from tallybayes.metrics.predictions import HeldOut, Predictions
from tallybayes.metrics.scores import (
    BINS,
    MEANS,
    NAMES,
    RANKING,
    Reliability,
    check_score,
    of_true,
    score_of,
)
from tallybayes.sources.labels import Label, same_labels

MOST_CLASSES = 3_000
NO_RANKING = "roc_auc and average_precision compare rows with each other, which sums cannot"


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSums:
    """What scores are made of, for any number of rows.

    Parameters
    ----------
    classes, positive
        The classes, and the positive one if it is named.
    rows, zero
        How many rows there are, and how many of them had probability 0 for their own class.
    weight
        Their total weight.
    counts
        The confusion matrix: rows predicted, columns true.
    sums
        For each score that is a mean over rows the weighted sum of what rows add, and of squares.
    bins
        For each bin of the winner's probability the weight, that of right ones, and the weighted
        sum of the probability.

    Examples
    --------
    >>> proba = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]
    >>> rows = Predictions.of(["n", "y", "y", "n"], proba)
    >>> both = ScoreSums.of(rows.take([0, 1])) + ScoreSums.of(rows.take([2, 3]))
    >>> both.score("accuracy"), both.score("recall")
    (0.75, 0.5)
    """

    classes: tuple[Label, ...]
    positive: Label | None
    rows: int
    zero: int
    weight: float
    counts: Floats
    sums: Floats
    bins: Floats

    @classmethod
    def of(cls, rows: Predictions) -> ScoreSums:
        """Add up what some rows add to scores."""
        n = len(rows.classes)
        if n > MOST_CLASSES:
            raise TallyBayesError(
                f"there are {n:,} classes; scores of rows without end are for up to "
                f"{MOST_CLASSES:,}: score a sample that fits into memory"
            )
        w = rows.weight
        added = np.array([of_rows(rows) for of_rows in MEANS.values()]).reshape(len(MEANS), len(w))
        reliability = rows.reliability()
        of_bins = [np.nan_to_num(part) for part in (reliability.right, reliability.confidence)]
        total = reliability.rows
        return cls(
            rows.classes,
            rows.positive,
            len(rows),
            int((of_true(rows) == 0.0).sum()),
            float(w.sum()),
            np.bincount(rows.predicted * n + rows.true, w, n * n).reshape(n, n).astype(float),
            np.stack([added @ w, added**2 @ w], axis=1),
            np.stack([total, *(part * total for part in of_bins)]),
        )

    def __add__(self, other: ScoreSums) -> ScoreSums:
        if not same_labels(self.classes, other.classes):
            raise TallyBayesError("scores add up only where the classes are the same")
        added = ("rows", "zero", "weight", "counts", "sums", "bins")
        return replace(self, **{n: getattr(self, n) + getattr(other, n) for n in added})

    @property
    def confusion(self) -> Confusion:
        """The confusion matrix."""
        whole = (self.counts == np.rint(self.counts)).all()
        return Confusion(self.classes, self.counts.astype(np.int64) if whole else self.counts)

    @property
    def positive_place(self) -> int:
        """The place of the positive class; that of the last one unless one was named."""
        named = self.positive is not None
        return place_of(self.positive, self.classes) if named else len(self.classes) - 1

    @property
    def reliability(self) -> Reliability:
        """How often the winner is right where it is so sure."""
        total, right, sure = self.bins
        with np.errstate(invalid="ignore"):
            return Reliability(np.arange(BINS + 1) / BINS, sure / total, right / total, total)

    def score(self, name: str) -> float:
        """Return one score; NaN where it is undefined, or compares rows with each other."""
        check_score(name)
        if name in RANKING:
            return math.nan
        if name in MEANS:
            sums = dict(zip(MEANS, self.sums[:, 0].tolist(), strict=True))
            return sums[name] / self.weight if self.weight > 0.0 else math.nan
        if name == "expected_calibration_error":
            return self.reliability.error
        rows: Any = self  # which answers what scores of the confusion matrix ask
        return score_of(name, rows, self.confusion)

    def standard_error(self, name: str) -> float:
        """Return s / sqrt(n) of a mean over rows, in which a weight counts as that many rows."""
        place, n = list(MEANS).index(name), self.weight
        if n <= 1.0:
            return math.nan
        mean, square = (self.sums[place] / n).tolist()
        return math.sqrt(max(square - mean * mean, 0.0) / (n - 1.0))

    def report(
        self,
        folds: tuple[ScoreSums, ...] = (),
        held_out: HeldOut = "test set",
        notes: tuple[str, ...] = (),
    ) -> ClassificationReport:
        """Return all scores, with those of single folds beside them."""
        positive = self.classes[self.positive_place] if len(self.classes) == 2 else None
        return ClassificationReport(
            self.confusion,
            self.scores(),
            tuple(fold.scores() for fold in folds),
            self.reliability,
            self.rows,
            self.zero,
            positive,
            held_out,
            None,
            (*notes, NO_RANKING),
        )

    def scores(self) -> dict[str, float]:
        """Return all scores by name."""
        return {name: self.score(name) for name in NAMES}
