"""What the drop-ins share: scikit-learn's way of fitting, counted by a tally.

`fit` and `partial_fit` count; everything that scikit-learn keeps as fitted arrays is read from the
tally and the model when it is asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.multiclass import unique_labels

from tallybayes.arrays import Array, Floats
from tallybayes.errors import warn
from tallybayes.estimators.base import Labelled, TallyClassifier, read_only
from tallybayes.estimators.checks import (
    ALPHAS,
    ARRAY_OR_NONE,
    BOOLEAN,
    Rule,
    check_parameters,
    checked_labels,
    checked_matrix,
    checked_weights,
)
from tallybayes.families import Family
from tallybayes.families.parameters import safe_log
from tallybayes.model import Fitted, Recipe
from tallybayes.priors import Empirical, Fixed, Prior, Uniform
from tallybayes.sources import NumberedNames, as_source
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally

SMALLEST_ALPHA = 1e-10


class DropIn(TallyClassifier):
    """An estimator with the methods of scikit-learn's."""

    _rules: ClassVar[Mapping[str, Rule]]
    # how scikit-learn's checks shall treat X
    _options: ClassVar[dict[str, Any]] = {}

    def _names(self) -> Sequence[str]:
        """Return the names of the columns, which errors speak of."""
        names = getattr(self, "feature_names_in_", None)
        return NumberedNames(self.n_features_in_) if names is None else tuple(names.tolist())

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return checked_matrix(self, X, reset=reset, **self._options)

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Labelled:
        check_parameters(self, self._rules)
        rows = self._rows(X, reset=reset)
        n_rows = as_source(rows).n_rows
        labels = checked_labels(self, y, n_rows)
        return Labelled(rows, labels, checked_weights(sample_weight, n_rows))

    def _why_refit(self, rows: Labelled) -> str:
        if rows.weights is not None and not rows.weights.all():
            return "rows without weight name classes, as in scikit-learn"
        return ""

    def _estimated(self, rows: Labelled, tally: Tally) -> tuple[Tally, Recipe, None]:
        return tally, self._recipe(tally, _weightless(rows)), None

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; any sequence of calls gives what one `fit` on all rows gives.

        Several threads may call it.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes
            All classes that will ever occur. Needed in the first call, as in scikit-learn.
        """
        with self._all_or_nothing():
            before: Fitted | None = vars(self).get("_fitted")
            known = self._announced(classes, before)
            if getattr(getattr(y, "dtype", None), "kind", "") == "b" and known.dtype.kind in "iu":
                y = np.asarray(y).astype(known.dtype)
            rows = self._labelled(X, y, sample_weight, reset=before is None)
            tally = self._tally(rows)
            announced = tuple(known.tolist()) if before is None else before.classes
            unknown = [lb for lb in (*tally.classes, *_weightless(rows)) if lb not in announced]
            if unknown:
                raise ValueError(
                    f"The target label(s) {np.unique(unknown)} in y do not exist in the initial "
                    f"classes {known}"
                )
            if before is not None:
                tally = before.tally + tally
            return self._become(tally, self._recipe(tally, announced), known)

    def _announced(self, classes: Any, before: Fitted | None) -> Array:
        """Return the classes that were announced, now or in the first call."""
        if before is None:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            announced: Array = unique_labels(classes)
            return announced
        if classes is not None and tuple(classes) != before.classes:
            same = np.array_equal(self.classes_, unique_labels(classes))
            if not same or len(classes) != len(self.classes_):
                raise ValueError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                    f"{self.classes_!r}"
                )
        return self.classes_

    @property
    def class_count_(self) -> Floats:
        """The weight of each class."""
        fitted = self.fitted_
        return read_only(fitted.tally.with_classes(fitted.classes).weight)

    @property
    def _block(self) -> Any:
        """What was counted of all columns, of every class."""
        fitted = self.fitted_
        return fitted.tally.with_classes(fitted.classes).blocks[0]

    @property
    def _parameters(self) -> Any:
        """The parameters of all columns, which are of one kind."""
        return self.model_.factors[0].parameters

    def _restore(self, fitted: Fitted, state: Mapping[str, Any]) -> None:
        super()._restore(fitted, state)
        tally = fitted.tally.with_schema(self._schema_of())
        self._become(tally, self._recipe(tally, fitted.recipe.declared_classes))


class Smoothed(DropIn):
    """A drop-in with `alpha`, and with a prior that is learned or given."""

    _class_prior: Prior

    _rules: ClassVar[Mapping[str, Rule]] = {
        "alpha": ALPHAS,
        "fit_prior": BOOLEAN,
        "class_prior": ARRAY_OR_NONE,
        "force_alpha": BOOLEAN,
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @abstractmethod
    def _family(self, alpha: Any) -> Family:
        """Return the family of all columns."""

    def _recipe(self, tally: Tally, declared: tuple[Label, ...]) -> Recipe:
        recipe = Recipe((self._family(self._check_alpha()),), declared_classes=declared)
        self._class_prior = self._prior(recipe.classes(tally))
        return replace(recipe, prior=self._class_prior)

    def _prior(self, classes: tuple[Label, ...]) -> Prior:
        """Return the prior that the parameters ask for."""
        if self.class_prior is None:
            return Empirical() if self.fit_prior else Uniform()
        stated = np.asarray(self.class_prior, np.float64)
        total = stated.sum()
        return stated_prior(stated / total if total > 0.0 else stated, classes)

    def _check_alpha(self) -> Any:
        """Return alpha, lifted to 1e-10 unless `force_alpha` is set; one a column must fit."""
        alpha: Any = self.alpha
        if not isinstance(alpha, Real):
            alpha = np.asarray(alpha, np.float64)
            if alpha.shape[0] != self.n_features_in_:
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. Got "
                    f"{alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if alpha.min() < 0.0:
                raise ValueError("All values in alpha must be greater than 0.")
        if self.force_alpha or np.min(alpha) >= SMALLEST_ALPHA:
            return alpha
        warn(
            f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. "
            "Use `force_alpha=True` to keep alpha unchanged."
        )
        return np.maximum(alpha, SMALLEST_ALPHA)

    @property
    def class_log_prior_(self) -> Floats:
        """The logarithm of each class's prior."""
        classes = self.fitted_.classes
        return safe_log(self._class_prior.probabilities(classes, self.class_count_))


def stated_prior(priors: Any, classes: tuple[Label, ...]) -> Prior:
    """Return the prior that is given as one number a class, or that of the data if it is None."""
    if priors is None:
        return Empirical()
    stated = np.asarray(priors, np.float64)
    if len(stated) != len(classes):
        raise ValueError("Number of priors must match number of classes.")
    if not np.isclose(stated.sum(), 1.0):
        raise ValueError("The sum of the priors should be 1.")
    if (stated < 0.0).any():
        raise ValueError("Priors must be non-negative.")
    return Fixed(dict(zip(classes, stated.tolist(), strict=True)))


def _weightless(rows: Labelled) -> tuple[Label, ...]:
    """Return the labels of rows that have no weight: classes all the same, as in scikit-learn."""
    if rows.weights is None or rows.weights.all():
        return ()
    return tuple(np.unique(rows.labels[rows.weights == 0.0]).tolist())
