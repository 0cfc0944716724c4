"""The shape of some numbers in a plain word: close to normal, skewed, heavy tails, ...

How far a shape is from the normal one is measured by the correlation of the sorted numbers with
the normal quantiles of their places (Filliben's medians, 1975). Below 0.985 the difference
matters; among few numbers chance alone goes lower, and the limit with it (about what one normal
sample in a hundred falls below). Many rows make every difference significant, so significance
alone says nothing here.

A shape is skewed if its outer twentieths lean to one side of the median, by more than chance makes
them: about 1 / sqrt(n) of their distance among n normal numbers. A single number far out makes a
sample skewed, too, but not its shape. Each class is asked by itself, as such a number shifts the
mean of its class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEWEST = 30  # rows below which nothing can be told
STRAIGHT = 0.985
FEW_VALUES = 10
SPIKE = 0.15  # share of the rows that have one and the same value,
STANDING_OUT = 3.0  # and so many times that of the third: rounded numbers have no spikes
SKEWED = 0.5
LEANING = 0.1  # of the outer twentieths about the median, as a share of their distance,
CHANCE = 2.5  # and so many times what chance makes of it
HEAVY, LIGHT = 0.5, -0.5  # excess kurtosis

TOO_FEW = "too few rows to tell"
NORMAL = "close to normal"
RIGHT = "skewed to the right: a long tail of large values"
LEFT = "skewed to the left: a long tail of small values"
TAILS = "heavy tails"
HUMPS = "two humps or flat"
DISCRETE = "few distinct values"
UNEVEN = "an uneven shape"


class Shape(NamedTuple):
    """Skewness, excess kurtosis, the straightness of the Q-Q picture, and which way it leans."""

    skewness: float
    kurtosis: float
    correlation: float
    lean: float


def places_of(w: Floats) -> Floats:
    """Return Filliben's places of sorted numbers of these weights, between 0 and 1.

    Examples
    --------
    >>> places_of(np.ones(3)).round(4).tolist()
    [0.2063, 0.5, 0.7937]
    """
    total = float(w.sum())
    rank = np.cumsum(w) - 0.5 * (w - 1.0)
    places: Floats = (rank - 0.3175) / (total + 0.365)
    if len(w) and w[-1] == 1.0:
        places[-1] = 0.5 ** (1.0 / total)
    if len(w) and w[0] == 1.0:
        places[0] = 1.0 - 0.5 ** (1.0 / total)
    return np.clip(places, 1e-12, 1.0 - 1e-12)


def shape_of(z: Floats, w: Floats, y: NDArray[np.int64] | None = None) -> Shape:
    """Measure the shape of sorted numbers with weights, of one class or of several."""
    from scipy.special import ndtri

    share = w / w.sum()
    d = z - (share * z).sum()
    square = d * d
    variance = float((share * square).sum())
    if not variance > 0.0:
        return Shape(np.nan, np.nan, np.nan, 0.0)
    q = ndtri(places_of(w))
    q -= (share * q).sum()
    r = float((share * d * q).sum()) / np.sqrt(variance * float((share * q * q).sum()))
    classes = [slice(None)] if y is None else [y == c for c in np.flatnonzero(np.bincount(y))]
    lean = sum(float(share[here].sum()) * _lean(z[here], share[here]) for here in classes)
    skewness = float((share * square * d).sum()) / variance**1.5
    return Shape(skewness, float((share * square * square).sum()) / variance**2 - 3.0, r, lean)


def _lean(z: Floats, w: Floats) -> float:
    """Return how far the outer twentieths lie to one side of the median: -1 to 1."""
    share = w / w.sum()
    low, middle, high = np.interp([0.05, 0.5, 0.95], np.cumsum(share) - 0.5 * share, z)
    return float((high + low - 2.0 * middle) / (high - low)) if high > low else 0.0


def limit(weight: float) -> float:
    """Return the correlation below which so many numbers are not normal.

    Examples
    --------
    >>> [round(limit(n), 3) for n in (30, 100, 10_000)]
    [0.95, 0.981, 0.985]
    """
    return float(min(STRAIGHT, 1.0 - 0.76 * weight**-0.8))


def word_for(shape: Shape, weight: Floats, top: float) -> str:
    """Say what the shape is; given the weight of each distinct value, and the most frequent one."""
    total = float(weight.sum())
    if total < FEWEST:
        return TOO_FEW
    if len(weight) <= FEW_VALUES:
        return DISCRETE
    heaviest = np.sort(weight)[::-1]
    if heaviest[0] >= max(SPIKE * total, STANDING_OUT * heaviest[2]):
        return f"a spike at {top:.6g}"
    if not shape.correlation < limit(total):
        return NORMAL
    clear = max(LEANING, CHANCE / np.sqrt(total))
    if abs(shape.skewness) >= SKEWED and shape.lean * np.sign(shape.skewness) >= clear:
        return RIGHT if shape.skewness > 0.0 else LEFT
    if shape.kurtosis >= HEAVY:
        return TAILS
    return HUMPS if shape.kurtosis <= LIGHT else UNEVEN
