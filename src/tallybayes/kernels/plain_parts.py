"""The NumPy twins of `compiled_parts`: the textbook version, and the way small inputs go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _write(terms: Array, out: Array, start: int, places: Array | None) -> None:
    """Put terms, by row, class and column, to their places."""
    into = out[:, start : start + len(terms)]
    into[:, :, slice(None) if places is None else places] = terms.swapaxes(0, 1)


def part_normals(
    X: Array,
    mean: Array,
    scale: Array,
    height: Array,
    out: Array,
    start: int,
    places: Array | None,
) -> None:
    """Write the log density height - (scale (x - mean))^2 of each column that is there, or 0."""
    x = X[:, None, :]
    with np.errstate(invalid="ignore", over="ignore"):
        z = (x - mean) * scale
        _write(np.where(np.isnan(x), 0.0, height - z * z), out, start, places)


def part_codes(
    X: Array,
    base: Array,
    width: Array,
    offset: Array,
    other: Array,
    table: Array,
    out: Array,
    start: int,
    places: Array | None,
) -> None:
    """Write table[class, place of the code] of each column."""
    k = X.astype(np.int64) - base
    inside = (k >= 0) & (k < width)
    entries = table[:, np.where(inside, offset + k, other)]
    _write(entries.swapaxes(0, 1), out, start, places)


def part_binary(
    X: Array,
    threshold: float,
    absent: Array,
    present: Array,
    out: Array,
    start: int,
    places: Array | None,
) -> None:
    """Write the log probability of each column being above the threshold, or not."""
    x = X[:, None, :]
    terms = np.where(np.greater(x, np.float64(threshold)), present, absent)
    _write(np.where(np.isnan(x), 0.0, terms), out, start, places)


def part_counts(
    X: Array, weights: Array, base: Array, out: Array, start: int, places: Array | None
) -> None:
    """Write base + x weight of each column; 0 times -inf is 0, and a missing value adds nothing."""
    x = X[:, None, :]
    with np.errstate(invalid="ignore"):
        terms = np.where(x > 0.0, x * weights, 0.0) + base
    _write(np.where(np.isnan(x), 0.0, terms), out, start, places)
