"""Numbers cut into intervals, which count like categories: P(x in interval k | c).

The intervals of the edges e_1 < ... < e_m are (-inf, e_1], (e_1, e_2], ..., (e_m, inf): a number
that equals an edge belongs to the left. All of them count whether or not a number was seen in them,
so K is m + 1. What is estimated are probabilities of intervals, not densities.

Where edges are not stated they are found by the method of U. Fayyad and K. Irani, "Multi-interval
discretization of continuous-valued attributes for classification learning" (IJCAI 1993). A set S of
N values with k classes in it and the entropy H(S), in bits, is cut in two where the classes are
purest on both sides,

    gain = H(S) - (N_1 H(S_1) + N_2 H(S_2)) / N        is greatest,

if describing the cut costs less than it saves, by the principle of minimum description length:

    gain > (log2(N - 1) + log2(3^k - 2) - (k H(S) - k_1 H(S_1) - k_2 H(S_2))) / N.

Both sides are then cut in the same way, until no cut pays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from msgspec import structs

from tallybayes.arrays import Array, Floats
from tallybayes.batches import Coded
from tallybayes.families.categorical import (
    Categorical,
    CategoricalParameters,
    Layout,
    running_shares,
)
from tallybayes.families.parameters import ColumnInfo, Family
from tallybayes.families.registry import register
from tallybayes.families.running import RunningShares, RunningStart
from tallybayes.families.smoothing import Alpha, alpha_of_each
from tallybayes.families.terms import Steps, UnitTerm
from tallybayes.schema import Intervals
from tallybayes.tallies import Codes

LARGEST = np.finfo(np.float64).max
SAME = 1e-12  # a relative difference that may be rounding: the cuts are equally good


@register("bins", default_for=Intervals)
class Bins(Family, frozen=True):
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
        Family.__post_init__(self)
        self._put(edges=Intervals(self.edges).edges)

    @property
    def kind(self) -> Intervals:
        return Intervals(self.edges)

    def unbound(self) -> Bins:
        return structs.replace(self, edges=None)

    def needs_labels(self) -> bool:
        return self.edges is None

    def resolved(self, values: Floats, y: Array, n_classes: int, weights: Array | None) -> Bins:
        return structs.replace(self, edges=entropy_edges(values, y, n_classes, weights))

    def estimate(self, counted: Codes, info: ColumnInfo) -> BinsParameters:
        """Turn counts of intervals into probabilities; the edges are what the columns declare."""
        edges = tuple(tuple(map(float, each)) for each in info.declared)
        numbers = [tuple(range(len(each) + 1)) for each in edges]
        # of a column without values nothing is known, so its intervals are equally probable
        alphas = np.where(counted.present.any(axis=0), alpha_of_each(self.alpha, info.names), 1.0)
        like = Categorical(tuple(alphas.tolist()))
        tables = like.estimate(counted, ColumnInfo(info.classes, info.names, numbers))
        return BinsParameters(**vars(tables), edges=edges)

    def running(self, start: RunningStart) -> list[RunningShares] | None:
        numbers = tuple(tuple(range(len(each) + 1)) for each in start.info.declared)
        return running_shares(start, numbers, self.alpha, "error")


@dataclass(frozen=True, eq=False)
class BinsParameters(CategoricalParameters):
    """Log probabilities by class (down) and interval (across, the columns side by side)."""

    shows: ClassVar[tuple[str, str]] = "interval", "P(interval | {})"

    edges: tuple[tuple[float, ...], ...] = ()

    def term(self, unit: int) -> UnitTerm:
        logs = self.log_probabilities[:, self.here(unit)].T.tolist()
        return Steps(self.edges[unit], tuple(map(tuple, logs)))

    def place(self, unit: int, value: Any) -> int:
        return int(np.searchsorted(self.edges[unit], float(value), side="left"))

    def detail(self, unit: int, value: Any) -> str:
        """Say in which interval a number lies."""
        return f"in {self._values(unit)[self.place(unit, value)]}"

    def _values(self, unit: int) -> Sequence[str]:
        """Return what the intervals of a column are called."""
        return [*map(Intervals(self.edges[unit]).named, self.labels[unit])]

    def _layout(self, block: Coded) -> tuple[Array, Layout]:
        """Return the codes, which are the same in every block, and the layout for them."""
        return super()._layout(Coded(block.codes, None))

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes.

        An interval is drawn by its probability, then a number uniformly from it. The two outermost
        intervals have no end: they are taken to be as wide as their neighbours, or 1 wide if there
        is only one edge. A column without edges says nothing of its numbers: they are missing.
        """
        numbers = super().sample(rng, classes)
        drawn: list[Array] = []
        for number, edges in zip(numbers, map(np.array, self.edges), strict=True):
            if not len(edges):
                drawn.append(np.full(len(classes), np.nan))
                continue
            with np.errstate(over="ignore"):
                widths = np.diff(edges) if len(edges) > 1 else np.ones(1)
                first = min(edges[0] - widths[0], np.nextafter(edges[0], -np.inf))
                last = max(edges[-1] + widths[-1], np.nextafter(edges[-1], np.inf))
            ends = np.clip(np.array([first, *edges, last]), -LARGEST, LARGEST)
            low, high, u = ends[number], ends[number + 1], rng.random(len(classes))
            # rounding must not carry a number over the edge on its left
            drawn.append(np.clip(u * low + (1.0 - u) * high, np.nextafter(low, np.inf), high))
        return drawn


