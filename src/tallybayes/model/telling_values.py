"""The values of columns that tell most: much more probable in one class than in the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.families import (
    BernoulliParameters,
    BinsParameters,
    CategoricalParameters,
    MultinomialParameters,
    NormalParameters,
    PoissonParameters,
    TextParameters,
)
from tallybayes.families.counts import log_shares
from tallybayes.families.parameters import Parameters, safe_log
from tallybayes.kernels.scoring import log_sum_exp
from tallybayes.model.estimation import shares
from tallybayes.model.fitted import Fitted
from tallybayes.model.intervals import interval
from tallybayes.model.model import Model
from tallybayes.sources.labels import Label

Floats = NDArray[np.float64]


class TellingValue(NamedTuple):
    """A column's value, the logarithm of how much more probable it is here, and its counts.

    The value is a category, an interval as text, True for a column of yes or no, and 1 for one
    occurrence of what a column counts. The counts are rows, or occurrences; a model that was
    stated, or stands without its tally, has none: they are NaN.
    """

    column: str
    value: Label
    log_ratio: float
    here: float
    elsewhere: float


class Values(NamedTuple):
    """Values (down): their columns, and log P and counts in each class (across)."""

    columns: list[str]
    values: list[Label]
    logs: Floats
    counts: Floats


def telling_values(
    model: Model | Fitted, n: int, places: Sequence[int], column: str | None
) -> dict[Label, list[TellingValue]]:
    """Return for each class up to n values that were counted in it and speak most for it."""
    of = model.model if isinstance(model, Fitted) else model
    log_prior = safe_log(of.prior)[list(places)]
    found: dict[Label, list[TellingValue]] = {of.classes[place]: [] for place in places}
    for values in _values(model, column):
        logs, counts = values.logs[:, places], values.counts[:, places]
        for k, place in enumerate(places):
            others = [j for j in range(len(places)) if j != k]
            ratio = against(logs, log_prior, k, others)
            here, elsewhere = counts[:, k], counts[:, others].sum(axis=1)
            telling = np.flatnonzero((ratio > 0.0) & ((here > 0.0) | np.isnan(here)))
            best = telling[np.lexsort((-here[telling], -ratio[telling]))][:n]
            found[of.classes[place]] += [
                TellingValue(
                    values.columns[v],
                    values.values[v],
                    float(ratio[v]),
                    float(here[v]),
                    float(elsewhere[v]),
                )
                for v in best.tolist()
            ]
    order = {str(name): number for number, name in enumerate(of.schema.names)}
    return {
        label: sorted(each, key=lambda v: (-v.log_ratio, _fewest_last(v.here), order[v.column]))[:n]
        for label, each in found.items()
    }


def _fewest_last(count: float) -> float:
    return 0.0 if np.isnan(count) else -count


def against(logs: Floats, log_prior: Floats, k: int, others: list[int]) -> Floats:
    """Return log P(w | class k) - log P(w | the others), for every w (down)."""
    prior = log_prior[others]
    if np.isneginf(prior).all():
        prior = np.zeros(len(others))
    mixed = log_sum_exp(logs[:, others] + prior) - float(log_sum_exp(prior[None])[0])
    with np.errstate(invalid="ignore"):
        ratio = logs[:, k] - mixed
    return np.where(np.isnan(ratio), 0.0, ratio)  # impossible here and there


def has_values(parameters: Parameters) -> bool:
    """Tell whether single values of the columns can speak for a class.

    Those of numbers, of Poisson counts and of texts do not.
    """
    return not isinstance(parameters, NormalParameters | PoissonParameters | TextParameters)


def _values(model: Model | Fitted, column: str | None) -> Iterator[Values]:
    """Go through the values of all columns, or of one, factor by factor."""
    of = model.model if isinstance(model, Fitted) else model
    blocks: list[Any] = [None] * len(of.factors)
    if isinstance(model, Fitted):
        tally = model.tally.among(model.classes)
        blocks = [share.block for share in shares(tally, model.families, model.columns)]
    for factor, block in zip(of.factors, blocks, strict=True):
        if not has_values(factor.parameters):
            continue
        names = of.schema.names_of(of.schema.groups[factor.group])
        of_factor = [str(names[place]) for place in factor.places(len(names))]
        values = _of_factor(factor.parameters, of_factor, block)
        if column is not None:
            some = [k for k, name in enumerate(values.columns) if name == column]
            given = [values.values[k] for k in some]
            values = Values([column] * len(some), given, values.logs[some], values.counts[some])
        yield values


def _of_factor(parameters: Parameters, names: list[str], block: Any) -> Values:
    """Return the values of one factor's columns."""
    if isinstance(parameters, CategoricalParameters):
        columns = [name for name, each in zip(names, parameters.labels, strict=True) for _ in each]
        values = [label for each in parameters.labels for label in each]
        if isinstance(parameters, BinsParameters):
            values = [interval(each, k) for each in parameters.edges for k in range(len(each) + 1)]
        counts = None if block is None else block.with_labels(parameters.labels).weight
        return _by_value(columns, values, parameters.log_probabilities, counts)
    if isinstance(parameters, BernoulliParameters):
        counts = None if block is None else block.sums
        return _by_value(names, [True] * len(names), parameters.log_present, counts)
    assert isinstance(parameters, MultinomialParameters)
    # complement weights are no probabilities; those of the multinomial model stand for them
    sums, alpha = parameters.counted.sums, parameters.alpha
    logs = log_shares(sums, alpha, sums.sum(axis=1), float(alpha.sum()))
    return _by_value(names, [1] * len(names), logs, sums)


def _by_value(
    columns: list[str], values: Sequence[Label], logs: Floats, counts: Floats | None
) -> Values:
    """Turn what stands by class (down) and value (across)."""
    known = np.full(logs.shape, np.nan) if counts is None else counts
    return Values(
        columns, list(values), np.ascontiguousarray(logs.T), np.ascontiguousarray(known.T)
    )
