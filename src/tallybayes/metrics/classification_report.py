"""All scores of held-out predictions, beside those of the training rows.

The overall scores are those of all held-out rows together. A row that was held out several times
counts once in all, each of its predictions in part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.metrics.baseline import Baseline
from tallybayes.metrics.confusion import FOUR, MEASURES, MOST_CLASSES, Confusion
from tallybayes.metrics.decisions import Losses, Rule
from tallybayes.metrics.predictions import HeldOut, Predictions
from tallybayes.metrics.scores import (
    CLIP,
    GREATER_IS_BETTER,
    NAMES,
    RANKING,
    Reliability,
    check_score,
    mean_of_defined,
    of_true,
    sd_of_defined,
)
from tallybayes.rendering import Part, Renderable, Table, plain
from tallybayes.rendering.words import class_label, class_quoted, class_said, counted, score
from tallybayes.sources.labels import Label

BY_FOLDS = "cross_val(X, y, folds=10), or tallybayes evaluate DATA --target NAME --folds 10"
MOST_OF_ONE_CLASS = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class ClassificationReport(Renderable):
    r"""The scores of held-out predictions; made by `Predictions.report`.

    It prints as tables. Each overall score is an attribute (``report.log_loss``) and an item
    (``report["log_loss"]``); a score that is undefined is NaN, and None in `to_dict`.

    Parameters
    ----------
    confusion, reliability
        The confusion matrix of all held-out rows (rows predicted, columns true), and how often
        predictions are right where they are so sure.
    scores
        The overall scores by name; see `Predictions.score`.
    folds
        The same scores of each fold; none for one validation set and for leave-one-out.
    rows, n_zero_probability
        How many rows were held out, and how many predictions gave their own class probability 0.
    positive
        The positive one of two classes; None if there are more.
    held_out
        How the rows were kept from the models.
    training
        The overall scores of the training rows.
    notes
        What a reader should know.

    Examples
    --------
    >>> proba = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]
    >>> report = Predictions.of(["n", "y", "y", "n"], proba).report()
    >>> report.accuracy, report["recall"]
    (0.75, 0.5)
    >>> print(report.confusion)
    confusion matrix (rows: predicted class, columns: true class)
    predicted  n  y
    n          2  1
    y          0  1
    """

    confusion: Confusion
    scores: dict[str, float]
    folds: tuple[dict[str, float], ...]
    reliability: Reliability
    rows: int
    n_zero_probability: int
    positive: Label | None
    held_out: HeldOut
    training: dict[str, float] | None
    notes: tuple[str, ...]

    @property
    def target(self) -> str:
        """The name of what is predicted, if it is known."""
        return self.confusion.target

    @classmethod
    def of(cls, rows: Predictions, notes: Sequence[str] = ()) -> ClassificationReport:
        """Score predictions."""
        folds = tuple(part.scores() for part in rows.folds())
        zero, confusion = int((of_true(rows) == 0.0).sum()), rows.confusion
        return cls(
            confusion,
            rows.scores(),
            folds,
            rows.reliability(),
            rows.n_rows,
            zero,
            rows.classes[rows.positive_place] if len(rows.classes) == 2 else None,
            rows.held_out,
            None if rows.training is None else rows.training().scores(),
            (*notes, *rows.notes, *_remarks(rows, confusion, folds, zero)),
        )

    def __getattr__(self, name: str) -> float:
        if name in NAMES:
            return self.scores[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getitem__(self, name: str) -> float:
        check_score(name)
        return self.scores[name]

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in the order of the confusion matrix."""
        return self.confusion.classes

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each score over the folds in which it is defined."""
        return self._of_folds(mean_of_defined)

    @property
    def sd(self) -> dict[str, float]:
        """The sample standard deviation of each score over the folds in which it is defined."""
        return self._of_folds(sd_of_defined)

    def _of_folds(self, statistic: Callable[[list[float]], float]) -> dict[str, float]:
        return {name: statistic([f[name] for f in self.folds]) for name in NAMES if self.folds}

    @property
    def per_class(self) -> dict[Label, dict[str, float]]:
        """For each class its true rows, true and false positives and negatives, and measures."""
        columns = {"rows": self.confusion.counts.sum(0).tolist()}
        columns |= {name: getattr(self.confusion, name).tolist() for name in (*FOUR, *MEASURES)}
        return {
            label: {name: values[place] for name, values in columns.items()}
            for place, label in enumerate(self.classes)
        }

    @property
    def title(self) -> str:
        """What was held out, and how."""
        how = {
            "leave-one-out": "each left out on its own",
            "folds": f"in {counted(len(self.folds), 'fold')}",
            "test set": "in one validation set",
            "training rows": "which the model has seen",
        }[self.held_out]
        what = "row" if self.held_out == "training rows" else "held-out row"
        return f"{counted(self.rows, what)}, {how}"

    def overall(self) -> Table:
        """Return the scores beside their means over folds and beside those of the training rows."""
        whose = "macro averages over the classes"
        if self.positive is not None:
            whose = f"those of {class_quoted(self.target, self.positive)}"
        columns = {"seen" if self.held_out == "training rows" else "held out": self.scores}
        if self.folds:
            columns |= {"mean of folds": self.mean, "sd of folds": self.sd}
        if self.training is not None:
            columns["training"] = self.training
        undefined = [name for name in RANKING if math.isnan(self.scores[name])]
        rows = [
            (
                name if GREATER_IS_BETTER[name] else f"{name} (less is better)",
                *(values.get(name, math.nan) for values in columns.values()),
            )
            for name in NAMES
            if self.held_out != "leave-one-out" or name not in undefined
        ]
        return Table.of(
            f"scores (precision, recall, specificity and f1 are {whose})",
            [("score", "text"), *((name, "score") for name in columns)],
            rows,
            name="scores",
        )

    def by_class(self, most: int | None = None) -> Table:
        """Return the classes below each other, each as the positive one; at most so many."""
        columns = [("class", "label"), ("rows", "count")]
        columns += [(short, "count") for short in FOUR.values()]
        columns += [(name, "score") for name in MEASURES]
        rows = [
            (class_label(self.target, value), *numbers.values())
            for value, numbers in self.per_class.items()
        ]
        return Table.of("each class against the others", columns, rows, most=most, name="by class")

    def document(self) -> Iterator[Part]:
        """Show the scores, and those of each class if they are not too many."""
        yield self.title
        yield self.overall()
        if len(self.classes) <= MOST_CLASSES:
            yield self.by_class()
            yield self.confusion.table()
        yield from (f"note: {note}" for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; what is undefined is None."""
        per_class = [{"class": label, **numbers} for label, numbers in self.per_class.items()]
        counts = {"rows": "predicted", "columns": "true", "counts": self.confusion.counts}
        derived = {"classes": self.classes, "mean": self.mean, "sd": self.sd}
        changed = {**derived, "per_class": per_class, "confusion": counts}
        return {**plain(self), **plain(changed)}

    def __repr__(self) -> str:
        return (
            f"<ClassificationReport of {counted(self.rows, 'held-out row')}: "
            f"accuracy {self.scores['accuracy']:.4f}>"
        )


