"""Whether the columns that a model takes for normal are so, and the family that would fit.

With the model's own mean and standard deviation of each class, z = (x - mean_c) / sd_c would be
normal in every class; for a log-normal column x is the logarithm. Its shape over all classes is
said in a word, and the quantiles of each class are there for a picture. Where it is not normal,
other families are tried on rows held out, each on that column alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.families import NormalParameters
from tallybayes.sources import Matrix, Table
from tallybayes.sources.labels import Label
from tallybayes.validation.diagnosis.rows import Rows, in_rows
from tallybayes.validation.diagnosis.shapes import NORMAL, TOO_FEW, places_of, shape_of, word_for
from tallybayes.validation.family_choice import FEWEST_ROWS, FamilyChoice, best_families

Floats = NDArray[np.float64]

MOST_COLUMNS = 200  # that are looked at: those that tell most
MOST_TRIED = 30  # for which other families are tried
ROWS_TRIED = 5000
POINTS, TAIL = 200, 20  # of a picture, and of each end that are all kept
ERRORS = 2.0  # standard errors by which a family must be better


class BetterFamily(NamedTuple):
    """A family that predicts held-out rows better than the present one, by their mean log-loss."""

    name: str
    loss: float
    loss_now: float


@dataclass(frozen=True, slots=True, eq=False)
class NormalityOfColumn:
    """The shape of a column that the model takes for normal, or log-normal.

    Attributes
    ----------
    column, family
        Its name, and "gaussian" or "log_normal".
    rows
        How many rows have a value of it.
    skewness, kurtosis
        Of z over all classes; the kurtosis is the excess over the normal one. NaN if z does not
        vary.
    correlation
        That of the Q-Q picture: 1 for a straight line.
    top_value, top_share
        The most frequent value, and the share of the rows that have it.
    distinct
        How many different values there are.
    word
        The shape in a word.
    better
        The family that predicts held-out rows better; None if there is none, or none was tried.
    tried
        Whether other families were tried.
    """

    column: str
    family: str
    rows: int
    skewness: float
    kurtosis: float
    correlation: float
    top_value: float
    top_share: float
    distinct: int
    word: str
    better: BetterFamily | None = None
    tried: bool = False
    points: Mapping[Label | None, tuple[Floats, Floats]] = field(default_factory=dict, repr=False)

    @property
    def normal(self) -> bool | None:
        """Whether it is close to normal; None if there are too few rows to tell."""
        return None if self.word == TOO_FEW else self.word == NORMAL

    @property
    def short_word(self) -> str:
        """The shape in a word or two."""
        return self.word.partition(":")[0]

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes that have values of the column."""
        return tuple(label for label in self.points if label is not None)

    def quantiles(self, label: Label | None = None) -> tuple[Floats, Floats]:
        """Return normal quantiles, and the values of z at the same places.

        There are at most about 200 points; those at both ends are all kept.

        Parameters
        ----------
        label
            A class; all of them together when not given.
        """
        if label not in self.points:
            hint = did_you_mean(label, self.classes)
            raise TallyBayesError(f"no row of class {label!r} has a value of the column; {hint}")
        return self.points[label]


def normality(
    rows: Rows, order: Sequence[str]
) -> tuple[tuple[NormalityOfColumn, ...], tuple[str, ...]]:
    """Return the shapes of the columns taken for normal, in this order of columns, and notes."""
    place = {name: k for k, name in enumerate(order)}
    columns = [
        (name, factor, j)
        for factor in rows.model.factors
        if isinstance(factor.parameters, NormalParameters)
        for j, name in enumerate(factor.names)
        if factor.parameters.used[j]
    ]
    columns.sort(key=lambda each: place[each[0]])
    found = []
    for name, factor, j in columns[:MOST_COLUMNS]:
        block, normals = factor.block_of(rows.batch), factor.parameters
        assert isinstance(block, np.ndarray)
        assert isinstance(normals, NormalParameters)
        x = block[:, j].astype(np.float64)
        if not np.isnan(x).all():
            found.append(_of_column(name, x, normals, j, rows))
    notes: tuple[str, ...] = ()
    if len(columns) > MOST_COLUMNS:
        notes = (f"only the {MOST_COLUMNS} columns that tell most were held against a bell curve",)
    return _with_families(tuple(found), rows), notes


