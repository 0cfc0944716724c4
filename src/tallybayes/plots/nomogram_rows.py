"""The rows of a nomogram: for each column, which value says how much for one class against another.

Row j shows r_j(x) = log P(x | one) - log P(x | other), with a calibration's exponents. Points are
s (r_j(x) - m_j), with one scale s for all rows and the least m_j of the row: every row begins at 0
points, and the strongest one ends at 100. Numbers far out, which decide alone, are not on the row:
they have fewer than 0 points, or more than it is long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

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
from tallybayes.model import Factor, Model
from tallybayes.plots.column_drawing import short_interval
from tallybayes.plots.nomogram_row import Row, Tick, log_ratios
from tallybayes.plots.nomogram_rulers import round_numbers
from tallybayes.plots.nomogram_words import word_rows
from tallybayes.plots.single_column import SingleColumn, highest_counts
from tallybayes.rendering.words import number

Floats = NDArray[np.float64]

DEVIATIONS = 2.0  # of the two classes: numbers beyond are rare, and would stretch the row
DECISIVE = 6.0  # nats, odds of 400 : 1: numbers that say more decide alone, and are not drawn
GRID, STEPS = 800, 160  # of numbers that are looked at, and that are drawn
WIDE = 400  # columns of one factor, of which only the most telling get a row to compare


def rows_of(
    model: Model, one: int, other: int, most: int, words: dict[str, list[str]] | None = None
) -> tuple[Row, ...]:
    """Return the most telling rows, the strongest first.

    Parameters
    ----------
    model
        The model.
    one, other
        The places of the two classes.
    most
        How many rows.
    words
        The words of a record by column of text; the most telling words of the model if None.
    """
    found: list[Row] = []
    for factor in model.factors:
        names = model.schema.names_of(model.schema.groups[factor.group])
        columns = [str(names[place]) for place in factor.places]
        if isinstance(factor.parameters, TextParameters):
            of_record = None if words is None else words.get(columns[0], [])
            found += word_rows(model, factor, columns[0], (one, other), most, of_record)
            continue
        for name in _promising(factor, columns, (one, other), most):
            row = _row(SingleColumn.of(model, name), one, other)
            if row is not None and row.strength > (False, 0.0):
                found.append(row)
    found.sort(key=lambda row: row.strength, reverse=True)
    return tuple(found[:most])


def _promising(
    factor: Factor, columns: list[str], pair: tuple[int, int], most: int
) -> Sequence[str]:
    """Return the columns that may be among the most telling: all, unless there are very many."""
    scored = factor.scored
    if len(columns) <= WIDE:
        return columns
    a, b = pair
    if isinstance(scored, MultinomialParameters):
        with np.errstate(invalid="ignore"):
            reach = np.abs(scored.weights[a] - scored.weights[b])
        reach = reach * highest_counts(factor.parameters, [a, b])
    elif isinstance(scored, PoissonParameters):
        weights, _ = scored.line()
        with np.errstate(invalid="ignore"):
            reach = np.abs(weights[a] - weights[b]) * highest_counts(scored, [a, b])
    elif isinstance(scored, BernoulliParameters):
        with np.errstate(invalid="ignore"):
            on = scored.log_present[a] - scored.log_present[b]
            reach = np.abs(on - (scored.log_absent[a] - scored.log_absent[b]))
    elif isinstance(scored, NormalParameters):
        reach = _reach_of_numbers(scored, a, b)
    else:
        return columns
    best = np.argsort(-np.nan_to_num(reach, nan=0.0, posinf=np.inf), kind="stable")
    return [columns[j] for j in best[: 2 * most]]


def _reach_of_numbers(normals: NormalParameters, a: int, b: int) -> Floats:
    """Return how long the rows of columns of numbers are.

    The log ratio is a parabola, so it is greatest and least at the ends of the row or at its
    vertex. Of log-normal columns everything is in log x.
    """
    mean, scale, height = (part[[a, b]] for part in normals.curves)
    spread = DEVIATIONS * np.sqrt(np.where(normals.used, normals.variance[[a, b]], 0.0))
    low, high = (mean - spread).min(axis=0), (mean + spread).max(axis=0)
    bend = scale[1] ** 2 - scale[0] ** 2
    lean = scale[1] ** 2 * mean[1] - scale[0] ** 2 * mean[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.nan_to_num(np.clip(lean / bend, low, high), nan=0.0).clip(low, high)
    logs = [height - (scale * (x - mean)) ** 2 for x in (low, vertex, high)]
    ratios = np.array([each[0] - each[1] for each in logs]).clip(-DECISIVE, DECISIVE)
    return np.where(normals.used, np.ptp(ratios, axis=0), 0.0)


def _row(column: SingleColumn, one: int, other: int) -> Row | None:
    """Return the row of a column; None if it says nothing."""
    parameters = column.parameters
    if isinstance(parameters, NormalParameters):
        return _row_of_numbers(column, one, other) if parameters.used[0] else None
    if isinstance(parameters, BinsParameters):
        edges = parameters.edges[0]
        if not edges:
            return None
        inside = [*edges, math.inf]  # a number that equals an edge belongs to the left
        names = [short_interval(edges, k) for k in range(len(edges) + 1)]
        return _row_of(column, names, inside, one, other)
    if isinstance(parameters, CategoricalParameters):
        labels = parameters.labels[0]
        return _row_of(column, list(map(str, labels)), labels, one, other)
    if isinstance(parameters, BernoulliParameters):
        at = parameters.threshold
        names = [f"≤ {at:g}", f"> {at:g}"] if at else ["no", "yes"]
        return _row_of(column, names, [at, math.nextafter(at, math.inf)], one, other)
    if isinstance(parameters, PoissonParameters) and np.isnan(parameters.rate).any():
        return None
    counts = round_numbers(0, column.highest_count([one, other]), whole=True)
    return _row_of(column, [f"{x:g}" for x in counts], counts, one, other)


def _row_of(
    column: SingleColumn, names: Sequence[str], values: Sequence[Any], one: int, other: int
) -> Row | None:
    """Return the row of a column with these values."""
    if not len(values):
        return None
    ratios = log_ratios(column.evidence(values), one, other)
    return Row(column.name, tuple(map(Tick, names, values, ratios.tolist())))


def _row_of_numbers(column: SingleColumn, one: int, other: int) -> Row:
    """Return the row of a column of numbers: those that are not rare, and do not decide alone."""
    log = getattr(column.parameters, "log", False)
    even = np.geomspace if log else np.linspace
    spans = [column.span(DEVIATIONS, each) for each in ([one, other], [one], [other])]
    x = np.unique(np.concatenate([even(*span, GRID) for span in spans]))
    x = np.union1d(x, _crossings(x, log_ratios(column.evidence(x), one, other)))
    along = log_ratios(column.evidence(x), one, other)
    inside = np.abs(along) <= DECISIVE * (1.0 + 1e-6)
    if not inside.any():
        inside[:] = True
    runs = np.split(np.flatnonzero(inside), np.flatnonzero(np.diff(np.flatnonzero(inside)) > 1) + 1)
    ticks: list[Tick] = []
    values, ratios = [], []
    for run in runs:
        low, high = float(x[run[0]]), float(x[run[-1]])
        marks = round_numbers(low, high, 6 if len(runs) == 1 else 3, log=log)
        names = [number(mark, 6) for mark in marks]
        at = log_ratios(column.evidence(marks), one, other).tolist() if marks else []
        ticks += map(Tick, names, marks, at)
        if len(runs) == 1:  # numbers beyond these decide alone
            ticks += [
                Tick(f"{sign} {number(float(x[k]), 3)}", float(x[k]), float(along[k]))
                for sign, k, cut in (
                    ("≤", run[0], run[0] > 0),
                    ("≥", run[-1], run[-1] < len(x) - 1),
                )
                if cut
            ]
        kept = run[:: max(1, len(run) // STEPS)]
        kept = np.union1d(kept, run[-1:])
        values += [*x[kept].tolist(), math.nan]  # a gap before the next run
        ratios += [*along[kept].tolist(), math.nan]
    cut = not bool(inside.all())
    return Row(column.name, tuple(ticks), tuple(values[:-1]), tuple(ratios[:-1]), cut=cut)


def _crossings(x: Floats, ratios: Floats) -> Floats:
    """Return where the log ratio reaches even levels: where it is steep, a grid is too coarse."""
    found = []
    for level in np.linspace(-DECISIVE, DECISIVE, 25):
        over = ratios - level
        before = np.flatnonzero(over[:-1] * over[1:] < 0.0)
        share = over[before] / (over[before] - over[before + 1])
        found.append(x[before] + share * (x[before + 1] - x[before]))
    return np.concatenate(found)
