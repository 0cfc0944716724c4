"""How much a calibration mends, judged on rows that had no part in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.model.calibration import How
from tallybayes.validation.calibration import checked_how
from tallybayes.validation.cross_validation import cross_val, is_leave_one_out
from tallybayes.validation.folds import folds_of
from tallybayes.validation.reports.report import Report

SHOWN = ("log_loss", "brier", "calibration_error", "accuracy")


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A model with its calibration, and the held-out scores without it and with it.

    Attributes
    ----------
    model
        The estimator, calibrated and fitted on all rows.
    before, after : Report
        The scores of held-out rows. The calibration was fitted anew on the rows to learn from in
        each fold, so `after` is nested; ``report.reliability`` is the table of reliability.
    """

    model: Any
    before: Report
    after: Report

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration and both reports."""
        calibration = self.model.calibration_
        return {
            "how": calibration.how,
            "exponents": dict(calibration.exponents),
            "exponent": calibration.default,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
        }

    def __str__(self) -> str:
        width = max(map(len, SHOWN))
        lines = [
            f"{name:<{width}}  {self.before[name]:>8.4f}  {self.after[name]:>8.4f}"
            for name in SHOWN
        ]
        return "\n".join(
            [
                f"{'held out':<{width}}  {'before':>8}  {'after':>8}",
                *lines,
                "",
                "reliability before",
                str(self.before.reliability),
                "",
                "reliability after",
                str(self.after.reliability),
                "",
                str(self.model.calibration_),
            ]
        )


def calibrate(
    model: Any,
    X: Any,
    y: Any,
    how: How = "weights",
    *,
    folds: Any = 10,
    sample_weight: Any = None,
    groups: Any = None,
    seed: int = 0,
) -> Calibrated:
    """Calibrate a model, and show on held-out rows by how much that mends it.

    Parameters
    ----------
    model
        `NaiveBayes` or `TextNB`.
    X, y, sample_weight
        The rows, their labels and weights.
    how
        "temperature", "weights" or "isotonic".
    folds, groups, seed
        How rows are held out: see `cross_val`. Leave-one-out would fit as many calibrations as
        there are rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tallybayes import NaiveBayes, validation
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["no", "yes"], 100)
    >>> x = rng.normal(y == "yes", 1.0)
    >>> twice = {"a": x, "a again": x, "b": rng.normal(size=200)}  # the same evidence two times
    >>> mended = validation.calibrate(NaiveBayes(), twice, y)
    >>> bool(mended.after.log_loss < mended.before.log_loss)
    True
    """
    from sklearn.base import clone

    able = not isinstance(model, type) and hasattr(model, "get_params")
    if checked_how(how) is None or not able or "calibration" not in model.get_params():
        raise TallyBayesError(
            f"{model!r} cannot be calibrated with how={how!r}; use NaiveBayes() or TextNB() with "
            "'temperature', 'weights' or 'isotonic'"
        )
    if is_leave_one_out(folds):
        raise TallyBayesError(
            "folds='loo' would fit a calibration for every row; give a number of folds"
        )
    splits = folds_of(folds, X, y, groups=groups, seed=seed)
    plain = clone(model).set_params(calibration=None)
    mended = clone(model).set_params(calibration=how)
    before = cross_val(plain, X, y, folds=splits, sample_weight=sample_weight).report()
    after = cross_val(mended, X, y, folds=splits, sample_weight=sample_weight).report()
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return Calibrated(mended.fit(X, y, **weights), before, after)
