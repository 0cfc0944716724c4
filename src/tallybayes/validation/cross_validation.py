"""Held-out predictions of a model: every row judged by a model that never saw it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, warn
from tallybayes.metrics import Predictions
from tallybayes.metrics.predictions import classes_of, codes_of, plain_labels
from tallybayes.sources.weights import weights_of
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation import k_fold
from tallybayes.validation.folds import Fold, Folds, check_refits, folds_of
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.validation.prepared import NeedsRefit, Preparable, Prepared, part_of_rows
from tallybayes.validation.progress import progress


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
    if isinstance(X, Mapping) and not isinstance(model, Preparable):
        import pyarrow as pa

        X = pa.table(dict(X))  # which scikit-learn's classifiers take, and mappings they do not
    prepared = prepare(model, X, y, sample_weight)
    w = weights_of(sample_weight, len(prepared.y))
    splits = folds_of(
        folds, prepared.y, groups=groups, repeats=repeats, stratified=stratified, seed=seed
    )
    held = held_out(model, X, prepared, splits, w)

    def training() -> Predictions:
        everything = np.arange(len(prepared.y))
        once = Folds((), (), ((everything, everything),))
        seen = held_out(model, X, prepared, once, w)
        return replace(seen, rows=None, held_out="training rows")

    return replace(held, positive=getattr(model, "positive", None), training=training)


def prepare(
    model: Any, X: Any, y: Any, sample_weight: Any = None, known: Sequence[LabelledRows] = ()
) -> Prepared | NeedsRefit:
    """Encode rows for an estimator of ours; those of another classifier it takes as they are.

    Rows that are `known` with the same schema already are not encoded again.
    """
    from sklearn.utils.validation import has_fit_parameter

    if not hasattr(model, "fit") or isinstance(model, type):
        raise TallyBayesError(f"the model is {model!r}; give an estimator such as NaiveBayes()")
    if isinstance(model, Preparable):
        return model.prepare(X, y, sample_weight, known=known)
    if sample_weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise TallyBayesError(
            f"{type(model).__name__} takes no sample_weight; leave the weights out, or the model"
        )
    labels = classes_of(y, "y")
    reason = f"{type(model).__name__} is fitted"
    return NeedsRefit(np.array(labels), codes_of(y, labels, "y"), reason)


def held_out(
    model: Any,
    X: Any,
    prepared: Prepared | NeedsRefit,
    folds: Folds,
    w: Floats | None,
    rows: LeaveOneOut | None = None,
) -> Predictions:
    """Judge all rows that are held out; a note says why models took more than one counting."""
    if isinstance(prepared, NeedsRefit):
        check_refits(len(folds), prepared.reason)
        with _warned_once():
            parts = list(refitted(model, X, prepared, folds, w))
        note = f"refitted for every fold: {prepared.reason}"
        return replace(joined(parts, prepared, folds), notes=(note,))
    data, recipe = prepared.data, prepared.recipe
    notes: tuple[str, ...] = ()
    if folds.leave_one_out:
        each = (LeaveOneOut(data) if rows is None else rows).predictions(recipe)
        if each is not None:
            return joined([each], prepared, folds)
        reason = "the options have no closed form for leave-one-out"
        check_refits(len(folds), reason)
        notes = (f"counted anew for every row: {reason}",)
    (parts,) = k_fold.posteriors(data, [recipe], folds)
    return replace(joined(parts, prepared, folds), notes=notes)


@contextmanager
def _warned_once() -> Iterator[None]:
    """Say once what is warned of in several folds, though with other numbers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    kinds: dict[str, list[warnings.WarningMessage]] = {}
    for each in caught:
        kinds.setdefault(re.sub(r"[\d.]+", "", str(each.message)), []).append(each)
    for first, *others in kinds.values():
        more = f" (and in {len(others)} more folds)" if others else ""
        warn(f"{first.message}{more}", first.category, getattr(first.message, "remedies", ()))


def joined(
    parts: Sequence[Predictions], prepared: Prepared | NeedsRefit, folds: Folds
) -> Predictions:
    """Put the folds together in the order of the data; leave-one-out is one set."""
    held = replace(Predictions.joined(parts), classes=plain_labels(prepared.labels))
    if held.rows is not None:
        held = held.take(np.argsort(held.rows, kind="stable"))
        if np.array_equal(held.row_numbers, np.arange(len(prepared.y))):
            held = replace(held, rows=None)
    return replace(held, fold=None, held_out="leave-one-out") if folds.leave_one_out else held


def refitted(
    model: Any,
    X: Any,
    prepared: Prepared | NeedsRefit,
    folds: Iterable[Fold],
    w: Floats | None,
) -> Iterator[Predictions]:
    """Fit a copy of the model on the rows to learn from, and ask about those held out."""
    from sklearn.base import clone

    labels = prepared.labels
    y = labels[prepared.y]
    for train, test in progress(list(folds), "fold by fold"):
        weights = {} if w is None else {"sample_weight": w[train]}
        with part_of_rows():
            fitted = clone(model).fit(rows_of(X, train), y[train], **weights)
        held = Predictions.from_estimator(
            fitted,
            rows_of(X, test),
            y[test],
            sample_weight=None if w is None else w[test],
            classes=labels,
        )
        yield replace(held, rows=test)


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
