"""The nearest number that changes the answer.

Along a line, one class leads another by a quadratic a t^2 + b t + k of the distance t. Its roots
cut the line into stretches in which the answer stays the same, so the nearest stretch with another
answer is found exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.counterfactuals.decimals import (
    DIGITS,
    OVERSHOOT,
    beyond,
    digits_of,
    rounded,
)
from tallybayes.explanations.counterfactuals.goal import Goal

Floats = NDArray[np.float64]
Stretch = tuple[float, float]

ROUNDING = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A column whose number can move.

    At the distance t from `start`, each class's log-likelihood is level + slope t + square t^2, up
    to what all classes share; of a count of 0 it is `at_zero`. Distances are those of the
    logarithm if `log`, and `spread` is the standard deviation. A line is `adrift` if it starts at
    the mean, as the number is missing or far out: then every change has the size `least` or more.
    """

    column: int
    start: float
    spread: float
    square: Floats
    slope: Floats
    level: Floats
    at_zero: Floats
    log: bool
    count: bool
    whole: bool
    least: float

    @property
    def adrift(self) -> bool:
        """Whether the line does not start at the record's own number."""
        return self.least > 0.0

    @property
    def number(self) -> float:
        """The number where the line starts."""
        return math.exp(self.start) if self.log else self.start

    def number_at(self, t: float) -> float:
        """Return the number at a distance."""
        place = self.start + t
        if not self.log:
            return place
        return math.exp(place) if place < 709.0 else math.inf

    def distance(self, number: float) -> float:
        """Return the distance of a number, with its sign."""
        return (math.log(number) if self.log else number) - self.start

    def size(self, number: float) -> float:
        """Return how large the change to a number is."""
        return max(self.least, abs(self.distance(number)) / self.spread)

    def logs(self, t: Floats) -> Floats:
        """Return the log-likelihood of each class (across) at some distances (down)."""
        t = np.asarray(t, np.float64)[:, None]
        logs: Floats = self.level + t * (self.slope + t * self.square)
        if self.count:
            logs = np.where(self.start + t <= 0.0, self.at_zero, logs)
        return logs

    def logs_of(self, number: float) -> Floats:
        """Return the same at one number, as one row."""
        if self.count and number == 0.0:
            return self.at_zero[None]
        return self.logs(np.array([self.distance(number)]))


def leads(goal: Goal, square: Any, slope: Any, level: Any) -> tuple[Floats, Floats, Floats]:
    """Return the quadratics (a, b, k) that must become positive: any, or with a `to` all."""
    fixed = goal.now if goal.to is None else goal.to
    sign = 1.0 if goal.to is None else -1.0
    found = []
    for part in (square, slope, level):
        others, one = part[..., goal.others], part[..., [fixed]]
        with np.errstate(invalid="ignore"):  # impossible here and there
            difference = sign * (others - one)
            same = np.abs(difference) <= ROUNDING * (np.abs(others) + np.abs(one))
        # two slopes that differ by rounding would meet at the end of the world
        found.append(difference if part is level else np.where(same, 0.0, difference))
    return found[0], found[1], found[2]


def roots(a: Floats, b: Floats, k: Floats) -> Floats:
    """Return the two roots of each quadratic, NaN where there is none.

    Examples
    --------
    >>> roots(np.array([1.0, 0.0, 1.0]), np.array([-3.0, 2.0, 0.0]), np.array([2.0, 1.0, 1.0]))
    array([[ 2. ,  1. ],
           [ nan, -0.5],
           [ nan,  nan]])
    """
    with np.errstate(all="ignore"):
        q = -0.5 * (b + np.copysign(np.sqrt(b * b - 4.0 * a * k), b))
        found = np.stack([q / a, k / q], axis=-1)
    return np.where(np.isfinite(found), found, np.nan)


def reach(goal: Goal, square: Floats, slope: Floats, level: Floats) -> Floats:
    """Return for lines (down) a distance within which the goal is not reached: inf if nowhere.

    For any other class it is the distance of the goal. `level` holds the scores where lines start.
    """
    a, b, k = leads(goal, square, slope, level)
    with np.errstate(invalid="ignore"):
        nearest = np.fmin.reduce(np.abs(roots(a, b, k)), axis=-1)
        nearest = np.where(k > 0.0, 0.0, np.where(np.isnan(nearest), np.inf, nearest))
    if goal.to is None:
        return np.asarray(nearest.min(axis=-1, initial=np.inf))
    return np.asarray(nearest.max(axis=-1, initial=0.0))


