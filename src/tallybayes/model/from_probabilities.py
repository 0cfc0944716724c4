"""A model stated by hand, with no data: priors and likelihoods as someone knows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean, number
from tallybayes.families.categorical import CategoricalParameters
from tallybayes.families.counts import BernoulliParameters
from tallybayes.families.gaussian import NormalParameters
from tallybayes.families.parameters import ColumnInfo, safe_log
from tallybayes.families.registry import default_family
from tallybayes.model.factors import Factor
from tallybayes.model.model import ClassCounts, Model
from tallybayes.priors import Fixed
from tallybayes.schema import Binary, Categories, Kind, Numeric, Schema
from tallybayes.sources.labels import Label, sorted_labels


@dataclass(frozen=True, slots=True)
class Normal:
    """A bell curve with a stated mean and variance."""

    mean: float
    variance: float

    def __post_init__(self) -> None:
        number(self.mean, "the mean of a Normal")
        number(self.variance, "the variance of a Normal", above=0.0)


def stated(
    prior: Mapping[Any, float] | Fixed,
    columns: Mapping[str, Mapping[Any, Any]],
    *,
    target: str = "class",
    positive: Label | None = None,
) -> Model:
    """State a model.

    Parameters
    ----------
    prior
        The probability of each class.
    columns
        For each column and class: the probability that the column is true (a number), the
        probability of each of its values (a mapping), or a `Normal`.
    target, positive
        As everywhere.

    Examples
    --------
    How likely is a mail with the words "Nigerian prince" to be spam?

    >>> model = stated(
    ...     {"spam": 0.5, "not spam": 0.5},
    ...     {"nigerian prince": {"spam": 0.2, "not spam": 0.001}},
    ... )
    >>> round(model.posterior_of({"nigerian prince": True})["spam"], 4)
    0.995
    """
    prior = prior.p if isinstance(prior, Fixed) else prior
    if target in columns:
        raise TallyBayesError(f"the target {target!r} is also a column; rename one of them")
    classes = sorted_labels(prior, "the classes of the prior")
    of_columns = {
        str(name): _column(name, _by_class(name, by_class, classes))
        for name, by_class in columns.items()
    }
    schema = Schema.of(tuple(of_columns), [kind for kind, _ in of_columns.values()], target=target)
    factors = []
    for name, (_, parameters) in of_columns.items():
        number, place = schema.place_of(name)
        kind, info = schema.groups[number].kind, ColumnInfo(classes, (name,))
        family = default_family(kind)
        factors.append(Factor(number, (place,), kind, info, family, None, stated=parameters))
    none = np.zeros(len(classes), np.int64)
    counts = ClassCounts(Fixed(prior), none, none.astype(float))
    return Model(schema, classes, tuple(factors), counts, positive)


def _by_class(name: str, stated: Any, classes: tuple[Label, ...]) -> list[Any]:
    """Return what is stated of a column, in the order of the classes."""
    if not isinstance(stated, Mapping):
        raise TallyBayesError(f"column {name!r}: state a distribution for each class")
    for label in (*stated, *classes):
        if label not in stated or label not in classes:
            hint = did_you_mean(label, classes if label in stated else stated)
            what = "is not in the prior" if label in stated else "has no distribution"
            raise TallyBayesError(f"column {name!r}: class {label!r} {what}; {hint}")
    return [stated[label] for label in classes]


def _column(name: str, by_class: list[Any]) -> tuple[Kind, Any]:
    """Turn what is stated of one column into its kind and parameters."""
    if all(isinstance(each, Normal) for each in by_class):
        mean, variance = np.array([[(each.mean, each.variance)] for each in by_class]).T
        return Numeric(), NormalParameters(mean.T, variance.T, np.array([True]))
    if all(isinstance(each, Mapping) for each in by_class):
        where = f"column {name!r}"
        labels = sorted_labels((v for each in by_class for v in each), where)
        rows = [[each.get(value, 0.0) for value in labels] for each in by_class]
        p = np.array([[number(x, f"{where}: a probability", least=0.0) for x in r] for r in rows])
        if not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
            raise TallyBayesError(f"{where}: the probabilities of each class must add up to 1")
        unseen = np.zeros((len(by_class), 1))
        return Categories(labels), CategoricalParameters((name,), (labels,), safe_log(p), unseen)
    if all(isinstance(each, int | float) and 0.0 <= each <= 1.0 for each in by_class):
        p = np.array([[each] for each in by_class], float)
        return Binary(), BernoulliParameters(0.0, safe_log(1.0 - p), safe_log(p))
    raise TallyBayesError(
        f"column {name!r}: state the same form for every class: a probability between 0 and 1, a "
        "mapping from values to probabilities, or Normal(mean, variance)"
    )
