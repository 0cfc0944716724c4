"""How tables become tallies: opened, settled what their columns are, and grown with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from tallybayes.batches import encode_classes
from tallybayes.errors import TallyBayesError, did_you_mean, number, warn
from tallybayes.estimators.base import Array, TallyClassifier, to_refit
from tallybayes.estimators.checks import (
    checked_labels,
    checked_matrix,
    checked_weights,
    has_names,
    is_table,
    unmixed,
)
from tallybayes.families.categorical import Unseen
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration, How
from tallybayes.model.column_specs import (
    BEST,
    ColumnSpec,
    Resolved,
    column_spec,
    families_for,
    kept_columns,
    needs_labels,
    resolved,
    without_dropped,
    without_numbers,
)
from tallybayes.priors import Fixed, prior_of
from tallybayes.schema import Schema
from tallybayes.sources import Source, Table, as_source, selected
from tallybayes.sources.labels import Label, encode, sorted_labels
from tallybayes.sources.weights import weights_of
from tallybayes.tallies import Tally
from tallybayes.validation.calibration import calibrated, checked_how
from tallybayes.validation.cross_validation import Prepared
from tallybayes.validation.each_row import LeaveOneOut
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.family_choice import FamilyChoice, best_families, numeric_columns


class TableReader(TallyClassifier):
    """A classifier that reads tables; subclasses say what the columns are."""

    columns: Any
    prior: Any
    alpha: float
    unseen: Unseen
    positive: Label | None
    calibration: How | None
    _spec: ColumnSpec
    _calibration: Calibration | None = None
    _choices: Mapping[str, FamilyChoice] = MappingProxyType({})

    def _first(
        self, source: Source, X: Any, y: Any, sample_weight: Any, *, later: bool = False
    ) -> tuple[Tally, Array]:
        """Settle what the columns are and count the first rows; more columns may come `later`."""
        if len(source.names) and not source.n_rows:
            raise TallyBayesError("X has no rows; fit needs some")
        spec = column_spec(without_dropped(self.columns), source.names, later=later)
        said, self._spec = self._settled(spec, source, y, sample_weight)
        schema = Schema.infer(source, said, target=_target(y, source.names))
        return self._count(source, y, sample_weight, schema)

    def _settled(self, spec: ColumnSpec, source: Source, y: Any, sample_weight: Any) -> Resolved:
        """Return what is said of the columns, with the families and edges that had to be found."""
        spec = self._with_best(spec, source, y, sample_weight)
        if not needs_labels(spec):
            return Resolved(spec.of_all or spec.by_name, spec)
        labels = encode_classes(checked_labels(self, y, source.n_rows), source.n_rows)
        weights = weights_of(checked_weights(sample_weight, source.n_rows), source.n_rows)
        return resolved(spec, source, labels, weights)

    def _with_best(
        self, spec: ColumnSpec, source: Source, y: Any, sample_weight: Any
    ) -> ColumnSpec:
        """Return what is said with the families that suit best where that is what is asked for."""
        asked = [name for name, word in spec.by_name.items() if word is BEST]
        if spec.of_all is BEST:
            asked = [name for name in source.names if name not in spec.by_name]
        elif not asked:
            return spec
        for name in asked:
            if name not in source.names:
                raise TallyBayesError(
                    f"there is no column {name!r}; {did_you_mean(name, source.names)}"
                )
        sample_weight = checked_weights(sample_weight, source.n_rows)
        numeric = numeric_columns(source)
        names = [name for name in asked if name in set(numeric)]
        labels = checked_labels(self, y, source.n_rows)
        alpha = number(self.alpha, "alpha", least=0.0)
        tempered = self.calibration in ("temperature", "weights")
        chosen = best_families(source, names, labels, sample_weight, alpha, tempered)
        self._choices = {**getattr(self, "_choices", {}), **chosen}
        stated = {name: word for name, word in spec.by_name.items() if word is not BEST}
        found = {name: choice.family for name, choice in chosen.items()}
        return ColumnSpec(None, {**found, **stated})

    def _count(
        self, source: Source, y: Any, sample_weight: Any, schema: Schema
    ) -> tuple[Tally, Array]:
        """Return the tally of some rows, and their labels as an array."""
        labels = checked_labels(self, y, source.n_rows)
        weights = checked_weights(sample_weight, source.n_rows)
        return Tally.of(source, labels, weights, schema=schema), labels

    def _encoded(
        self, X: Any, y: Any, sample_weight: Any, known: Sequence[Encoded] = ()
    ) -> Prepared:
        """Encode labelled rows, and say how models are estimated from their tallies."""
        fresh: Self = clone(self)
        source = fresh._source(X, reset=True)
        labels = checked_labels(fresh, y, source.n_rows)
        weights = checked_weights(sample_weight, source.n_rows)
        spec = column_spec(without_dropped(fresh.columns), source.names)
        reason = fresh._why_refit(spec)
        if reason:
            return to_refit(labels, source.n_rows, reason)
        fresh._spec = spec
        said, target = spec.of_all or spec.by_name, _target(y, source.names)
        schema = Schema.infer(source, said, target=target)
        fitted = fresh._fitted_from(Tally(schema), ())
        return fresh._prepared(fitted, source, labels, weights, known)

    def _why_refit(self, spec: ColumnSpec) -> str:
        """Return why models have to be fitted anew for every fold, or nothing."""
        if self.calibration is not None:
            return "the calibration is fitted on the rows to learn from"
        if spec.of_all is BEST or any(word is BEST for word in spec.by_name.values()):
            return "families are chosen on the rows to learn from"
        return "where bins are cut depends on the labels" if needs_labels(spec) else ""

    def _calibrate(self, fitted: Fitted, source: Source, labels: Array, weights: Any) -> Fitted:
        """Fit the calibration that the parameters ask for, on the rows that were counted."""
        how = checked_how(self.calibration)
        if how is None:
            return fitted
        weights = checked_weights(weights, source.n_rows)
        data, recipe = self._prepared(fitted, source, labels, weights)[2:4]
        assert data is not None
        assert recipe is not None
        self._calibration = calibrated(data, recipe, how, LeaveOneOut(data, fitted.tally))
        return replace(fitted, recipe=replace(fitted.recipe, calibration=self._calibration))

    @property
    def calibration_(self) -> Calibration | None:
        """The calibration that was fitted, if one was asked for; ``print`` it."""
        return self._state().recipe.calibration

    def _fitted_from(self, tally: Tally, declared: tuple[Label, ...]) -> Fitted:
        """Say how a model is estimated, with the parameters as they are now."""
        families, by_name = families_for(tally.schema, self._spec, self.alpha, self.unseen)
        prior = prior_of(self.prior)
        stated = prior.p if isinstance(prior, Fixed) else tally.classes
        for label in tally.classes:
            if label not in stated:
                hint = did_you_mean(label, stated)
                raise TallyBayesError(f"no prior is stated for class {label!r}; {hint}")
        if self._calibration is not None and self.calibration not in (None, self._calibration.how):
            raise TallyBayesError(
                f"the calibration was fitted as {self._calibration.how!r}, but now the parameters "
                f"say {self.calibration!r}; call fit() to fit it anew"
            )
        calibration = None if self.calibration is None else self._calibration
        reasons = {name: choice.reason for name, choice in self._choices.items()}
        recipe = Recipe(families, by_name, prior, self.positive, calibration, declared, reasons)
        return Fitted(tally, recipe)

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

    def _checked_rows(self, X: Any) -> Source:
        return self._source(X, reset=False)

    def _source(self, X: Any, *, reset: bool) -> Source:
        """Open the rows, and leave out the columns that are dropped."""
        source = self._opened(X, reset=reset)
        names = source.names
        if not reset and not isinstance(source, Table) and hasattr(self, "feature_names_in_"):
            names = self.feature_names_in_.tolist()
        kept = kept_columns(self.columns, names)
        return source if kept is None else selected(source, names, kept)

    def _opened(self, X: Any, *, reset: bool) -> Source:
        """Open the rows; learn (`reset`) or compare their number and names."""
        if isinstance(X, str | Path) or hasattr(X, "collect"):
            as_source(X)  # has the errors about what must be read or collected first
        if _is_text(X):
            raise TallyBayesError(
                "X is a list of texts; TextNB takes that, and NaiveBayes a table with a column of "
                "text: {'text': X} with columns={'text': 'text'}"
            )
        if not is_table(X):
            X = checked_matrix(self, unmixed(X), reset=reset, dtype=None, accept_sparse="csr")
            source = as_source(X)
            names = () if reset else self.schema_.names
            if isinstance(source, Table) and len(names) == len(source.names):
                return source.renamed(names)
            return source
        source = as_source(X)
        if reset:
            self._set_names(source.names, has_names(X))
            return source
        names = self.schema_.names
        if hasattr(self, "feature_names_in_") or set(names) <= set(source.names):
            return source
        if len(source.names) != len(names):
            raise ValueError(
                f"X has {len(source.names)} features, but {type(self).__name__} is expecting "
                f"{len(names)} features as input."
            )
        if has_names(X):
            warn(f"X has feature names, but {type(self).__name__} was fitted without feature names")
        assert isinstance(source, Table)
        return source.renamed(names)

    def _set_names(self, names: Sequence[str], named: bool) -> None:
        """Remember the columns as scikit-learn does."""
        self.n_features_in_ = len(names)
        self.__dict__.pop("feature_names_in_", None)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _grown(self, tally: Tally, source: Source, X: Any, y: Any, sample_weight: Any) -> Tally:
        """Make room for columns that a table has and the tally has not."""
        schema = tally.schema
        if not isinstance(source, Table) or not hasattr(self, "feature_names_in_"):
            return tally
        for target in (schema.target, _target(y, source.names)):
            if target in source.columns and target not in schema.places:
                raise TallyBayesError(
                    f"the labels {target!r} are also a column of the table; take it out of X"
                )
        # what a column is, is open until it has a value
        before = self._spec.by_name
        open_ = {
            n
            for n in tally.empty_columns()
            if n not in before or needs_labels(ColumnSpec(before[n], {}))
        }
        new = [n for n in source.names if n not in schema.places or n in open_]
        if not new:
            return tally
        spec = column_spec(without_numbers(without_dropped(self.columns)), source.names, later=True)
        said_now = {**before, **spec.by_name}
        of_new = ColumnSpec(spec.of_all, {n: said_now[n] for n in new if n in said_now})
        table = Table({name: source.columns[name] for name in new}, source.n_rows)
        said, of_new = self._settled(of_new, table, y, sample_weight)
        more = Schema.infer(table, said, target=schema.target)
        self._spec = ColumnSpec(spec.of_all, {**before, **of_new.by_name})
        grown = tally.with_schema(schema.joined(more, overruled=open_))
        self._set_names(grown.schema.names, named=True)
        return grown

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags


def _is_text(X: Any) -> bool:
    """Tell whether X is texts in a row instead of rows and columns."""
    first = X[0] if isinstance(X, list | tuple | np.ndarray) and len(X) else None
    return isinstance(first, str)


def _target(y: Any, names: Sequence[str]) -> str:
    """Return the name of the labels, or one that no column has."""
    name = getattr(y, "name", None)
    if name and isinstance(name, str):
        return name
    name = "class"
    while name in names:
        name += "_"
    return name
