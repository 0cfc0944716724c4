"""Rows in bins by a probability, with the share for which it came true and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.metrics.checks import as_rows
from tallybayes.metrics.intervals import wilson
from tallybayes.metrics.probabilities import Reliability
from tallybayes.plots.predictions import Floats, Scored

Z = NormalDist().inv_cdf(0.975)  # of an interval of 95 %


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """What one series of points shows.

    Parameters
    ----------
    title
        What the legend calls it.
    table : Reliability
        Edges, mean probability, share right and rows of each bin; NaN in an empty one.
    low, high
        The limits of the share right, at 95 %.
    """

    title: str
    table: Reliability
    low: Floats
    high: Floats

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which bins have rows."""
        some: NDArray[np.bool_] = self.table.rows > 0.0
        return some


def binned(scored: Scored, bins: int, title: str) -> Bins:
    """Put rows into bins, with the limits of the share right in each."""
    if len(scored.columns) == 1:
        ((k, p),) = scored.columns.items()
        if p.min() < 0.0 or p.max() > 1.0:
            row = int(np.argmax((p < 0.0) | (p > 1.0)))
            raise TallyBayesError(
                f"the probability of row {row} is {p[row]}; it must be between 0 and 1"
            )
        right = scored.true == k
    else:
        rows = as_rows(scored.proba, scored.true, scored.weights)
        p, right = rows.proba.max(1), rows.proba.argmax(1) == rows.true
    table, squares = _table(p, right, scored.weights, bins)
    limits = [
        wilson(float(share), float(n) ** 2 / float(square) if square else 0.0, Z)
        for share, n, square in zip(table.right, table.rows, squares, strict=True)
    ]
    low, high = np.array(limits).T
    return Bins(title, table, low, high)


def _table(
    p: Floats, right: NDArray[np.bool_], weights: Floats | None, bins: int
) -> tuple[Reliability, Floats]:
    """Return the table of one probability a row, and the squares of the weights of each bin."""
    edges = np.arange(bins + 1) / bins
    place = np.searchsorted(edges[1:-1], p, side="left")
    one = np.ones(len(p)) if weights is None else weights
    total: Floats = np.bincount(place, one, bins).astype(np.float64)

    def share(values: NDArray[Any]) -> Floats:
        summed = np.bincount(place, values * one, bins)
        mean: Floats = np.divide(summed, total, out=np.full(bins, np.nan), where=total > 0.0)
        return mean

    squares: Floats = np.bincount(place, one * one, bins).astype(np.float64)
    return Reliability(edges, share(p), share(right), total), squares
