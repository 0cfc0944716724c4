"""The drop-in `MixedNB`: Gaussian and categorical columns side by side in one array of numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from tallybayes.errors import TallyBayesError, warn
from tallybayes.estimators.base import Array, Floats, shown
from tallybayes.estimators.categorical_nb import ScikitLearnCategorical
from tallybayes.estimators.dropin import DropIn, lifted_alpha, stated_prior
from tallybayes.families import (
    AdditiveFloor,
    CategoricalParameters,
    Family,
    Gaussian,
    NormalParameters,
)
from tallybayes.families.gaussian import all_rows
from tallybayes.model import Fitted, Recipe
from tallybayes.schema import Categories, Numeric, Schema
from tallybayes.sources.labels import Label
from tallybayes.tallies import Codes, Moments, Tally

Integers = NDArray[np.int64]


class MixedNB(DropIn):
    """The `MixedNB` of mixed-naive-bayes, in log space, with any labels and missing values.

    Parameters
    ----------
    categorical_features : array of column numbers, "all", or None
        The columns that hold categories 0, 1, ...; all others are Gaussian.
    max_categories : array of one a categorical column, optional
        How many categories each of them has; as many as the data shows when not given.
    alpha : float
        Added to the count of every category.
    priors : array of one a class, optional
        The prior, if it is known; the share of each class in the data otherwise.
    var_smoothing : float
        The part of the largest variance of all columns that is added to every variance.

    Attributes
    ----------
    theta, sigma : array of shape (classes, Gaussian columns)
        Means and variances, without what is added to them.
    epsilon : float
        What is added to every variance.
    categorical_posteriors : list of arrays of shape (classes, categories)
        The distribution of each categorical column.
    gaussian_features, num_features, num_samples
        The numbers of the Gaussian columns; how many columns and rows there are.
    classes_, class_count_, class_prior_, n_features_in_, feature_names_in_
        As in scikit-learn's estimators.

    Examples
    --------
    >>> from tallybayes import MixedNB
    >>> X = [[0, 0, 180.9, 75.0], [1, 1, 165.2, 61.5], [2, 1, 166.3, 60.3], [1, 1, 173.0, 68.2]]
    >>> MixedNB(categorical_features=[0, 1]).fit(X, [0, 0, 1, 1]).predict(X).tolist()
    [0, 1, 1, 1]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categorical_features": ["array-like", StrOptions({"all"}), None],
        "max_categories": ["array-like", None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    _epsilon: float
    _columns: Integers  # the categorical ones, as they were when fitting began

    def __init__(
        self,
        categorical_features: Any = None,
        max_categories: Any = None,
        alpha: float = 0.5,
        priors: Any = None,
        var_smoothing: float = 1e-9,
    ) -> None:
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.alpha = alpha
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _said_categorical(self) -> Integers:
        """Return the numbers of the columns that the parameter makes categorical."""
        if self.categorical_features is None:
            return np.empty(0, np.int64)
        if isinstance(self.categorical_features, str):
            return np.arange(self.n_features_in_)
        given = np.asarray(self.categorical_features)
        if given.dtype == bool and given.shape == (self.n_features_in_,):
            return np.flatnonzero(given)
        columns = np.array(-1) if given.dtype.kind not in "iuf" else given.astype(np.int64)
        if not np.array_equal(columns, given):
            columns = np.array(-1)
        inside = (columns >= 0) & (columns < self.n_features_in_)
        if columns.ndim != 1 or not inside.all() or len(set(columns.tolist())) != len(columns):
            raise ValueError(
                f"categorical_features is {self.categorical_features!r}; expected distinct numbers "
                f"of columns, from 0 to {self.n_features_in_ - 1}, or 'all'"
            )
        return columns

    def _why_refit(self, weights: Any) -> str:
        return "what is added to every variance depends on all rows"

    def _schema(self) -> Schema:
        categorical = set(self._columns.tolist())
        width = self.n_features_in_
        kinds = [Categories() if j in categorical else Numeric() for j in range(width)]
        return Schema.of(self._names(), kinds)

    def _tally(self, X: Any, y: Array, weights: Any) -> Tally:
        if vars(self).get("_fitted") is None:
            self._columns = self._said_categorical()
        return super()._tally(self._in_whole_numbers(X), y, weights)

    def _checked_rows(self, X: Any) -> Any:
        return self._in_whole_numbers(super()._checked_rows(X))

    def _in_whole_numbers(self, X: Array) -> Array:
        """Cut categories off to whole numbers, with a warning where that changes any."""
        columns = self._columns
        values = X[:, columns]
        bad = (values < 0) | (values == np.inf)
        if bad.any():
            row, k = np.argwhere(bad)[0]
            what = "infinity" if np.isinf(values[row, k]) else "Negative values"
            raise TallyBayesError(
                f"{what} in data passed to MixedNB: the categorical feature no. {columns[k]} is "
                f"{values[row, k]} in row {row}; categories are the numbers 0, 1, ..."
            )
        if X.dtype.kind in "biu":
            return X
        whole = np.trunc(values)
        changed = ((whole != values) & ~np.isnan(values)).any(axis=0)
        if not changed.any():
            return X
        for column in columns[changed]:
            warn(f"Feature no. {column} is continuous data. Casting data to integer.")
        X = X.copy()
        X[:, columns] = whole
        return X

    def _fitted_from(self, tally: Tally, declared: tuple[Label, ...]) -> Fitted:
        self._epsilon = float(self.var_smoothing) * _largest_variance(tally)
        families: list[Family] = []
        for block in tally.blocks:
            if isinstance(block, Moments):
                families.append(Gaussian(ddof=0.0, floor=AdditiveFloor(1.0, of=self._epsilon)))
            else:
                alpha = float(lifted_alpha(self.alpha))
                families.append(ScikitLearnCategorical(alpha, "ignore", self._at_least()))
        recipe = Recipe(tuple(families), declared_classes=declared)
        prior = stated_prior(self.priors, recipe.classes(tally))
        return Fitted(tally, replace(recipe, prior=prior))

    def _at_least(self) -> tuple[int, ...]:
        """Return for each categorical column how many categories there are at least."""
        columns = self._columns
        if self.max_categories is None:
            return (0,) * len(columns)
        stated = np.asarray(self.max_categories)
        if stated.shape != columns.shape or not np.array_equal(stated, stated.astype(np.int64)):
            raise ValueError(
                f"max_categories is {self.max_categories!r}; expected one whole number for each of "
                f"the {len(columns)} categorical features"
            )
        # the tally keeps the columns in their order
        return tuple(stated[np.argsort(columns)].astype(np.int64).tolist())

    def _parameters(self, kind: type) -> Any:
        """Return the parameters of one kind of columns, or None if there are none."""
        factors = (factor.parameters for factor in self._state().model.factors)
        return next((each for each in factors if isinstance(each, kind)), None)

    @property
    def class_prior_(self) -> Floats:
        """The prior of each class."""
        return shown(self._state().model.prior)

    @property
    def epsilon(self) -> float:
        """What is added to every variance."""
        self._state()
        return self._epsilon

    @property
    def theta(self) -> Any:
        """The mean of each Gaussian column in each class."""
        normals: NormalParameters | None = self._parameters(NormalParameters)
        return [] if normals is None else shown(normals.mean)

    @property
    def sigma(self) -> Any:
        """The variance of each Gaussian column in each class."""
        normals: NormalParameters | None = self._parameters(NormalParameters)
        return [] if normals is None else normals.variance - self.epsilon

    @property
    def categorical_posteriors(self) -> list[Floats]:
        """For each categorical column the probability of each category in each class."""
        tables: CategoricalParameters | None = self._parameters(CategoricalParameters)
        if tables is None:
            return []
        edges = np.cumsum([0, *map(len, tables.labels)])
        ordered = [np.exp(tables.log_probabilities[:, a:b]) for a, b in pairwise(edges)]
        return [ordered[k] for k in np.argsort(np.argsort(self._columns))]

    @property
    def gaussian_features(self) -> Integers:
        """The numbers of the Gaussian columns."""
        return np.setdiff1d(np.arange(self.num_features), self._columns)

    @property
    def num_features(self) -> int:
        """The number of columns."""
        self._state()
        return self.n_features_in_

    @property
    def num_samples(self) -> int:
        """The number of rows."""
        return int(self._state().tally.rows.sum())


def _largest_variance(tally: Tally) -> float:
    """Return the largest sample variance of all columns, categories taken as numbers."""
    found = [0.0]
    for block in tally.blocks:
        if isinstance(block, Moments):
            rows = all_rows(block)
            found += (rows.m2 / np.maximum(rows.weight - 1.0, 1.0)).tolist()
        elif isinstance(block, Codes):
            for labels, here in zip(block.labels, block.columns(), strict=True):
                n, values = block.weight[:, here].sum(axis=0), np.array(labels, np.float64)
                total = n.sum()
                if total > 0.0:
                    centre = (n * values).sum() / total
                    found.append(float((n * (values - centre) ** 2).sum() / max(total - 1.0, 1.0)))
    return max(found)
