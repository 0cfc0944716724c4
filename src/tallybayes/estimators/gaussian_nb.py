"""The drop-in `GaussianNB`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tallybayes.estimators.base import Array, Floats, shown
from tallybayes.estimators.dropin import DropIn, stated_prior
from tallybayes.families import AdditiveFloor, Family, Gaussian, NormalParameters
from tallybayes.families.gaussian import all_rows
from tallybayes.families.left_out import LeaveOneOutTask, LeftOut, WidestLeftOut, left_out
from tallybayes.families.parameters import ColumnInfo
from tallybayes.model import Fitted, Recipe
from tallybayes.schema import Numeric, Schema
from tallybayes.sources.labels import Label
from tallybayes.tallies import Moments, Tally


@dataclass(frozen=True, slots=True, eq=False)
class ScikitLearnGaussian(Family):
    """Maximum likelihood, and a part of the largest variance of all columns added to every one.

    That largest variance counts every row once, whatever its weight: `unweighted` has the moments
    of all rows if weights were given. A class that was announced but never seen has a mean of 0 and
    only the added variance.
    """

    var_smoothing: float
    unweighted: Moments | None
    unseen: frozenset[Label]

    @property
    def kind(self) -> Numeric:
        """What must have been counted: moments."""
        return Numeric()

    @property
    def ddof(self) -> float:
        """What is taken from the weight by which the variance divides: nothing."""
        return 0.0

    def epsilon(self, block: Moments) -> float:
        """Return what is added to every variance."""
        rows = self.unweighted or all_rows(block)
        variance = rows.m2 / np.maximum(rows.weight, 1.0)
        return self.var_smoothing * float(variance.max(initial=0.0))

    def estimate(self, counted: Moments, info: ColumnInfo) -> NormalParameters:
        """Turn moments into means and variances."""
        epsilon = self.epsilon(counted)
        normals = Gaussian(ddof=0.0, floor=AdditiveFloor(1.0, of=epsilon)).estimate(counted, info)
        if not self.unseen:
            return normals
        unseen = np.array([label in self.unseen for label in info.classes])
        mean = np.where(unseen[:, None], 0.0, normals.mean)
        variance = np.where(unseen[:, None], epsilon, normals.variance)
        return NormalParameters(mean, variance, normals.used & (variance > 0.0).all(axis=0))


class GaussianNB(DropIn):
    """scikit-learn's `GaussianNB`, faster, exact in increments, and open to missing values.

    Parameters
    ----------
    priors : array of one a class, optional
        The prior, if it is known; the share of each class in the data otherwise.
    var_smoothing : float
        The part of the largest variance of all columns that is added to every variance.

    Attributes
    ----------
    classes_, class_count_, class_prior_, epsilon_, theta_, var_, n_features_in_, feature_names_in_
        As in scikit-learn.
    tally_ : Tally
        Everything that was counted.

    Examples
    --------
    >>> import numpy as np
    >>> from tallybayes import GaussianNB
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, np.nan]])
    >>> GaussianNB().fit(X, ["left", "left", "right", "right"]).predict([[-0.8, -1.0]]).tolist()
    ['left']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    _dtype: Any

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _schema(self) -> Schema:
        before: Fitted | None = vars(self).get("_fitted")
        if before is not None:
            return before.tally.schema  # it never changes
        return Schema.same(self._names(), Numeric())

    def _tally(self, X: Any, y: Array, weights: Any) -> Tally:
        tally = super()._tally(X, y, weights)
        before: Fitted | None = vars(self).get("_fitted")
        if before is None:
            self._dtype = np.float32 if X.dtype == np.float32 else np.float64
            self._unweighted = None
        if weights is not None or self._unweighted is not None:
            here = tally if weights is None else super()._tally(X, np.zeros(len(X), int), None)
            self._unweighted = _together(self._unweighted or before, here)
        return tally

    _unweighted: Moments | None = None

    def _fitted_from(self, tally: Tally, declared: tuple[Label, ...]) -> Fitted:
        unseen = frozenset(declared).difference(tally.classes)
        family = ScikitLearnGaussian(float(self.var_smoothing), self._unweighted, unseen)
        recipe = Recipe((family,), declared_classes=declared)
        if self.priors is not None:
            recipe = replace(recipe, prior=stated_prior(self.priors, recipe.classes(tally)))
        return Fitted(tally, recipe)

    def _normals(self) -> NormalParameters:
        parameters = self._state().model.factors[0].parameters
        assert isinstance(parameters, NormalParameters)
        return parameters

    @property
    def class_count_(self) -> Floats:
        """The weight of each class."""
        return self._as_fitted(super().class_count_)

    @property
    def class_prior_(self) -> Floats:
        """The prior of each class."""
        return self._as_fitted(self._state().model.prior)

    @property
    def theta_(self) -> Floats:
        """The mean of each column in each class."""
        return self._as_fitted(self._normals().mean)

    @property
    def var_(self) -> Floats:
        """The variance of each column in each class, with epsilon added."""
        return self._as_fitted(self._normals().variance)

    @property
    def epsilon_(self) -> float:
        """What is added to every variance."""
        fitted = self._state()
        family, block = fitted.recipe.families[0], fitted.tally.blocks[0]
        assert isinstance(family, ScikitLearnGaussian)
        assert isinstance(block, Moments)
        return family.epsilon(block)

    def _as_fitted(self, values: Floats) -> Floats:
        """Give the values the type of the data, as scikit-learn does."""
        return shown(values.astype(self._dtype, copy=False))


def _together(before: Moments | Fitted | None, now: Tally) -> Moments:
    """Add the rows of a tally, whatever their class, to those before."""
    names = now.schema.names
    block = now.blocks[0]
    assert isinstance(block, Moments)
    total = all_rows(block)
    if isinstance(before, Fitted):
        earlier = before.tally.blocks[0]
        assert isinstance(earlier, Moments)
        before = all_rows(earlier)
    return total if before is None else before.plus(total, names)


@left_out.register
def _leave_out(family: ScikitLearnGaussian, task: LeaveOneOutTask) -> LeftOut | None:
    """Leave a row out: what is added to every variance depends on it."""
    if family.unweighted is not None or family.unseen:
        return None
    return WidestLeftOut(task, 0.0, family.var_smoothing)
