"""The numbers that a picture of a column shows: what the model says, and what the data has."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import dense
from tallybayes.errors import TallyBayesError
from tallybayes.families import (
    BernoulliParameters,
    BinsParameters,
    CategoricalParameters,
    MultinomialParameters,
    NormalParameters,
    PoissonParameters,
    TextParameters,
)
from tallybayes.families.parameters import CONSTANT, NEVER_COUNTED
from tallybayes.model import Model
from tallybayes.plots.single_column import (
    SingleColumn,
    classes_of,
    labels_in,
    numbers_in,
    place_of,
)
from tallybayes.plots.style import source_of
from tallybayes.sources import Table
from tallybayes.sources.numbers import interval_codes
from tallybayes.sources.weights import weights_of

Floats = NDArray[np.float64]
Array = NDArray[Any]
Kind = Literal["density", "intervals", "values", "shares"]

POINTS = 400  # of a curve
DEVIATIONS = 3.3  # standard deviations from the mean to which a curve is drawn
FEWEST_BINS, MOST_BINS = 6, 40
FAR_OUT = 3.0  # times the distance of the quartiles from them: Tukey's outer fences
WEIGHTS = "complement weights: what one occurrence adds to the score, in nats"


@dataclass(frozen=True, slots=True)
class Said:
    """What the model says of a column; `ColumnDisplay` has the same names."""

    kind: Kind
    places: tuple[Any, ...]
    likelihood: Floats
    note: str = ""


def said_of(column: SingleColumn) -> Said:
    """Return what the model says of a column."""
    parameters, nothing = column.parameters, np.zeros((len(column.classes), 0))
    if isinstance(parameters, NormalParameters):
        if not parameters.used[0]:
            never = bool(np.isnan(parameters.mean).any())
            return Said("density", (), nothing, NEVER_COUNTED if never else f"left out: {CONSTANT}")
        x = _grid(column)
        return Said("density", tuple(x.tolist()), np.exp(column.log_prob(x)).T)
    if isinstance(parameters, BinsParameters):
        edges = parameters.edges[0]
        note = "" if edges else "a single interval, which says nothing"
        return Said("intervals", edges, np.exp(parameters.log_probabilities), note)
    if isinstance(parameters, CategoricalParameters):
        labels = parameters.labels[0]
        p = np.exp(parameters.log_probabilities)
        return Said("values", labels, p, "" if labels else NEVER_COUNTED)
    if isinstance(parameters, BernoulliParameters):
        logs = np.concatenate([parameters.log_absent, parameters.log_present], axis=1)
        names = (f"off (≤ {parameters.threshold:g})", f"on (> {parameters.threshold:g})")
        if not logs.any():
            return Said("values", (), nothing, NEVER_COUNTED)
        return Said("values", names, np.exp(logs))
    if isinstance(parameters, PoissonParameters):
        if np.isnan(parameters.rate).any():
            return Said("values", (), nothing, NEVER_COUNTED)
        counts = tuple(range(column.highest_count(range(len(column.classes))) + 1))
        return Said("values", counts, np.exp(column.log_prob(counts)).T)
    if isinstance(parameters, MultinomialParameters):
        if (parameters.weights > 0.0).any():
            return Said("shares", (column.name,), parameters.weights, WEIGHTS)
        return Said("shares", (column.name,), np.exp(parameters.weights))
    assert isinstance(parameters, TextParameters)
    raise TallyBayesError(
        f"column {column.name!r} is text, which has too many values for a picture of them; "
        "WordWeightsDisplay shows its words"
    )


def place_in(column: SingleColumn, said: Said, value: Any) -> int | None:
    """Return which of the values or intervals a value is; None if none of those drawn."""
    if isinstance(column.parameters, BinsParameters):
        numbers = np.array([value], np.float64)
        return int(interval_codes([numbers], [said.places], 1)[0, 0])
    if isinstance(column.parameters, BernoulliParameters):
        return int(value > column.parameters.threshold)
    return said.places.index(value) if value in said.places else None


def _grid(column: SingleColumn) -> Floats:
    """Return places close enough to see every curve: an even grid, and more near each mean."""
    everyone = range(len(column.classes))
    spans = [column.span(DEVIATIONS, everyone), *(column.span(DEVIATIONS, [c]) for c in everyone)]
    even = np.geomspace if getattr(column.parameters, "log", False) else np.linspace
    each = [even(*spans[0], POINTS), *(even(*span, POINTS // 4) for span in spans[1:])]
    means = np.array([])
    if isinstance(column.parameters, NormalParameters) and not column.parameters.log:
        means = column.parameters.mean[:, 0]
    return np.unique(np.concatenate([*each, means]))


@dataclass(frozen=True, slots=True)
class Seen:
    """What rows have in a column.

    Of numbers, the density of each class (down) in bins (across) between the `edges`, and how many
    values of each class are `beyond` them; otherwise the share of each class's rows that has each
    value.
    """

    shares: Floats
    edges: Floats | None = None
    beyond: tuple[int, ...] = ()


def seen_in(
    estimator: Any,
    model: Model,
    column: SingleColumn,
    X: Any,
    y: Any,
    said: Said,
    sample_weight: Any = None,
) -> Seen | None:
    """Return what rows have in a column; None if they have no value of it."""
    source = source_of(estimator, X)
    of_class = classes_of(model, y, source.n_rows)
    weights = weights_of(sample_weight, source.n_rows)
    weights = np.ones(source.n_rows) if weights is None else weights
    of_class = np.where(weights > 0.0, of_class, -1)  # what has no weight is not there
    n_classes, parameters = len(model.classes), column.parameters
    if isinstance(parameters, MultinomialParameters):
        if said.note == WEIGHTS:
            return None  # shares and weights have no common scale
        return Seen(_shares_of_bag(source, model, column, of_class, weights))
    if isinstance(parameters, CategoricalParameters) and not isinstance(parameters, BinsParameters):
        codes, labels = labels_in(source, column.name, model)
        place = {label: k for k, label in enumerate(said.places)}
        meaning = np.array([place.get(label, -1) for label in labels] or [-1])
        codes = np.where(codes >= 0, meaning[codes], -1)
        return Seen(_shares(codes, of_class, weights, n_classes, len(said.places)))
    x = numbers_in(source, column.name, model)
    if isinstance(parameters, NormalParameters):
        return _histogram(x, of_class, weights, column)
    if isinstance(parameters, BinsParameters):
        codes = interval_codes([x], [said.places], len(x))[:, 0]
        return Seen(_shares(codes, of_class, weights, n_classes, len(said.places) + 1))
    if isinstance(parameters, BernoulliParameters):
        codes = np.where(np.isnan(x), -1, x > parameters.threshold)
    else:
        codes = np.where(np.isnan(x), -1, x)
    codes = codes.astype(np.int64)
    return Seen(_shares(codes, of_class, weights, n_classes, len(said.places)))


def _shares(codes: Array, of_class: Array, weights: Floats, n_classes: int, n: int) -> Floats:
    """Return which share of each class's values (down) has each code (across).

    Codes from n on count among all, but are not shown; -1 is missing.
    """
    there = (codes >= 0) & (of_class >= 0)
    cells = of_class[there] * (n + 1) + np.minimum(codes[there], n)
    table = np.bincount(cells, weights[there], n_classes * (n + 1)).reshape(n_classes, n + 1)
    total = table.sum(axis=1, keepdims=True)
    return table[:, :n] / np.where(total > 0.0, total, np.nan)


def _histogram(x: Floats, of_class: Array, weights: Floats, column: SingleColumn) -> Seen | None:
    """Return the density of each class in the same bins for all; even ones in log x if it is so.

    A few numbers far out would leave one bin to all others: they are beyond the bins, unless the
    curves reach them.
    """
    n_classes, log = len(column.classes), getattr(column.parameters, "log", False)
    there = np.isfinite(x) & (of_class >= 0)
    if log:
        there &= x > 0.0
    x, of_class, weights = x[there], of_class[there], weights[there]
    if not len(x) or x.min() == x.max():
        return None
    span = column.span(DEVIATIONS, range(n_classes))
    scale, ends = (np.log(x), np.log(span)) if log else (x, np.array(span))
    inside = _near(scale, float(ends[0]), float(ends[1]))
    near = scale[inside]
    edges = np.linspace(near.min(), near.max(), _bins(near, of_class[inside], n_classes) + 1)
    if log:
        edges = np.exp(edges)
        edges[0], edges[-1] = x[inside].min(), x[inside].max()  # rounding must not push one out
    rows = [(x[of_class == c], weights[of_class == c]) for c in range(n_classes)]
    counts = np.array([np.histogram(mine, edges, weights=w)[0] for mine, w in rows])
    total = np.bincount(of_class, weights, n_classes)[:, None]
    density = counts / (np.where(total > 0.0, total, np.nan) * np.diff(edges))
    beyond = np.bincount(of_class[~inside], minlength=n_classes)
    return Seen(density, edges, tuple(beyond.tolist()))


def _near(x: Floats, low: float, high: float) -> NDArray[np.bool_]:
    """Tell which numbers are between two ends, or not far out from the middle half of all."""
    first, third = np.percentile(x, [25, 75])
    reach = FAR_OUT * (third - first)
    near: NDArray[np.bool_] = (x >= min(low, first - reach)) & (x <= max(high, third + reach))
    return near if np.ptp(x[near]) > 0.0 else np.ones(len(x), np.bool_)


def _bins(x: Floats, of_class: Array, n_classes: int) -> int:
    """Return how many bins show the classes, by the rule of Freedman and Diaconis within them."""
    widths = []
    for c in range(n_classes):
        mine = x[of_class == c]
        if len(mine) > 1 and (spread := float(np.subtract(*np.percentile(mine, [75, 25])))):
            widths.append(2.0 * spread / len(mine) ** (1 / 3))
    n = math.ceil(float(np.ptp(x)) / float(np.median(widths))) if widths else FEWEST_BINS
    return min(max(n, FEWEST_BINS), MOST_BINS)


def _shares_of_bag(
    source: Any, model: Model, column: SingleColumn, of_class: Array, weights: Floats
) -> Floats:
    """Return the column's share of everything that its bag counts, by class."""
    factor, j = place_of(model, column.name)
    names = model.schema.names_of(model.schema.groups[factor.group])
    chosen = [names[place] for place in factor.places]
    sums = np.zeros((len(model.classes), len(chosen)))
    wide = [numbers_in(source, name, model) for name in chosen] if isinstance(source, Table) else []
    if isinstance(source, Table):
        counts = np.nan_to_num(np.array(wide)).T
    else:
        places = [list(model.schema.names).index(name) for name in chosen]
        values = source.values[:, places]
        counts = np.nan_to_num(
            dense(values) if isinstance(values, np.ndarray) else values.toarray()
        )
    for c in range(len(model.classes)):
        sums[c] = weights[of_class == c] @ counts[of_class == c]
    total = sums.sum(axis=1)
    share = np.where(total > 0.0, sums[:, j] / np.where(total > 0.0, total, 1.0), np.nan)
    return share[:, None]
