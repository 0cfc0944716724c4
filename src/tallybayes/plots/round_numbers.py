"""Round numbers to be written along an axis."""

from __future__ import annotations

import math


def nice(low: float, high: float, n: int = 6, whole: bool = False) -> list[float]:
    """Return about n round numbers between two.

    Examples
    --------
    >>> nice(4.3, 7.9), nice(0, 3, whole=True)
    ([4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5], [0.0, 1.0, 2.0, 3.0])
    """
    from matplotlib.ticker import MaxNLocator

    found = MaxNLocator(n + 2, steps=[1, 2, 2.5, 5, 10], integer=whole).tick_values(low, high)
    slack = 1e-9 * (high - low)
    return [float(x) + 0.0 for x in found if low - slack <= x <= high + slack]


def nice_logarithms(low: float, high: float) -> list[float]:
    """Return round numbers that are about evenly spaced in their logarithms."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [d * 10.0**p for p in powers for d in digits if low <= d * 10.0**p <= high]
        if len(found) <= 9:
            break
    if len(found) > 9:
        found = found[:: math.ceil(len(found) / 9)]
    return found if len(found) > 1 else nice(low, high)


def marks(low: float, high: float, n: int, log: bool) -> list[float]:
    """Return round numbers to be named on a row."""
    if not low < high:
        return [low]
    return nice_logarithms(low, high) if log and high > 4.0 * low > 0.0 else nice(low, high, n)
