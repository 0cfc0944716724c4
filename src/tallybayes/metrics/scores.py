"""Every overall score by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.metrics.checks import Rows, as_rows
from tallybayes.metrics.confusion import MEASURES, Confusion
from tallybayes.metrics.probabilities import (
    brier_of,
    log_loss_of,
    pr_area_of,
    reliability_of,
    roc_area_of,
)

NAMES = (
    "accuracy",
    "balanced_accuracy",
    *MEASURES,
    "macro_precision",
    "macro_recall",
    "macro_f1",
    "micro_precision",
    "micro_recall",
    "micro_f1",
    "matthews",
    "log_loss",
    "brier",
    "calibration_error",
    "roc_area",
    "pr_area",
)
RANKING = ("roc_area", "pr_area")
GREATER_IS_BETTER: dict[str, bool] = {
    name: name not in ("log_loss", "brier", "calibration_error") for name in NAMES
}

_OF_PROBABILITIES: dict[str, Callable[[Rows, int | None], float]] = {
    "log_loss": lambda rows, positive: log_loss_of(rows),
    "brier": lambda rows, positive: brier_of(rows),
    "calibration_error": lambda rows, positive: reliability_of(rows).error,
    "roc_area": roc_area_of,
    "pr_area": pr_area_of,
}


def score(
    name: str,
    proba: Any,
    predictions_codes: Any,
    true_codes: Any,
    weights: Any = None,
    positive: int | None = None,
) -> float:
    """Return one score.

    Parameters
    ----------
    name
        One of `NAMES`. "precision", "recall", "specificity" and "f1" are those of the positive
        class if there are two classes, and macro averages otherwise.
    proba
        Probabilities, rows x classes.
    predictions_codes, true_codes
        The column of the predicted and of the true class of each row.
    weights
        One number a row.
    positive
        The column of the positive one of two classes; the last unless given. With more classes it
        has no part in any score.

    Returns
    -------
    float
        NaN where the score is undefined, such as the precision of a class never predicted.
        `GREATER_IS_BETTER` says which way is up.

    Examples
    --------
    >>> proba = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
    >>> score("recall", proba, [0, 1, 0], [0, 1, 1])
    0.5
    >>> score("acuracy", proba, [0, 1, 0], [0, 1, 1])
    Traceback (most recent call last):
    tallybayes.errors.TallyBayesError: 'acuracy' is not a score; did you mean 'accuracy'?
    """
    return scores(proba, predictions_codes, true_codes, weights, positive, (name,))[name]


def scores(
    proba: Any,
    predictions_codes: Any,
    true_codes: Any,
    weights: Any = None,
    positive: int | None = None,
    names: Sequence[str] = NAMES,
) -> dict[str, float]:
    """Return several scores by name; see `score`."""
    for name in names:
        if name not in NAMES:
            raise TallyBayesError(f"{name!r} is not a score; {did_you_mean(name, NAMES)}")
    rows = as_rows(proba, true_codes, weights)
    n = rows.proba.shape[1]
    if positive is not None:
        whole(positive, "positive", 0, n - 1)
    found = {name: of(rows, positive) for name, of in _OF_PROBABILITIES.items() if name in names}
    if len(found) < len(set(names)):
        confusion = Confusion.of_codes(predictions_codes, rows.true, range(n), rows.weights)
        rest = [name for name in names if name not in found]
        found |= {name: _of_confusion(name, confusion, positive) for name in rest}
    return {name: found[name] for name in names}


def _of_confusion(name: str, confusion: Confusion, positive: int | None) -> float:
    """Return a score that needs no probabilities."""
    kind, _, measure = name.partition("_")
    if kind in ("macro", "micro"):
        return float(getattr(confusion, kind)(measure))
    if name not in MEASURES:
        return float(getattr(confusion, name))
    if len(confusion.classes) != 2:
        return confusion.macro(name)
    return float(getattr(confusion, name)[1 if positive is None else positive])
