"""The drop-in `CategoricalNB`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from tallybayes.arrays import Array, Floats
from tallybayes.errors import TallyBayesError
from tallybayes.estimators.checks import AT_LEAST_0, Rule
from tallybayes.estimators.drop_in import Smoothed
from tallybayes.families import Categorical, Family
from tallybayes.families.categorical import CategoricalParameters, Unseen
from tallybayes.families.left_out import LeaveOneOutTask, LeftOut, TablesLeftOut, left_out
from tallybayes.families.parameters import ColumnInfo
from tallybayes.model import Fitted
from tallybayes.schema import Categories, Schema
from tallybayes.tallies import Codes

MOST_CATEGORIES = 1_000_000  # of a column: each of them takes memory, whether it occurs or not


class ScikitLearnCategorical(Categorical, frozen=True):
    """Categories 0, 1, ... up to the greatest that was seen, or more if the user says so."""

    at_least: tuple[int, ...] = ()

    def repeated(self, unit: int, n: int) -> ScikitLearnCategorical:
        return structs.replace(self, at_least=(self.at_least[unit],) * n)

    def widths(self, block: Codes) -> list[int]:
        """Return for each column how many categories there are."""
        seen = (int(labels[-1]) + 1 if labels else 0 for labels in block.labels)
        return list(map(max, seen, self.at_least))

    def completed(self, block: Codes) -> Codes:
        """Return the counts with a place for every category from 0 on."""
        return block.with_labels(tuple(tuple(range(width)) for width in self.widths(block)))

    def estimate(self, counted: Codes, info: ColumnInfo) -> CategoricalParameters:
        for name, width in zip(info.names, self.widths(counted), strict=True):
            if width > MOST_CATEGORIES:
                raise TallyBayesError(
                    f"column {name!r} holds {width - 1:,}: a table from 0 on would have {width:,} "
                    "categories. If these are numbers of rows or persons, leave the column out; "
                    "NaiveBayes('categorical') counts only the values that occur"
                )
        return Categorical.estimate(self, self.completed(counted), info)


class CategoricalNB(Smoothed):
    """scikit-learn's `CategoricalNB`, faster, and open to missing values and new categories.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, min_categories
        As in scikit-learn; categories are the numbers 0, 1, ...
    unseen : {"ignore", "smooth", "error"}
        What a category beyond those does in prediction: leave its factor out, count as a category
        that no row has, or be refused. (scikit-learn raises an IndexError.)

    Attributes
    ----------
    classes_, category_count_, class_count_, class_log_prior_, feature_log_prob_, n_categories_, \
n_features_in_, feature_names_in_
        As in scikit-learn.
    tally_ : Tally
        Everything that was counted.

    Examples
    --------
    >>> import numpy as np
    >>> from tallybayes import CategoricalNB
    >>> X = np.array([[0, 2], [1, 2], [2, 0]])
    >>> model = CategoricalNB().fit(X, ["ham", "ham", "spam"])
    >>> model.predict([[2, 0], [7, 2]]).tolist()
    ['spam', 'ham']
    """

    _tags: ClassVar[Mapping[str, bool]] = {
        **Smoothed._tags,
        "categorical": True,
        "positive_only": True,
    }
    _poor_score: ClassVar[bool] = True
    _rules: ClassVar[Mapping[str, Rule]] = {
        **Smoothed._rules,
        "alpha": AT_LEAST_0,
        "min_categories": (
            "None, an array-like or an int in the range [1, inf)",
            lambda k: k is None or np.ndim(k) > 0 or (isinstance(k, Integral) and int(k) >= 1),
        ),
        "unseen": (
            "a str among {'error', 'ignore', 'smooth'}",
            lambda value: value in ("ignore", "smooth", "error"),
        ),
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        unseen: Unseen = "ignore",
    ) -> None:
        super().__init__(
            alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior
        )
        self.min_categories = min_categories
        self.unseen = unseen

    def _schema_of(self, rows: Any = None) -> Schema:
        return Schema.same(self._names(), Categories())

    def _family(self, alpha: Any) -> Family:
        return ScikitLearnCategorical(float(alpha), unseen=self.unseen, at_least=self._at_least())

    def _at_least(self) -> tuple[int, ...]:
        """Return for each column how many categories there are at least."""
        stated = np.array(0 if self.min_categories is None else self.min_categories)
        if stated.dtype.kind != "i":
            raise ValueError(
                f"'min_categories' should have integral type. Got {stated.dtype} instead."
            )
        if stated.shape not in ((), (self.n_features_in_,)):
            raise ValueError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like "
                f"is provided. Got {stated.shape} instead."
            )
        return tuple(np.broadcast_to(stated, self.n_features_in_).tolist())

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return _whole(super()._rows(X, reset=reset), self._names())

    def _by_column(self, values: Floats) -> list[Floats]:
        """Cut what is side by side for all categories of all columns."""
        return np.split(values, np.cumsum(self.n_categories_)[:-1], axis=1)

    def _to_store(self) -> Fitted:
        """Declare the categories, so that the model is the same without this estimator's family."""
        fitted, tables = self.fitted_, self._parameters
        schema = Schema.of(self._names(), [Categories(labels) for labels in tables.labels])
        family = Categorical(float(self._check_alpha()), unseen=self.unseen)
        recipe = replace(fitted.recipe, families=(family,))
        return replace(fitted, tally=fitted.tally.with_schema(schema), recipe=recipe)

    @property
    def category_count_(self) -> list[Floats]:
        """For each column the weight of each category (across) in each class (down)."""
        return self._by_column(self._block.with_labels(self._parameters.labels).weight)

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """For each column the log probability of each category (across) in each class (down)."""
        return self._by_column(self._parameters.log_probabilities)

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """The number of categories of each column."""
        return np.array([len(labels) for labels in self._parameters.labels], np.int64)


def _whole(X: Array, names: Sequence[str]) -> Any:
    """Return numbers as whole numbers, cut off as scikit-learn does; NaN stays missing."""
    if X.dtype.kind in "iu" and not np.fmin.reduce(X, axis=None, initial=0):
        return X
    for bad, what in ((X <= -1, "Negative values"), (np.isinf(X), "Values of infinity")):
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise TallyBayesError(
                f"{what} in data passed to CategoricalNB (input X): column {names[column]!r} is "
                f"{X[row, column]} in row {row}; categories are the numbers 0, 1, ..."
            )
    return np.trunc(X) if np.isnan(X).any() else X.astype(np.int64)


@left_out.register
def _leave_out(family: ScikitLearnCategorical, task: LeaveOneOutTask) -> LeftOut:
    """Leave a row out; the only row of the greatest category takes that with it."""
    counted, places = family.completed(task.counted), task.places
    rows, last = counted.rows.sum(axis=0), np.zeros(places.shape, bool)
    for j, here in enumerate(counted.columns()):
        width = here.stop - here.start
        if width > family.at_least[j] and rows[here.stop - 1] == 1:
            last[:, j] = places[:, j] == width - 1
    return TablesLeftOut(task, last)
