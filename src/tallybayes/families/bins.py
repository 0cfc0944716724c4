"""Numbers cut into intervals, which count like categories: P(x in interval k | c).

The intervals of the edges e_1 < ... < e_m are (-inf, e_1], (e_1, e_2], ..., (e_m, inf): a number
that equals an edge belongs to the left. All of them count whether or not a number was seen in them,
so K is m + 1. What is estimated are probabilities of intervals, not densities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tallybayes.batches import Coded
from tallybayes.families.categorical import Categorical, CategoricalParameters
from tallybayes.families.entropy import entropy_edges
from tallybayes.families.parameters import Array, ColumnInfo, Entries, Family, Floats
from tallybayes.families.registry import register
from tallybayes.families.smoothing import Alpha, alpha_of_each, checked_alpha
from tallybayes.families.terms import Steps, UnitTerm
from tallybayes.schema import Intervals
from tallybayes.tallies import Codes

LARGEST = np.finfo(np.float64).max


@register("bins", default_for=Intervals)
@dataclass(frozen=True, slots=True, repr=False)
class Bins(Family):
    """A probability for each interval of a number.

    Parameters
    ----------
    edges
        Where the intervals meet, in increasing order; a number that equals an edge belongs to the
        interval on its left. When not given, `NaiveBayes` finds them from the labels, by the method
        of Fayyad and Irani: see `entropy_edges`.
    alpha
        Added to every count: (n + alpha) / (N + alpha K). A number, or one a column. 0 is maximum
        likelihood, and 1 is taken when nothing is said.

    Examples
    --------
    >>> from tallybayes import Bins, Tally, estimate
    >>> ages = {"age": [12, 15, 40, 52, 70, 81]}
    >>> labels = ["no", "no", "yes", "yes", "no", "no"]
    >>> tally = Tally.of(ages, labels, columns={"age": Bins(edges=(18, 65))})
    >>> estimate(tally).predict({"age": [18, 19, 65, 66]}).tolist()
    ['no', 'yes', 'yes', 'no']
    """

    label: ClassVar[str] = "bins"

    edges: tuple[float, ...] | None = None
    alpha: Alpha | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", Intervals(self.edges).edges)
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))

    @property
    def kind(self) -> Intervals:
        """What must have been counted: intervals."""
        return Intervals(self.edges)

    def unbound(self) -> Bins:
        """Return the family without its edges, which the schema knows."""
        return replace(self, edges=None)

    def bound(self, kind: Intervals) -> Bins:
        """Return the family with the edges of a column."""
        return replace(self, edges=kind.edges)

    def needs_labels(self) -> bool:
        """Tell whether the edges have yet to be found."""
        return self.edges is None

    def resolved(self, values: Floats, y: Array, n_classes: int, weights: Array | None) -> Bins:
        """Find the edges from values and the classes of their rows."""
        return replace(self, edges=entropy_edges(values, y, n_classes, weights))

    def estimate(self, counted: Codes, info: ColumnInfo) -> BinsParameters:
        """Turn counts of intervals into probabilities; the edges are what the columns declare."""
        edges = tuple(tuple(map(float, each)) for each in info.declared)
        numbers = [tuple(range(len(each) + 1)) for each in edges]
        # of a column without values nothing is known, so its intervals are equally probable
        alphas = np.where(counted.present.any(axis=0), alpha_of_each(self.alpha, info.names), 1.0)
        like = Categorical(tuple(alphas.tolist()))
        tables = like.estimate(counted, ColumnInfo(info.classes, info.names, numbers))
        return BinsParameters(
            tables.names,
            tables.labels,
            tables.log_probabilities,
            tables.log_unseen,
            fractions=tables.fractions,
            edges=edges,
        )


def interval(edges: Sequence[float], k: int) -> str:
    """Write interval number k of those that meet at the edges.

    Examples
    --------
    >>> [interval((18.0, 65.5), k) for k in range(3)]
    ['(-inf, 18]', '(18, 65.5]', '(65.5, inf)']
    """
    low = f"{edges[k - 1]:.10g}" if k else "-inf"
    return f"({low}, {edges[k]:.10g}]" if k < len(edges) else f"({low}, inf)"


@dataclass(frozen=True, eq=False)
class BinsParameters(CategoricalParameters):
    """Log probabilities by class (down) and interval (across, the columns side by side)."""

    edges: tuple[tuple[float, ...], ...] = ()

    def select(self, units: Sequence[int]) -> BinsParameters:
        """Return the parameters of some columns."""
        selected = super().select(units)
        assert isinstance(selected, BinsParameters)
        return replace(selected, edges=tuple(self.edges[j] for j in units))

    def term(self, unit: int) -> UnitTerm:
        """Return what scores one plain value of a column."""
        logs = self.log_probabilities[:, self._here(unit)].T.tolist()
        return Steps(self.edges[unit], tuple(map(tuple, logs)))

    def silence(self, unit: int) -> str | None:
        """Say why a column says nothing at all: intervals are always there."""
        return None

    def left_out(self, unit: int, value: Any) -> str | None:
        """Say why the factor of a value that is there is left out: it never is."""
        return None

    def entries(self) -> Entries:
        """Return the intervals of all columns."""
        units = np.repeat(np.arange(len(self.labels)), np.diff(self._starts))
        return self._entries(
            units, [interval(each, k) for each in self.edges for k in range(len(each) + 1)]
        )

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
