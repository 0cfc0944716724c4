"""The drop-in `MixedNB`: Gaussian and categorical columns side by side in one array of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.estimators.checks import ARRAY_OR_NONE, AT_LEAST_0, check_parameters
from tallybayes.estimators.drop_in import stated_prior
from tallybayes.estimators.naive_bayes import NaiveBayes
from tallybayes.families import AdditiveFloor, Gaussian
from tallybayes.model import Fitted
from tallybayes.priors import Prior
from tallybayes.schema import Categories
from tallybayes.sources.labels import Label


class MixedNB(NaiveBayes):
    """The `MixedNB` of mixed-naive-bayes: a `NaiveBayes` with other parameters.

    Parameters
    ----------
    categorical_features : array of column numbers, "all", or None
        The columns that hold categories; all others are Gaussian.
    max_categories : array of one a categorical column, optional
        How many categories 0, 1, ... each of them has; those that occur when not given.
    alpha : float
        Added to the count of every category.
    priors : array of one a class, optional
        The prior, if it is known; the share of each class in the data otherwise.
    var_smoothing : float
        The part of the largest variance of the Gaussian columns that is added to every variance.

    Attributes
    ----------
    classes_, schema_, tally_, model_, n_features_in_, feature_names_in_
        As in `NaiveBayes`.

    Examples
    --------
    >>> from tallybayes import MixedNB
    >>> X = [[0, 0, 180.9, 75.0], [1, 1, 165.2, 61.5], [2, 1, 166.3, 60.3], [1, 1, 173.0, 68.2]]
    >>> MixedNB(categorical_features=[0, 1]).fit(X, [0, 0, 1, 1]).predict(X).tolist()
    [0, 1, 1, 1]
    """

    _tags: ClassVar[Mapping[str, bool]] = {**NaiveBayes._tags, "sparse": False}
    prior = "empirical"
    unseen = "ignore"
    positive = None
    calibration = None

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

    @property
    def columns(self) -> Mapping[Any, Any]:
        """What the parameters say of the columns."""
        rules = {"priors": ARRAY_OR_NONE, "alpha": AT_LEAST_0, "var_smoothing": AT_LEAST_0}
        check_parameters(self, rules)
        given = self.categorical_features
        chosen = np.arange(self.n_features_in_)
        if not (isinstance(given, str) and given == "all"):
            chosen = np.asarray([] if given is None else given)
            chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        numbers = chosen.astype(np.int64) if chosen.dtype.kind in "iuf" else np.array([])
        if not np.array_equal(numbers, chosen) or len({*numbers.ravel()}) != len(chosen):
            raise TallyBayesError(
                f"categorical_features is {given!r}; expected distinct numbers of columns, or 'all'"
            )
        widths = np.asarray(0 * numbers if self.max_categories is None else self.max_categories)
        if widths.shape != numbers.shape or not np.array_equal(widths, widths.astype(np.int64)):
            raise TallyBayesError(
                f"max_categories is {self.max_categories!r}; expected one whole number for each of "
                f"the {len(numbers)} categorical features"
            )
        columns: dict[Any, Any] = {
            number: Categories(tuple(range(int(k))))
            for number, k in zip(numbers.tolist(), widths, strict=True)
        }
        return {**columns, ...: Gaussian(0.0, AdditiveFloor(float(self.var_smoothing)))}

    def _stated_prior(self, classes: tuple[Label, ...]) -> Prior:
        return stated_prior(self.priors, classes)

    @classmethod
    def _parameters_of(cls, fitted: Fitted) -> dict[str, Any]:
        return {}
