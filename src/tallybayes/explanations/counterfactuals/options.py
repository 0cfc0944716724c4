"""What each column of a record could become: one of several values, or a number on a line.

Both come with what they would add to the score of each class, as the model's parameters say. Along
a line that is a quadratic of the distance t from the record's number: of Gaussian columns, of the
logarithm of log-normal ones, and (without the square) of counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Coded, dense
from tallybayes.explanations.counterfactuals.decimals import just_above
from tallybayes.explanations.counterfactuals.numbers import Line
from tallybayes.families import (
    BernoulliParameters,
    BinsParameters,
    CategoricalParameters,
    MultinomialParameters,
    NormalParameters,
    PoissonParameters,
)
from tallybayes.sources.labels import is_missing

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FAR = 1e4  # standard deviations: squares of so many swallow the differences between the classes
FARTHEST = 1e300  # so that sizes can be added up


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Values that columns could take, with the log-likelihood of each class (across).

    `rank` orders the values of a column that are equally large changes: the nearest interval first.
    """

    columns: Integers
    values: Sequence[Any]
    logs: Floats
    rank: Integers

    @classmethod
    def of(cls, column: int, values: Sequence[Any], logs: Floats, rank: Any = 0) -> Moves:
        """Return the moves of one column."""
        shape = len(values)
        where = np.full(shape, column, np.int64)
        return cls(where, values, logs, np.broadcast_to(np.asarray(rank, np.int64), shape))

    @classmethod
    def joined(cls, parts: Sequence[Moves], n_classes: int) -> Moves:
        """Return the moves of several columns."""
        return cls(
            np.concatenate([np.zeros(0, np.int64), *(each.columns for each in parts)]),
            [value for each in parts for value in each.values],
            np.concatenate([np.zeros((0, n_classes)), *(each.logs for each in parts)]),
            np.concatenate([np.zeros(0, np.int64), *(each.rank for each in parts)]),
        )

    def where(self, mask: NDArray[np.bool_]) -> Moves:
        """Return only the marked moves."""
        values = [self.values[k] for k in np.flatnonzero(mask).tolist()]
        return Moves(self.columns[mask], values, self.logs[mask], self.rank[mask])


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Columns (down) whose numbers can move along a line: see `Line`, of which these are many."""

    column: Integers
    start: Floats
    spread: Floats
    square: Floats
    slope: Floats
    level: Floats
    at_zero: Floats
    log: NDArray[np.bool_]
    count: NDArray[np.bool_]
    whole: NDArray[np.bool_]
    least: Floats

    def __len__(self) -> int:
        return len(self.column)

    def line(self, k: int) -> Line:
        """Return one of them."""
        return Line(*(_plain(getattr(self, each.name)[k]) for each in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[Lines], n_classes: int) -> Lines:
        """Return all of several lines."""
        flags, numbers = np.zeros(0, np.bool_), np.zeros(0)
        wide = np.zeros((0, n_classes))
        none = np.zeros(0, np.int64), *(numbers,) * 2, *(wide,) * 4, *(flags,) * 3, numbers
        names = [each.name for each in fields(cls)]
        return cls(
            *(
                np.concatenate([empty, *(getattr(each, name) for each in parts)])
                for name, empty in zip(names, none, strict=True)
            )
        )

    def keep(self, mask: NDArray[np.bool_]) -> Lines:
        """Return only the marked lines."""
        return Lines(*(getattr(self, each.name)[mask] for each in fields(self)))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def values_of_tables(tables: CategoricalParameters, columns: Sequence[int]) -> list[Moves]:
    """Return all known values of columns of categories; the present one is not told apart."""
    ends = np.cumsum([len(labels) for labels in tables.labels])[:-1]
    logs = np.split(tables.log_probabilities.T, ends)
    parts = zip(columns, tables.labels, logs, strict=True)
    return [Moves.of(column, labels, here) for column, labels, here in parts]


def values_of_bins(
    tables: BinsParameters, block: Coded, columns: Sequence[int], raw: Sequence[Any]
) -> list[Moves]:
    """Return the nearest point of every other interval, of columns of intervals."""
    found, start = [], 0
    logs = tables.log_probabilities.T
    for j, (column, edges) in enumerate(zip(columns, tables.edges, strict=True)):
        here = logs[start : start + len(edges) + 1]
        start += len(edges) + 1
        code = int(block.codes[0, j])
        other = [k for k in range(len(edges) + 1) if k != code]
        points = [_point(edges, k, code, raw[j]) for k in other]
        there = [k for k, point in enumerate(points) if point is not None]
        values: list[Any] = [points[k] for k in there]
        distance = np.zeros(len(values))
        if code >= 0:
            distance = np.array([abs(float(value) - float(raw[j])) for value in values])
        rank = np.argsort(np.argsort(distance, kind="stable"), kind="stable")
        rank = rank if code >= 0 else np.zeros(len(values), np.int64)
        found.append(Moves.of(column, values, here[[other[k] for k in there]], rank))
    return found


def _point(edges: Sequence[float], k: int, code: int, raw: Any) -> int | float | None:
    """Return the point of interval k that is nearest to a number in interval `code`.

    An interval has its right end, but not its left one: beyond that the shortest decimal is taken.
    For a missing number it is a short decimal in the middle. Whole numbers stay whole if they can.
    """
    low = edges[k - 1] if k else -np.inf
    high = edges[k] if k < len(edges) else np.inf
    keep_whole = isinstance(raw, int | np.integer) and not isinstance(raw, bool)
    if k < code:
        if keep_whole and np.floor(high) > low:
            return int(np.floor(high))
        return float(high)
    if code >= 0:
        if keep_whole and np.floor(low) + 1.0 <= high:
            return int(np.floor(low)) + 1
        return just_above(low, high, abs(low - float(raw)))
    if np.isinf(low) or np.isinf(high):
        return float(high) if np.isinf(low) else just_above(low, high, 0.0)
    return just_above(low + 0.49 * (high - low), high, 2.0 * (high - low))


def values_of_switches(
    switches: BernoulliParameters, numbers: Floats, columns: Sequence[int], raw: Sequence[Any]
) -> list[Moves]:
    """Return "on" for what is off, "off" for what is on, and both for what is missing."""
    on = int(np.floor(switches.threshold)) + 1
    found = []
    for j, column in enumerate(columns):
        x = numbers[j]
        states = [
            state for state in (False, True) if np.isnan(x) or (x > switches.threshold) != state
        ]
        logs = (switches.log_absent[:, j], switches.log_present[:, j])
        truth = isinstance(raw[j], bool | np.bool_) and on == 1
        values = [state if truth else on - 1 + state for state in states]
        found.append(Moves.of(column, values, np.array([logs[state] for state in states])))
    return found


def lines_of_normals(
    normals: NormalParameters,
    numbers: Floats,
    columns: Sequence[int],
    raw: Sequence[Any],
    prior: Floats,
) -> Lines:
    """Return the lines of Gaussian and log-normal columns."""
    mean, scale, height = (part.T for part in normals.curves)
    log = normals.log
    middle = mean @ prior
    with np.errstate(over="ignore", invalid="ignore"):  # classes may lie as far apart as floats go
        variance = (normals.variance.T + (mean - middle[:, None]) ** 2) @ prior
        spread = _spread(variance)
        start, least = _starts(numbers, middle, spread)
        z = (start[:, None] - mean) * scale
        slope, level = -2.0 * z * scale, height - z * z
    wholes = [isinstance(x, int | np.integer) and not isinstance(x, bool) for x in raw]
    lines = Lines(
        np.array(columns, np.int64),
        start,
        spread,
        -(scale**2),
        slope,
        level,
        np.zeros(mean.shape),
        np.full(len(columns), log),
        np.zeros(len(columns), bool),
        np.array(wholes, bool),
        least,
    )
    return lines.keep(normals.used)


def lines_of_counts(
    counts: MultinomialParameters | PoissonParameters,
    numbers: Floats,
    columns: Sequence[int],
    prior: Floats,
) -> Lines:
    """Return the lines of columns that count: 0 and more, whole unless the number is not.

    In a bag, what is missing is not there: it counts as 0. A class in which a count above 0 is
    impossible is impossible all along the line, but for its end at 0.
    """
    weights, base = (part.T for part in counts.line())
    if isinstance(counts, MultinomialParameters):
        numbers = np.where(np.isnan(numbers), 0.0, numbers)
    rate = np.nan_to_num(counts.rate).T
    middle = rate @ prior
    spread = _spread((rate + (rate - middle[:, None]) ** 2) @ prior)  # of Poisson variables
    start, least = _starts(numbers, np.round(middle), spread)
    never = np.isneginf(weights)
    slope = np.where(never, 0.0, weights)
    lines = Lines(
        np.array(columns, np.int64),
        start,
        spread,
        np.zeros(weights.shape),
        slope,
        np.where(never, -np.inf, base + start[:, None] * slope),
        base,
        np.zeros(len(start), bool),
        np.ones(len(start), bool),
        start == np.floor(start),
        least,
    )
    return lines.keep(np.isfinite(base).all(axis=1) & _rated(counts))


def _starts(numbers: Floats, middle: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return where lines start, and the least size of a change.

    Missing numbers start in the middle, and count 1 at least. So do numbers that are far out: all
    that could be reached from there is, to much less than one per cent, as far as the middle.
    """
    missing = np.isnan(numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.minimum(np.abs(numbers - middle) / spread, FARTHEST)
        far = away > FAR
    start = np.where(missing | far, middle, numbers)
    return start, np.where(missing, 1.0, np.where(far, away, 0.0))


def _rated(counts: MultinomialParameters | PoissonParameters) -> Any:
    """Mark the columns of which something was counted."""
    return True if isinstance(counts, MultinomialParameters) else ~np.isnan(counts.rate).any(axis=0)


def _spread(variance: Floats) -> Floats:
    """Return standard deviations; 1 where there is none."""
    deviation = np.sqrt(np.where(np.isfinite(variance), variance, 0.0))
    return np.where(deviation > 0.0, deviation, 1.0)


def raw_values(record: Any, names: Sequence[str]) -> list[Any]:
    """Return the values of some columns as the record has them, None where they are missing."""
    found = [record.get(name) for name in names]
    return [None if is_missing(value) else value for value in found]


def numbers_of(block: Any) -> Floats:
    """Return the numbers of the one row of a block."""
    row: Floats = dense(block)[0]
    return row