def _remarks(
    found: Predictions, confusion: Confusion, folds: Sequence[dict[str, float]], zero: int
) -> Iterator[str]:
    """Say that none is better, that accuracy misleads, what is undefined, left out or finite."""
    if found.rule is not None:
        yield from _decided(found, found.rule)
    if len(found) and (baseline := Baseline.of(found)).is_worse:
        yield f"worse than no model: {baseline}"
    rows = confusion.counts.sum(0)
    share = float(rows.max() / rows.sum()) if rows.sum() else 0.0
    if share > MOST_OF_ONE_CLASS and found.rule is None:
        whose = class_quoted(found.target, confusion.classes[int(rows.argmax())])
        yield (
            f"accuracy misleads: {100 * share:.1f} % of the rows are of {whose}, so always "
            "answering that would be right as often; look at precision and recall, F1 or balanced "
            "accuracy"
        )
    for name in NAMES:
        undefined = sum(math.isnan(fold[name]) for fold in folds)
        if undefined:
            yield f"{name} is undefined in {undefined} of {len(folds)} folds, left out of its mean"
    if found.held_out == "leave-one-out":
        why = "in leave-one-out each row is scored by a model of its own, and ranking such scores"
        if found.ranking is None:
            what = "left out"
            why += f" together is biased; use folds: {BY_FOLDS}"
        else:
            what = f"those of {counted(sum(1 for _ in found.ranking.folds()), 'fold')}, on average"
            why += " together would be biased"
        yield f"roc_auc and average_precision are {what}: {why}"
    if zero:
        yield (
            f"{counted(zero, 'row')} had probability 0 for the true class, an infinite log-loss; "
            f"it is computed as if each had probability {CLIP:g}"
        )


def _decided(found: Predictions, rule: Rule) -> Iterator[str]:
    """Say how classes were decided for, and what that cost, beside one answer for all rows."""
    yield f"decided by a rule: {rule.words(found.classes, found.positive, found.target)}"
    if isinstance(rule, Losses) and len(found):
        table, weight = rule.table(found.classes), found.weight
        total = float(weight.sum()) or 1.0
        cost = float(weight @ table[found.true, found.predicted]) / total
        always = np.bincount(found.true, weight, len(found.classes)) @ table / total
        best = int(always.argmin())
        yield (
            f"a row costs {score(cost)}; always saying "
            f"{class_said(found.target, found.classes[best])} costs {score(always[best])}"
        )
