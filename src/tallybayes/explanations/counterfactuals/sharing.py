"""The numbers that a column can take when it shares a change with another one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.counterfactuals.decimals import digits_of, rounded
from tallybayes.explanations.counterfactuals.numbers import Line
from tallybayes.explanations.counterfactuals.options import Moves

Floats = NDArray[np.float64]

AROUND = (0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 3.0, -3.0)  # standard deviations


def value_of(line: Line, number: float) -> Any:
    """Return a number as the record would have it."""
    # an integer must fit into 64 bits
    return int(number) if line.whole and number.is_integer() and abs(number) < 2**63 else number


def allowed(line: Line, points: Floats) -> Floats:
    """Return distances to numbers that the column can have, without the present one."""
    if line.whole and not line.log:
        points = np.unique(np.round(points))
    if line.count:
        points = points[line.start + points >= 0.0]
    kept: Floats = points[points != 0.0]
    return kept


def farthest(line: Line) -> float:
    """Return a distance that reaches beyond the middle of every class."""
    with np.errstate(divide="ignore", invalid="ignore"):
        middles = np.abs(line.slope / line.square) / 2.0
    most = np.where(np.isfinite(middles), middles, 0.0).max()
    return float(max(8.0 * line.spread, most + 3.0 * line.spread))


def given(line: Line) -> tuple[Moves, Floats]:
    """Return some numbers for a missing one, around the mean of the column, and their sizes."""
    found = (_short(line, steps * line.spread, line.spread / 10.0) for steps in AROUND)
    numbers = list(dict.fromkeys(number for number in found if number is not None))
    logs = [np.zeros((0, len(line.level))), *(line.logs_of(number) for number in numbers)]
    values = [value_of(line, number) for number in numbers]
    sizes = np.array([line.size(number) for number in numbers])
    return Moves.of(line.column, values, np.concatenate(logs)), sizes


def few_digits(line: Line, t: float) -> list[float]:
    """Return the numbers of few digits that are nearest to a distance."""
    found = [_short(line, t, abs(t) / 50.0), _short(line, t, abs(t) / 5000.0)]
    return [number for number in found if number is not None]


def _short(line: Line, t: float, unit: float) -> float | None:
    """Return the number at a distance, rounded to about a unit of distance; None if none is."""
    number = line.number_at(t)
    if not math.isfinite(number):
        return None
    number = rounded(number, 0 if line.whole else digits_of(unit * (number if line.log else 1.0)))
    fits = number > 0.0 if line.log else number >= 0.0 or not line.count
    return number if fits else None
