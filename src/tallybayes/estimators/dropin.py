"""What the drop-ins share: scikit-learn's way of fitting, counted by a tally.

`fit` and `partial_fit` count; everything that scikit-learn keeps as fitted arrays is read from the
tally and the model when it is asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.multiclass import unique_labels

from tallybayes.errors import warn
from tallybayes.estimators.base import (
    Array,
    Floats,
    TallyClassifier,
    shown,
    to_refit,
)
from tallybayes.estimators.checks import checked_labels, checked_matrix, checked_weights
from tallybayes.families import Family
from tallybayes.families.parameters import safe_log
from tallybayes.model import Fitted, Recipe
from tallybayes.priors import Empirical, Fixed, Prior, Uniform
from tallybayes.schema import Schema
from tallybayes.sources import NumberedNames, as_source
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.validation.cross_validation import Prepared
from tallybayes.validation.encoded import Encoded, coded

SMALLEST_ALPHA = 1e-10


class DropIn(TallyClassifier):
    """An estimator with the methods of scikit-learn's."""

    n_features_in_: int
    _parameter_constraints: ClassVar[dict[str, Any]]
    # how scikit-learn's checks shall treat X
    _options: ClassVar[dict[str, Any]] = {}

    def _check_parameters(self) -> None:
        """Check the parameters as scikit-learn does, unless they are those checked last time."""
        rules = self._parameter_constraints
        given = {name: getattr(self, name) for name in rules}
        before = vars(self).get("_checked", ())
        if len(before) != len(given) or any(
            a is not b for a, b in zip(before, given.values(), strict=True)
        ):
            validate_parameter_constraints(rules, given, caller_name=type(self).__name__)
            self._checked = tuple(given.values())

    @abstractmethod
    def _schema(self) -> Schema:
        """Say what the columns are."""

    def _names(self) -> Sequence[str]:
        """Return the names of the columns, which errors speak of."""
        names = getattr(self, "feature_names_in_", None)
        return NumberedNames(self.n_features_in_) if names is None else tuple(names.tolist())

    @abstractmethod
    def _fitted_from(self, tally: Tally, declared: tuple[Label, ...]) -> Fitted:
        """Say how a model is estimated, with the parameters as they are now."""

    def _checked_rows(self, X: Any) -> Any:
        """Check rows that are to be scored."""
        return checked_matrix(self, X, reset=False, **self._options)

    def _encoded(
        self, X: Any, y: Any, sample_weight: Any, known: Sequence[Encoded] = ()
    ) -> Prepared:
        """Encode labelled rows, and say how models are estimated from their tallies."""
        fresh: Self = clone(self)
        fresh._check_parameters()
        matrix = checked_matrix(fresh, X, reset=True, **fresh._options)
        labels = checked_labels(fresh, y, matrix.shape[0])
        weights = checked_weights(sample_weight, matrix.shape[0])
        reason = fresh._why_refit(weights)
        if reason:
            return to_refit(labels, matrix.shape[0], reason)
        classes, _ = coded(labels, matrix.shape[0])
        tally = Tally(fresh._schema()).with_classes(classes)
        source = as_source(fresh._checked_rows(X))
        fitted = fresh._fitted_from(tally, ())
        return fresh._prepared(fitted, source, labels, weights, known)

    def _why_refit(self, weights: Any) -> str:
        """Return why models have to be fitted anew for every fold, or nothing."""
        if weights is not None:
            return "scikit-learn's rules for weights look at the rows themselves"
        return ""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count labelled rows, and forget everything counted before.

        Parameters
        ----------
        X
            The rows: an array or a table of numbers, and a sparse matrix where the family counts.
            NaN is a missing value, whose factor is left out.
        y
            The label of each row.
        sample_weight
            How often each row counts; once when not given.
        """
        with self._all_or_nothing():
            self._check_parameters()
            self._fitted = None
            tally, labels, announced = self._count(X, y, sample_weight, reset=True)
            fitted = self._fitted_from(tally, announced)
            fitted.model  # noqa: B018  (priors and alphas that do not fit are refused now)
            return self._become(fitted, labels)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; any sequence of calls gives what one `fit` on all rows gives.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes
            All classes that will ever occur. Needed in the first call, as in scikit-learn.
        """
        with self._all_or_nothing():
            self._check_parameters()
            before: Fitted | None = vars(self).get("_fitted")
            known = self._announced(classes, before)
            if getattr(getattr(y, "dtype", None), "kind", "") == "b" and known.dtype.kind in "iu":
                y = np.asarray(y).astype(known.dtype)
            tally, _, weightless = self._count(X, y, sample_weight, reset=before is None)
            announced = tuple(known.tolist()) if before is None else before.classes
            unknown = [lb for lb in (*tally.classes, *weightless) if lb not in announced]
            if unknown:
                raise ValueError(
                    f"The target label(s) {np.array(unknown)} in y do not exist in the initial "
                    f"classes {known}"
                )
            if before is not None:
                tally = before.tally.plus(tally, reuse=True)
            fitted = self._fitted_from(tally, announced)
            if before is None:
                return self._become(fitted, known)
            object.__setattr__(fitted, "labels", before.labels)  # the classes stay as they are
            self._fitted = fitted
            return self

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

    def _count(
        self, X: Any, y: Any, sample_weight: Any, reset: bool
    ) -> tuple[Tally, Array, tuple[Label, ...]]:
        """Return the tally of the rows, the labels, and those of rows without a weight."""
        X = checked_matrix(self, X, reset=reset, **self._options)
        y = checked_labels(self, y, X.shape[0])
        weights = checked_weights(sample_weight, X.shape[0])
        tally = self._tally(X, y, weights)
        if weights is None or weights.all():
            return tally, y, ()
        return tally, y, tuple(np.unique(y[weights == 0.0]).tolist())

    @property
    def class_count_(self) -> Floats:
        """The weight of each class."""
        fitted = self._state()
        return shown(fitted.tally.with_classes(fitted.classes).weight)

    def _tally(self, X: Any, y: Array, weights: NDArray[np.float64] | None) -> Tally:
        return Tally.of(X, y, weights, schema=self._schema())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class Smoothed(DropIn):
    """A drop-in with `alpha`, and with a prior that is learned or given."""

    _class_prior: Prior

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
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

    def _fitted_from(self, tally: Tally, declared: tuple[Label, ...]) -> Fitted:
        recipe = Recipe((self._family(self._check_alpha()),), declared_classes=declared)
        classes = recipe.classes(tally)
        self._class_prior = self._prior(classes)
        return Fitted(tally, replace(recipe, prior=self._used_prior(classes)))

    def _used_prior(self, classes: tuple[Label, ...]) -> Prior:
        """Return the prior that predictions use."""
        return self._class_prior

    def _prior(self, classes: tuple[Label, ...]) -> Prior:
        """Return the prior that the parameters ask for."""
        if self.class_prior is None:
            return Empirical() if self.fit_prior else Uniform()
        stated = np.asarray(self.class_prior, np.float64)
        total = stated.sum()
        return stated_prior(stated / total if total > 0.0 else stated, classes)

    def _check_alpha(self) -> Any:
        """Return alpha, lifted to 1e-10 unless `force_alpha` is set; one a column must fit."""
        alpha = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha, np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. Got "
                    f"{alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if alpha.min() < 0.0:
                raise ValueError("All values in alpha must be greater than 0.")
        return alpha if self.force_alpha else lifted_alpha(alpha)

    @property
    def class_log_prior_(self) -> Floats:
        """The logarithm of each class's prior."""
        classes = self._state().classes
        return safe_log(self._class_prior.probabilities(classes, self.class_count_))


def lifted_alpha(alpha: Any) -> Any:
    """Return alpha, at least 1e-10, with scikit-learn's warning if that changes it."""
    if np.min(alpha) >= SMALLEST_ALPHA:
        return alpha
    warn(
        f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. "
        "Use `force_alpha=True` to keep alpha unchanged."
    )
    return np.maximum(alpha, SMALLEST_ALPHA)


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
