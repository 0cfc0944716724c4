"""Leave-one-out: what each row scores under the model of all other rows.

The terms come in closed form from the families (`left_out`). The few rows for which that is not
exact, such as the only row of a class, are counted anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.batches import take_columns, take_rows
from tallybayes.errors import TallyBayesError
from tallybayes.families.left_out import LeaveOneOutTask, LeftOut, left_out
from tallybayes.families.parameters import safe_log
from tallybayes.kernels.counting import members
from tallybayes.metrics import Predictions
from tallybayes.model import Model, Recipe
from tallybayes.model.factors import Factor
from tallybayes.priors import Empirical, Prior
from tallybayes.tallies import Tally
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.tokenizer import Bagged, Words
from tallybayes.validation.folds import check_refits
from tallybayes.validation.held_out_terms import HeldOutTerms, judged, unit_names
from tallybayes.validation.progress import progress

NOT_EXACT = "the closed form is exact for none of these rows, as where a class has no values"
DOMINATING = 1e5  # times the weight of all other rows of the class


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

    def __init__(
        self, data: LabelledRows, tally: Tally | None = None, *, part: bool = False
    ) -> None:
        self.data, self._part = data, part
        # words have the numbers of the documents' bags only if they were counted from those
        counted = tally is not None and not any(isinstance(each, Bagged) for each in data.blocks)
        self.tally = tally if tally is not None and counted else data.tally()
        if not self.tally.classes:
            raise TallyBayesError("no row counts: the weights of all of them are 0")
        place = {label: k for k, label in enumerate(self.tally.classes)}
        y = data.y
        if data.classes != self.tally.classes:  # (none but rows of no weight has -1)
            codes = np.array([place.get(label, -1) for label in data.classes], np.int64)
            y = np.maximum(codes[y], 0)
        self.of = members(y, data.w, len(place))
        if part:
            self.of = self.of._replace(rows=self.tally.rows, weight=self.tally.weight)
        self._unweighted = np.zeros(len(data), bool)  # rows that are in no model
        self._dominating = np.zeros(len(data), bool)  # rows beside which the rest cancels
        if data.w is not None:
            self._unweighted = data.w == 0.0
            left = np.minimum(self.of.weight[y], self.of.weight.sum()) - data.w
            self._dominating = data.w > DOMINATING * left

    @property
    def y(self) -> Array:
        """The class of each row, by its place among the tally's classes."""
        return self.of.y

    def _parts(self, recipe: Recipe, some: Array) -> list[tuple[Factor, LeftOut]] | None:
        """Return the terms of all families; None if one of them has no closed form."""
        parts, of, every = [], self.of, len(some) == len(self.data)
        if not every:
            of = of._replace(y=of.y[some], w=None if of.w is None else of.w[some])
        for factor in recipe.factors(self.tally):
            block, kind, family = self.data.blocks[factor.group], factor.kind, factor.family
            if isinstance(block, Bagged) and isinstance(kind, Words) and kind.idf is None:
                block = block.known_from(~self._unweighted)
            block = block if every else take_rows(block, some)
            block = take_columns(block, factor.units) if factor.units else block
            task = LeaveOneOutTask(family, factor.counted, factor.info, kind, block, of)
            part = left_out(family, task)
            if part is None:
                return None
            parts.append((factor, part))
        return parts

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

    def joint(self, recipe: Recipe) -> tuple[Floats, Floats] | None:
        """Return log s_c of each row and class without the row, and the log prior it includes.

        None if some family has no closed form. Classes are those of the tally; one that is gone
        without a row has -inf. Rows for which the closed form is not exact are counted anew.
        """
        parts = self._parts(recipe, np.arange(len(self.data)))
        if parts is None:
            return None
        prior = self.log_prior(recipe.prior)
        joint = prior.copy()
        inexact = (self.of.rows == 1)[self.y] | self._dominating
        for _, part in parts:
            joint += part.scores()
            inexact |= part.inexact  # which is known by now
        if self._part:
            inexact |= np.isnan(joint).any(axis=1)
        if self._unweighted.any():
            rows, model = np.flatnonzero(self._unweighted), recipe.model(self.tally)
            joint[rows] = model.joint_of(self.data.taken(rows), len(rows))
            prior[rows] = model.log_prior
        place = {label: k for k, label in enumerate(self.tally.classes)}
        for row, one in self._recounted(recipe, np.flatnonzero(inexact & ~self._unweighted)):
            joint[row] = np.nan if one is None else -np.inf
            if one is not None:
                places = [place[label] for label in one.classes]
                prior[row] = -np.inf
                prior[row, places] = one.log_prior
                joint[row, places] = one.joint_of(self.data.taken(np.array([row])), 1)[0]
        return joint, prior

    def predictions(self, recipe: Recipe) -> Predictions | None:
        """Judge every row by the model of all others; None if there is no closed form.

        Of rows that are only a part of all, those that cannot be taken away again are left out.
        """
        scores = self.joint(recipe)
        if scores is None:
            return None
        joint, prior = scores
        data, rows = self.data, np.arange(len(self.data))
        if self._part:
            rows = np.flatnonzero(~np.isnan(joint).any(axis=1))
            joint, prior = joint[rows], prior[rows]
            data = replace(data, classes=self.tally.classes, y=self.y)
        found = judged(data, joint, prior, self.tally.classes, recipe.positive, rows)
        return replace(found, rows=None, held_out="leave-one-out")

    def closed_terms(
        self, recipe: Recipe, some: Array, *, together: bool = False
    ) -> tuple[HeldOutTerms, Mask] | None:
        """Return the terms of some rows, and which of these are exact.

        None if some family has no closed form. All columns `together` are one unit without a name.
        """
        parts = self._parts(recipe, some)
        if parts is None:
            return None
        y, w, prior = self.y[some], self.data.weight[some], self.log_prior(recipe.prior)[some]
        if together:
            names: tuple[str, ...] = ()
            terms = sum((part.scores() for _, part in parts), np.zeros(prior.shape))[:, None]
        else:
            names = unit_names((factor for factor, _ in parts), self.data.blocks)
            units = progress(parts, "leaving rows out of columns")
            terms = np.concatenate([part.terms() for _, part in units], axis=1)
        exact = (self.of.rows > 1)[y] & ~self._dominating[some] & ~self._unweighted[some]
        exact &= ~np.isnan(terms).any(axis=(1, 2))
        for _, part in parts:
            exact &= ~part.inexact
        words = {plan.title: part.words for plan, part in parts if part.words is not None}
        return HeldOutTerms(names, self.tally.classes, terms, prior, y, w, words), exact

    def _recounted(self, recipe: Recipe, rows: Array) -> Iterator[tuple[int, Model | None]]:
        """Go through rows, each with the model of all others; None if it cannot be taken away."""
        data = self.data
        if not self._part:
            check_refits(len(rows), NOT_EXACT)
        w = data.weight.copy()
        for row in progress(rows.tolist(), "leaving out row by row"):
            before, w[row] = w[row], 0.0
            tally = self._without(row) if self._part else data.tally(w)
            w[row] = before
            yield row, None if tally is None else recipe.model(tally)

    def _without(self, row: int) -> Tally | None:
        """Take a row away from the tally of rows that are not at hand; None if that is refused."""
        w = np.zeros(len(self.data))
        w[row] = self.data.weight[row]
        try:
            return self.tally - self.data.tally(w)
        except TallyBayesError:  # too ill-conditioned to trust
            return None
