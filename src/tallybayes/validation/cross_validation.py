"""Held-out predictions of a model: every row judged by a model that never saw it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import check_weights
from tallybayes.errors import TallyBayesError, number, whole
from tallybayes.metrics import scores as scores_of
from tallybayes.model import Recipe
from tallybayes.sources.labels import Label
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.folds import LEAVE_ONE_OUT, Fold, folds_of
from tallybayes.validation.held_out import FoldScores, held_out_folds, left_out_each
from tallybayes.validation.progress import progress
from tallybayes.validation.reports.report import Report

Array = NDArray[Any]
Floats = NDArray[np.float64]


class Prepared(NamedTuple):
    """Encoded rows and how to estimate from them; or the `reason` why that is not enough.

    `labels` are the classes as the estimator shows them. Where there is a reason, models have to be
    fitted anew for every fold.
    """

    labels: Array
    y: NDArray[np.int64]
    data: Encoded | None
    recipe: Recipe | None
    reason: str = ""


class FoldPredictions(NamedTuple):
    """The rows held out in one fold, their posteriors, and the labels predicted."""

    rows: NDArray[np.int64]
    proba: Floats
    predictions: Array


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions for rows from models that never saw them.

    Attributes
    ----------
    classes_ : array
        The labels: the order of the columns of `proba`.
    proba : array of shape (rows, classes)
        The posterior of each held-out row. If all rows were held out they stand as in X; otherwise
        `rows` says which they are. If a row was held out several times, the mean.
    predictions : array
        The most probable class of each held-out row.
    fold_predictions : list
        For each fold the rows held out, their posteriors and predictions.
    how : str
        How the models came about: from one counting, or why they had to be fitted anew.
    """

    classes_: Array
    folds: tuple[FoldScores, ...]
    true: NDArray[np.int64]
    weights: Floats | None
    how: str
    leave_one_out: bool = False
    positive: Label | None = None
    seen: Callable[[], FoldScores] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        n = len(self.rows)
        sets = "leave-one-out" if self.leave_one_out else f"{len(self.folds)} folds"
        return f"HeldOut({n} rows, {sets}; {self.how})"

    @property
    def rows(self) -> NDArray[np.int64]:
        """The numbers of the rows that were held out, in order."""
        if self.leave_one_out:
            return np.arange(len(self.true))
        return np.unique(np.concatenate([fold.rows for fold in self.folds]))

    @property
    def proba(self) -> Floats:
        """The posterior of each held-out row."""
        if self.leave_one_out:
            return self.folds[0].proba
        total = np.zeros((len(self.true), len(self.classes_)))
        times = np.zeros(len(self.true))
        for fold in self.folds:
            total[fold.rows] += fold.proba
            times[fold.rows] += 1
        rows = self.rows
        mean: Floats = total[rows] / times[rows, None]
        return mean

    @property
    def predictions(self) -> Array:
        """The most probable class of each held-out row."""
        rows = self.rows
        winners = np.full(len(self.true), -1)
        for fold in self.folds:
            winners[fold.rows] = fold.winners
        if sum(len(fold.rows) for fold in self.folds) > len(rows):
            winners[rows] = self.proba.argmax(axis=1)  # several models spoke
        chosen: Array = self.classes_[winners[rows]]
        return chosen

    @property
    def fold_predictions(self) -> list[FoldPredictions]:
        """For each fold the rows held out, their posteriors and predictions."""
        return [
            FoldPredictions(fold.rows, fold.proba, self.classes_[fold.winners])
            for fold in self.folds
        ]

    def report(self, notes: Sequence[str] = ()) -> Report:
        """Return all scores, with those of the rows that the model has seen beside them."""
        said = [*notes, self.how] if self.how else list(notes)
        common: dict[str, Any] = {
            "positive": self.positive,
            "training": self.training_scores(),
            "notes": said,
        }
        parts = self.fold_predictions
        w = self.weights
        if len(parts) == 1:
            (rows, proba, predictions) = parts[0]
            return Report.of(
                self.classes_[self.true[rows]],
                proba,
                predictions,
                self.classes_,
                leave_one_out=self.leave_one_out,
                weights=None if w is None else w[rows],
                **common,
            )
        return Report.of_folds(
            [(self.classes_[self.true[part.rows]], part.proba, part.predictions) for part in parts],
            self.classes_,
            weights=None if w is None else [w[part.rows] for part in parts],
            **common,
        )

    def training_scores(self) -> Mapping[str, float] | None:
        """Return the overall scores of the model of all rows on the rows it has seen."""
        if self.seen is None:
            return None
        found = self.seen()
        positive = None
        if self.positive is not None:
            positive = self.classes_.tolist().index(self.positive)
        return scores_of(
            found.proba, found.winners, self.true[found.rows], self.weights, positive=positive
        )