def _of_column(
    name: str, x: Floats, normals: NormalParameters, j: int, rows: Rows
) -> NormalityOfColumn:
    """Measure one column."""
    there = ~np.isnan(x)
    x, y, w = x[there], rows.y[there], in_rows(rows.w[there])
    log = normals.log
    family = "log_normal" if log else "gaussian"
    z = (x - normals.mean[y, j]) / np.sqrt(normals.variance[y, j])
    values, inverse = np.unique(x, return_inverse=True)
    weight: Floats = np.bincount(inverse, w)  # type: ignore[assignment]
    top, share = int(weight.argmax()), float(weight.max() / weight.sum())
    value = float(np.exp(values[top]) if log else values[top])
    by_size = np.argsort(z)
    z, y, w = z[by_size], y[by_size], w[by_size]
    shape = shape_of(z, w, y)
    points: dict[Label | None, tuple[Floats, Floats]] = {None: _points(z, w)}
    for c in np.flatnonzero(np.bincount(y)).tolist():
        points[rows.model.classes[c]] = _points(z[y == c], w[y == c])
    word = word_for(shape, weight, value)
    return NormalityOfColumn(
        name, family, len(x), *shape[:3], value, share, len(values), word, points=points
    )


def _points(z: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return the points of a Q-Q picture of sorted z: not too many, but all at the ends."""
    from scipy.special import ndtr, ndtri

    places = places_of(w)
    if len(z) > POINTS:
        low, high = TAIL, len(z) - TAIL
        first, last = ndtri(places[[low, high - 1]])
        even = np.linspace(first, last, POINTS - 2 * TAIL)
        inner = np.clip(np.searchsorted(places, ndtr(even)), low, high - 1)
        ends = np.arange(low), np.arange(high, len(z))
        kept = np.unique(np.concatenate([ends[0], inner, ends[1]]))
        z, places = z[kept], places[kept]
    return ndtri(places), z


def _with_families(
    found: tuple[NormalityOfColumn, ...], rows: Rows
) -> tuple[NormalityOfColumn, ...]:
    """Try other families on the columns that are not normal."""
    names = [each.column for each in found if each.normal is False][:MOST_TRIED]
    chosen = _chosen(names, rows)
    return tuple(
        replace(each, better=_better(chosen[each.column], each.family), tried=True)
        if each.column in chosen
        else each
        for each in found
    )


def _chosen(names: Sequence[str], rows: Rows) -> dict[str, FamilyChoice]:
    """Ask which family suits each of some columns; none if there are too few rows."""
    step = -(-len(rows) // ROWS_TRIED)
    some = slice(None, None, step)
    y = rows.y[some]
    if not names or len(y) < FEWEST_ROWS or len(np.unique(y)) < 2:
        return {}
    numbers = Matrix(np.stack([_numbers(rows, name)[some] for name in names], axis=1))
    tempered = rows.model.calibration is not None
    try:
        found = best_families(
            numbers, list(numbers.names), y, in_rows(rows.w[some]), tempered=tempered
        )
    except TallyBayesError:  # every class has a single row
        return {}
    return {name: found[number] for name, number in zip(names, numbers.names, strict=True)}


def _numbers(rows: Rows, name: str) -> Floats:
    """Return a column's numbers as they came; those of a matrix go by their place."""
    source = rows.source
    if isinstance(source, Table):
        return source.columns[name].numbers(slice(0, source.n_rows)).astype(np.float64)
    assert isinstance(source, Matrix)
    place = list(rows.model.schema.names).index(name)
    return source.values[:, place].astype(np.float64)


def _better(choice: FamilyChoice, now: str) -> BetterFamily | None:
    """Return the chosen family if it is clearly better than the present one."""
    if choice.name == now or now not in choice.losses:
        return None
    gain = choice.losses[now] - choice.losses[choice.name]
    if not gain > ERRORS * choice.errors[now]:
        return None
    return BetterFamily(choice.name, choice.losses[choice.name], choice.losses[now])
