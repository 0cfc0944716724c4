"""The drop-in `CategoricalNB`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from tallybayes.batches import Block, Coded
from tallybayes.errors import TallyBayesError
from tallybayes.estimators.base import Array, Floats
from tallybayes.estimators.dropin import Smoothed
from tallybayes.families import Categorical, CategoricalParameters, Family
from tallybayes.families.categorical import Unseen
from tallybayes.families.left_out import LeaveOneOutTask, LeftOut, left_out
from tallybayes.families.left_out_counts import TablesLeftOut, by_place
from tallybayes.families.parameters import ColumnInfo
from tallybayes.kernels import scoring
from tallybayes.schema import Categories, Schema
from tallybayes.sources import ArrowColumn, Table
from tallybayes.tallies import Codes, Tally


@dataclass(frozen=True, slots=True)
class ScikitLearnCategorical(Family):
    """Categories 0, 1, ... up to the greatest that was seen, or more if the user says so."""

    alpha: float
    unseen: Unseen
    at_least: tuple[int, ...]

    @property
    def kind(self) -> Categories:
        """What must have been counted: values."""
        return Categories()

    def repeated(self, unit: int, n: int) -> ScikitLearnCategorical:
        """Return the family that estimates n units that are all like one."""
        return replace(self, at_least=(self.at_least[unit],) * n)

    def completed(self, block: Codes) -> Codes:
        """Return the counts with a place for every category from 0 on."""
        widths = zip(block.labels, self.at_least, strict=True)
        return block.with_labels(
            tuple(tuple(range(max(int(each[-1]) + 1 if each else 0, k))) for each, k in widths)
        )

    def estimate(self, counted: Codes, info: ColumnInfo) -> CategoricalParameters:
        """Turn counts of values into probabilities."""
        like = Categorical(self.alpha, unseen=self.unseen)
        tables = like.estimate(self.completed(counted), info)
        return NonNegativeParameters(**vars(tables))


@dataclass(frozen=True, eq=False)
class NonNegativeParameters(CategoricalParameters):
    """Tables that refuse negative categories."""

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns to `out`, of rows and classes."""
        assert isinstance(block, Coded)
        outside = scoring.codes(*self._lookup(block), out)
        # only codes outside the tables can be negative, so a look at all is rarely needed
        if block.labels is None and outside and block.codes.min() < 0:
            raise negative(block.codes, self.names)


class CategoricalNB(Smoothed):
    """scikit-learn's `CategoricalNB`, faster, and open to missing values and new categories.

    Parameters
    ----------
    alpha : float
        Added to every count.
    force_alpha : bool
        Whether an alpha below 1e-10 is taken as it is.
    fit_prior : bool
        Whether the prior is the share of each class in the data; all alike otherwise.
    class_prior : array of one a class, optional
        The prior, if it is known.
    min_categories : int or array of one a column, optional
        How many categories there are at least; they are the numbers 0, 1, ...
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Smoothed._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "unseen": [StrOptions({"ignore", "smooth", "error"})],
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

    def _schema(self) -> Schema:
        return Schema.same(self._names(), Categories())

    _without_weight: Any = 0

    def _family(self, alpha: Any) -> Family:
        at_least = np.maximum(self._at_least(), self._without_weight)
        return ScikitLearnCategorical(float(alpha), self.unseen, tuple(at_least.tolist()))

    def _at_least(self) -> tuple[int, ...]:
        """Return for each column how many categories there are at least."""
        if self.min_categories is None:
            return (0,) * self.n_features_in_
        stated = np.array(self.min_categories)
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

    def _tally(self, X: Any, y: Array, weights: Any) -> Tally:
        values, X = X, categories(X, self._names())
        tally = super()._tally(X, y, weights)
        if vars(self).get("_fitted") is None:
            self._without_weight = np.zeros(self.n_features_in_, np.int64)
        if weights is not None and not weights.all():
            # rows that do not count still show which categories there are, as in scikit-learn
            everything = super()._tally(X, np.zeros(len(y), int), None).blocks[0]
            assert isinstance(everything, Codes)
            widths = [int(each[-1]) + 1 if each else 0 for each in everything.labels]
            self._without_weight = np.maximum(self._without_weight, widths)
        block = tally.blocks[0]
        assert isinstance(block, Codes)
        if any(each and each[0] < 0 for each in block.labels):  # type: ignore[operator]
            raise negative(values, self._names())
        return tally

    def _checked_rows(self, X: Any) -> Any:
        return categories(super()._checked_rows(X), self._names())

    def _tables(self) -> tuple[Codes, CategoricalParameters]:
        """Return the counts and the probabilities of every category from 0 on."""
        fitted = self._state()
        family, tables = fitted.recipe.families[0], fitted.model.factors[0].parameters
        block = fitted.tally.with_classes(fitted.classes).blocks[0]
        assert isinstance(family, ScikitLearnCategorical)
        assert isinstance(block, Codes)
        assert isinstance(tables, CategoricalParameters)
        return family.completed(block), tables

    @property
    def category_count_(self) -> list[Floats]:
        """For each column the weight of each category (across) in each class (down)."""
        block, _ = self._tables()
        return [block.weight[:, here] for here in block.columns()]

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """For each column the log probability of each category (across) in each class (down)."""
        block, tables = self._tables()
        return [tables.log_probabilities[:, here] for here in block.columns()]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """The number of categories of each column."""
        block, _ = self._tables()
        return np.array([len(each) for each in block.labels], np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags


def negative(X: Array, names: Sequence[str]) -> TallyBayesError:
    """Build the error about a negative category, in scikit-learn's words and with its place."""
    row, column = map(int, np.argwhere(X < 0)[0])
    return TallyBayesError(
        f"Negative values in data passed to CategoricalNB (input X): column {names[column]!r} is "
        f"{X[row, column]} in row {row}; categories are the numbers 0, 1, ..."
    )


def categories(X: Array, names: Sequence[str]) -> Any:
    """Return numbers as whole numbers, cut off as scikit-learn does; NaN stays missing."""
    if X.dtype.kind in "iu":
        return X
    missing = np.isnan(X)
    if not missing.any():
        return _whole(X, names)
    if (np.trunc(X) < 0).any():
        raise negative(np.trunc(X), names)
    import pyarrow

    values = _whole(np.where(missing, 0, X), names)
    columns = {
        name: ArrowColumn(name, pyarrow.array(values[:, j], mask=missing[:, j]))
        for j, name in enumerate(names)
    }
    return Table(columns, len(X))


def _whole(X: Array, names: Sequence[str]) -> Array:
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise TallyBayesError(
            f"column {names[column]!r} holds infinity in row {row}, where a category was expected"
        )
    return X.astype(np.int64)


@left_out.register
def _leave_out(family: ScikitLearnCategorical, task: LeaveOneOutTask) -> LeftOut:
    """Leave a row out; the only row of the greatest category takes that with it."""
    counted, labels = family.completed(task.counted), task.parameters.labels
    rows, places = counted.rows.sum(axis=0), by_place(task.block, task.parameters)
    last = np.zeros(places.shape, bool)
    for j, here in enumerate(counted.columns()):
        width = here.stop - here.start
        if width > family.at_least[j] and rows[here.stop - 1] == 1:
            last[:, j] = places[:, j] == width - 1
    like = Categorical(family.alpha, unseen=family.unseen)
    return TablesLeftOut(task, like, [np.ones(len(known), bool) for known in labels], last)
