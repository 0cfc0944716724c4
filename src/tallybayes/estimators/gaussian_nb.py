"""The drop-in `GaussianNB`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.estimators.base import Labelled, read_only
from tallybayes.estimators.checks import ARRAY_OR_NONE, AT_LEAST_0, Rule
from tallybayes.estimators.drop_in import DropIn, stated_prior
from tallybayes.families import AdditiveFloor, Gaussian
from tallybayes.families.gaussian import all_rows
from tallybayes.model import Fitted, Recipe
from tallybayes.schema import Numeric, Schema
from tallybayes.sources.labels import Label
from tallybayes.tallies import Moments, Tally


class GaussianNB(DropIn):
    """scikit-learn's `GaussianNB`, faster, exact in increments, and open to missing values.

    Parameters
    ----------
    priors : array of one a class, optional
        The prior, if it is known; the share of each class in the data otherwise.
    var_smoothing : float
        The part of the largest variance of all columns that is added to every variance. That
        variance counts every row once, whatever its weight.

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

    _rules: ClassVar[Mapping[str, Rule]] = {"priors": ARRAY_OR_NONE, "var_smoothing": AT_LEAST_0}

    _dtype: Any = np.float64
    # the moments of all rows, each counted once, as soon as weights were given
    _unweighted: Moments | None = None

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _schema_of(self, rows: Any = None) -> Schema:
        return Schema.same(self._names(), Numeric())

    def _why_refit(self, rows: Labelled) -> str:
        unweighted = rows.weights is None
        return "" if unweighted else "epsilon is that of unweighted rows, as in scikit-learn"

    def _tally(self, rows: Labelled) -> Tally:
        tally = super()._tally(rows)
        before = vars(self).get("_fitted")
        if before is None:
            self._dtype = np.float32 if rows.X.dtype == np.float32 else np.float64
            self._unweighted = None
        if rows.weights is not None or self._unweighted is not None:
            here = tally if rows.weights is None else super()._tally(rows._replace(weights=None))
            moments, earlier = _moments(here), self._unweighted
            if earlier is None and before is not None:
                earlier = _moments(before.tally)
            names = tally.schema.names
            self._unweighted = moments if earlier is None else earlier.plus(moments, names)
        return tally

    def _recipe(self, tally: Tally, declared: tuple[Label, ...]) -> Recipe:
        of = None if self._unweighted is None else _largest(self._unweighted)
        family = Gaussian(ddof=0.0, floor=AdditiveFloor(float(self.var_smoothing), of))
        recipe = Recipe((family,), declared_classes=declared)
        return replace(recipe, prior=stated_prior(self.priors, recipe.classes(tally)))

    @property
    def class_count_(self) -> Floats:
        return self._as_fitted(super().class_count_)

    @property
    def class_prior_(self) -> Floats:
        """The prior of each class."""
        return self._as_fitted(self.model_.prior)

    @property
    def theta_(self) -> Floats:
        """The mean of each column in each class."""
        return self._as_fitted(self._parameters.mean)

    @property
    def var_(self) -> Floats:
        """The variance of each column in each class, with epsilon added."""
        return self._as_fitted(self._parameters.variance)

    @property
    def epsilon_(self) -> float:
        """What is added to every variance."""
        floor: Any = self.fitted_.recipe.families[0].floor  # type: ignore[attr-defined]
        of = _largest(_moments(self.fitted_.tally)) if floor.of is None else floor.of
        return float(floor.fraction * of)

    def _to_keep(self) -> dict[str, Any]:
        state: dict[str, Any] = {"dtype": np.dtype(self._dtype).name}
        if self._unweighted is not None:
            parts = (getattr(self._unweighted, each.name) for each in fields(Moments))
            state["unweighted"] = [part.tolist() for part in parts]
        return {**super()._to_keep(), "state": state}

    def _restore(self, fitted: Fitted, state: Mapping[str, Any]) -> None:
        self._dtype = {"float32": np.float32}.get(state["dtype"], np.float64)
        if "unweighted" in state:
            self._unweighted = Moments(*map(np.array, state["unweighted"]))
        super()._restore(fitted, state)

    def _as_fitted(self, values: Floats) -> Floats:
        """Give the values the type of the data, as scikit-learn does."""
        return read_only(values.astype(self._dtype, copy=False))


def _moments(tally: Tally) -> Moments:
    """Return the moments of all rows, whatever their class."""
    block: Any = tally.blocks[0]
    return all_rows(block)


def _largest(rows: Moments) -> float:
    """Return the largest variance of all columns."""
    return float((rows.m2 / np.maximum(rows.weight, 1.0)).max(initial=0.0))
