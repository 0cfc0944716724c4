"""Which columns belong together: candidates, and what each promises to gain.

Candidates are screened without fitting anything: at the posterior of a model, each row's, the term
t of a candidate has the slope g = sum of (t of the row's class - its mean over the classes) and the
bend h = sum of its variance over the classes, so that its weight would gain about g^2 / 2h nats of
log-loss. All terms are those of leave-one-out, so a candidate that repeats the rows gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tallybayes.batches import Cells
from tallybayes.families.interaction import CellCounts, Interaction
from tallybayes.kernels.choice import loops_for
from tallybayes.kernels.scoring import log_sum_exp
from tallybayes.kernels.threads import over_rows
from tallybayes.kinds import Joint, Part
from tallybayes.schema import Schema
from tallybayes.sources import Source, SparseMatrix
from tallybayes.tokenizer import Words

Array = NDArray[Any]
Floats = NDArray[np.float64]
Unit = tuple[tuple[str, ...], tuple[Part, ...]]  # columns, and how each is cut

MANY, MORE = 2_000, 4_000  # rows from which on columns are cut finer
LEAST_GAIN = 4.0  # nats, of a joint
TRIPLES = 1.5  # times the logarithm of how many are tried, in nats
FALSE = 0.05  # share of joints that are found by chance
MOST_CELLS = 4_000  # of a joint
FEW_COLUMNS = 16  # of which all triples are tried
ALONE = 5.0  # times as many rows as parts have on average: a part of its own
LARGEST = 2.0  # weight of a joint that is tried
STRONGEST = 20  # pairs that triples are built from, where there are more columns
LEAST_MOST = 30  # joints of each size that may be added, of however few columns
JOINT = 20.0  # how strongly the weight of a joint is drawn to nothing


class CutColumns:
    """Columns of some rows, and how they are cut where they are looked at together.

    Texts are left aside, and so are sparse matrices; `among` some names, if they are stated.
    """

    def __init__(
        self,
        source: Source,
        schema: Schema,
        counted: NDArray[np.bool_],
        among: Collection[str] | None = None,
    ) -> None:
        self.schema, self.counted = schema, counted
        self.cells = Cells(source, schema.names, (), (), slice(0, source.n_rows))
        self.place = {str(name): k for k, name in enumerate(schema.names)}
        self.n = int(counted.sum())
        self.usable = [] if isinstance(source, SparseMatrix) else [
            str(name) for name, kind, _ in schema
            if not isinstance(kind, Words) and (among is None or str(name) in among)
        ]  # fmt: skip
        self.numbers = {
            name: np.asarray(self.cells.numbers(self.place[name]), np.float64)
            for name in self.usable
            if self.cells.column(self.place[name]).type in ("integer", "float")
        }
        self.gaps = {
            name: bool(self.cells.missing(self.place[name])[counted].any()) for name in self.usable
        }
        self._parts: dict[tuple[str, int], Part] = {}

    def part(self, name: str, into: int) -> Part:
        """Return how a column is cut: numbers into about so many parts of equal size."""
        into = into if name in self.numbers else 0
        if (name, into) not in self._parts:
            if into:
                edges, _ = equal_parts(self.numbers[name][self.counted], into)
                part = Part(edges=edges, missing=self.gaps[name], name=f"{into} parts")
            else:
                codes, labels = self.cells.codes(self.place[name])
                there = np.unique(codes[(codes >= 0) & self.counted]).tolist()
                values = tuple(sorted(labels[k] for k in there))
                part = Part(values=values, missing=self.gaps[name])
            self._parts[name, into] = part
        return self._parts[name, into]

    def pairs(self) -> Iterator[Unit]:
        """Go through the pairs of columns that could be counted."""
        for into in (5, 3, 9, 20) if self.n >= MORE else (5, 3, 9):
            for names in combinations(self.usable, 2):
                if into == 5 or any(name in self.numbers for name in names):
                    yield from self.unit(names, into)

    def triples(self, pairs: Sequence[Unit]) -> Iterator[Unit]:
        """Go through the triples that could be counted: those with some pairs, of many columns."""
        order = {name: k for k, name in enumerate(self.usable)}
        some: set[tuple[str, ...]] = set()
        if len(order) <= FEW_COLUMNS:
            some = set(combinations(self.usable, 3))
        else:
            for pair, _ in pairs[:STRONGEST]:
                triples = ({*pair, other} for other in self.usable if other not in pair)
                some |= {tuple(sorted(triple, key=order.__getitem__)) for triple in triples}
        for names in sorted(some, key=lambda triple: [order[name] for name in triple]):
            yield from self.unit(names, 5 if self.n >= MANY else 3)

    def unit(self, names: tuple[str, ...], into: int) -> Iterator[Unit]:
        """Return columns that are looked at together, unless they have too many cells, or one."""
        for name in names:
            self.schema.place_of(name)
        parts = tuple(self.part(name, into) for name in names)
        sizes = [part.size for part in parts]
        if min(sizes) > 1 and np.prod(sizes) <= MOST_CELLS:
            yield names, parts


class JointScreen:
    """Rows on which columns are tried together.

    Parameters
    ----------
    columns
        How the columns of all rows are cut.
    rows, y, w
        The numbers of the rows that are looked at, their classes and weights.
    n_classes
        How many classes there are.
    """

    def __init__(
        self, columns: CutColumns, rows: Array, y: Array, w: Floats, n_classes: int
    ) -> None:
        self.columns, self.rows, self.y, self.w = columns, rows, y, w
        self.n_classes, self.weighted = n_classes, bool((w != 1.0).any())
        self._codes: dict[tuple[str, Part], Array] = {}

    def _counted(self, unit: Unit) -> tuple[Array, Floats, Floats]:
        """Return the cell of each row, the terms of cells, and each row's own class's without it.

        The terms are by cell and class.
        """
        at, known = np.zeros(len(self.y), np.int64), np.ones(len(self.y), bool)
        for name, part in zip(*unit, strict=True):
            codes = self._codes.get((name, part))
            if codes is None:
                codes = part.codes(self.columns.cells, self.columns.place[name])
                codes = codes[self.rows].astype(np.int32)
                self._codes[name, part] = codes
            at = at * part.size + codes
            known &= codes >= 0
        shape = tuple(part.size for part in unit[1])
        cells, n_classes = math.prod(shape), self.n_classes
        w = self.w if known.all() else np.where(known, self.w, 0.0)
        places = self.y * cells + np.where(known, at, 0)
        n: Floats = np.bincount(places, w, n_classes * cells).astype(np.float64)
        at = np.where(known, at, -1)
        counts = CellCounts(Interaction(), n.reshape(n_classes, *shape), unit[1])
        own = counts.own(at, self.y, self.w if self.weighted else None)
        return at, np.ascontiguousarray(counts.table().T), own

    def terms(self, unit: Unit) -> Floats:
        """Return the leave-one-out terms of columns together, by row and class."""
        at, table, own = self._counted(unit)
        terms = np.where((at >= 0)[:, None], table[at], 0.0)
        terms[np.arange(len(self.y)), self.y] = own
        return terms

    def promising(
        self, candidates: Sequence[Unit], posterior: Floats, least: float, false: float = 1.0
    ) -> list[tuple[Unit, float]]:
        """Return the candidates that promise to gain at least so much, the best first.

        By Benjamini and Hochberg's rule no more than a share of them are `false`: found by chance,
        since many are tried. `posterior` is the rows' now, by row and class.
        """
        n_cells = len(candidates) * posterior.size
        posterior = np.ascontiguousarray(posterior)
        some = over_rows(
            lambda some: [self._gain(unit, posterior, n_cells) for unit in candidates[some]],
            len(candidates), n_cells,
        )  # fmt: skip
        gains = [gain for part in some for gain in part]
        ordered = sorted(zip(candidates, gains, strict=True), key=lambda pair: -pair[1])
        p = ndtr(-np.sqrt(2.0 * np.array([gain for _, gain in ordered])))
        enough = np.flatnonzero(p <= false * np.arange(1, len(p) + 1) / max(len(p), 1))
        most = min(enough.max(initial=-1) + 1, max(2 * len(self.columns.place), LEAST_MOST))
        return [(unit, gain) for unit, gain in ordered[:most] if gain > least]

    def best_gain(self, unit: Unit, logs: Floats) -> tuple[float, float]:
        """Return what a term gains with the weight that is best for it, in nats; and that weight.

        `logs` are the log posteriors of the rows now, by row and class.
        """
        from scipy.optimize import minimize_scalar

        rows, terms = np.arange(len(self.y)), self.terms(unit)
        possible = np.isfinite(logs[rows, self.y])

        def loss(weight: float) -> float:
            joint = logs + weight * terms
            own = joint[rows, self.y] - log_sum_exp(joint)
            return float(-self.w[possible] @ own[possible] + JOINT / 2.0 * weight * weight)

        weight = float(minimize_scalar(loss, bounds=(0.0, LARGEST), method="bounded").x)
        return loss(0.0) - loss(weight), weight

    def _gain(self, unit: Unit, posterior: Floats, n_cells: int) -> float:
        """Return what a weight of a joint term would gain, about, in nats."""
        at, table, own = self._counted(unit)
        test = loops_for(n_cells).score_test
        slope, bend = test(at, self.y, self.w, table, own, posterior)
        return float(slope * slope / 2.0 / (bend + JOINT)) if slope > 0.0 else 0.0


def least_gain_of_triples(tried: int) -> float:
    """Return what triples have to gain, of which so many are tried, in nats."""
    return max(LEAST_GAIN, TRIPLES * math.log(max(tried, 1)))


def title_of(unit: Unit) -> str:
    """Name a candidate: "age x income in 5 parts"."""
    names, parts = unit
    return Joint((parts,)).title(names)


def equal_parts(x: Floats, n: int) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return where numbers are cut into about n parts, and which parts are one frequent number.

    A number that has more rows than a part of equally many would is a part of its own; the others
    are cut into parts of equally many rows.
    """
    values, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    frequent = counts * n > counts.sum()
    light = np.where(frequent, 0, counts)
    room = max((n - int(frequent.sum())) / max(int(light.sum()), 1), 0.0)
    place = np.floor((np.cumsum(light) - light / 2.0) * room)
    place = np.where(frequent, -1.0, place)  # two frequent neighbours are two parts
    cut = (place[1:] != place[:-1]) | frequent[1:]
    part = np.concatenate([[0], np.cumsum(cut)]) if len(values) else np.zeros(0, np.int64)
    alone = frequent & (counts * (1 + cut.sum()) > ALONE * counts.sum())
    return tuple(values[:-1][cut].tolist()), tuple(part[alone].tolist())
