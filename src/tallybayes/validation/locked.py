"""Test rows that are locked away until the end, so that nothing is tuned or chosen by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import check_weights
from tallybayes.errors import TallyBayesError, TallyBayesWarning, number, warn
from tallybayes.metrics import scores
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.validation.comparisons.sides import Answers, Labels, aligned
from tallybayes.validation.cross_validation import rows_of
from tallybayes.validation.features.chosen import ChosenFeatures
from tallybayes.validation.folds import folds_of
from tallybayes.validation.reports.report import Report

Floats = NDArray[np.float64]


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


class Locked:
    """Rows to work with, and test rows that are out of reach until `open`; see `lock_away`.

    Attributes
    ----------
    X, y, sample_weight
        The rows to work with, in the form they came in, in their order.
    reports
        What was found each time the test rows were looked at: to see it again, look here.
    """

    __slots__ = ("X", "_locked", "reports", "sample_weight", "y")

    def __init__(self, X: Any, y: Any, sample_weight: Floats | None, locked: _Rows) -> None:
        self.X, self.y, self.sample_weight = X, y, sample_weight
        self._locked = locked
        self.reports: tuple[Report, ...] = ()

    def __repr__(self) -> str:
        n = len(self.reports)
        seen = "never opened" if not n else f"opened {_times(n)}"
        return f"Locked({len(self.y)} rows to work with, {len(self._locked.y)} test rows, {seen})"

    def open(self, model: Any) -> Report:
        """Score a fitted model on the test rows: once, when all decisions are made.

        Nothing is fitted. From the second time on there is a warning, because a choice between
        models by these scores makes them scores of rows that were looked at.

        Parameters
        ----------
        model
            A classifier that was fitted on rows like `X`, with `predict_proba`: one of ours or any
            of scikit-learn's; or `ChosenFeatures`, whose columns are looked at only.

        Returns
        -------
        Report
            The scores of the test rows, with those of the rows to work with beside them.
        """
        fitted = _checked(model.model if isinstance(model, ChosenFeatures) else model)
        of_model = np.asarray(fitted.classes_).tolist()
        of_rows = (*Labels.of(self.y).places, *Labels.of(self._locked.y).places)
        classes = sorted_labels({*of_rows, *of_model}, "the labels")
        test = self._locked.asked(model, classes)
        training = _Rows(self.X, self.y, self.sample_weight).asked(model, classes)
        positive = getattr(fitted, "positive", None)
        place = None if positive is None else classes.index(positive)
        seen = len(self.reports) + 1
        note = f"the test rows have been looked at {_times(seen)}"
        if seen > 1:
            note += ", so these are no longer the scores of rows that had no part in any decision"
        report = Report.of(
            [classes[code] for code in test.true.tolist()],
            test.proba,
            [classes[code] for code in test.predicted.tolist()],
            classes,
            weights=self._locked.w,
            positive=positive,
            training=scores(
                training.proba, training.predicted, training.true, self.sample_weight, place
            ),
            notes=[note],
        )
        self.reports = (*self.reports, report)
        if seen > 1:
            warn(f"{note}; the earlier reports are in `reports`", TallyBayesWarning)
        return report


def lock_away(
    X: Any,
    y: Any,
    share: float = 0.2,
    *,
    stratified: bool = True,
    groups: Any = None,
    seed: int = 0,
    sample_weight: Any = None,
) -> Locked:
    """Put some rows aside for a last test, before anything is looked at, tuned or chosen.

    Parameters
    ----------
    X, y
        The rows and their labels, as for `fit`.
    share
        The share of the rows to lock away.
    stratified
        Whether both parts have the same share of each class. With `groups` they cannot.
    groups
        What rows belong together: rows of one group stay on the same side, and the share is one of
        groups.
    seed
        What the shuffling begins with.
    sample_weight
        How often each row counts; once when not given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tallybayes import NaiveBayes
    >>> X, y = load_iris(return_X_y=True)
    >>> locked = lock_away(X, y)
    >>> locked
    Locked(120 rows to work with, 30 test rows, never opened)
    >>> model = NaiveBayes().fit(locked.X, locked.y)
    >>> report = locked.open(model)
    >>> report.rows, locked
    (30, Locked(120 rows to work with, 30 test rows, opened once))
    """
    share = number(share, "share", above=0.0)
    if share >= 1.0:
        raise TallyBayesError(f"share is {share:g}; the share of test rows lies between 0 and 1")
    labels = Labels.of(y)
    w = check_weights(sample_weight, len(labels.codes))
    if stratified and groups is None:
        _check_rare(labels)
    (fold,) = folds_of(share, X, labels.vector, groups=groups, stratified=stratified, seed=seed)
    train, test = (np.sort(part) for part in fold)
    weights = (None, None) if w is None else (w[train], w[test])
    rest = _Rows(rows_of(X, test), rows_of(y, test), weights[1])
    return Locked(rows_of(X, train), rows_of(y, train), weights[0], rest)


def _check_rare(labels: Labels) -> None:
    """Refuse classes of one row, which cannot be on both sides."""
    rows = np.bincount(labels.codes, minlength=len(labels.places))
    for label, n in zip(labels.places, rows.tolist(), strict=True):
        if n == 1:
            raise TallyBayesError(
                f"class {label!r} has a single row, which cannot be on both sides; use "
                "stratified=False"
            )


def _checked(model: Any) -> Any:
    """Return the model if it is fitted and gives probabilities."""
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise TallyBayesError(f"the model is {model!r}; expected a fitted classifier")
    if not hasattr(model, "classes_"):
        raise TallyBayesError(
            f"{type(model).__name__} is not fitted, and opening fits nothing: fit it on the rows "
            "to work with first, model.fit(locked.X, locked.y)"
        )
    if not hasattr(model, "predict_proba"):
        raise TallyBayesError(
            f"{type(model).__name__} has no predict_proba; wrap it in scikit-learn's "
            "CalibratedClassifierCV, and fit that"
        )
    return model


class _Said(NamedTuple):
    """What a model says of rows: probabilities, and the codes of predicted and true classes."""

    proba: Floats
    predicted: NDArray[np.int64]
    true: NDArray[np.int64]


class _Rows:
    """Labelled rows that a model can be asked about; they are never printed."""

    __slots__ = ("X", "w", "y")

    def __init__(self, X: Any, y: Any, w: Floats | None) -> None:
        self.X, self.y, self.w = X, y, w

    def asked(self, model: Any, classes: Sequence[Label]) -> _Said:
        """Ask a fitted model about the rows; classes that it does not know have no probability."""
        X = self.X
        if isinstance(model, ChosenFeatures):
            X, model = model.kept(X), model.model
        labels, known = Labels.of(self.y), np.asarray(model.classes_).tolist()
        places = {label: k for k, label in enumerate(classes)}
        proba = np.asarray(model.predict_proba(X), np.float64)
        predictions = np.asarray(model.predict(X)).tolist()
        answers = Answers(np.arange(len(labels.codes)), predictions, proba, known)
        wide, predicted = aligned(answers, places)
        of_labels = np.array([places[label] for label in labels.places], np.int64)
        return _Said(wide, predicted, of_labels[labels.codes])
