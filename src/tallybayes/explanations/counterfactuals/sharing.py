"""The numbers that a column can take when it shares a change with another one."""

from __future__ import annotations

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
    return int(number) if line.whole and number.is_integer() else number


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


def given(line: Line) -> Moves:
    """Return some numbers for a missing one: the mean of the column and others around it."""
    unit = line.spread * (line.number if line.log else 1.0) / 10.0
    numbers = []
    for steps in AROUND:
        number = rounded(line.number_at(steps * line.spread), digits_of(unit))
        number = float(round(number)) if line.whole else number
        if number > 0.0 or not (line.log or line.count):
            numbers.append(number)
    numbers = list(dict.fromkeys(numbers))
    logs = np.concatenate([line.logs_of(number) for number in numbers])
    return Moves.of(line.column, [value_of(line, number) for number in numbers], logs)


def few_digits(line: Line, t: float) -> list[float]:
    """Return the numbers of few digits that are nearest to a distance."""
    number = line.number_at(t)
    if line.whole:
        return [float(round(number))]
    digits = digits_of(abs(number - line.number) / 50.0)
    return [rounded(number, digits), rounded(number, digits + 2)]
