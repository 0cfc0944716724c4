"""One column of a model on its own: its distributions, the values it may have, and its data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, Coded, encode_classes
from tallybayes.errors import TallyBayesError
from tallybayes.families import (
    BinsParameters,
    CategoricalParameters,
    MultinomialParameters,
    NormalParameters,
    Parameters,
    PoissonParameters,
)
from tallybayes.model import Factor, Model
from tallybayes.sources import SparseMatrix, Table
from tallybayes.sources.labels import Label, encode
from tallybayes.sources.numbers import interval_codes

Floats = NDArray[np.float64]
Array = NDArray[Any]

RARE = 1e-3  # counts are shown up to where only so much of a distribution is left
MOST_COUNTS = 60


@dataclass(frozen=True, slots=True)
class SingleColumn:
    """The distributions of one column, and what predictions make of them.

    `parameters` are the distributions themselves; `scored` has a calibration's exponents.
    """

    name: str
    classes: tuple[Label, ...]
    parameters: Parameters
    scored: Parameters

    @classmethod
    def of(cls, model: Model, name: str) -> SingleColumn:
        """Look a column up."""
        factor, j = place_of(model, name)
        parts = (each.select([j]) for each in (factor.parameters, factor.scored))
        return cls(str(name), model.classes, *parts)

    def log_prob(self, values: Any) -> Floats:
        """Return log P(value | class) for each value (down) and class (across)."""
        return self._asked(self.parameters, values)

    def evidence(self, values: Any) -> Floats:
        """Return what each value (down) adds to the score of each class (across)."""
        return self._asked(self.scored, values)

    def _asked(self, parameters: Parameters, values: Any) -> Floats:
        return parameters.log_prob(self._encoded(values))[:, 0, :] + 0.0  # no -0.0

    def _encoded(self, values: Any) -> Block:
        if isinstance(self.parameters, BinsParameters):
            numbers = np.asarray(values, np.float64)
            edges = self.parameters.edges[0]
            codes = interval_codes([numbers], [edges], len(numbers))
            return Coded(codes, (range(len(edges) + 1),))
        if isinstance(self.parameters, CategoricalParameters):
            return Coded(np.arange(len(values))[:, None], (tuple(values),))
        numbers = np.array(values, np.float64)
        if getattr(self.parameters, "log", False):
            numbers = np.log(np.where(numbers > 0.0, numbers, np.nan))
        return numbers[:, None]

    def leaves_out(self, value: Any) -> bool:
        """Tell whether the model leaves a value out that is there."""
        return self.parameters.left_out(0, value) is not None

    def span(self, deviations: float, places: Sequence[int]) -> tuple[float, float]:
        """Return the least and greatest number within so many standard deviations of the means."""
        normals = self.parameters
        assert isinstance(normals, NormalParameters)
        middle, spread = normals.mean[places, 0], np.sqrt(normals.variance[places, 0])
        low = float((middle - deviations * spread).min())
        high = float((middle + deviations * spread).max())
        if normals.log:
            low, high = math.exp(max(low, -700.0)), math.exp(min(high, 700.0))
        return low, high

    def highest_count(self, places: Sequence[int]) -> int:
        """Return the count above which only rare rows of these classes are."""
        return int(highest_counts(self.parameters, places)[0])


def place_of(model: Model, name: str) -> tuple[Factor, int]:
    """Return the factor of a column and its place in it; an unknown name is refused."""
    group, place = model.schema.place_of(name)
    for factor in model.factors:
        if factor.group == group and place in factor.places:
            return factor, factor.places.index(place)
    raise TallyBayesError(f"the model has no factor for column {name!r}")


def highest_counts(parameters: Parameters, places: Sequence[int]) -> Array:
    """Return for each column of counts where the greatest of its rates leaves only rare rows."""
    assert isinstance(parameters, PoissonParameters | MultinomialParameters)
    rates = parameters.rate[places]
    from scipy.stats import poisson

    rate = np.nan_to_num(rates).max(axis=0)
    most: Array = poisson.isf(RARE, rate)
    return np.clip(most, 1, MOST_COUNTS).astype(int)


def _one_of(exponents: Floats | None, j: int) -> Floats | None:
    """Return the exponent of a column; one may stand for all."""
    if exponents is None or len(exponents) == 1:
        return exponents
    return exponents[j : j + 1]


def numbers_in(source: Any, name: str, model: Model) -> Floats:
    """Return the numbers of a column of rows, NaN where they are missing."""
    if isinstance(source, Table):
        return np.asarray(_column(source, name).numbers(slice(0, source.n_rows)), np.float64)
    place = list(map(str, model.schema.names)).index(str(name))
    if isinstance(source, SparseMatrix):
        return np.asarray(source.values[:, [place]].toarray()[:, 0], np.float64)
    return np.asarray(source.values[:, place], np.float64)


def labels_in(source: Any, name: str, model: Model) -> tuple[Array, tuple[Label, ...]]:
    """Return the codes of a column of categories, -1 where it is missing, and their meanings."""
    if isinstance(source, Table):
        found = _column(source, name).codes(slice(0, source.n_rows))
    else:
        place = list(map(str, model.schema.names)).index(str(name))
        found = encode(source.values[:, place], f"column {name!r}")
    return found.codes, tuple(found.labels)


def _column(source: Table, name: str) -> Any:
    if name not in source.columns:
        raise TallyBayesError(f"X has no column {name!r}, which the picture is of")
    return source.columns[name]


def classes_of(model: Model, y: Any, n_rows: int) -> Array:
    """Return the place of each label among the model's classes, -1 for others."""
    codes, labels = encode_classes(y, n_rows)
    place = {label: k for k, label in enumerate(model.classes)}
    meaning = np.array([place.get(label, -1) for label in labels] or [-1])
    places: Array = meaning[codes]
    return places
