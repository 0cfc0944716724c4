"""Weighted evidence: several views of each column, a few joint ones, and a weight for each.

Each column is counted in several ways at once: as its own kind, cut finely and smoothed more or
less, cut where the classes differ, and whether it is missing. A few pairs and triples of columns
are counted together. Candidates are screened first: at the fitted weights the term t of a
candidate has the slope g = sum of (t of the row's class - its mean over the classes) and the bend
h = sum of its variance over the classes, so that its weight would gain about g^2 / 2h nats of
log-loss. All terms are those of leave-one-out, so a candidate that repeats the rows gains nothing.
Of many columns, those that tell most by themselves are tried together; more than 1,000 have one
weight in common.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from tallybayes.arrays import Array, Floats
from tallybayes.batches import Cells, encode_classes
from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.evidence.cuts import equal_parts, merged_parts
from tallybayes.evidence.weights import (
    JOINT,
    TINY,
    WIDTHS,
    EvidenceProblem,
    EvidenceWeights,
    View,
    drawn_to_nothing,
)
from tallybayes.families.bins import entropy_edges
from tallybayes.families.interaction import CellCounts, Interaction
from tallybayes.families.joint_gaussian import JointGaussian
from tallybayes.families.left_out import LeaveOneOutTask, left_out
from tallybayes.families.parameters import ColumnInfo
from tallybayes.kernels.choice import loops_for
from tallybayes.kernels.counting import members
from tallybayes.kernels.threads import over_rows
from tallybayes.kind import LARGEST_PLAIN
from tallybayes.kinds import GAP, Categories, Intervals, Joint, Part, Scatter
from tallybayes.metrics import Predictions
from tallybayes.metrics.predictions import HeldOut
from tallybayes.model import Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.model.specification import Joints as Joints
from tallybayes.schema import Schema
from tallybayes.sources import Source, SparseMatrix
from tallybayes.sources.tables import taken
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.tallies.scatter import Scatters
from tallybayes.tokenizer import Words
from tallybayes.validation.calibration import no_closed_form
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.validation.progress import ProgressLine, progress

Unit = tuple[tuple[str, ...], tuple[Part, ...]]  # columns, and how each is cut
Views = Literal["auto"] | Sequence[View] | None

MOST_ROWS = 100_000  # that are looked at to choose and to weigh; all are counted
MOST_HELD = 50_000_000  # rows times terms times classes; so of many terms fewer rows
FEWEST_ROWS = 2_000  # however many terms there are
MOST_WEIGHED = 1_000  # single columns and views of them
MOST_CLASSES = 100  # of which each row's weights are found without it
MOST_PAIRED = 100  # columns: those that tell most by themselves
MANY = 2_000  # rows from which on columns are cut finer
MERGED = 20  # parts, of which neighbours are merged whose classes do not differ
FINE, FINER = 30, 60  # parts of a smooth view
VIEWS: tuple[View, ...] = ("smooth", "missing", "smoother", "supervised")  # of many columns some
MOSTLY = 0.5  # share of a column's numbers that are the same, of which no bell curve is drawn
LEAST_GAIN = 4.0  # nats, of a joint
LEAST_CURVE = 2.5  # nats, of the one bell curve of all numbers
TRIPLES = 1.5  # times the logarithm of how many are tried, in nats
FALSE = 0.1, 0.03  # share of pairs and of triples that are found by chance
CHANCE = 0.05, 0.04  # that noise has one bell curve, and pairs or triples while there is nothing
SPREAD = 2.0, 2.5  # variance of a slope of noise, times its bend; of a triple's
MOST_CELLS = 4_000  # of a joint
MOST_TOGETHER = 3  # columns
FEW_COLUMNS = 16  # of which all triples are tried
STRONGEST = 20  # pairs that triples are built from, where there are more columns
LEAST_MOST = 30  # joints of each size that may be added, of however few columns
LEAST_WEIGHT = 1e-6
LEFT_OUT: HeldOut = "leave-one-out"
TOGETHER = ""  # what all columns are called that have one weight
CHOSEN_ON_ALL = "views and joints were chosen on all rows; cross_val chooses them anew in each fold"


@dataclass(frozen=True, slots=True, eq=False)
class WeighedEvidence:
    """What is counted beside the columns themselves, and what everything weighs.

    `predictions` are those of the rows that everything was weighed on, each left out of counts and
    weights.
    """

    schema: Schema
    calibration: Calibration
    predictions: Predictions

    @property
    def gains(self) -> Mapping[str, float]:
        """What joints promised when they were screened, in nats."""
        return self.calibration.gains


def weigh_evidence(
    source: Source,
    y: Any,
    w: Any,
    schema: Schema,
    recipe: Recipe,
    joints: Joints = "auto",
    views: Views = "auto",
) -> WeighedEvidence:
    """Find views of the columns of some rows and columns that belong together; weigh everything.

    Of more than 100,000 rows as many are drawn: some hundred weights cost each prediction about
    their number / 2n nats, a few thousandths there. Of many terms fewer rows are held.

    Parameters
    ----------
    source, y, w
        The rows, their labels and weights.
    schema, recipe
        The columns, and how they are estimated.
    joints
        Columns that are looked at together, as tuples of names; "auto": those that
        promise to help; None: none.
    views
        Which further views columns have; "auto": all that fit them; None: none.
    """
    stated = [] if joints == "auto" else _stated(joints)
    wanted = VIEWS if views == "auto" else _wanted(views)
    terms = min(len(schema.names) * (1 + len(wanted)), MOST_WEIGHED) * len(np.unique(y))
    most = min(MOST_ROWS, max(FEWEST_ROWS, MOST_HELD // max(terms, 1)))
    if source.n_rows > most:
        some = np.sort(np.random.default_rng(0).choice(source.n_rows, most, replace=False))
        source, y = taken(source, some), np.asarray(y)[some]
        w = None if w is None else np.asarray(w)[some]
    search = _Search(source, y, w, schema, recipe, wanted)
    if joints == "auto":
        search.add_curve(search.curved(), LEAST_CURVE, CHANCE[0])
        search.add(list(search.pairs()), LEAST_GAIN, FALSE[0])
        triples = list(search.triples())
        search.add(triples, max(LEAST_GAIN, TRIPLES * math.log(max(len(triples), 1))), FALSE[1])
    else:
        several = [names for names in stated if len(names) <= MOST_TOGETHER]
        search.add([unit for names in several for unit in search.unit(names, 5)], -1.0)
        for names in stated:
            if names not in several:
                search.add_curve(names, -1.0)
        search.stated = bool(stated)
    return search.outcome()


def can_weigh(rows: Array) -> bool:
    """Tell whether so many rows of each class can be left out and weighed; warn of many classes."""
    n_classes = int(np.count_nonzero(rows))
    if n_classes > MOST_CLASSES:
        warn(
            f"evidence is weighed for at most {MOST_CLASSES} classes, and there are {n_classes:,}: "
            "this is naive Bayes, with no weights",
            TallyBayesWarning,
        )
    return n_classes <= MOST_CLASSES and int((rows > 1).sum()) > 1


def _stated(joints: Any) -> list[tuple[str, ...]]:
    """Return the columns that the user wants to be looked at together."""
    units = [] if joints is None else joints
    if isinstance(units, str) or not isinstance(units, Sequence):
        raise TallyBayesError(f"joints is {joints!r}; say 'auto', None, or [('age', 'income')]")
    for names in units:
        if isinstance(names, str) or not 2 <= len(set(names)) == len(names):
            raise TallyBayesError(
                f"joints has {names!r}; each is a tuple of two or more different columns"
            )
    return [tuple(names) for names in units]


def _wanted(views: Any) -> tuple[View, ...]:
    """Return the views that the user wants."""
    if isinstance(views, str) or not set(views or ()) <= set(VIEWS):
        raise TallyBayesError(f"views is {views!r}; say 'auto', None, or some of {list(VIEWS)}")
    return tuple(views or ())


class _Search:
    """The rows, the terms so far, and their weights."""

    def __init__(
        self,
        source: Source,
        y: Any,
        w: Any,
        schema: Schema,
        recipe: Recipe,
        views: Sequence[View],
    ) -> None:
        self.schema, self.positive = schema, recipe.positive
        self.cells = Cells(source, schema.names, (), (), slice(0, source.n_rows))
        self.place = {str(name): k for k, name in enumerate(schema.names)}
        weights = np.ones(source.n_rows) if w is None else np.asarray(w, np.float64)
        self.counted = weights > 0.0
        self.weighted = bool((weights[self.counted] != 1.0).any())
        self.n = int(self.counted.sum())
        self.usable = [] if isinstance(source, SparseMatrix) else [
            str(name) for name, kind, _ in schema if not isinstance(kind, Words)
        ]  # fmt: skip
        columns = {name: self.cells.column(place) for name, place in self.place.items()}
        self.numbers = {
            name: np.asarray(self.cells.numbers(self.place[name]), np.float64)
            for name in self.usable
            if columns[name].type in ("integer", "float")
        }
        self.gaps = {
            name: bool(self.cells.missing(self.place[name])[self.counted].any())
            for name in self.usable
        }
        self._parts: dict[tuple[str, int], Part] = {}
        self._codes: dict[tuple[str, Part], Array] = {}
        codes, classes = encode_classes(y, source.n_rows)
        self.classes = tuple(classes)
        self.rows = np.flatnonzero(self.counted)
        self.y, self.w = codes[self.rows], weights[self.rows]
        self.paired = self._paired()
        room = MOST_WEIGHED // max(len(schema.names), 1) - 1
        self.units: list[Unit] = [
            ((name,), (part,))
            for name in progress(self.usable, "cutting columns")
            for part in list(self._views(name, views, codes, w))[: max(room, 0)]
        ]
        self.gains: dict[str, float] = {}
        self.stated = False  # that there are joints
        self.curves: list[tuple[tuple[str, ...], Scatter]] = []
        viewed = _with_units(schema, self.units)
        data = LabelledRows.of(source, viewed, y, w)
        together = len(schema.names) > MOST_WEIGHED
        closed = LeaveOneOut(data).closed_terms(recipe, np.arange(len(data)), together=together)
        if closed is None:
            raise no_closed_form("evidence")
        terms, exact = closed
        self.rows = np.flatnonzero(exact & (terms.w > 0.0))
        self._codes.clear()
        self.classes, self.y, self.w = terms.classes, terms.y[self.rows], terms.w[self.rows]
        self.names = [TOGETHER] if together else list(terms.names)
        some = terms.terms[self.rows], terms.log_prior[self.rows]
        drawn = drawn_to_nothing(viewed, self.names)
        # a curve of numbers most of which are the same rules out what differs from them
        silent = np.array(
            [d and self._mostly_same(n) for n, d in zip(self.names, drawn, strict=True)], bool
        )
        self.problem = EvidenceProblem(*some, self.y, self.w, drawn, silent)
        self.found = self.problem.solved()

    def part(self, name: str, into: int) -> Part:
        """Return how a column is cut: numbers into about so many parts of equal size."""
        into = into if name in self.numbers else 0
        if (name, into) not in self._parts:
            if into:
                edges, _ = equal_parts(self.numbers[name][self.counted], into)
                if into == MERGED:
                    x = self.numbers[name][self.rows]
                    edges = merged_parts(x, edges, self.y, self.w, len(self.classes))
                title = "merged parts" if into == MERGED else f"{into} parts"
                part = Part(edges=edges, missing=self.gaps[name], name=title)
            else:
                codes, labels = self.cells.codes(self.place[name])
                there = np.unique(codes[(codes >= 0) & self.counted]).tolist()
                values = tuple(sorted(labels[k] for k in there))
                part = Part(values=values, missing=self.gaps[name])
            self._parts[name, into] = part
        return self._parts[name, into]

    def _mostly_same(self, name: str) -> bool:
        """Tell whether most of a column's numbers are the same."""
        if name not in self.numbers:
            return False
        x = self.numbers[name][self.counted]
        _, counts = np.unique(x[~np.isnan(x)], return_counts=True)
        return bool(counts.max(initial=0) > MOSTLY * counts.sum())

    def _paired(self) -> list[str]:
        """Return the columns that are tried together: of many those that tell most alone."""
        if len(self.usable) <= MOST_PAIRED:
            return self.usable
        shares = np.bincount(self.y, self.w, len(self.classes)) / self.w.sum()
        posterior = np.tile(shares, (len(self.y), 1))
        gains = dict.fromkeys(self.usable, 0.0)
        for name in progress(self.usable, "looking for the strongest columns"):
            for unit in self.unit((name,), 5):
                gains[name], _ = self._screened(unit, posterior, posterior.size)
        strongest = set(sorted(gains, key=gains.__getitem__)[-MOST_PAIRED:])
        return [name for name in self.usable if name in strongest]

    def _views(self, name: str, views: Sequence[View], y: Array, w: Any) -> Iterator[Part]:
        """Go through the further views of a column; of many columns the first ones are taken."""
        numbers = name in self.numbers
        numbers &= not isinstance(self.schema.kind(name), Categories | Intervals)
        fine: tuple[float, ...] = ()
        if numbers:
            x = self.numbers[name]
            fine, alone = equal_parts(x[self.counted], FINE if self.n < MANY else FINER)
        for view in (view for view in VIEWS if view in views):
            if view == "missing" and self.gaps[name]:
                yield GAP
            elif view in WIDTHS and fine:
                smooth = WIDTHS[view] * self.n**-0.2
                yield Part(edges=fine, smooth=smooth, alone=alone, name=f"{view} parts")
            elif view == "supervised" and numbers and self.n >= MANY:
                # of few rows the cuts know each row's class too well
                edges = entropy_edges(x, y, len(self.classes), w)
                if len(edges):
                    yield Part(edges=tuple(edges), name="supervised parts")

    def curved(self) -> list[str]:
        """Return the numbers without gaps, most of which are not the same."""
        numbers = [name for name in self.paired if name in self.numbers]
        whole = [n for n in numbers if np.abs(self.numbers[n][self.counted]).max() < LARGEST_PLAIN]
        return [name for name in whole if not self._mostly_same(name)]

    def add_curve(self, names: Sequence[str], least: float, false: float = 1.0) -> None:
        """Add one bell curve of numbers if what they say together promises to help."""
        if len(names) < 2:
            return
        for name in names:
            self.schema.place_of(name)
            if name not in self.numbers:
                raise TallyBayesError(
                    f"joints has {names!r}, but {name!r} is no number; more than {MOST_TOGETHER} "
                    "columns are looked at as one bell curve"
                )
        x = np.stack([self.numbers[name][self.counted] for name in names])
        x[~(np.abs(x) < LARGEST_PLAIN)] = np.nan
        there = ~np.isnan(x)
        n = np.maximum(there.sum(axis=1), 1)
        centre = np.where(there, x, 0.0).sum(axis=1) / n
        scale = np.sqrt((np.where(there, x - centre[:, None], 0.0) ** 2).sum(axis=1) / n)
        scale = np.where(scale > 0.0, scale, 1.0)
        kind = Scatter(tuple(centre.tolist()), tuple(scale.tolist()))
        schema = self.schema.with_extra(kind, tuple(names))
        group = schema.extra[-1]
        block = kind.encode(replace(self.cells, reads=group.reads, kinds=(kind,)))[self.rows]
        of = members(self.y, self.w if self.weighted else None, len(self.classes))
        counted = Scatters.count(block, of, kind, names, 0)
        family, info = JointGaussian(), ColumnInfo(self.classes, [kind.title(names)], (), (kind,))
        part: Any = left_out(family, LeaveOneOutTask(family, counted, info, kind, block, of))
        terms, posterior = part.scores(), self._posterior()
        own = terms[np.arange(len(self.y)), self.y]
        mean = (posterior * terms).sum(axis=1)
        slope = float(self.w @ (own - mean))
        bend = float(self.w @ ((posterior * terms**2).sum(axis=1) - mean**2))
        gain, p = _promise(slope, bend, SPREAD[0])
        if gain > least and p <= false:
            self.curves.append((tuple(names), kind))
            self._added([(gain, info.names[0])], terms[:, None])

    def _posterior(self) -> Floats:
        """Return the posterior at the weights so far, by row and class."""
        shares, _ = self.problem.posterior(self.found.weights, self.found.constants)
        posterior = np.concatenate([1.0 - shares.sum(axis=0, keepdims=True), shares])
        return np.ascontiguousarray(posterior.T)

    def _added(self, gains: Sequence[tuple[float, str]], terms: Floats) -> None:
        """Take in joint terms, by row, term and class, and weigh everything again."""
        for gain, name in gains:
            self.names.append(name)
            self.gains[name] = gain
        self.problem = self.problem.with_joints(terms)
        self.found = self.problem.solved(self.found.weights, self.found.constants)

    def pairs(self) -> Iterator[Unit]:
        """Go through the pairs of columns that could be counted."""
        for into in (5, MERGED) if self.n >= MANY else (5, 3, 9):
            for names in combinations(self.paired, 2):
                if into == 5 or any(name in self.numbers for name in names):
                    yield from self.unit(names, into)

    def triples(self) -> Iterator[Unit]:
        """Go through the triples of columns that could be counted."""
        order = {name: k for k, name in enumerate(self.paired)}
        some: set[tuple[str, ...]] = set()
        if len(order) <= FEW_COLUMNS:
            some = set(combinations(order, 3))
        else:
            pairs = [names for names, _ in self.units if len(names) == 2][:STRONGEST]
            for pair in pairs:
                triples = ({*pair, other} for other in order if other not in pair)
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

    def _counted(self, unit: Unit) -> tuple[Array, Floats, Floats]:
        """Return the cell of each row, the terms of cells, and each row's own class's without it.

        The terms are by cell and class.
        """
        at, known = np.zeros(len(self.y), np.int64), np.ones(len(self.y), bool)
        for name, part in zip(*unit, strict=True):
            codes = self._codes.get((name, part))
            if codes is None:
                codes = part.codes(self.cells, self.place[name])[self.rows].astype(np.int32)
                self._codes[name, part] = codes
            at = at * part.size + codes
            known &= codes >= 0
        shape = tuple(part.size for part in unit[1])
        cells, n_classes = math.prod(shape), len(self.classes)
        w = self.w if known.all() else np.where(known, self.w, 0.0)
        places = self.y * cells + np.where(known, at, 0)
        n: Floats = np.bincount(places, w, n_classes * cells).astype(np.float64)
        at = np.where(known, at, -1)
        counts = CellCounts(Interaction(), n.reshape(n_classes, *shape), unit[1])
        own = counts.own(at, self.y, self.w if self.weighted else None)
        return at, np.ascontiguousarray(counts.table().T), own

    def _terms(self, unit: Unit) -> Floats:
        """Return the leave-one-out terms of columns together, by row and class."""
        at, table, own = self._counted(unit)
        terms = np.where((at >= 0)[:, None], table[at], 0.0)
        terms[np.arange(len(self.y)), self.y] = own
        return terms

    def add(self, candidates: Sequence[Unit], least: float, false: float = 1.0) -> None:
        """Add the candidates that promise to gain at least so much, and weigh everything again.

        By Benjamini and Hochberg's rule no more than a share of them are `false`: found by chance,
        since many are tried. As long as there is no joint at all, that there are none is refuted
        first, by Simes' test of all of them.
        """
        posterior = self._posterior()
        units = [unit for unit in candidates if unit not in self.units]
        n_cells = len(units) * posterior.size
        line = ProgressLine("looking at columns together")

        def screened(some: slice) -> list[tuple[float, float]]:
            found = []
            for unit in units[some]:
                found.append(self._screened(unit, posterior, n_cells))
                line.advance(len(units))
            return found

        some = over_rows(screened, len(units), n_cells)
        line.clear()
        gains, p = np.array([found for part in some for found in part]).reshape(-1, 2).T
        ordered = np.sort(p)
        shares = ordered * len(p) / np.arange(1, len(p) + 1)  # that are false, of so many
        if not self.gains and false < 1.0 and shares.min(initial=1.0) > CHANCE[1]:
            return
        most_p = ordered[shares <= false].max(initial=-1.0)
        good = [k for k in np.argsort(-gains, kind="stable") if p[k] <= most_p and gains[k] > least]
        best = [(float(gains[k]), units[k]) for k in good[: max(2 * len(self.place), LEAST_MOST)]]
        if not best:
            return
        self.units += [unit for _, unit in best]
        found = [self._terms(unit) for _, unit in progress(best, "counting columns together")]
        self._added([(gain, _title(unit)) for gain, unit in best], np.stack(found, axis=1))

    def _screened(self, unit: Unit, posterior: Floats, n_cells: int) -> tuple[float, float]:
        """Return what a weight of a joint term would gain, about, in nats, and a p-value.

        Two rows of one cell each raise what the other says, so of noise the slope varies by twice
        the bend, and by more where three columns make many cells.
        """
        at, table, own = self._counted(unit)
        test = loops_for(n_cells).score_test
        slope, bend = test(at, self.y, self.w, table, own, posterior)
        return _promise(slope, bend, SPREAD[len(unit[0]) > 2])

    def outcome(self) -> WeighedEvidence:
        """Return what is worth counting, with its weights; those of naive Bayes if these are worse.

        A dozen rows may be too few to find weights, which are judged without each of them: worse is
        by more than the standard error of the difference.
        """
        own = np.isin(self.names, [TOGETHER, *self.place]).astype(np.float64)
        plain = self.problem.judged(own)
        shares, _ = self.problem.posterior(own, np.zeros(len(self.classes)))
        naive = np.column_stack([1.0 - shares.sum(axis=0), *shares])
        proba = self.problem.left_out(self.found)
        of_row = np.arange(len(self.y)), self.y
        better = self.w * np.log(np.maximum(naive[of_row], TINY) / np.maximum(proba[of_row], TINY))
        naively = False
        if not self.stated and better.sum() > better.std() * math.sqrt(len(better)):
            naively = True
            self.found = EvidenceWeights(own, np.zeros(len(self.classes)), plain.loss)
            proba = naive
        fitted = Predictions(
            self.classes, self.y, proba.argmax(axis=1), proba, self.w if self.weighted else None,
            self.rows, held_out=LEFT_OUT, positive=self.positive, notes=(CHOSEN_ON_ALL,),
            target=self.schema.target,
        )  # fmt: skip
        weights = dict(zip(self.names, self.found.weights.tolist(), strict=True))
        kept = [unit for unit in self.units if weights[_title(unit)] > LEAST_WEIGHT]
        dropped = {_title(unit) for unit in self.units if unit not in kept}
        single = {_title(unit) for unit in self.units if len(unit[0]) == 1}
        curves = [curve for curve in self.curves if weights[_called(curve)] > LEAST_WEIGHT]
        dropped |= {_called(curve) for curve in self.curves if curve not in curves}
        weights = {name: weight for name, weight in weights.items() if name not in dropped}
        gains = {name: gain for name, gain in self.gains.items() if name in weights}
        calibration = Calibration(
            "evidence",
            weights,
            default=weights.pop(TOGETHER, 0.0),
            loss=fitted.score("log_loss"),
            loss_before=plain.loss,
            accuracy=fitted.score("accuracy"),
            accuracy_before=plain.accuracy,
            rows=len(self.rows),
            constants=dict(zip(self.classes, self.found.constants.tolist(), strict=True)),
            gains=gains,
            uncounted=()
            if naively
            else tuple(name for name in self.names if name in dropped & single),
        )
        schema = _with_units(self.schema, kept)
        for names, kind in curves:
            schema = schema.with_extra(kind, names)
        return WeighedEvidence(schema, calibration, fitted)


def _promise(slope: float, bend: float, spread: float) -> tuple[float, float]:
    """Return what a weight would gain, about, in nats, and a p-value."""
    if slope <= 0.0:
        return 0.0, 1.0
    p = 0.5 * math.erfc(slope / math.sqrt(2.0 * spread * bend))
    return slope * slope / 2.0 / (bend + JOINT), p


def _with_units(schema: Schema, units: Sequence[Unit]) -> Schema:
    """Return the schema with further units."""
    if not units:
        return schema
    kind = Joint(tuple(parts for _, parts in units))
    return schema.with_extra(kind, *(names for names, _ in units))


def _title(unit: Unit) -> str:
    names, parts = unit
    return Joint((parts,)).title(names)


def _called(curve: tuple[tuple[str, ...], Scatter]) -> str:
    names, kind = curve
    return kind.title(names)