def cross_val(
    model: Any,
    X: Any,
    y: Any,
    *,
    folds: Any = 10,
    repeats: int = 1,
    stratified: bool = True,
    groups: Any = None,
    seed: int = 0,
    sample_weight: Any = None,
) -> HeldOut:
    """Predict every row from a model that never saw it: see the estimators' method `cross_val`."""
    if not hasattr(model, "_encoded"):
        raise TallyBayesError(
            f"{type(model).__name__} is no estimator of tallybayes; use scikit-learn's "
            "cross_val_predict, or compare it with one of ours: validation.compare"
        )
    prepared: Prepared = model._encoded(X, y, sample_weight)
    if sample_weight is not None and np.ndim(sample_weight) == 0:
        sample_weight = np.full(len(prepared.y), sample_weight)
    w = check_weights(sample_weight, len(prepared.y))
    loo = is_leave_one_out(folds)
    found: list[FoldScores]
    how = "counted once"
    data, recipe = prepared.data, prepared.recipe
    splits: Sequence[Fold] = folds_of(
        LEAVE_ONE_OUT if loo else folds,
        X,
        prepared.labels[prepared.y],
        groups=groups,
        repeats=repeats,
        stratified=stratified,
        seed=seed,
    )
    if data is None or recipe is None:
        how = f"fitted anew for every fold: {prepared.reason}"
        found = refitted_folds(model, X, prepared, splits, w)
    elif loo:
        each = left_out_each(data, recipe)
        if each is None:
            how = "counted anew for every row: the options have no closed form for leave-one-out"
            found = held_out_folds(data, recipe, splits)
        else:
            found = [each]
    else:
        found = held_out_folds(data, recipe, splits)
    if loo and len(found) > 1:
        found = [_joined(found)]

    def seen() -> FoldScores:
        everything = np.arange(len(prepared.y))
        if data is None or recipe is None:
            return refitted_folds(model, X, prepared, [(everything, everything)], w)[0]
        return held_out_folds(data, recipe, [(everything, everything)])[0]

    positive = getattr(model, "positive", None)
    return HeldOut(prepared.labels, tuple(found), prepared.y, w, how, loo, positive, seen)


def leave_one_out(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> HeldOut:
    """Predict every row from the model of all other rows, in closed form where there is one.

    Examples
    --------
    >>> from tallybayes import NaiveBayes, validation
    >>> table = {"income": [125.0, 115.0, 95.0, 85.0, 120.0, 90.0]}
    >>> cheat = ["No", "No", "Yes", "Yes", "No", "Yes"]
    >>> held = validation.leave_one_out(NaiveBayes(), table, cheat)
    >>> held.predictions.tolist()
    ['No', 'No', 'Yes', 'Yes', 'No', 'Yes']
    """
    return cross_val(model, X, y, folds=LEAVE_ONE_OUT, sample_weight=sample_weight)


def k_fold(
    model: Any,
    X: Any,
    y: Any,
    k: int = 10,
    *,
    repeats: int = 1,
    stratified: bool = True,
    groups: Any = None,
    seed: int = 0,
    sample_weight: Any = None,
) -> HeldOut:
    """Predict the rows of each of k folds from a model of the others: see `cross_val`."""
    return cross_val(
        model,
        X,
        y,
        folds=whole(k, "k", 2),
        repeats=repeats,
        stratified=stratified,
        groups=groups,
        seed=seed,
        sample_weight=sample_weight,
    )


def hold_out(
    model: Any,
    X: Any,
    y: Any,
    share: float = 0.3,
    *,
    stratified: bool = True,
    groups: Any = None,
    seed: int = 0,
    sample_weight: Any = None,
) -> HeldOut:
    """Predict a share of the rows from a model of the rest: the train/validation split.

    ``held.rows`` says which rows were held out.
    """
    return cross_val(
        model,
        X,
        y,
        folds=float(number(share, "share", above=0.0)),
        stratified=stratified,
        groups=groups,
        seed=seed,
        sample_weight=sample_weight,
    )


def is_leave_one_out(folds: Any) -> bool:
    """Tell whether single rows are held out, however that was said."""
    said = isinstance(folds, str) and folds == LEAVE_ONE_OUT
    return said or type(folds).__name__ == "LeaveOneOut"


def _joined(folds: Sequence[FoldScores]) -> FoldScores:
    """Put folds together in the order of their rows."""
    rows = np.concatenate([fold.rows for fold in folds])
    order = np.argsort(rows)
    proba = np.concatenate([fold.proba for fold in folds])[order]
    return FoldScores(rows[order], proba, np.concatenate([f.winners for f in folds])[order])


def refitted_folds(
    model: Any, X: Any, prepared: Prepared, folds: Sequence[Fold], w: Floats | None
) -> list[FoldScores]:
    """Fit a copy of the model on the rows to learn from, and score those held out, fold by fold."""
    from sklearn.base import clone

    labels = prepared.labels
    y = labels[prepared.y]
    place = {label: k for k, label in enumerate(labels.tolist())}
    found = []
    for train, test in progress(folds, "fold by fold"):
        weights = {} if w is None else {"sample_weight": w[train]}
        fitted = clone(model).fit(rows_of(X, train), y[train], **weights)
        known = np.array([place[label] for label in fitted.classes_.tolist()])
        asked = rows_of(X, test)
        proba = np.zeros((len(test), len(labels)))
        proba[:, known] = fitted.predict_proba(asked)
        winners = np.array([place[label] for label in fitted.predict(asked).tolist()], np.intp)
        found.append(FoldScores(test, proba, winners))
    return found


def rows_of(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of whatever an estimator takes."""
    from sklearn.utils import _safe_indexing

    if isinstance(X, Mapping):
        return {name: rows_of(column, rows) for name, column in X.items()}
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return X.take(rows)
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    return _safe_indexing(X, rows)