def entropy_edges(
    x: Array, y_codes: Array, n_classes: int, weights: Array | None = None
) -> tuple[float, ...]:
    """Return the edges that the method finds, in increasing order; there may be none.

    A cut stands halfway between two values that follow each other; of cuts that are equally good
    the leftmost is taken. Missing values (NaN) are left out, and infinite ones taken for the
    largest numbers there are. Classes are numbered from 0; weights say how often each row counts.

    Examples
    --------
    >>> entropy_edges(np.array([1, 2, 3, 4, 7, 8, 9, 10]), np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2)
    (5.5,)
    """
    w = np.ones(len(x)) if weights is None else np.asarray(weights, np.float64)
    there = ~np.isnan(np.asarray(x, np.float64)) & (w > 0.0)
    values, at = np.unique(np.clip(x[there], -LARGEST, LARGEST), return_inverse=True)
    if not len(values):
        return ()
    cells = np.asarray(y_codes, np.int64)[there] * len(values) + at
    flat = np.bincount(cells, w[there], n_classes * len(values)).astype(np.float64)
    counts = flat.reshape(n_classes, -1)
    # between neighbours of one and the same class a cut is never best (Fayyad and Irani, 1992):
    # what begins elsewhere are runs
    only = np.where((counts > 0.0).sum(axis=0) == 1, counts.argmax(axis=0), -1)
    starts = np.flatnonzero(np.append(True, (only[1:] != only[:-1]) | (only[1:] < 0)))
    cuts = starts[_cut(np.add.reduceat(counts, starts, axis=1))].tolist()
    return tuple(sorted(_between(float(values[k - 1]), float(values[k])) for k in cuts))


def _cut(counts: Floats) -> list[int]:
    """Return the runs before which a cut pays; counts are of classes (down) in runs (across)."""
    cuts: list[int] = []
    waiting = [(0, counts.shape[1])]
    while waiting:
        start, stop = waiting.pop()
        if at := _best(counts[:, start:stop]):
            cuts.append(start + at)
            waiting += [(start, start + at), (start + at, stop)]
    return cuts


def _best(counts: Floats) -> int:
    """Return the run before which the best cut is, or 0 if that does not pay."""
    counts = counts[counts.any(axis=1)]
    k, n_runs = counts.shape
    if n_runs < 2:
        return 0
    left = np.cumsum(counts[:, :-1], axis=1)
    right = np.cumsum(counts[:, :0:-1], axis=1)[:, ::-1]  # anew, so that absent classes stay at 0
    total = counts.sum(axis=1, keepdims=True)
    n, bits = float(total.sum()), float(_bits(total)[0])
    left_bits, right_bits = _bits(left), _bits(right)
    rest = left_bits + right_bits
    at = int(np.argmax(rest <= rest.min() + SAME * n * np.log2(n + 2.0)))
    # by the definition, with both sides of the inequality multiplied by N
    of_parts = sum(
        (part[:, at] > 0.0).sum() * part_bits[at] / part[:, at].sum()
        for part, part_bits in ((left, left_bits), (right, right_bits))
    )
    # weights may add up to less than two rows, which have no choice of cuts
    partitions = np.log2(3.0**k - 2.0) if k < 100 else k * np.log2(3.0)  # 2 is lost then anyway
    price = np.log2(max(n - 1.0, 1.0)) + partitions - k * bits / n + of_parts
    return at + 1 if bits - rest[at] > price else 0


def _bits(counts: Floats) -> Floats:
    """Return N H of the classes' counts (down) in each column."""
    from scipy.special import xlogy

    total = counts.sum(axis=0)
    bits: Floats = (xlogy(total, total) - xlogy(counts, counts).sum(axis=0)) / np.log(2.0)
    return bits


def _between(low: float, high: float) -> float:
    """Return the number halfway, or the lower one if there is none between them."""
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low
