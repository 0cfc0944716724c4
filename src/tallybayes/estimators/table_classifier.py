"""What learns from tables, unlearns and adds up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import copy
from html import escape
from typing import Any, Self

from tallybayes.errors import TallyBayesError
from tallybayes.estimators.base import Array
from tallybayes.estimators.summary import as_html, as_text, warn_of_outgrown
from tallybayes.estimators.table_reader import TableReader
from tallybayes.model import Fitted, most_informative
from tallybayes.model.column_specs import ColumnSpec
from tallybayes.modelfile import Provenance, Stored, save
from tallybayes.schema import Schema
from tallybayes.sources import Table
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.validation.calibration import checked_how


class TableClassifier(TableReader):
    """A classifier of tables: learns, unlearns, merges, samples."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count labelled rows, and forget everything counted before.

        Parameters
        ----------
        X
            The rows: a pandas, polars or Arrow table, a mapping of columns, a list of records, an
            array or a sparse matrix. NaN, None and NA are missing: their factors are left out.
        y
            The label of each row.
        sample_weight
            How often each row counts; once when not given.
        """
        with self._all_or_nothing():
            self._calibration, self._choices = None, {}
            source = self._source(X, reset=True)
            tally, labels = self._first(source, X, y, sample_weight)
            fitted = self._fitted_from(tally, ())
            fitted = self._calibrate(fitted, source, labels, sample_weight)
            fitted.model  # noqa: B018  (a prior or family that does not fit is refused now)
            return self._become(fitted, labels)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; any sequence of calls gives what one `fit` on all rows gives.

        What a column is, is settled by the first batch that has a value of it: declare integers
        whose first batch may mislead. New classes and categories may arrive at any time, and in
        tables new columns too: they were missing before.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes
            Classes that belong to the model whether or not a row of them arrives; not needed.
        """
        with self._all_or_nothing():
            before: Fitted | None = vars(self).get("_fitted")
            if before is None:
                if checked_how(self.calibration) is not None:
                    raise TallyBayesError(
                        "a calibration is fitted on all rows: call fit() with a first batch, then "
                        "partial_fit(), which keeps it"
                    )
                source = self._source(X, reset=True)
                tally, labels = self._first(source, X, y, sample_weight, later=True)
            else:
                source = self._source(X, reset=False)
                tally = self._grown(before.tally, source, X, y, sample_weight)
                more, labels = self._count(source, y, sample_weight, tally.schema)
                grown = tally.plus(more, reuse=True)
                warn_of_outgrown(tally, grown)
                tally = grown
            known = () if before is None else before.recipe.declared_classes
            declared = self._declared(known, classes)
            return self._become(self._fitted_from(tally, declared), labels)

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
            before = self._state()
            source = self._source(X, reset=False)
            if isinstance(source, Table):
                source = Table(source.columns, source.n_rows, of_records=True)
            less, _ = self._count(source, y, sample_weight, before.tally.schema)
            tally = before.tally - less
            declared = self._declared(before.recipe.declared_classes)
            return self._become(self._fitted_from(tally, declared))

    def merge(self, other: Self) -> Self:
        """Add what another model has counted; the result is the model of all rows together.

        Columns that only one of them has were missing in the other. This model's parameters hold.
        """
        if not isinstance(other, type(self)):
            name = type(self).__name__
            raise TallyBayesError(f"a {name} merges with another, not with {type(other).__name__}")
        with self._all_or_nothing():
            mine, theirs = self._state(), other._state()
            named = hasattr(self, "feature_names_in_") and hasattr(other, "feature_names_in_")
            a, b = mine.tally.schema, theirs.tally.schema
            if not named and set(a.names) != set(b.names):
                raise TallyBayesError(
                    f"the two models have different columns ({len(a.names)} and {len(b.names)}), "
                    "not all of them with names; fit both on tables with names, or on arrays of "
                    "the same width"
                )
            # a side that has no value of a column leaves it to the other to say what it is
            mine_open = set(mine.tally.empty_columns()).intersection(b.names)
            theirs_open = set(theirs.tally.empty_columns()).intersection(a.names) - mine_open
            schema = a.joined(b.without(theirs_open), overruled=mine_open)
            tally = mine.tally.with_schema(schema) + theirs.tally.with_schema(schema)
            theirs_alone = [name for name in b.names if name not in a.places]
            of_theirs = {**dict.fromkeys(theirs_alone, other._spec.of_all), **other._spec.by_name}
            of_theirs = {name: word for name, word in of_theirs.items() if word is not None}
            self._spec = ColumnSpec(self._spec.of_all, {**of_theirs, **self._spec.by_name})
            self._set_names(schema.names, hasattr(self, "feature_names_in_"))
            said = (*mine.recipe.declared_classes, *theirs.recipe.declared_classes)
            declared = sorted_labels(said, "the classes")
            return self._become(self._fitted_from(tally, declared))

    def __add__(self, other: Self) -> Self:
        """Return a new model of the rows of both."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return copy(self).merge(other)

    def __radd__(self, other: object) -> Self:
        """Let sum() begin with 0."""
        return copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def sample(
        self, n: int, given: Mapping[str, Any] | None = None, seed: Any = None
    ) -> dict[str, Array]:
        """Draw n whole plausible records, labels included, with values `given`: `Model.sample`."""
        return self._state().model.sample(n, given, seed)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all; `tallybayes.load` reads it.

        Parameters
        ----------
        path
            The file, by custom with the ending ``.tally``.
        """
        fitted = self._state()
        rows = int(fitted.tally.rows.sum())
        said = f"{type(self).__name__}: {rows} rows"
        kept = {"name": type(self).__name__, **self._to_keep()}
        save(path, Stored(fitted, Provenance.now(None, rows, said=said), kept))

    def _to_keep(self) -> dict[str, Any]:
        """Return the parameters that do not follow from what was fitted."""
        return {"alpha": float(self.alpha), "unseen": str(self.unseen)}

    @property
    def schema_(self) -> Schema:
        """What each column was taken for, and why."""
        return self._state().tally.schema

    def most_informative(
        self,
        n: int = 10,
        between: tuple[Label, Label] | None = None,
        column: str | None = None,
    ) -> dict[Label, list[Any]]:
        """Return for each class up to n words, or values, that were seen in it and speak for it.

        A model with a column of text is asked for words, unless another column is named; any
        other model for the categories, intervals, columns of yes or no that are on, and counts
        that tell most. Of a column of numbers no single value tells anything.

        Parameters
        ----------
        n
            How many.
        between
            Two classes, to be told from each other only; when not given, each class from all
            others.
        column
            Only this column; needed if there are several texts.

        Returns
        -------
        dict
            For each class a list of `InformativeValue`, the most telling first: with
            the logarithm of how much more probable each is in this class than elsewhere, and its
            counts here and elsewhere.
        """
        return most_informative(self._state(), n, between, column)

    def summary(self) -> str:
        """Say what was counted, and for each column its family and the reason for it."""
        return as_text(self._state())

    def _html_repr(self) -> str:
        fitted: Fitted | None = vars(self).get("_fitted")
        try:
            diagram: str = super()._html_repr()
        except TallyBayesError:  # everything was forgotten, so there is no model to show
            diagram = f"<pre>{escape(repr(self))}</pre>"
        return diagram if fitted is None else diagram + as_html(fitted)
