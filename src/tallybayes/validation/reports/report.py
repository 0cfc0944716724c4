"""Every score of held-out predictions, and a warning where accuracy misleads.

Scores are those of all held-out rows together. With several validation sets (folds) each has scores
of its own too, and their sample mean and sample standard deviation stand beside: s_1 ... s_k have
the mean m = sum s_i / k and the standard deviation sqrt(sum (s_i - m)^2 / (k - 1)).

ROC and PR areas compare rows with each other, so they come from the folds only, in each of which
one model scored all rows. In leave-one-out every row has a model of its own: leaving a row out
makes its class a little rarer, which ranks it a little lower, and pooled scores would be biased.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, TallyBayesWarning, did_you_mean, warn
from tallybayes.metrics import (
    NAMES,
    RANKING,
    Confusion,
    Reliability,
    impossible,
    reliability,
    scores,
)
from tallybayes.metrics.checks import Label, plain
from tallybayes.validation.reports.notes import (
    NO_RANKING,
    defined,
    impossible_rows,
    misleading,
    undefined,
)
from tallybayes.validation.reports.rows import Part, cut, together
from tallybayes.validation.reports.tables import as_dict, as_html, as_text


def _score(name: str) -> property:
    """Make a score readable as an attribute."""
    return property(lambda report: report.scores[name], doc=f"The overall {name} of held-out rows.")


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    r"""The scores of held-out predictions; make it with `of` or `of_folds`.

    It prints as tables. Each overall score is an attribute (``report.log_loss``) and an item
    (``report["log_loss"]``); a score that is undefined is NaN, and None in `to_dict`.

    Parameters
    ----------
    confusion
        The confusion matrix of all held-out rows: rows predicted, columns true.
    scores
        The overall scores by name, of all held-out rows together; `roc_area` and `pr_area` are the
        means over folds. "precision", "recall", "specificity" and "f1" are those of the positive
        class if there are two classes, and macro averages otherwise.
    folds
        The same scores of each fold; none for one validation set and for leave-one-out.
    reliability
        How often predictions are right where they are so sure.
    rows, impossible
        How many rows were held out, and how many of these had probability 0 for their own class.
    positive
        The positive one of two classes; None if there are more.
    leave_one_out
        Whether each row was held out on its own.
    training
        The overall scores of the training rows, shown beside the held-out ones.
    notes
        What a reader should know.

    Examples
    --------
    >>> proba = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]
    >>> report = Report.of(["n", "y", "y", "n"], proba, ["n", "y", "n", "n"], ["n", "y"])
    >>> report.accuracy, report["recall"]
    (0.75, 0.5)
    >>> print(report.confusion)
    confusion matrix (rows: predicted class, columns: true class)
    predicted \ true  n  y
    n                 2  1
    y                 0  1
    """

    confusion: Confusion
    scores: dict[str, float]
    folds: tuple[dict[str, float], ...]
    reliability: Reliability
    rows: int
    impossible: int
    positive: Label | None
    leave_one_out: bool
    training: dict[str, float] | None
    notes: tuple[str, ...]

    accuracy = _score("accuracy")
    balanced_accuracy = _score("balanced_accuracy")
    precision = _score("precision")
    recall = _score("recall")
    specificity = _score("specificity")
    f1 = _score("f1")
    macro_precision = _score("macro_precision")
    macro_recall = _score("macro_recall")
    macro_f1 = _score("macro_f1")
    micro_precision = _score("micro_precision")
    micro_recall = _score("micro_recall")
    micro_f1 = _score("micro_f1")
    matthews = _score("matthews")
    log_loss = _score("log_loss")
    brier = _score("brier")
    calibration_error = _score("calibration_error")
    roc_area = _score("roc_area")
    pr_area = _score("pr_area")

    @classmethod
    def of(
        cls,
        true: Iterable[Any],
        proba: Any,
        predictions: Iterable[Any],
        classes: Iterable[Label],
        *,
        folds: Sequence[Any] | None = None,
        leave_one_out: bool = False,
        weights: Any = None,
        positive: Label | None = None,
        training: Mapping[str, float | None] | None = None,
        notes: Iterable[str] = (),
    ) -> Report:
        """Score predictions of which each row has one.

        Parameters
        ----------
        true, predictions
            One label a row.
        proba
            Probabilities, rows x classes.
        classes
            The classes, in the order of the columns of `proba`.
        folds
            The row numbers of each validation set. Rows in none of them are left out; rows in
            several have several predictions, see `of_folds`. Folds of one row each are
            leave-one-out.
        leave_one_out
            Whether each row was predicted by a model of all other rows.
        weights
            One number a row.
        positive
            The positive one of two classes, the last unless given. With more classes it changes
            nothing.
        training
            Overall scores of the training rows, by name.
        notes
            Sentences to add to the report.
        """
        names = plain(classes)
        rows = Part.of(true, proba, predictions, weights, names)
        parts = [rows] if folds is None else cut(rows, folds)
        leave_one_out = leave_one_out or (len(parts) > 1 and len(parts) == sum(map(_size, parts)))
        several = folds is not None and not leave_one_out
        return cls._of(parts, names, several, leave_one_out, positive, training, notes)

    @classmethod
    def of_codes(
        cls,
        true: NDArray[np.int64],
        proba: NDArray[np.float64],
        predicted: NDArray[np.int64],
        classes: tuple[Label, ...],
        *,
        leave_one_out: bool = False,
        weights: NDArray[np.float64] | None = None,
        positive: Label | None = None,
        notes: Iterable[str] = (),
    ) -> Report:
        """Score predictions that are given as the places of the classes, which need no checks."""
        part = Part(proba, predicted, true, weights)
        return cls._of([part], classes, False, leave_one_out, positive, None, notes)

    @classmethod
    def of_folds(
        cls,
        per_fold: Iterable[tuple[Any, Any, Any]],
        classes: Iterable[Label],
        *,
        weights: Sequence[Any] | None = None,
        positive: Label | None = None,
        training: Mapping[str, float | None] | None = None,
        notes: Iterable[str] = (),
    ) -> Report:
        """Score the folds of repeated cross-validation, in which a row has several predictions.

        Parameters
        ----------
        per_fold
            For each fold its true labels, its probabilities and its predictions.
        weights
            For each fold one number a row.
        classes, positive, training, notes
            As for `of`.
        """
        names = plain(classes)
        given = list(per_fold)
        per_row = [None] * len(given) if weights is None else list(weights)
        if len(per_row) != len(given):
            raise TallyBayesError(f"weights has {len(per_row)} entries for {len(given)} folds")
        parts = [
            Part.of(true, proba, predictions, each, names)
            for (true, proba, predictions), each in zip(given, per_row, strict=True)
        ]
        return cls._of(parts, names, True, False, positive, training, notes)

    @classmethod
    def _of(
        cls,
        parts: list[Part],
        classes: tuple[Label, ...],
        several: bool,
        leave_one_out: bool,
        positive: Label | None,
        training: Mapping[str, float | None] | None,
        notes: Iterable[str],
    ) -> Report:
        """Score each part and all of them together."""
        if not sum(map(_size, parts)):
            raise TallyBayesError("there are no held-out rows to score")
        if positive is not None and positive not in classes:
            hint = did_you_mean(positive, classes)
            raise TallyBayesError(f"the positive class {positive!r} is not a class; {hint}")
        for name in training or ():
            if name not in NAMES:
                hint = did_you_mean(name, NAMES)
                raise TallyBayesError(f"training: {name!r} is not a score; {hint}")
        place = None if positive is None else classes.index(positive)
        proba, predicted, true, weights = together(parts)
        fold_scores: tuple[dict[str, float], ...] = ()
        if several:
            fold_scores = tuple(
                scores(part.proba, part.predicted, part.true, part.weights, place) for part in parts
            )
        pooled = [name for name in NAMES if name not in RANKING or not (several or leave_one_out)]
        found = scores(proba, predicted, true, weights, place, pooled)
        means = _means(fold_scores)
        confusion = Confusion.of_codes(predicted, true, classes, weights)
        zero = impossible(proba, true)
        warnings = misleading(confusion)
        for sentence in warnings:
            warn(sentence, TallyBayesWarning)
        said = [*notes, *warnings, *undefined(fold_scores)]
        said += [NO_RANKING] if leave_one_out else []
        said += [impossible_rows(zero)] if zero else []
        return cls(
            confusion,
            {name: found.get(name, means.get(name, math.nan)) for name in NAMES},
            fold_scores,
            reliability(proba, true, weights=weights),
            len(true),
            zero,
            None if len(classes) != 2 else classes[-1 if place is None else place],
            leave_one_out,
            None if training is None else {k: _number(v) for k, v in training.items()},
            tuple(said),
        )

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in the order of the confusion matrix."""
        return self.confusion.classes

    @property
    def mean(self) -> dict[str, float]:
        """The sample mean of each score over the folds in which it is defined."""
        return _means(self.folds)

    @property
    def sd(self) -> dict[str, float]:
        """The sample standard deviation of each score over the folds in which it is defined."""
        return {
            name: float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
            for name, values in defined(self.folds).items()
        }

    @property
    def per_class(self) -> dict[Label, dict[str, float]]:
        """For each class its true rows, true and false positives and negatives, and measures."""
        rows = self.confusion.counts.sum(0).tolist()
        return {
            label: {"rows": n, **self.confusion.of_class(label)}
            for label, n in zip(self.classes, rows, strict=True)
        }

    def __getitem__(self, name: str) -> float:
        if name not in self.scores:
            raise TallyBayesError(f"{name!r} is not a score; {did_you_mean(name, NAMES)}")
        return self.scores[name]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; what is undefined is None."""
        return as_dict(self)

    def to_html(self) -> str:
        """Return tables in HTML, with captions and headings, that need nothing else."""
        return as_html(self)

    _repr_html_ = to_html

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return f"<Report of {self.rows} held-out rows: accuracy {self.scores['accuracy']:.4f}>"


def _means(folds: tuple[dict[str, float], ...]) -> dict[str, float]:
    return {
        name: math.fsum(values) / len(values) if values else math.nan
        for name, values in defined(folds).items()
    }


def _size(part: Part) -> int:
    return len(part.true)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
