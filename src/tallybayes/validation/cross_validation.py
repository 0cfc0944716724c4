"""Held-out predictions of a model: every row judged by a model that never saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Predictions
from tallybayes.metrics.predictions import classes_of, codes_of, plain_labels
from tallybayes.sources.weights import weights_of
from tallybayes.validation.each_row import LeaveOneOut
from tallybayes.validation.encoded import Encoded, NeedsRefit, Prepared, TallyEstimator
from tallybayes.validation.folds import LEAVE_ONE_OUT, Fold, check_refits, folds_of
from tallybayes.validation.held_out import held_out_folds, left_out_each
from tallybayes.validation.progress import progress

Array = NDArray[Any]
Floats = NDArray[np.float64]


def cross_val(
    model: Any,
    X: Any,
    y: Any,
    folds: Any = 10,
    *,
    repeats: int = 1,
    stratified: bool = True,
    groups: Any = None,
    seed: int = 0,
    sample_weight: Any = None,
) -> Predictions:
    """Predict every row from a model that never saw it.

    Parameters
    ----------
    model
        An estimator of tallybayes, which is counted once wherever that is enough; or any
        classifier of scikit-learn's kind, which is fitted for every fold.
    X, y
        Rows and labels, as for its `fit`.
    folds
        How many folds; "loo" for leave-one-out; a number between 0 and 1 for a single validation
        set of that share of the rows; a scikit-learn splitter; or pairs of arrays of row numbers.
    repeats
        How often to do it all, shuffled anew.
    stratified
        Whether every fold has the same share of each class, as far as that is possible.
    groups
        What rows belong together: rows of one group are held out together.
    seed
        What the shuffling begins with.
    sample_weight
        How often each row counts, in fitting and in scoring.

    Examples
    --------
    >>> from tallybayes import NaiveBayes, validation
    >>> table = {"income": [125.0, 115.0, 95.0, 85.0, 120.0, 90.0]}
    >>> cheat = ["No", "No", "Yes", "Yes", "No", "Yes"]
    >>> held = validation.cross_val(NaiveBayes(), table, cheat, folds="loo")
    >>> held.labels.tolist()
    ['No', 'No', 'Yes', 'Yes', 'No', 'Yes']
    """
    if isinstance(X, Mapping) and not isinstance(model, TallyEstimator):
        import pyarrow as pa

        X = pa.table(dict(X))  # which scikit-learn's classifiers take, and mappings they do not
    prepared = prepare(model, X, y, sample_weight)
    w = weights_of(sample_weight, len(prepared.y))
    loo = is_leave_one_out(folds)
    splits: Sequence[Fold] = folds_of(
        LEAVE_ONE_OUT if loo else folds,
        X,
        prepared.labels[prepared.y],
        groups=groups,
        repeats=repeats,
        stratified=stratified,
        seed=seed,
    )
    parts, note = held_out_parts(model, X, prepared, splits, w, loo)

    def training() -> Predictions:
        everything = np.arange(len(prepared.y))
        seen, _ = held_out_parts(model, X, prepared, [(everything, everything)], w)
        return replace(seen[0], rows=None, held_out="training rows")

    return replace(
        joined_parts(parts, prepared, loo),
        positive=getattr(model, "positive", None),
        notes=(note,) if note else (),
        training=training,
    )


def prepare(
    model: Any, X: Any, y: Any, sample_weight: Any = None, known: Sequence[Encoded] = ()
) -> Prepared | NeedsRefit:
    """Encode rows for an estimator of ours; those of another classifier it takes as they are.

    Rows that are `known` with the same schema already are not encoded again.
    """
    from sklearn.utils.validation import has_fit_parameter

    if not hasattr(model, "fit") or isinstance(model, type):
        raise TallyBayesError(f"the model is {model!r}; give an estimator such as NaiveBayes()")
    if isinstance(model, TallyEstimator):
        return model.prepare(X, y, sample_weight, known=known)
    if sample_weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise TallyBayesError(
            f"{type(model).__name__} takes no sample_weight; leave the weights out, or the model"
        )
    labels = classes_of(y, "y")
    reason = f"{type(model).__name__} is fitted"
    return NeedsRefit(np.array(labels), codes_of(y, labels, "y"), reason)


def held_out_parts(
    model: Any,
    X: Any,
    prepared: Prepared | NeedsRefit,
    folds: Sequence[Fold],
    w: Floats | None,
    loo: bool = False,
    rows: LeaveOneOut | None = None,
) -> tuple[list[Predictions], str]:
    """Return the predictions of each fold, and why the models took more than one counting."""
    if isinstance(prepared, NeedsRefit):
        check_refits(len(folds), prepared.reason)
        parts = list(refitted_folds(model, X, prepared, folds, w))
        return parts, f"refitted for every fold: {prepared.reason}"
    data, recipe = prepared.data, prepared.recipe
    if loo:
        each = left_out_each(data, recipe, rows)
        if each is not None:
            return [each], ""
        reason = "the options have no closed form for leave-one-out"
        check_refits(len(folds), reason)
        return held_out_folds(data, recipe, folds), f"counted anew for every row: {reason}"
    return held_out_folds(data, recipe, folds), ""


def joined_parts(
    parts: Sequence[Predictions], prepared: Prepared | NeedsRefit, loo: bool
) -> Predictions:
    """Put the parts together in the order of the data; leave-one-out is one set."""
    found = replace(Predictions.joined(parts), classes=plain_labels(prepared.labels))
    if found.rows is not None:
        found = found.take(np.argsort(found.rows, kind="stable"))
        if np.array_equal(found.row_numbers, np.arange(len(prepared.y))):
            found = replace(found, rows=None)
    return replace(found, fold=None, held_out="leave-one-out") if loo else found


def refitted_folds(
    model: Any,
    X: Any,
    prepared: Prepared | NeedsRefit,
    folds: Sequence[Fold],
    w: Floats | None,
) -> Iterator[Predictions]:
    """Fit a copy of the model on the rows to learn from, and ask about those held out."""
    from sklearn.base import clone

    labels = prepared.labels
    y = labels[prepared.y]
    for train, test in progress(folds, "fold by fold"):
        weights = {} if w is None else {"sample_weight": w[train]}
        fitted = clone(model).fit(rows_of(X, train), y[train], **weights)
        found = Predictions.from_estimator(
            fitted,
            rows_of(X, test),
            y[test],
            sample_weight=None if w is None else w[test],
            classes=labels,
        )
        yield replace(found, rows=test)


def is_leave_one_out(folds: Any) -> bool:
    """Tell whether single rows are held out, however that was said."""
    said = isinstance(folds, str) and folds == LEAVE_ONE_OUT
    return said or type(folds).__name__ == "LeaveOneOut"


def rows_of(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of whatever an estimator takes."""
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):
        return {name: rows_of(column, rows) for name, column in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return X.take(rows)
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    return X[rows]
