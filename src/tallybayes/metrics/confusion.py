"""The confusion matrix, and the measures that follow from it.

Rows are what was predicted and columns what is true, as in the lectures:

==================  ============================  ============================
                    y = 1                         y = 0
==================  ============================  ============================
predicted 1         true positives (TP)           false positives (FP, type I)
predicted 0         false negatives (FN, type II) true negatives (TN)
==================  ============================  ============================

For each class c in its turn, as the positive one:

- precision = TP / (TP + FP)
- recall, or sensitivity = TP / (TP + FN)
- specificity = TN / (TN + FP)
- F1 = 2 precision recall / (precision + recall) = 2 TP / (2 TP + FP + FN)

What comes to 0/0 is undefined, and NaN: the precision of a class that was never predicted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.rendering import Part, Renderable, Table
from tallybayes.rendering.words import class_label, labels as shown
from tallybayes.sources.labels import Label, sorted_labels

FOUR = {
    "true_positives": "TP",
    "false_positives": "FP",
    "false_negatives": "FN",
    "true_negatives": "TN",
}
MEASURES = ("precision", "recall", "specificity", "f1")
MOST_CLASSES = 30


@dataclass(frozen=True, slots=True, eq=False)
class Confusion(Renderable):
    r"""How often each class was predicted for each true class.

    Parameters
    ----------
    classes
        The classes, in the order of rows and columns.
    counts
        Rows are **predicted** classes and columns **true** ones, the lectures' orientation;
        `counts.T` is the other one, scikit-learn's. Weights make the counts floats.
    target
        The name of what is predicted, if it is known.

    Examples
    --------
    >>> table = Confusion.of(["No", "Yes", "Yes", "Yes"], ["No", "No", "Yes", "Yes"])
    >>> print(table)
    confusion matrix (rows: predicted class, columns: true class)
    predicted  No  Yes
    No          1    1
    Yes         0    2
    >>> table.accuracy
    0.75
    >>> table.precision.tolist()
    [0.5, 1.0]
    >>> table.of_class("Yes")["false_negatives"]
    1
    """

    classes: tuple[Label, ...]
    counts: NDArray[Any]
    target: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        classes, counts = tuple(self.classes), np.array(self.counts)
        if len(set(classes)) < len(classes):
            raise TallyBayesError(f"classes names a class twice: {classes!r}")
        shape = (len(classes), len(classes))
        if counts.shape != shape or not ((counts >= 0) & (counts < np.inf)).all():
            raise TallyBayesError(
                f"counts has the shape {counts.shape}; it must hold a row and a column for each of "
                f"the {len(classes)} classes, of numbers that are finite and not negative"
            )
        kept = counts.astype(np.float64 if counts.dtype.kind == "f" else np.int64)
        kept.setflags(write=False)
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "counts", kept)

    @classmethod
    def of(
        cls, true: Any, predicted: Any, classes: Sequence[Label] | None = None, weights: Any = None
    ) -> Confusion:
        """Count pairs of labels: one of each a row, the truth first, as in scikit-learn.

        `classes` are those that occur, sorted, unless given; `weights` hold one number a row.
        """
        from tallybayes.metrics.predictions import Predictions, classes_of

        if classes is None:
            found = (*classes_of(true, "true"), *classes_of(predicted, "predicted"))
            classes = sorted_labels(found, "the labels")
        rows = Predictions.of(true, None, predicted, classes=classes, sample_weight=weights)
        return cls.of_codes(rows.true, rows.predicted, rows.classes, rows.weights)

    @classmethod
    def of_codes(
        cls,
        true: NDArray[Any],
        predicted: NDArray[Any],
        classes: Sequence[Label],
        weights: Floats | None = None,
    ) -> Confusion:
        """Count pairs of codes: places in `classes`."""
        n = len(classes)
        cells = np.bincount(predicted * n + true, weights, n * n)
        return cls(tuple(classes), cells.reshape(n, n))

    @property
    def true_positives(self) -> NDArray[Any]:
        """For each class, the rows of it that were predicted to be of it."""
        return self.counts.diagonal()

    @property
    def false_positives(self) -> NDArray[Any]:
        """For each class, the rows of others that were predicted to be of it."""
        return np.asarray(self._wrong().sum(1))

    @property
    def false_negatives(self) -> NDArray[Any]:
        """For each class, the rows of it that were predicted to be of others."""
        return np.asarray(self._wrong().sum(0))

    @property
    def true_negatives(self) -> NDArray[Any]:
        """For each class, the rows of others that were predicted to be of others."""
        return np.asarray(np.maximum(self._negatives() - self.false_positives, 0))

    @property
    def precision(self) -> Floats:
        """Of what was predicted to be of a class, the share that is."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> Floats:
        """Of what is of a class, the share that was found; also called sensitivity."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def specificity(self) -> Floats:
        """Of what is not of a class, the share that was not taken for it."""
        return _ratio(self.true_negatives, self._negatives())

    @property
    def f1(self) -> Floats:
        """The harmonic mean of precision and recall; 0 if every prediction of a class is wrong."""
        twice = 2 * self.true_positives
        return _ratio(twice, twice + self.false_positives + self.false_negatives)

    @property
    def accuracy(self) -> float:
        """The share of rows that were predicted rightly."""
        right = self.true_positives.sum()
        return float(_ratio(right, right + self._wrong().sum()))

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that have rows."""
        recall = self.recall[~np.isnan(self.recall)]
        return float(recall.mean()) if len(recall) else math.nan

    @property
    def matthews_corrcoef(self) -> float:
        """The correlation of predictions and truth, Matthews' for two classes, Gorodkin's for more.

        It is 0 if all rows are of one class or all predictions are, as in scikit-learn.
        """
        counts = self.counts.astype(np.float64)  # the fourth power of a count may exceed 64 bits
        predicted, true = counts.sum(1), counts.sum(0)
        spread = [math.sqrt(each @ (each.sum() - each)) for each in (predicted, true)]
        if not all(spread):
            return 0.0
        both = counts.trace() * true.sum() - predicted @ true
        return float(max(-1.0, min(1.0, both / spread[0] / spread[1])))

    def macro(self, name: str) -> float:
        """Return the mean of a measure over the classes that occur, as truth or as prediction.

        What is undefined counts as 0, as with scikit-learn's ``zero_division=0``.
        """
        if name not in MEASURES:
            raise TallyBayesError(f"{name!r} is no measure; {did_you_mean(name, MEASURES)}")
        values = np.nan_to_num(getattr(self, name))
        occurs = (self.counts.sum(0) > 0) | (self.counts.sum(1) > 0)
        return float(values[occurs].mean()) if occurs.any() else math.nan

    def of_class(self, label: Label) -> dict[str, float]:
        """Return the numbers of one class, as the positive one against all others."""
        place = place_of(label, self.classes)
        return {name: getattr(self, name)[place].item() for name in (*FOUR, *MEASURES)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Confusion):
            return NotImplemented
        return self.classes == other.classes and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def table(self, most: int | None = None) -> Table:
        """Return the counts as a table; of more classes than `most` the most frequent ones."""
        often = np.argsort(-(self.counts.sum(0) + self.counts.sum(1)), kind="stable")
        places = np.sort(often[:most])
        names = [class_label(self.target, self.classes[place]) for place in places]
        caption = "confusion matrix (rows: predicted class, columns: true class)"
        if len(names) < len(self.classes):
            caption += f"; the {len(names)} most frequent of {len(self.classes):,} classes"
        counts = self.counts[np.ix_(places, places)].tolist()
        return Table.of(
            caption,
            [("predicted", "label"), *((name, "count") for name in shown(names))],
            [(label, *row) for label, row in zip(names, counts, strict=True)],
            name="confusion",
        )

    def document(self) -> Iterator[Part]:
        """Show the counts, unless there are too many."""
        if len(self.classes) > MOST_CLASSES:
            yield f"confusion matrix: {len(self.classes)} classes, too many to print; see counts"
        else:
            yield self.table()

    def _wrong(self) -> NDArray[Any]:
        """Return the counts with nothing on the diagonal."""
        return self.counts - np.diag(self.true_positives)

    def _negatives(self) -> NDArray[Any]:
        """Return for each class the rows of other classes, without subtracting: 0 stays 0."""
        others = 1 - np.eye(len(self.classes), dtype=np.int64)
        return np.asarray(others @ self.counts.sum(0))


def place_of(label: Any, classes: Sequence[Label], what: str = "") -> int:
    """Return the place of a class; `what` begins the error about a label that is none."""
    if label not in classes:
        raise TallyBayesError(f"{what}{label!r} is not a class; {did_you_mean(label, classes)}")
    return classes.index(label)


def _ratio(part: Any, whole: Any) -> Floats:
    """Divide; 0/0 is NaN."""
    whole = np.asarray(whole, np.float64)
    share: Floats = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
    return share
