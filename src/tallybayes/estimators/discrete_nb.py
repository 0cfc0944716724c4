"""Drop-ins for columns that count: `MultinomialNB`, `ComplementNB` and `BernoulliNB`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError
from tallybayes.estimators.base import Labelled, read_only
from tallybayes.estimators.checks import AT_LEAST_0_OR_NONE, BOOLEAN, Rule
from tallybayes.estimators.drop_in import Smoothed
from tallybayes.families import Bernoulli, Complement, Family, Multinomial
from tallybayes.model import Recipe
from tallybayes.priors import Uniform
from tallybayes.schema import Binary, Count, Schema
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally

TINY = 1e-300


class Discrete(Smoothed):
    """A drop-in whose tally is one sum for each class and column."""

    _options: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}
    _tags: ClassVar[Mapping[str, bool]] = {"allow_nan": True, "sparse": True}
    _poor_score: ClassVar[bool] = True

    @property
    def feature_count_(self) -> Floats:
        """The weighted sum of each column in each class."""
        return read_only(self._block.sums)


class Counting(Discrete):
    """A drop-in for columns that must not be negative."""

    _tags: ClassVar[Mapping[str, bool]] = {**Discrete._tags, "positive_only": True}

    def _schema_of(self, rows: Any = None) -> Schema:
        return Schema.same(self._names(), Count())

    def _tally(self, rows: Labelled) -> Tally:
        try:
            return super()._tally(rows)
        except TallyBayesError as error:
            # not X.min(): SciPy writes outside of a matrix that is broken
            values = rows.X if isinstance(rows.X, np.ndarray) else rows.X.data
            if values.min(initial=0) < 0:
                name = type(self).__name__
                text = f"Negative values in data passed to {name} (input X): {error}"
                raise TallyBayesError(text) from None
            raise

    @property
    def feature_log_prob_(self) -> Floats:
        """What one occurrence of each column adds to the score of each class."""
        return read_only(self._parameters.weights)


class MultinomialNB(Counting):
    """scikit-learn's `MultinomialNB`, faster, and open to missing values.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in scikit-learn.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_, n_features_in_, \
feature_names_in_
        As in scikit-learn.
    tally_ : Tally
        Everything that was counted.

    Examples
    --------
    >>> import numpy as np
    >>> from tallybayes import MultinomialNB
    >>> X = np.array([[2, 0, 1], [1, 0, 2], [0, 3, 0]])
    >>> MultinomialNB().fit(X, ["ham", "ham", "spam"]).predict([[0, 1, 0]]).tolist()
    ['spam']
    """

    def _family(self, alpha: Any) -> Family:
        return Multinomial(alpha)


class ComplementNB(Counting):
    """scikit-learn's `ComplementNB`, faster, and open to missing values.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, norm
        As in scikit-learn. With an alpha of 0 a word that is absent outside a class is huge
        evidence, where scikit-learn's is infinite.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_all_, feature_count_, feature_log_prob_, \
n_features_in_, feature_names_in_
        As in scikit-learn.
    tally_ : Tally
        Everything that was counted.

    Examples
    --------
    >>> import numpy as np
    >>> from tallybayes import ComplementNB
    >>> X = np.array([[2, 0, 1], [1, 0, 2], [0, 3, 0]])
    >>> ComplementNB().fit(X, ["ham", "ham", "spam"]).predict([[0, 1, 0]]).tolist()
    ['spam']
    """

    _rules: ClassVar[Mapping[str, Rule]] = {**Smoothed._rules, "norm": BOOLEAN}

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        super().__init__(
            alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior
        )
        self.norm = norm

    def _family(self, alpha: Any) -> Family:
        # an alpha of 0 is the limit of small ones: evidence is huge where it would be infinite
        return Complement(np.maximum(alpha, TINY), norm=self.norm)

    def _recipe(self, tally: Tally, declared: tuple[Label, ...]) -> Recipe:
        recipe = super()._recipe(tally, declared)
        return replace(recipe, prior=Uniform()) if len(recipe.classes(tally)) > 1 else recipe

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the score of each row and class, in which the prior has no part."""
        scores = super().predict_joint_log_proba(X)
        scores += np.log(len(self.classes_))
        return scores

    @property
    def feature_all_(self) -> Floats:
        """The weighted sum of each column."""
        return np.asarray(self.feature_count_.sum(axis=0))


class BernoulliNB(Discrete):
    """scikit-learn's `BernoulliNB`, faster, and open to missing values.

    Parameters
    ----------
    alpha, force_alpha, binarize, fit_prior, class_prior
        As in scikit-learn; a `binarize` of None is the same as 0.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_, n_features_in_, \
feature_names_in_
        As in scikit-learn.
    tally_ : Tally
        Everything that was counted.

    Examples
    --------
    >>> import numpy as np
    >>> from tallybayes import BernoulliNB
    >>> X = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 0]])
    >>> BernoulliNB().fit(X, ["ham", "ham", "spam"]).predict([[0, 1, 0]]).tolist()
    ['spam']
    """

    _rules: ClassVar[Mapping[str, Rule]] = {**Smoothed._rules, "binarize": AT_LEAST_0_OR_NONE}

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        super().__init__(
            alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior
        )
        self.binarize = binarize

    def _schema_of(self, rows: Any = None) -> Schema:
        return Schema.same(self._names(), Binary(self.binarize or 0.0))

    def _family(self, alpha: Any) -> Family:
        return Bernoulli(alpha, self.binarize or 0.0)

    @property
    def feature_log_prob_(self) -> Floats:
        """The logarithm of the probability of "on" for each class and column."""
        return read_only(self._parameters.log_present)
