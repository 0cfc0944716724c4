"""Numbers cut into intervals, which count like categories: P(x in interval k | c).

The intervals of the edges e_1 < ... < e_m are (-inf, e_1], (e_1, e_2], ..., (e_m, inf): a number
that equals an edge belongs to the left. All of them count whether or not a number was seen in them,
so K is m + 1. What is estimated are probabilities of intervals, not densities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallybayes.batches import Coded
from tallybayes.families.categorical import Categorical, CategoricalParameters
from tallybayes.families.parameters import Array, ColumnInfo, Floats
from tallybayes.families.smoothing import LAPLACE, Alpha, alpha_of_each, checked_alpha
from tallybayes.schema import Intervals
from tallybayes.tallies import Codes

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True, slots=True)
class Bins:
    """A probability for each interval of a number.

    Parameters
    ----------
    edges
        Where the intervals meet, in increasing order; a number that equals an edge belongs to the
        interval on its left. When not given, `NaiveBayes` finds them from the labels, by the method
        of Fayyad and Irani: see `entropy_edges`.
    alpha
        Added to every count: (n + alpha) / (N + alpha K). A number, or one a column. 0 is maximum
        likelihood.

    Examples
    --------
    >>> from tallybayes import Bins, Tally, estimate
    >>> ages = {"age": [12, 15, 40, 52, 70, 81]}
    >>> labels = ["no", "no", "yes", "yes", "no", "no"]
    >>> tally = Tally.of(ages, labels, columns={"age": Bins(edges=(18, 65))})
    >>> estimate(tally).predict({"age": [18, 19, 65, 66]}).tolist()
    ['no', 'yes', 'yes', 'no']
    """

    edges: tuple[float, ...] | None = None
    alpha: Alpha = LAPLACE

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", Intervals(self.edges).edges)
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))

    @property
    def kind(self) -> Intervals:
        """What must have been counted: intervals."""
        return Intervals(self.edges)

    def estimate(self, block: Codes, columns: ColumnInfo) -> BinsParameters:
        """Turn counts of intervals into probabilities; the edges are what the columns declare."""
        edges = tuple(tuple(map(float, each)) for each in columns.declared)
        numbers = [tuple(range(len(each) + 1)) for each in edges]
        # of a column without values nothing is known, so its intervals are equally probable
        alphas = np.where(block.present.any(axis=0), alpha_of_each(self.alpha, columns.names), 1.0)
        like = Categorical(tuple(alphas.tolist()))
        tables = like.estimate(block, ColumnInfo(columns.classes, columns.names, numbers))
        return BinsParameters(
            tables.names, tables.labels, tables.log_probabilities, tables.log_unseen, edges=edges
        )


@dataclass(frozen=True, eq=False)
class BinsParameters(CategoricalParameters):
    """Log probabilities by class (down) and interval (across, the columns side by side)."""

    edges: tuple[tuple[float, ...], ...] = ()

    def _lookup(self, block: Coded) -> tuple[Array, Array, Array, Array, Array, Floats]:
        """Return the codes of a block, and the tables laid out by them.

        Intervals have the same numbers in every block, so one layout serves all; -1 is no interval,
        and left out as a value never seen.
        """
        return super()._lookup(Coded(block.codes, None))

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes.

        An interval is drawn by its probability, then a number uniformly from it. The two outermost
        intervals have no end: they are taken to be as wide as their neighbours, or 1 wide if there
        is only one edge. A column without edges says nothing of its numbers: they are missing.
        """
        numbers = super().sample(rng, classes)
        drawn: list[Array] = []
        for number, edges in zip(numbers, self.edges, strict=True):
            if not edges:
                drawn.append(np.full(len(classes), np.nan))
                continue
            ends = _ends(edges)
            low, high = ends[number], ends[number + 1]
            u = rng.random(len(classes))
            inside = u * low + (1.0 - u) * high
            # rounding must not carry a number over the edge on its left
            drawn.append(np.clip(inside, np.nextafter(low, np.inf), high))
        return drawn


def _ends(edges: Sequence[float]) -> Floats:
    """Return the edges between two outer ends that samples keep to."""
    inner = np.array(edges)
    with np.errstate(over="ignore"):
        widths = np.diff(inner) if len(inner) > 1 else np.ones(1)
        low = min(inner[0] - widths[0], np.nextafter(inner[0], -np.inf))
        high = max(inner[-1] + widths[-1], np.nextafter(inner[-1], np.inf))
    ends: Floats = np.clip(np.array([low, *inner, high]), -LARGEST, LARGEST)
    return ends
