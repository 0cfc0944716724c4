"""Leave-one-out: what each row scores under the model of all other rows.

The terms come in closed form from the families (`left_out`). The few rows for which that is not
exact, such as the only row of a class, are counted anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Sparse, take_columns, take_rows
from tallybayes.errors import TallyBayesError
from tallybayes.families import Text
from tallybayes.families.left_out import LeaveOneOutTask, LeftOut, left_out
from tallybayes.families.parameters import safe_log
from tallybayes.kernels.counting import members
from tallybayes.model import Model, Recipe
from tallybayes.model.factors import FactorPlan
from tallybayes.priors import Empirical, Prior
from tallybayes.schema import Count
from tallybayes.tallies import Tally
from tallybayes.tokenizer import Bagged
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.folds import check_refits
from tallybayes.validation.progress import progress

Array = NDArray[Any]
Floats = NDArray[np.float64]

NOT_EXACT = "the closed form is exact for none of these rows, as where a class has no values"
HEAVY = 1e5  # times the weight of all other rows of the class


class LeaveOneOut:
    """The rows of a data set, each with the model of all others.

    Parameters
    ----------
    data
        The rows.
    tally
        Their tally, if it has been counted already; that of texts is counted anew.
    part
        Whether the tally is that of more rows, of which these are only some. Texts cannot be left
        out in parts.
    """

    def __init__(self, data: Encoded, tally: Tally | None = None, *, part: bool = False) -> None:
        self.data, self._part = data, part
        # words have the numbers of the documents' bags only if they were counted from those
        counted = tally is not None and not any(isinstance(each, Bagged) for each in data.blocks)
        self.tally = tally if tally is not None and counted else data.tally()
        if not self.tally.classes:
            raise TallyBayesError("no row counts: the weights of all of them are 0")
        place = {label: k for k, label in enumerate(self.tally.classes)}
        codes = np.array([place.get(label, -1) for label in data.classes], np.int64)
        self._idle = np.zeros(len(data), bool)  # rows that are in no model
        y = data.y
        if data.classes != self.tally.classes:
            y = np.maximum(codes[y], 0)  # (none but rows of no weight has -1)
        if data.w is not None:
            self._idle = data.w == 0.0
        self.of = members(y, data.w, len(place))
        if part:
            self.of = self.of._replace(rows=self.tally.rows, weight=self.tally.weight)
        self._heavy = np.zeros(len(data), bool)  # rows that weigh so much that the rest cancels
        if data.w is not None:
            left = np.minimum(self.of.weight[y], self.of.weight.sum()) - data.w
            self._heavy = data.w > HEAVY * left

    def _parts(
        self, recipe: Recipe, some: Array | None = None
    ) -> list[tuple[FactorPlan, LeftOut]] | None:
        """Return the terms of all families; None if one of them has no closed form."""
        found = []
        of = self.of
        if some is not None and len(some) < len(self.data):
            w = None if of.w is None else of.w[some]
            of = of._replace(y=of.y[some], w=w)
        for plan in recipe.plan(self.tally):
            block = self.data.blocks[plan.group]
            if isinstance(block, Bagged) and isinstance(plan.family, Text):
                block = block.known_from(~self._idle) if plan.family.words.idf is None else block
            if of is not self.of:
                assert some is not None
                block = take_rows(block, some)
            if plan.units:
                block = take_columns(block, plan.units)
            task = LeaveOneOutTask(plan.family, plan.counted, plan.info, plan.kind, block, of)
            part = left_out(plan.family, task)
            if part is None:
                return None
            found.append((plan, part))
        return found

    def log_prior(self, prior: Prior) -> Floats:
        """Return the logarithm of the prior without each row, by row and class."""
        y, classes, weight = self.of.y, self.tally.classes, self.tally.weight
        if not isinstance(prior, Empirical):
            probabilities = prior.probabilities(classes, weight)
            return np.repeat(safe_log(probabilities)[None], len(y), axis=0)
        heavy, total = weight + prior.alpha, weight.sum() + prior.alpha * len(classes)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.data.w is None:  # then rows of a class have the same
                of_class = np.repeat(heavy[None], len(classes), axis=0) - np.eye(len(classes))
                table: Floats = np.log(np.maximum(of_class, 0.0) / (total - 1.0))
                return table[y]
            out = np.repeat(np.log(heavy)[None], len(y), axis=0)
            out[np.arange(len(y)), y] = np.log(np.maximum(heavy[y] - self.data.w, 0.0))
            out -= np.log(total - self.data.w)[:, None]
        return out

    def joint(self, recipe: Recipe, recount: bool = True) -> tuple[Floats, Floats] | None:
        """Return log s_c of each row and class without the row, and the log prior it includes.

        None if some family has no closed form. Classes are those of the tally; one that is gone
        without a row has -inf. Unless they shall be counted anew (`recount`), rows for which the
        closed form is not exact have NaN.
        """
        parts = self._parts(recipe)
        if parts is None:
            return None
        prior = self.log_prior(recipe.prior)
        joint = prior.copy()
        doubtful = (self.of.rows == 1)[self.of.y] | self._heavy
        for _, part in parts:
            joint += part.scores()
            doubtful |= part.inexact
        if self._part:
            doubtful |= np.isnan(joint).any(axis=1)
        if recount:
            self._count_anew(recipe, doubtful, joint, prior)
        else:
            joint[doubtful | self._idle] = np.nan
        return joint, prior

    @property
    def y(self) -> NDArray[np.int64]:
        """The class of each row, by its place among the tally's classes."""
        y: NDArray[np.int64] = self.of.y
        return y

    @property
    def w(self) -> Floats:
        """The weight of each row."""
        return np.ones(len(self.data)) if self.data.w is None else self.data.w

    def sampled(self, most_cells: int) -> Array:
        """Return rows whose terms take so many cells at most: all, or some drawn at random."""
        units = sum(
            1 if isinstance(block, Bagged | Sparse) or isinstance(group.kind, Count) else len(group)
            for group, block in zip(self.data.schema.groups, self.data.blocks, strict=True)
        )
        n = most_cells // max(units * len(self.tally.classes), 1)
        if n >= len(self.data):
            return np.arange(len(self.data))
        drawn = np.random.default_rng(0).choice(len(self.data), max(n, 1), replace=False)
        return np.sort(drawn)

    def terms(
        self, recipe: Recipe, some: Array
    ) -> tuple[list[str], Floats, Floats, NDArray[np.bool_]] | None:
        """Return the terms of some rows by row, column and class, with the names of the columns.

        A bag and a text are one column each. With them come the log prior without each row, and
        which rows are exact. None if some family has no closed form.
        """
        parts = self._parts(recipe, some)
        if parts is None:
            return None
        names: list[str] = []
        found = []
        exact = (self.of.rows > 1)[self.y[some]] & ~self._idle[some]
        for plan, part in parts:
            found.append(part.terms())
            exact &= ~part.inexact
            names += [plan.title] if part.joint else plan.names
        terms = np.concatenate(found, axis=1)
        exact &= ~np.isnan(terms).any(axis=(1, 2)) & ~self._heavy[some]
        return names, terms, self.log_prior(recipe.prior)[some], exact

    def _count_anew(
        self, recipe: Recipe, doubtful: NDArray[np.bool_], joint: Floats, prior: Floats
    ) -> None:
        """Put in the rows that no closed form holds for."""
        data = self.data
        idle = np.flatnonzero(self._idle)
        if len(idle):
            model = recipe.model(self.tally)
            joint[idle] = scores(model, data, idle)
            prior[idle] = model.log_prior
        rows = np.flatnonzero(doubtful & ~self._idle)
        if not self._part:
            check_refits(len(rows), NOT_EXACT)
        w = np.ones(len(data)) if data.w is None else data.w.copy()
        place = {label: k for k, label in enumerate(self.tally.classes)}
        for row in progress(rows.tolist(), "leaving out row by row"):
            before, w[row] = w[row], 0.0
            tally = self._without(row) if self._part else data.tally(w)
            w[row] = before
            if tally is None:
                joint[row] = np.nan
                continue
            model = recipe.model(tally)
            places = [place[label] for label in model.classes]
            for out, found in ((joint, scores(model, data, [row])[0]), (prior, model.log_prior)):
                out[row] = -np.inf
                out[row, places] = found

    def _without(self, row: int) -> Tally | None:
        """Take a row away from the tally of rows that are not at hand; None if that is refused."""
        w = np.zeros(len(self.data))
        w[row] = 1.0 if self.data.w is None else self.data.w[row]
        try:
            return self.tally - self.data.tally(w)
        except TallyBayesError:  # too ill-conditioned to trust
            return None


def scores(model: Model, data: Encoded, rows: Iterable[int]) -> Floats:
    """Return log s_c of some rows."""
    places = np.fromiter(rows, np.int64)
    return model.joint_of([take_rows(block, places) for block in data.blocks], len(places))
