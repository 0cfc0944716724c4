"""What all estimators are: a tally, the model estimated from it, and scikit-learn's methods."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from numbers import Number
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from tallybayes.arrays import Array, Floats
from tallybayes.batches import encode_classes
from tallybayes.errors import TallyBayesError
from tallybayes.evidence.diagnosis import diagnose
from tallybayes.explanations import counterfactuals, explain, explain_all
from tallybayes.model import Fitted, Model, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.model.worth import Worth
from tallybayes.modelfile import Provenance, Stored, save
from tallybayes.rendering import plain
from tallybayes.schema import Schema
from tallybayes.sources import Frame, NumberedNames, Source, as_source, record_at
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation.cross_validation import cross_val
from tallybayes.validation.prepared import NeedsRefit, Prepared

if TYPE_CHECKING:
    from tallybayes.report.page import ModelReport


# beside the estimators, not in them: a lock can be neither pickled nor copied
_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_guard = Lock()


class Labelled(NamedTuple):
    """Rows to learn from, checked: their labels, weights, and what the labels are called."""

    X: Any
    labels: Array
    weights: Floats | None
    target: str = "class"


def read_only(values: Floats) -> Floats:
    """Return an array that can be read but not written: it belongs to the model."""
    view = values.view()
    view.flags.writeable = False
    return view


def labels_like(labels: Array, classes: Sequence[Label]) -> Array:
    """Return the classes as an array; numbers keep the type they came in, if all fit into it."""
    plain = np.array(classes)
    if labels.dtype.kind in "iuf" and plain.dtype.kind in "iuf":
        converted = plain.astype(labels.dtype)
        return converted if np.array_equal(converted, plain) else plain
    return plain


class TallyClassifier(ClassifierMixin, BaseEstimator, ABC):
    """The predictions that follow from a tally; subclasses say how X becomes one."""

    classes_: Array
    n_features_in_: int
    _tags: ClassVar[Mapping[str, bool]] = {"allow_nan": True}  # what scikit-learn may expect of X
    _poor_score: ClassVar[bool] = False  # on tables of scikit-learn's that do not suit it
    _fitted: Fitted | None
    _calibration: Calibration | None = None

    @abstractmethod
    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Check rows; learn (`reset`) or compare their columns."""

    @abstractmethod
    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Labelled:
        """Check rows to learn from, their labels and weights."""

    @abstractmethod
    def _why_refit(self, rows: Labelled) -> str:
        """Return why models have to be fitted for every fold, or nothing."""

    @abstractmethod
    def _schema_of(self, rows: Any = None) -> Schema:
        """Say what the columns of the first rows are."""

    @abstractmethod
    def _recipe(self, tally: Tally, declared: tuple[Label, ...]) -> Recipe:
        """Say how a model is estimated, with the parameters as they are now."""

    def _tally(self, rows: Labelled) -> Tally:
        """Settle what the columns are, and count rows."""
        return Tally.of(rows.X, rows.labels, rows.weights, schema=self._schema_of(rows))

    def _estimated(self, rows: Labelled, tally: Tally) -> tuple[Tally, Recipe, Worth | None]:
        """Say how a model is estimated of rows that were counted, which may be counted anew.

        And what it is worth, if that is known.
        """
        return tally, self._recipe(tally, ()), None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count labelled rows, and forget everything counted before.

        Parameters
        ----------
        X
            The rows: an array, a table or, where the family counts, a sparse matrix; `NaiveBayes`
            also takes a mapping of columns and a list of records. NaN, None and NA are missing:
            their factors are left out.
        y
            The label of each row.
        sample_weight
            How often each row counts; once when not given.
        """
        with self._all_or_nothing():
            self._fitted, self._calibration = None, None
            rows = self._labelled(X, y, sample_weight, reset=True)
            tally, recipe, worth = self._estimated(rows, self._tally(rows))
            return self._become(tally, recipe, rows.labels, worth, estimate=True)

    def prepare(
        self, X: Any, y: Any, sample_weight: Any = None, *, known: Sequence[LabelledRows] = ()
    ) -> Prepared | NeedsRefit:
        """Encode labelled rows once for many models; or say why each must be fitted by itself.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`. The estimator itself stays as it is.
        known
            The same rows, encoded before: taken as they are if the schema is the same.
        """
        fresh: Self = clone(self)
        rows = fresh._labelled(X, y, sample_weight, reset=True)
        encoded, classes = encode_classes(rows.labels, as_source(rows.X).n_rows)
        if reason := fresh._why_refit(rows):
            return NeedsRefit(labels_like(rows.labels, classes), encoded, reason)
        schema = fresh._schema_of(rows)
        recipe = fresh._recipe(Tally(schema).with_classes(classes), ())
        return fresh._prepared(schema, recipe, rows, known)

    # every row predicted from a model that never saw it; the estimator stays as it is
    cross_val = cross_val
    # why records get their answers, what would change them, what the data do not bear out
    explain = explain
    explain_all = explain_all
    counterfactuals = counterfactuals
    diagnose = diagnose

    @staticmethod
    def _prepared(
        schema: Schema, recipe: Recipe, rows: Labelled, known: Sequence[LabelledRows] = ()
    ) -> Prepared:
        """Encode rows, unless they are known with the same schema."""
        same = [data for data in known if data.schema == schema]
        source = as_source(rows.X)
        data = same[0] if same else LabelledRows.of(source, schema, rows.labels, rows.weights)
        recipe = replace(recipe, calibration=None, declared_classes=())
        return Prepared(labels_like(rows.labels, data.classes), data, recipe)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Let one thread at a time change the estimator, and leave it as it was if that fails."""
        with _guard:
            lock = _locks.setdefault(self, RLock())
        with lock:
            before = dict(vars(self))
            try:
                yield
            except BaseException:
                self.__dict__.update(before)
                for name in vars(self).keys() - before.keys():
                    del self.__dict__[name]
                raise

    def _become(
        self,
        tally: Tally,
        recipe: Recipe,
        labels: Array | None = None,
        worth: Worth | None = None,
        *,
        estimate: bool = False,
    ) -> Self:
        """Take over what was counted; `labels` is an array of the kind that `predict` returns."""
        before: Fitted | None = vars(self).get("_fitted")
        if before is not None and before.recipe.rule is not None and not estimate:  # learning on
            recipe = replace(recipe, rule=before.recipe.rule)
        classes = labels_like(self.classes_ if labels is None else labels, recipe.classes(tally))
        fitted = Fitted(tally, recipe, classes, worth)
        if estimate:
            fitted.model  # noqa: B018  (what cannot be estimated is refused now)
        else:
            recipe.require(tally)
        self._fitted, self.classes_ = fitted, classes
        return self

    def _set_names(self, names: Sequence[str], named: bool) -> None:
        """Remember the columns as scikit-learn does."""
        self.n_features_in_ = len(names)
        self.__dict__.pop("feature_names_in_", None)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)

    @property
    def tally_(self) -> Tally:
        """Everything that was counted: a copy, which may be changed."""
        return copy(self.fitted_.tally)

    @property
    def model_(self) -> Model:
        """The model that makes the predictions."""
        return self.fitted_.model

    @property
    def schema_(self) -> Schema:
        """What each column was taken for, and why."""
        return self.fitted_.tally.schema

    @property
    def fitted_(self) -> Fitted:
        """What was counted and how models are estimated from it: what pictures and pages show."""
        fitted: Fitted | None = vars(self).get("_fitted")
        if fitted is None:
            check_is_fitted(self, "_fitted")
        assert fitted is not None
        return fitted

    def source_of(self, X: Any) -> Source:
        """Return rows as the model reads them: the columns named as in the model."""
        self.fitted_  # noqa: B018  (an estimator that was not fitted says so)
        return as_source(self._rows(X, reset=False))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log P(c) + log P(x | c) for each row and class, these in the order of `classes_`.

        Parameters
        ----------
        X
            The rows.
        """
        return self.model_.joint_log_likelihood(self._rows(X, reset=False))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return log P(c | x) for each row and class: see `predict_joint_log_proba`."""
        return self.model_.log_posterior(self._rows(X, reset=False))

    def predict_proba(self, X: Any) -> Floats:
        """Return P(c | x) for each row and class: see `predict_joint_log_proba`."""
        return self.model_.posterior(self._rows(X, reset=False))

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row; ties go to the first in `classes_`."""
        fitted = self.fitted_
        assert fitted.labels is not None
        chosen: Array = fitted.labels[fitted.model.winners(self._rows(X, reset=False))]
        return chosen

    def report(
        self, X: Any = None, y: Any = None, *, sample_weight: Any = None, title: str | None = None
    ) -> ModelReport:
        """Write a page about the model, in one HTML file that needs nothing else.

        ``model.report(X, y).save("report.html")``; a notebook shows it.

        Parameters
        ----------
        X, y, sample_weight
            Labelled rows, by custom such as the model has not seen: for scores, histograms,
            examples and warnings. Without them the page shows the model alone. Of the very rows
            that the model has learned from, each is judged by the model of all others, and the
            scores of the rows as the model has seen them stand beside.
        title
            What the page is called.
        """
        from tallybayes.report.contents import evaluate
        from tallybayes.report.page import model_report

        if (X is None) != (y is None):
            raise TallyBayesError("rows need labels to be judged: give both X and y, or neither")
        if X is None:
            return model_report(self.fitted_, title=title)
        predictions, sample = evaluate(self.fitted_, self.source_of(X), y, sample_weight)
        return model_report(self.fitted_, predictions=predictions, sample=sample, title=title)

    def record_of(self, record: Any) -> Mapping[str, Any]:
        """Return a record by its columns: of a mapping, a row, or for `TextNB` a text."""
        if isinstance(record, Mapping):
            return record
        shape = getattr(record, "shape", None)
        if shape is not None and len(shape) == 1 and hasattr(record, "to_dict"):
            return {str(name): value for name, value in record.to_dict().items()}  # of pandas
        if isinstance(record, str | list | tuple):
            rows: Any = [record]
        elif shape is not None and (len(shape) == 1 or (len(shape) == 2 and shape[0] == 1)):
            rows = record[None] if len(shape) == 1 else record
        else:
            raise TallyBayesError(
                "a record is a mapping from columns to values, or one row, not "
                f"{type(record).__name__}{'' if shape is None else f' of shape {shape}'}; for many "
                "rows call explain_all"
            )
        with warnings.catch_warnings():  # a row without names is meant by its order
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            source = self.source_of(rows)
        values = record_at(source, 0)
        names = values if isinstance(source, Frame) else self.schema_.names
        return dict(zip(names, values.values(), strict=True))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all; `tallybayes.load` reads it.

        Parameters
        ----------
        path
            The file, by custom with the ending ``.tally``.
        """
        fitted, name = self._to_store(), type(self).__name__
        rows = int(fitted.tally.rows.sum())
        provenance = Provenance.now(None, rows, said=f"{name}: {rows} rows")
        save(path, Stored(fitted, provenance, {"name": name, **self._to_keep()}))

    def _to_store(self) -> Fitted:
        """Return what was fitted, in families that are known without this estimator."""
        return self.fitted_

    def _to_keep(self) -> dict[str, Any]:
        """Return the parameters that do not follow from what was fitted; and "state", if any."""
        known = self._parameters_of(self.fitted_)
        given = {n: v for n, v in self.get_params(False).items() if n not in known}
        return {
            name: plain(value if isinstance(value, str | np.ndarray | Number | None) else [*value])
            for name, value in given.items()
            if not callable(value)
        }

    @classmethod
    def _parameters_of(cls, fitted: Fitted) -> dict[str, Any]:
        """Return the parameters that follow from what was fitted."""
        return {}

    def _restore(self, fitted: Fitted, state: Mapping[str, Any]) -> None:
        """Take over what was in a file; `state` is what `_to_keep` calls so."""
        names, labels = fitted.tally.schema.inputs, fitted.labels
        features = state.get("features", names)  # those that are dropped among them
        if isinstance(features, int):
            features = NumberedNames(features)
        self._set_names(features, not isinstance(features, NumberedNames))
        labels = np.array(fitted.classes) if labels is None else labels
        self._become(fitted.tally, fitted.recipe, labels, fitted.worth)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name, value in self._tags.items():
            setattr(tags.input_tags, name, value)
        tags.classifier_tags.poor_score = self._poor_score
        return tags
