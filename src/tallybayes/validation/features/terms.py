"""What each column says of held-out rows, so that every set of columns is judged by adding up.

In naive Bayes the score of a row is log P(c) + sum_j log P(x_j | c), and what a column says does
not depend on the others. So the held-out terms of all columns are worked out once, by row and
class, and the held-out posterior of any set of columns is a sum of some of them: exactly what
models of those columns would say of rows they never saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Batch, take_rows
from tallybayes.families import AdditiveFloor, Complement, Multinomial, Text
from tallybayes.model import Model, Recipe
from tallybayes.model.factors import FactorPlan
from tallybayes.model.model import winners_of
from tallybayes.sources.labels import Label
from tallybayes.validation.calibration import MOST_CELLS
from tallybayes.validation.each_row import LeaveOneOut
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.folds import EachRow, Fold
from tallybayes.validation.held_out import posterior_of
from tallybayes.validation.progress import progress

Array = NDArray[Any]
Floats = NDArray[np.float64]


class Unit(NamedTuple):
    """What is chosen or left as one: a column, or all columns that need each other."""

    name: str
    columns: tuple[str, ...]


class Judged(NamedTuple):
    """What models of some columns say of the held-out rows: posteriors and winners."""

    proba: Floats
    winners: NDArray[np.intp]


def is_whole(share: FactorPlan, sparse: bool) -> bool:
    """Tell whether the columns of a family can only be taken together: a bag, a sparse matrix."""
    together = isinstance(share.family, Multinomial | Complement | Text) or sparse
    return together or isinstance(getattr(share.family, "alpha", None), tuple)


def units_of(of_families: Sequence[FactorPlan], sparse: bool) -> list[Unit]:
    """Return what can be chosen, in the order of the families."""
    found = []
    for share in of_families:
        names = tuple(share.info.names)
        if not is_whole(share, sparse):
            found += [Unit(name, (name,)) for name in names]
        elif len(names) == 1:
            found.append(Unit(names[0], names))
        else:
            found.append(Unit(f"{names[0]} ... {names[-1]} ({len(names)} columns)", names))
    return found


def in_order(units: Sequence[Unit], names: Sequence[str]) -> tuple[list[Unit], Array]:
    """Return the units as their columns stand in the table, and the place of each there."""
    place = {name: number for number, name in enumerate(names)}
    order = sorted(range(len(units)), key=lambda k: place[units[k].columns[0]])
    return [units[k] for k in order], np.argsort(order)


def why_not_separate(of_families: Sequence[FactorPlan]) -> str:
    """Return why the terms of a column depend on the other columns, or nothing."""
    for share in of_families:
        floor = getattr(share.family, "floor", None)
        if isinstance(floor, AdditiveFloor) and floor.of is None and len(share.info.names) > 1:
            return "what is added to a variance depends on all columns"
    return ""


class Terms:
    """Held-out terms by column, row and class, and the sets of columns they add up to.

    Parameters
    ----------
    data, recipe
        The rows, and how models are estimated from their tallies.
    folds
        Which rows are held out.
    """

    def __init__(self, data: Encoded, recipe: Recipe, folds: Sequence[Fold]) -> None:
        self._data, self._recipe = data, recipe
        self.fold: NDArray[np.int64] | None
        rows = LeaveOneOut(data)
        self._shares = list(recipe.plan(rows.tally))
        sparse = any(hasattr(block, "indptr") for block in data.blocks)
        self._wholes = [is_whole(share, sparse) for share in self._shares]
        self.units, self._slots = in_order(units_of(self._shares, sparse), data.schema.names)
        self.classes: tuple[Label, ...] = data.classes
        each = len(data) if isinstance(folds, EachRow) else sum(len(test) for _, test in folds)
        cells = each * len(self.units) * len(self.classes)
        self.every = max(1, -(-cells // MOST_CELLS))
        used = np.zeros(len(data), bool)
        used[:: self.every] = True
        if data.w is not None:
            used &= data.w > 0.0
        if isinstance(folds, EachRow):
            self.rows, self.fold = np.flatnonzero(used), None
            self._make_room()
            self._leave_out_each(rows)
        else:
            parts = [test[used[test]] for _, test in folds]
            self.rows = np.concatenate(parts)
            self.fold = np.repeat(np.arange(len(parts)), [*map(len, parts)])
            self._make_room()
            self._leave_out_folds(folds, self.fold)
        self.y = data.y[self.rows]
        self.w: Floats = np.ones(len(self.rows)) if data.w is None else data.w[self.rows]

    def _make_room(self) -> None:
        n, c = len(self.rows), len(self.classes)
        self._terms = np.zeros((len(self.units), n, c))
        self._prior = np.full((n, c), -np.inf)

    def _leave_out_each(self, rows: LeaveOneOut) -> None:
        """Put in the terms without each row, which is counted anew if there is no closed form."""
        known = np.array([self.classes.index(label) for label in rows.tally.classes])
        found = rows.terms(self._recipe, self.rows)
        doubtful = np.arange(len(self.rows))
        if found is not None:
            names, terms, prior, exact = found
            self._prior[:, known] = prior
            unit = place = 0
            for share, whole in zip(self._shares, self._wholes, strict=True):
                of_share = list(share.info.names)
                width = len(of_share) if names[place : place + len(of_share)] == of_share else 1
                part = terms[:, place : place + width].transpose(1, 0, 2)
                part = part.sum(axis=0, keepdims=True) if whole else part
                here = self._slots[unit : unit + len(part)]
                self._terms[np.ix_(here, np.arange(len(self.rows)), known)] = part
                unit, place = unit + len(part), place + width
            doubtful = np.flatnonzero(~exact)
        w = rows.w.copy()
        for at in progress(doubtful.tolist(), "leaving out row by row"):
            row = self.rows[at]
            before, w[row] = w[row], 0.0
            self._put(self._recipe.model(self._data.tally(w)), np.array([at]))
            w[row] = before

    def _leave_out_folds(self, folds: Sequence[Fold], of: Array) -> None:
        """Put in the terms of the rows of each fold."""
        data = self._data
        for number, (train, _) in enumerate(progress(folds, "fold by fold")):
            w = np.zeros(len(data))
            np.add.at(w, train, 1.0 if data.w is None else data.w[train])
            self._put(self._recipe.model(data.tally(w)), np.flatnonzero(of == number))

    def _put(self, model: Model, at: Array) -> None:
        """Put in what a model says of some of the held-out rows."""
        known = np.array([self.classes.index(label) for label in model.classes])
        self._prior[at] = -np.inf
        self._prior[np.ix_(at, known)] = model.log_prior
        blocks = [take_rows(block, self.rows[at]) for block in self._data.blocks]
        batch = Batch(slice(0, len(at)), tuple(blocks))
        unit = 0
        for factor, whole in zip(model.factors, self._wholes, strict=True):
            block = factor.block_of(batch)
            if whole:
                part = np.zeros((1, len(at), len(known)))
                factor.parameters.add_log_likelihood(block, part[0])
            else:
                part = factor.parameters.log_prob(block).transpose(1, 0, 2)
            here = self._slots[unit : unit + len(part)]
            self._terms[np.ix_(here, at)] = 0.0
            self._terms[np.ix_(here, at, known)] = part
            unit += len(part)

    def judge(self, chosen: Sequence[int]) -> Judged:
        """Judge the rows by models of some columns."""
        return self._judged(self._terms[list(chosen)].sum(axis=0))

    def _judged(self, evidence: Floats) -> Judged:
        """Turn evidence into posteriors; rows that are impossible in every class get the prior."""
        joint = self._prior + evidence
        impossible = np.isneginf(joint.max(axis=1))
        joint[impossible] = self._prior[impossible]
        winners = winners_of(joint, self._prior, self.classes, self._recipe.positive)
        return Judged(posterior_of(joint, self._prior), winners)

    def with_one_more(self, chosen: Sequence[int]) -> Iterator[tuple[int, Judged]]:
        """Go through the columns that are not chosen, each joining those that are."""
        before = self._terms[list(chosen)].sum(axis=0)
        for unit in range(len(self.units)):
            if unit not in chosen:
                yield unit, self._judged(before + self._terms[unit])

    def with_one_less(self, chosen: Sequence[int]) -> Iterator[tuple[int, Judged]]:
        """Go through the chosen columns, each leaving the others."""
        terms = self._terms[list(chosen)]
        # sums from both ends: taking a large term away again would leave its rounding behind
        after = np.zeros((len(terms) + 1, *self._prior.shape))
        for place in range(len(terms) - 1, 0, -1):
            after[place] = after[place + 1] + terms[place]
        before = np.zeros(self._prior.shape)
        for place, unit in enumerate(chosen):
            yield unit, self._judged(before + after[place + 1])
            before = before + terms[place]
