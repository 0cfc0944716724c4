"""`NaiveBayes`: one estimator for tables of numbers, categories, yes-or-no and counts together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

import numpy as np
from msgspec import structs

from tallybayes.arrays import Array
from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.estimators.base import Labelled, TallyClassifier
from tallybayes.estimators.checks import (
    checked_labels,
    checked_matrix,
    checked_weights,
    has_names,
    is_table,
    named_labels,
    unmixed,
)
from tallybayes.evidence.appraisal import appraised
from tallybayes.families.categorical import Unseen
from tallybayes.model import Fitted, Learner, Recipe, most_informative
from tallybayes.model.calibration import Calibration, How
from tallybayes.model.doubts import warn_of
from tallybayes.model.first_rows import schema_of
from tallybayes.model.gaps import REMEDY, Missing, ignored_gaps, sentence_of
from tallybayes.model.specification import (
    DROP,
    ColumnSpec,
    by_column,
    column_spec,
    require_classes,
)
from tallybayes.model.summary import ModelSummary
from tallybayes.model.worth import Worth
from tallybayes.priors import Fixed, Prior, prior_of
from tallybayes.rendering.words import Target, labels_of
from tallybayes.schema import MOST_CATEGORIES, Categories, Schema, require_titles
from tallybayes.sources import Frame, Source, SparseMatrix, as_source, selected
from tallybayes.sources.dates import laid_out
from tallybayes.sources.labels import Label, encode, refuse_quantity, sorted_labels
from tallybayes.tallies import Tally
from tallybayes.validation.calibration import calibrated, checked_how
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.validation.prepared import is_part


class NaiveBayes(TallyClassifier):
    """Naive Bayes for mixed tables: every column gets the family that suits it.

    Parameters
    ----------
    columns : "auto", a family, or a mapping of columns to families
        "auto" goes by the type: text, booleans and categoricals are categorical, decimal numbers
        Gaussian, sparse matrices multinomial; integers are categorical if they have at most 20
        values, ten times each on average, and Gaussian otherwise. A mapping overrules that for some
        columns: its keys are names, numbers, or ``...`` for all columns that are not named; its
        values are families (``Bernoulli(threshold=3)``), their names ("bernoulli"), or kinds
        (``Categories()``); "auto" goes by the type, and "drop" leaves the column out:
        ``{"age": "auto", ...: "drop"}``. Columns of dates, by their type or because all of their
        text is ISO 8601, are laid out as columns of year, month, weekday, hour and days gone by;
        "date" says so, and "date:Europe/Berlin" in which time zone.
        ``Bins()`` without edges is cut where the labels of the first rows tell the classes apart,
        and later rows keep to those edges.
    prior : "empirical", "smoothed", "uniform", a mapping of classes to probabilities, or a prior
        What is believed of the classes beforehand.
    alpha : float
        Smoothing, for every column whose family does not state its own.
    unseen : {"ignore", "smooth", "error"}
        What a category does that was never counted: leave its factor out, count as a category that
        no row has, or be refused. For every column whose family does not ask for more.
    positive : label, optional
        A class that wins only when it is strictly more probable than all others.
    calibration : {"temperature", "weights", "words"}, optional
        What corrects over-confidence, fitted on leave-one-out posteriors: one exponent for all
        evidence, or one a column; and one for the prior, unless it is stated or uniform. With
        "words" each word of a text has an exponent too, and each class a constant.
    missing : {"ignore", "evidence"}
        What a missing value does: leave its column's factor out, or count as a value. Then whether
        a column has a value is a factor of its own, of Laplace's shares, once some row has none.
    labels : mapping of classes to names, optional
        What sentences, tables and pictures call the classes: ``{0: "repaid", 1: "default"}``.
        What `predict` returns, and what is asked for, stay the classes themselves.
    titles : mapping of columns to texts, optional
        What sentences, tables and pictures call columns: ``{"DebtRatio": "debts per income"}``; a
        column of dates hands its title on to its parts. Data, code, JSON and errors about columns
        have their names.

    Attributes
    ----------
    classes_ : array
        The labels, sorted: the order of all columns of probabilities.
    schema_ : Schema
        What each column was taken for, and why; ``print(model.schema_)``, or see `summary`.
    tally_ : Tally
        Everything that was counted; it adds, subtracts and can be stored.
    model_ : Model
        The model estimated from it: parameters, single records, decisions by loss.
    calibration_ : Calibration or None
        The exponents, and what they gain; ``print(model.calibration_)``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from tallybayes import NaiveBayes
    >>> table = {"income": [125.0, 100.0, 70.0, 95.0], "owner": ["Yes", "No", "No", None]}
    >>> model = NaiveBayes().fit(table, ["No", "No", "Yes", "Yes"])
    >>> model.predict({"owner": ["Yes"], "income": [110.0]}).tolist()
    ['No']
    >>> print(model.summary())
    4 rows, to predict 'class': 2 'No', 2 'Yes'
    column  family                  missing  why
    income  Gaussian()                       decimal numbers
    owner   Categorical(alpha=1.0)        1  text
    """

    _tags: ClassVar[Mapping[str, bool]] = dict.fromkeys(
        ("allow_nan", "categorical", "sparse", "string"), True
    )
    columns: Any
    prior: Any
    missing: Missing | None = None  # of estimators that do not ask
    labels: Mapping[Any, str] | None = None
    titles: Mapping[str, str] | None = None
    _spec: ColumnSpec

    def __init__(
        self,
        columns: Any = "auto",
        *,
        prior: Any = "empirical",
        alpha: float = 1.0,
        unseen: Unseen = "ignore",
        positive: Label | None = None,
        calibration: How | None = None,
        missing: Missing = "ignore",
        labels: Mapping[Any, str] | None = None,
        titles: Mapping[str, str] | None = None,
    ) -> None:
        self.columns = columns
        self.prior = prior
        self.alpha = alpha
        self.unseen = unseen
        self.positive = positive
        self.calibration = calibration
        self.missing = missing
        self.labels = labels
        self.titles = titles

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``columns__age="bins"`` says what one column is, and leaves the others.

        Parameters
        ----------
        **params
            As scikit-learn has them.
        """
        own = {key: params.pop(key) for key in [*params] if key.startswith("columns__")}
        super().set_params(**params)
        if own:
            said = {key.removeprefix("columns__"): word for key, word in own.items()}
            self.columns = {**by_column(self.columns), **said}
        return self

    def _estimated(self, rows: Labelled, tally: Tally) -> tuple[Tally, Recipe, Worth | None]:
        warn_of(tally.schema)
        if self.missing == "ignore" and (telling := ignored_gaps(tally)):
            warn(sentence_of(telling), TallyBayesWarning, REMEDY)
        recipe, how, worth = self._recipe(tally, ()), self._how(), None
        if how is None:
            worth = appraised(tally, recipe, rows.X, rows.labels, rows.weights)
            if worth is not None and worth.held_out.is_worse:
                warn(worth.warning(None, tally.schema.target), TallyBayesWarning)
        else:
            ready = self._prepared(tally.schema, recipe, rows)
            left_out = LeaveOneOut(ready.data, tally)
            self._calibration = calibrated(ready.data, ready.recipe, how, left_out)
            recipe = replace(recipe, calibration=self._calibration)
        return tally, recipe, worth

    def _how(self) -> How | None:
        """Return how evidence is weighed, if it is."""
        return checked_how(self.calibration)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; any sequence of calls gives what one `fit` on all rows gives.

        What a column is, is settled by the first batch that has a value of it: declare integers
        whose first batch may mislead. New classes and categories may arrive at any time, and in
        tables new columns too: they were missing before. Several threads may call it.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes
            Classes that belong to the model whether or not a row of them arrives; not needed.
        """
        with self._all_or_nothing():
            before: Fitted | None = vars(self).get("_fitted")
            if before is None and self._how() is not None:
                raise TallyBayesError(
                    "a calibration is fitted on all rows: call fit() with a first batch, then "
                    "partial_fit(), which keeps it"
                )
            rows = self._labelled(X, y, sample_weight, reset=before is None, later=True)
            if before is None:
                known: tuple[Label, ...] = ()
                tally = self._tally(rows)
            else:
                known = before.recipe.declared_classes
                room = self._with_new_columns(before.tally, rows)
                more = Tally.of(rows.X, rows.labels, rows.weights, schema=room.schema)
                tally = room + more
                _warn_of_outgrown(room, tally)
            recipe = self._recipe(tally, self._declared(known, classes))
            return self._become(tally, recipe, rows.labels)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Uncount rows that were counted: the model becomes the one that never saw them.

        What cannot be right (a row that was never counted) is refused, and the model stays as it
        was.

        Parameters
        ----------
        X, y, sample_weight
            The rows as they were counted. A table may lack columns that came later.
        """
        with self._all_or_nothing():
            before = self.fitted_
            source, labels, weights, _ = self._labelled(X, y, sample_weight, reset=False)
            if isinstance(source, Frame):
                source = Frame(source.columns, source.n_rows, of_records=True)
            tally = before.tally - Tally.of(source, labels, weights, schema=before.tally.schema)
            declared = self._declared(before.recipe.declared_classes)
            return self._become(tally, self._recipe(tally, declared))

    def learner(self) -> Learner:
        """Return what learns and scores single records in microseconds, from all that was learnt.

        It has a tally of its own, which `take_over` brings back.

        Examples
        --------
        >>> from tallybayes import NaiveBayes
        >>> visits = {"pages": [1.0, 2.0, 9.0, 8.0]}
        >>> model = NaiveBayes().fit(visits, ["no", "no", "yes", "yes"])
        >>> learner = model.learner()
        >>> before = learner.test_then_learn({"pages": 7.0}, "yes")
        >>> model.take_over(learner).tally_.rows.tolist()
        [2, 3]
        """
        return Learner(self.fitted_)

    def take_over(self, learner: Learner) -> Self:
        """Become what a learner has come to, which this model made.

        Parameters
        ----------
        learner
            What `learner` returned; it may learn on.
        """
        with self._all_or_nothing():
            before, tally = self.fitted_, learner.fitted.tally
            if tally.schema != before.tally.schema:
                raise TallyBayesError(
                    "the learner counts other columns than this model; take one that "
                    "model.learner() returned since columns were added"
                )
            return self._become(tally, self._recipe(tally, before.recipe.declared_classes))

    def merge(self, other: Self) -> Self:
        """Add what another model has counted; the result is the model of all rows together.

        Columns that only one of them has were missing in the other. This model's parameters hold.
        """
        if type(other) is not type(self):
            name = type(self).__name__
            raise TallyBayesError(f"a {name} merges with another, not with {type(other).__name__}")
        with self._all_or_nothing():
            mine, theirs = self.fitted_, other.fitted_
            named = hasattr(self, "feature_names_in_") and hasattr(other, "feature_names_in_")
            a, b = mine.tally.schema, theirs.tally.schema
            if not named and set(a.names) != set(b.names):
                raise TallyBayesError(
                    f"the two models have different columns ({len(a.names)} and {len(b.names)}), "
                    "not all of them with names; fit both on tables with names, or on arrays of "
                    "the same width"
                )
            tally = mine.tally.united(theirs.tally)
            of_both = {n: w for n, w in other._spec.by_name.items() if n in b.places}
            of_theirs = {n: other._spec.of(n) for n in b.names if n not in a.places}
            said = {**of_both, **self._spec.by_name, **of_theirs}
            self._spec = ColumnSpec(self._spec.rest, said)
            self._set_names(tally.schema.inputs, hasattr(self, "feature_names_in_"))
            classes = (*mine.recipe.declared_classes, *theirs.recipe.declared_classes)
            declared = sorted_labels(classes, "the classes")
            return self._become(tally, self._recipe(tally, declared))

    def __add__(self, other: Self) -> Self:
        """Return a new model of the rows of both."""
        if type(other) is not type(self):
            return NotImplemented
        return copy(self).merge(other)

    def __radd__(self, other: object) -> Self:
        """Let sum() begin with 0."""
        return copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def _why_refit(self, rows: Labelled) -> str:
        if self.calibration is not None:
            return "the calibration is fitted on the rows to learn from"
        return "where bins are cut depends on the labels" if self._spec.needs_labels else ""

    def sample(
        self, n: int, given: Mapping[str, Any] | None = None, seed: Any = None
    ) -> dict[str, Array]:
        """Draw n whole plausible records, labels included, with values `given`: `Model.sample`."""
        return self.model_.sample(n, given, seed)

    def most_informative(
        self, n: int = 10, between: tuple[Label, Label] | None = None, column: str | None = None
    ) -> dict[Label, list[Any]]:
        """Return for each class up to n words, or values, that were seen in it and speak for it.

        See `tallybayes.model.most_informative`.
        """
        return most_informative(self.fitted_, n, between, column)

    def summary(self) -> str:
        """Say what was counted, and for each column its family and the reason for it."""
        return ModelSummary(self.fitted_).to_text(width=10_000)

    def _html_repr(self) -> str:
        try:
            diagram: str = super()._html_repr()
        except TallyBayesError:  # everything was forgotten, so there is no model to show
            diagram = f"<pre>{escape(repr(self))}</pre>"
        if vars(self).get("_fitted") is None:
            return diagram
        summary = ModelSummary(self.fitted_)
        head, body = f"<summary>{escape(summary.caption)}</summary>", summary.to_html(styled=False)
        return f"{diagram}<details>{head}{body}</details>"

    @property
    def calibration_(self) -> Calibration | None:
        """The calibration that was fitted, if one was asked for; ``print`` it."""
        found, model = self.fitted_.recipe.calibration, self.model_
        if found is None or not self.schema_.titles:
            return found
        titled = {name: name for name in (*model.units, *(f.title for f in model.factors))}
        of_units = {titled.get(name, name): e for name, e in found.exponents.items()}
        return structs.replace(found, exponents=of_units)

    def _recipe(self, tally: Tally, declared: tuple[Label, ...]) -> Recipe:
        families, by_name = self._spec.families(tally.schema, self.alpha, self.unseen)
        prior = self._stated_prior(Recipe(declared_classes=declared).classes(tally))
        if isinstance(prior, Fixed):
            prior.require(tally.classes)
        if self._calibration is not None and self.calibration not in (None, self._calibration.how):
            raise TallyBayesError(
                f"the calibration was fitted as {self._calibration.how!r}, but now the parameters "
                f"say {self.calibration!r}; call fit() to fit it anew"
            )
        calibration = None if self.calibration is None else self._calibration
        return Recipe(families, by_name, prior, self.positive, calibration, declared)

    def _stated_prior(self, classes: tuple[Label, ...]) -> Prior:
        """Return the prior that the parameters ask for."""
        return prior_of(self.prior)

    def _declared(self, before: tuple[Label, ...], classes: Any = None) -> tuple[Label, ...]:
        """Return the classes that the user has spoken of."""
        said = set(before)
        if classes is not None:
            said |= set(encode(checked_labels(self, classes, len(classes)), "classes").labels)
        prior = prior_of(self.prior)
        if isinstance(prior, Fixed):
            said |= set(prior.p)
        if self.positive is not None:
            said.add(self.positive)
        return sorted_labels(said, "the classes")

    def _schema_of(self, rows: Any = None) -> Schema:
        """Say what columns are, with the edges that have to be found."""
        source, labels, weights, target = rows
        schema, self._spec = schema_of(source, labels, weights, self._spec, target)
        schema = schema.titled(self.titles)
        if self.missing not in (None, *get_args(Missing)):
            raise TallyBayesError(f"missing is {self.missing!r}; say 'ignore' or 'evidence'")
        gaps = self.missing == "evidence" and not isinstance(source, SparseMatrix)
        return schema.with_gaps() if gaps else schema

    def _with_new_columns(self, tally: Tally, rows: Labelled) -> Tally:
        """Make room for columns that a table has and the tally has not."""
        schema, source = tally.schema, rows.X
        if not isinstance(source, Frame) or not hasattr(self, "feature_names_in_"):
            return tally
        for target in (schema.target, rows.target):
            if target in source.columns and target not in schema.places:
                raise TallyBayesError(
                    f"the labels {target!r} are also a column of the table; take it out of X"
                )
        # what a column is, is open until it has a value
        open_ = {name for name in tally.empty_columns() if self._spec.is_open(name)}
        new = [n for n in source.names if n not in schema.places or n in open_]
        if not new:
            return tally
        table = selected(source, source.names, new)
        more = self._schema_of(rows._replace(X=table, target=schema.target))
        grown = tally.with_schema(schema.joined(more, overruled=open_))
        self._set_names(grown.schema.inputs, named=True)
        return grown

    def _labelled(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, later: bool = False
    ) -> Labelled:
        """Check rows to learn from; columns that are spoken of may come `later`."""
        source = self._rows(X, reset=reset)
        if not len(source.names) or (reset and not source.n_rows):
            what = "rows" if len(source.names) else "columns"
            raise TallyBayesError(f"X has no {what}; fit needs some")
        if reset and not later:
            self._spec.require(source.names)
        labels = named_labels(self, y, source.n_rows)
        target = Target.of(_target(y, source.names), self.labels)
        if reset and not later:
            if not is_part():
                self._require_classes(labels)
            dates = dict(source.dates) if isinstance(source, Frame) else ()
            dropped = filter(None, self._spec.dropped())
            require_titles(self.titles, [*source.names, *dates, *dropped])
        if reset and not later and labels.dtype.kind in "iuf":
            refuse_quantity("y", encode(labels, "y").labels, len(labels))
        weights = checked_weights(sample_weight, source.n_rows)
        return Labelled(source, labels, weights, target)

    def _require_classes(self, labels: Any) -> None:
        """Refuse names of classes that are none."""
        if self.labels:
            there = (*np.unique(labels).tolist(), *self._declared(()))
            require_classes(self.labels, there)

    def _rows(self, X: Any, *, reset: bool) -> Source:
        """Open the rows, and leave out the columns that are dropped."""
        source = self._opened(X, reset=reset)
        if reset:
            self._spec = column_spec(self.columns, source.names)
            source, self._spec = self._spec.laid_out(source)
        else:
            source = laid_out(source, self.schema_.dates, self.schema_.names)
        names = source.names
        if not reset and not isinstance(source, Frame) and hasattr(self, "feature_names_in_"):
            names = self.feature_names_in_.tolist()
        kept = self._spec.kept(names)
        return source if len(kept) == len(names) else selected(source, names, kept)

    def _opened(self, X: Any, *, reset: bool) -> Source:
        """Open the rows; learn (`reset`) or compare their number and names."""
        if isinstance(X, str | Path) or hasattr(X, "collect"):
            as_source(X)  # has the errors about what must be read or collected first
        if isinstance(X, list | tuple | np.ndarray) and len(X) and isinstance(X[0], str):
            raise TallyBayesError(
                "X is a list of texts; TextNB takes that, and NaiveBayes a table with a column of "
                "text: {'text': X} with columns={'text': 'text'}"
            )
        if not is_table(X):
            X = checked_matrix(self, unmixed(X), reset=reset, dtype=None, accept_sparse="csr")
            source = as_source(X)
            names = () if reset else self.schema_.names
            if isinstance(source, Frame) and len(names) == len(source.names):
                return source.renamed(names)
            return source
        source = as_source(X)
        if reset:
            self._set_names(source.names, has_names(X))
            return source
        names = self.schema_.inputs
        if hasattr(self, "feature_names_in_") or set(names) <= set(source.names):
            return source
        if len(source.names) != len(names):
            raise ValueError(
                f"X has {len(source.names)} features, but {type(self).__name__} is expecting "
                f"{len(names)} features as input."
            )
        if has_names(X):
            warn(f"X has feature names, but {type(self).__name__} was fitted without feature names")
        assert isinstance(source, Frame)
        return source.renamed(names)

    def _to_keep(self) -> dict[str, Any]:
        state: dict[str, Any] = {"dropped": self._spec.dropped()}
        if hasattr(self, "feature_names_in_"):
            state["features"] = self.feature_names_in_.tolist()
        elif hasattr(self, "n_features_in_"):
            state["features"] = self.n_features_in_
        return {**super()._to_keep(), "alpha": float(self.alpha), "state": state}

    @classmethod
    def _parameters_of(cls, fitted: Fitted) -> dict[str, Any]:
        schema, recipe = fitted.tally.schema, fitted.recipe
        families = {name: recipe.family_of(schema, name).bound(kind) for name, kind, _ in schema}
        how = None if recipe.calibration is None else recipe.calibration.how
        known = {"prior": recipe.prior, "positive": recipe.positive, "calibration": how}
        called = labels_of(schema.target)
        labels = {each: called[str(each)] for each in fitted.classes if str(each) in called}
        titles = {n: title for n, title in schema.titles.items() if n in schema.places}
        more = {"labels": labels or None, "titles": titles or None}
        return {"columns": families, **known, **more}

    def _restore(self, fitted: Fitted, state: Mapping[str, Any]) -> None:
        super()._restore(fitted, state)
        for name in state.get("dropped", ()):  # of which what was fitted knows nothing
            self.columns[... if name is None else name] = DROP
        self._spec = column_spec(self.columns, fitted.tally.schema.names)
        self._calibration = fitted.recipe.calibration


def _target(y: Any, names: Sequence[str]) -> str:
    """Return the name of the labels, or one that no column has."""
    name = getattr(y, "name", None)
    if not name or not isinstance(name, str):
        name = "class"
        while name in names:
            name += "_"
    return name


def _warn_of_outgrown(before: Tally, after: Tally) -> None:
    """Say so when integers that were taken for categories turn out to have many values."""
    for group, old, new in zip(after.schema.groups, before.blocks, after.blocks, strict=True):
        names = after.schema.names_of(group) if isinstance(group.kind, Categories) else ()
        for unit, name in enumerate(names):
            if not after.schema.reason(name).startswith("integers"):
                continue
            few, many = (block.support(unit, group.kind) for block in (old, new))
            if few and many and len(few.values) <= MOST_CATEGORIES < len(many.values):
                warn(
                    f"column {name!r} has {len(many.values)} distinct integers by now; it counts "
                    "as categories because the first batch had few. If it is a number on a scale, "
                    f"fit anew with columns={{{name!r}: 'gaussian'}}",
                    TallyBayesWarning,
                )