def stretches(line: Line, rest: Floats, goal: Goal) -> list[Stretch]:
    """Return where the goal is reached along a line; `rest` are the scores without the column."""
    a, b, k = leads(goal, line.square, line.slope, rest + line.level)
    found = roots(a, b, k)
    ends = np.unique(found[~np.isnan(found)])
    if len(ends):
        first, last = ends[0] - 1.0 - abs(ends[0]), ends[-1] + 1.0 + abs(ends[-1])
        points = np.concatenate([[first], (ends[1:] + ends[:-1]) / 2.0, [last]])
    else:
        points = np.zeros(1)
    with np.errstate(invalid="ignore", over="ignore"):
        ahead = k + points[:, None] * (b + points[:, None] * a) > 0.0
    there = ahead.any(axis=1) if goal.to is None else ahead.all(axis=1)
    bounds = [-math.inf, *ends.tolist(), math.inf]
    merged: list[Stretch] = []
    for m in np.flatnonzero(there).tolist():  # among many classes, one after the other may win
        adjoins = merged and merged[-1][1] == bounds[m]
        low = merged.pop()[0] if adjoins else bounds[m]
        merged.append((low, bounds[m + 1]))
    return merged


def nearest(line: Line, rest: Floats, goal: Goal, alone: Floats | None = None) -> list[float]:
    """Return numbers that reach the goal, or nearly, the nearest first: of each stretch its end.

    `alone` are the scores without the column where nothing else changes, with which a number must
    not reach the goal. Beside another change whole numbers always stay whole.
    """
    found: list[float] = []
    if line.count and line.start > 0.0 and bool(goal.perhaps(rest + line.at_zero[None])[0]):
        found.append(0.0)
    for low, high in stretches(line, rest, goal):
        near_and_far = _ends(line, low, high)
        if near_and_far is None:
            continue
        decimals_too = line.whole and alone is None and not line.count
        for whole in (True, False) if decimals_too else (line.whole,):
            numbers = _picked(line, rest, goal, *near_and_far, whole, alone)
            found += numbers
            if numbers:
                break
    if line.whole:  # a whole number goes above a nearer one that is not
        return sorted(found, key=lambda x: (not x.is_integer(), abs(line.distance(x))))
    return sorted(found, key=lambda x: abs(line.distance(x)))


def _ends(line: Line, low: float, high: float) -> tuple[float, float] | None:
    """Return the numbers at the near and the far end of a stretch; None if it has none."""
    if line.count:
        if line.start + high <= 0.0:
            return None
        low = max(low, -line.start)
    if low <= 0.0 <= high:
        near = 0.0
        far = high if high > -low else low
    else:
        near, far = (low, high) if low > 0.0 else (high, low)
    number = line.number_at(near)
    if not math.isfinite(number) or (line.log and number <= 0.0):  # beyond what floats can hold
        return None
    return number, line.number_at(far)


def _picked(
    line: Line,
    rest: Floats,
    goal: Goal,
    near: float,
    far: float,
    whole: bool,
    alone: Floats | None,
) -> list[float]:
    """Return the first number from the near end on that reaches the goal.

    Whole numbers come with those before it of which only the model can tell.
    """
    perhaps: list[float] = []
    for number in _candidates(line, near, far, whole):
        if not math.isfinite(number) or (number == line.number and not line.adrift):
            continue
        if (line.log or line.count) and number <= 0.0:
            continue
        logs = line.logs_of(number)
        if alone is not None and goal.surely(alone + logs)[0]:
            continue
        joint = rest + logs
        if goal.surely(joint)[0]:
            return [*perhaps, number] if whole else [number]
        if goal.perhaps(joint)[0]:
            perhaps.append(number)
    return perhaps[-1:] if not whole else perhaps


def _candidates(line: Line, near: float, far: float, whole: bool) -> Iterator[float]:
    """Go through numbers between the ends, as short as can be first."""
    up = far > near
    if whole:
        first = math.ceil(near) if up else math.floor(near)
        for step in range(2):
            whole_one = float(first + (step if up else -step))
            if (whole_one <= far) if up else (whole_one >= far):
                yield whole_one
        return
    if line.adrift and near == line.number:
        unit = line.spread * (line.number if line.log else 1.0) / 10.0
        yield from (rounded(near, digits) for digits in range(digits_of(unit), DIGITS))
        return
    allowed = OVERSHOOT * abs(near - line.number)
    if line.log:  # of the logarithm too
        allowed = min(allowed, near * -math.expm1(-OVERSHOOT * abs(line.distance(near))))
    yield from beyond(near, far, allowed)
    for part in (1e-12, 1e-9, 1e-7):
        number = near + (1.0 if up else -1.0) * part * max(abs(near), allowed)
        if (number < far) if up else (number > far):
            yield number
