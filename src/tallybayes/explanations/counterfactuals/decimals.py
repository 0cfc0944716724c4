"""Short decimals just beyond a point, so that a change reads 97.6 and not 97.58234512."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

OVERSHOOT = 0.01  # how much larger than needed a change may be, so that the number is short
DIGITS = 18


def digits_of(unit: float) -> int:
    """Return how many decimals are needed to write steps that are not greater than the unit."""
    return math.ceil(-math.log10(unit)) if 0.0 < unit < math.inf else 0


def rounded(number: float, digits: int, up: bool | None = None) -> float:
    """Return the nearest number of so many decimals, or the next one in a direction.

    Examples
    --------
    >>> rounded(97.58234, 1), rounded(97.52, 1, up=True), rounded(1200.0, -2, up=False)
    (97.6, 97.6, 1100.0)
    """
    unit = Fraction(10) ** digits
    scaled = Fraction(number) * unit
    if up is None:
        return float(round(scaled) / unit)
    return float((math.floor(scaled) + 1 if up else math.ceil(scaled) - 1) / unit)


def beyond(near: float, far: float, allowed: float) -> Iterator[float]:
    """Go through decimals of ever more digits from `near` towards `far`, by what is allowed.

    Examples
    --------
    >>> next(beyond(97.58234512, 200.0, 0.224)), next(beyond(0.1234, -5.0, 0.02))
    (97.6, 0.12)
    """
    up = far > near
    allowed = max(allowed, 1e-11 * abs(near))
    if not 0.0 < allowed < math.inf or not math.isfinite(near):
        return
    first = digits_of(100.0 * allowed) - 1
    for digits in range(first, first + DIGITS):
        number = rounded(near, digits, up)
        if abs(number - near) <= allowed and ((number <= far) if up else (number >= far)):
            yield number


def just_above(low: float, high: float, change: float) -> float:
    """Return a short decimal that is greater than `low` and not greater than `high`."""
    for number in beyond(low, high, OVERSHOOT * (change or max(abs(low), 1.0))):
        if low < number <= high:
            return number
    return math.nextafter(low, math.inf)
