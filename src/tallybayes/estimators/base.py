"""What all estimators are: a tally, the model estimated from it, and scikit-learn's methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tallybayes.estimators.explaining import Explaining
from tallybayes.metrics import Predictions
from tallybayes.model import Fitted, Model
from tallybayes.sources import Source, as_source
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.validation.cross_validation import Prepared, cross_val
from tallybayes.validation.encoded import Encoded, coded

Array = NDArray[Any]
Floats = NDArray[np.float64]


def shown(values: Floats) -> Floats:
    """Return an array that can be read but not written: it belongs to the model."""
    view = values.view()
    view.flags.writeable = False
    return view


def as_shown(classes: Sequence[Label], labels: Array) -> Array:
    """Return the classes as an array; numbers keep the type they came in, if all fit into it."""
    shown_as = np.array(classes)
    if labels.dtype.kind in "iuf" and shown_as.dtype.kind in "iuf":
        converted = shown_as.astype(labels.dtype)
        return converted if np.array_equal(converted, shown_as) else shown_as
    return shown_as


def to_refit(labels: Array, n_rows: int, reason: str) -> Prepared:
    """Say that models have to be fitted anew for every fold, and why."""
    classes, y = coded(labels, n_rows)
    return Prepared(as_shown(classes, labels), y, None, None, reason)


class TallyClassifier(Explaining, ClassifierMixin, BaseEstimator, ABC):
    """The predictions that follow from a tally; subclasses say how X becomes one."""

    classes_: Array
    _fitted: Fitted | None

    @abstractmethod
    def _checked_rows(self, X: Any) -> Any:
        """Return rows that are to be scored in a form that the model takes."""

    @abstractmethod
    def _encoded(
        self, X: Any, y: Any, sample_weight: Any, known: Sequence[Encoded] = ()
    ) -> Prepared:
        """Encode labelled rows, and say how models are estimated from their tallies.

        If the same rows are `known` with the same schema already, they are not encoded again.
        """

    def cross_val(
        self,
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

        The rows are counted once, and the models of all folds follow from that: exactly what
        fitting each of them gives. The estimator itself stays as it is.

        Parameters
        ----------
        X, y
            The rows and their labels, as for `fit`.
        folds
            How many folds; "loo" to leave out each row on its own; a number between 0 and 1 to hold
            out that share of the rows once; a scikit-learn splitter; or pairs of arrays of row
            numbers, to learn from and to hold out.
        repeats
            How often to do it all, shuffled anew.
        stratified
            Whether every fold has the same share of each class, as far as that is possible.
        groups
            What rows belong together: rows of one group are held out together.
        seed
            What the shuffling begins with.
        sample_weight
            How often each row counts; once when not given.

        Returns
        -------
        Predictions
            ``held.proba``, ``held.labels``, ``held.score("f1")``, ``held.report()``.
        """
        return cross_val(
            self,
            X,
            y,
            folds=folds,
            repeats=repeats,
            stratified=stratified,
            groups=groups,
            seed=seed,
            sample_weight=sample_weight,
        )

    def _prepared(
        self,
        fitted: Fitted,
        source: Any,
        labels: Array,
        weights: Any,
        known: Sequence[Encoded] = (),
    ) -> Prepared:
        """Encode rows for a model that is estimated as `fitted` says."""
        schema = fitted.tally.schema
        same = [data for data in known if data.schema == schema]
        data = same[0] if same else Encoded.of(source, schema, labels, weights)
        recipe = replace(fitted.recipe, calibration=None, declared_classes=())
        return Prepared(as_shown(data.classes, labels), data.y, data, recipe)

    def _state(self) -> Fitted:
        """Return what was fitted, or raise scikit-learn's error."""
        fitted: Fitted | None = vars(self).get("_fitted")
        if fitted is None:
            check_is_fitted(self, "_fitted")
        assert fitted is not None
        return fitted

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leave the estimator as it was when something goes wrong."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.update(before)
            for name in vars(self).keys() - before.keys():
                del self.__dict__[name]
            raise

    def _become(self, fitted: Fitted, labels: Array | None = None) -> Self:
        """Take over what was counted; `labels` is an array of the kind that `predict` returns."""
        if labels is None:
            labels = self.classes_
        classes = as_shown(fitted.classes, labels)
        object.__setattr__(fitted, "labels", classes)  # nobody else has seen it yet
        self._fitted, self.classes_ = fitted, classes
        return self

    @property
    def tally_(self) -> Tally:
        """Everything that was counted: a copy, which may be changed."""
        return copy(self._state().tally)

    @property
    def model_(self) -> Model:
        """The model that makes the predictions."""
        return self._state().model

    @property
    def fitted_(self) -> Fitted:
        """What was counted and how models are estimated from it: what pictures and pages show."""
        return self._state()

    def source_of(self, X: Any) -> Source:
        """Return rows as the model reads them: the columns named as in the model."""
        return as_source(self._checked_rows(X))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log P(c) + log P(x | c) for each row and class.

        Parameters
        ----------
        X
            The rows.

        Returns
        -------
        array of shape (rows, classes)
            The classes in the order of `classes_`.
        """
        model = self._state().model
        return model.joint_log_likelihood(self._checked_rows(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return log P(c | x) for each row and class: see `predict_joint_log_proba`."""
        model = self._state().model
        return model.log_posterior(self._checked_rows(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return P(c | x) for each row and class: see `predict_joint_log_proba`."""
        model = self._state().model
        return model.posterior(self._checked_rows(X))

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row; ties go to the first in `classes_`."""
        fitted = self._state()
        assert fitted.labels is not None
        chosen: Array = fitted.labels[fitted.model.winners(self._checked_rows(X))]
        return chosen
