"""Weighted evidence: several views of each column, a few joint ones, and a weight for each.

Each column is counted in several ways at once: as its own kind, cut finely and smoothed more or
less, cut where the classes differ, and whether it is missing. A few pairs and triples of columns
are counted together: those that a screen at the fitted weights finds (`validation.joint_screen`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import encode_classes
from tallybayes.errors import TallyBayesError
from tallybayes.evidence.joint_screen import (
    FALSE,
    LEAST_GAIN,
    MANY,
    CutColumns,
    JointScreen,
    Unit,
    equal_parts,
    least_gain_of_triples,
    title_of,
)
from tallybayes.evidence.weights import EvidenceProblem
from tallybayes.families.bins import entropy_edges
from tallybayes.kinds import Categories, Intervals, Joint, Part
from tallybayes.metrics import Predictions
from tallybayes.metrics.predictions import HeldOut
from tallybayes.model import Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.schema import Schema
from tallybayes.sources import Source
from tallybayes.sources.labels import Label
from tallybayes.sources.tables import taken
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation.calibration import no_closed_form
from tallybayes.validation.leave_one_out import LeaveOneOut

Array = NDArray[Any]
Joints = Literal["auto"] | Sequence[Sequence[str]] | None

MOST_ROWS = 100_000  # that are looked at to choose and to weigh; all are counted
FINE, FINER = 30, 60  # parts of a smooth view
WIDTHS = {0.3: "smooth parts", 1.0: "smoother parts"}  # bandwidth of ranks, times n^(-1/5)
MOST_TOGETHER = 3  # columns
LEAST_WEIGHT = 1e-6
LEFT_OUT: HeldOut = "leave-one-out"
CHOSEN_ON_ALL = "views and joints were chosen on all rows; cross_val chooses them anew in each fold"


@dataclass(frozen=True, slots=True, eq=False)
class WeighedEvidence:
    """What is counted beside the columns themselves, and what everything weighs.

    `gains` are what joint terms promised when they were screened, in nats. `predictions` are those
    of the rows that everything was weighed on, each left out of counts and weights.
    """

    schema: Schema
    calibration: Calibration
    gains: dict[str, float]
    predictions: Predictions


def weigh_evidence(
    source: Source, y: Any, w: Any, schema: Schema, recipe: Recipe, joints: Joints = "auto"
) -> WeighedEvidence:
    """Find views of the columns of some rows and columns that belong together; weigh everything.

    Of more than 100,000 rows as many are drawn: some hundred weights cost each prediction about
    their number / 2n nats, a few thousandths there.

    Parameters
    ----------
    source, y, w
        The rows, their labels and weights.
    schema, recipe
        The columns, and how they are estimated.
    joints
        Columns that are looked at together, as tuples of names; "auto": those that
        promise to help; None: none.
    """
    stated = [] if joints == "auto" else _stated(joints)
    if source.n_rows > MOST_ROWS:
        some = np.sort(np.random.default_rng(0).choice(source.n_rows, MOST_ROWS, replace=False))
        source, y = taken(source, some), np.asarray(y)[some]
        w = None if w is None else np.asarray(w)[some]
    search = _Search(source, y, w, schema, recipe)
    if joints == "auto":
        search.add(list(search.columns.pairs()), LEAST_GAIN, FALSE)
        pairs = [unit for unit in search.units if len(unit[0]) == 2]
        triples = list(search.columns.triples(pairs))
        search.add(triples, least_gain_of_triples(len(triples)), FALSE)
    else:
        search.add([unit for names in stated for unit in search.columns.unit(names, 5)], -1.0)
    return search.outcome()


def _stated(joints: Any) -> list[tuple[str, ...]]:
    """Return the columns that the user wants to be looked at together."""
    units = [] if joints is None else joints
    if isinstance(units, str) or not isinstance(units, Sequence):
        raise TallyBayesError(f"joints is {joints!r}; say 'auto', None, or [('age', 'income')]")
    for names in units:
        if isinstance(names, str) or not 2 <= len(set(names)) == len(names) <= MOST_TOGETHER:
            raise TallyBayesError(
                f"joints has {names!r}; each is a tuple of two to {MOST_TOGETHER} different columns"
            )
    return [tuple(names) for names in units]


class _Search:
    """The rows, the terms so far, and their weights."""

    def __init__(self, source: Source, y: Any, w: Any, schema: Schema, recipe: Recipe) -> None:
        self.schema, self.positive = schema, recipe.positive
        weights = np.ones(source.n_rows) if w is None else np.asarray(w, np.float64)
        self.columns = CutColumns(source, schema, weights > 0.0)
        self.units = list(self._views(*encode_classes(y, source.n_rows), w))
        self.gains: dict[str, float] = {}
        data = LabelledRows.of(source, _with_units(schema, self.units), y, w)
        closed = LeaveOneOut(data).closed_terms(recipe, np.arange(len(data)))
        if closed is None:
            raise no_closed_form("evidence")
        terms, exact = closed
        rows = np.flatnonzero(exact & (terms.w > 0.0))
        self.names, self.classes = list(terms.names), terms.classes
        y, w = terms.y[rows], terms.w[rows]
        self.screen = JointScreen(self.columns, rows, y, w, len(self.classes))
        # the curve of numbers that have smooth views has to earn its weight, as joints have
        smooth = [names[0] for names, parts in self.units if parts[0].smooth]
        some = terms.terms[rows], terms.log_prior[rows]
        self.problem = EvidenceProblem(*some, y, w, np.isin(self.names, smooth))
        self.found = self.problem.solved()

    def _views(self, y: Array, classes: Sequence[Label], w: Any) -> Iterator[Unit]:
        """Go through the further views of single columns."""
        columns = self.columns
        for name in columns.usable:
            kind = self.schema.kind(name)
            if name in columns.numbers and not isinstance(kind, Categories | Intervals):
                x, many = columns.numbers[name], columns.n >= MANY
                # of few rows the cuts know each row's class too well
                edges = entropy_edges(x, y, len(classes), w) if many else np.empty(0)
                if len(edges):
                    yield (name,), (Part(edges=tuple(edges), name="supervised parts"),)
                fine, alone = equal_parts(x[columns.counted], FINER if many else FINE)
                for width, called in WIDTHS.items() if len(fine) else ():
                    smooth = width * columns.n**-0.2
                    yield (name,), (Part(edges=fine, smooth=smooth, alone=alone, name=called),)
            if columns.gaps[name]:
                yield (name,), (Part(missing=True),)

    def add(self, candidates: Sequence[Unit], least: float, false: float = 1.0) -> None:
        """Add the candidates that promise to gain at least so much, and weigh everything again."""
        shares, _ = self.problem.posterior(self.found.weights, self.found.constants)
        posterior = np.concatenate([1.0 - shares.sum(axis=0, keepdims=True), shares])
        units = [unit for unit in candidates if unit not in self.units]
        best = self.screen.promising(units, posterior.T, least, false)
        if not best:
            return
        for unit, gain in best:
            self.units.append(unit)
            self.names.append(title_of(unit))
            self.gains[title_of(unit)] = gain
        terms = np.stack([self.screen.terms(unit) for unit, _ in best], axis=1)
        self.problem = self.problem.with_joints(terms)
        self.found = self.problem.solved(self.found.weights, self.found.constants)

    def outcome(self) -> WeighedEvidence:
        """Return what is worth counting, with its weights."""
        weights = dict(zip(self.names, self.found.weights.tolist(), strict=True))
        kept = [unit for unit in self.units if weights[title_of(unit)] > LEAST_WEIGHT]
        dropped = {title_of(unit) for unit in self.units if unit not in kept}
        weights = {name: weight for name, weight in weights.items() if name not in dropped}
        own = np.isin(self.names, list(self.columns.place))
        plain = self.problem.judged(own.astype(np.float64))
        proba = self.problem.left_out(self.found)
        of = self.screen
        w = of.w if of.weighted else None
        fitted = Predictions(
            self.classes, of.y, proba.argmax(axis=1), proba, w, of.rows, held_out=LEFT_OUT,
            positive=self.positive, notes=(CHOSEN_ON_ALL,),
        )  # fmt: skip
        calibration = Calibration(
            "evidence",
            weights,
            default=0.0,
            loss=fitted.score("log_loss"),
            loss_before=plain.loss,
            accuracy=fitted.score("accuracy"),
            accuracy_before=plain.accuracy,
            rows=len(of.rows),
            constants=dict(zip(self.classes, self.found.constants.tolist(), strict=True)),
        )
        gains = {name: gain for name, gain in self.gains.items() if name in weights}
        return WeighedEvidence(_with_units(self.schema, kept), calibration, gains, fitted)


def _with_units(schema: Schema, units: Sequence[Unit]) -> Schema:
    """Return the schema with further units."""
    if not units:
        return schema
    kind = Joint(tuple(parts for _, parts in units))
    return schema.with_extra(kind, *(names for names, _ in units))
