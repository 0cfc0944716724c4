"""What each column says of rows that it was not learnt from.

In naive Bayes the score of a row is log P(c) + sum_j log P(x_j | c), and as a rule what a column
says does not depend on the others. So the held-out terms of all columns are worked out once, and
models of any columns, families side by side or weights of columns are judged by adding up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Batch, Block, Sparse, take_rows
from tallybayes.model import Factor, Model, Recipe
from tallybayes.model.factors import FactorPlan
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.validation.each_row import NOT_EXACT, LeaveOneOut
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.folds import Fold, check_refits
from tallybayes.validation.held_out import fold_tallies
from tallybayes.validation.progress import progress

Array = NDArray[Any]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutTerms:
    """Log P(x | c) of held-out rows, by row, unit and class.

    Attributes
    ----------
    names
        The units: columns, and a bag of counts, a text or a sparse matrix as one.
    columns
        The names of the columns of each unit.
    classes
        The classes of all rows.
    terms
        By row, unit and class; 0 in a class that was unknown without the row.
    log_prior
        The log prior without the row, by row and class; -inf in a class that was unknown.
    rows, y, w
        The number of each row in the data, its class, and its weight.
    exact
        The rows whose terms are those of a refit; the others have NaN.
    fold
        The fold of each row; None for leave-one-out.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    classes: tuple[Label, ...]
    terms: Floats
    log_prior: Floats
    rows: NDArray[np.int64]
    y: NDArray[np.int64]
    w: Floats
    exact: Mask
    fold: NDArray[np.int64] | None = None

    @classmethod
    def room(cls, data: Encoded, plans: Sequence[FactorPlan], rows: Array) -> HeldOutTerms:
        """Make room for the terms of some rows, none of them known yet."""
        names: list[str] = []
        columns: list[tuple[str, ...]] = []
        for plan in plans:
            own = tuple(map(str, plan.names))
            joint = is_joint(plan, data.blocks[plan.group])
            names += [plan.title] if joint else own
            columns += [own] if joint else [(name,) for name in own]
        n, c = len(rows), len(data.classes)
        w = np.ones(n) if data.w is None else data.w[rows]
        return cls(
            tuple(names),
            tuple(columns),
            data.classes,
            np.full((n, len(names), c), np.nan),
            np.full((n, c), -np.inf),
            rows,
            data.y[rows],
            w,
            np.zeros(n, bool),
        )

    def put(self, at: Array, known: Sequence[Label], terms: Floats, log_prior: Floats) -> None:
        """Put in what a model that knows some of the classes says of some rows."""
        place = {label: k for k, label in enumerate(self.classes)}
        here = np.array([place[label] for label in known])
        self.terms[at] = 0.0
        self.log_prior[at] = -np.inf
        self.terms[np.ix_(at, np.arange(len(self.names)), here)] = terms
        self.log_prior[np.ix_(at, here)] = log_prior
        self.exact[at] = ~np.isnan(terms).any(axis=(1, 2))

    @classmethod
    def joined(cls, folds: Sequence[HeldOutTerms]) -> HeldOutTerms:
        """Put the terms of folds behind each other."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in folds])
            for name in ("terms", "log_prior", "rows", "y", "w", "exact")
        }
        number = np.repeat(np.arange(len(folds)), [len(part.rows) for part in folds])
        return replace(folds[0], **arrays, fold=number)

    def together(self, units: Sequence[Sequence[int]]) -> HeldOutTerms:
        """Return the same with other units: those that are named together, in this order."""
        names, columns = [], []
        terms = np.empty((len(self.rows), len(units), len(self.classes)))
        for k, (first, *more) in enumerate(units):
            own = tuple(name for unit in (first, *more) for name in self.columns[unit])
            names.append(f"{own[0]} ... {own[-1]}" if more else self.names[first])
            columns.append(own)
            terms[:, k] = self.terms[:, [first, *more]].sum(axis=1)
        return replace(self, names=tuple(names), columns=tuple(columns), terms=terms)


def is_joint(plan: FactorPlan, block: Block) -> bool:
    """Tell whether the columns of a factor are one unit: a bag, a text, a sparse matrix."""
    return plan.family.joint or isinstance(block, Sparse)


def terms_of(factor: Factor, block: Block, n_classes: int) -> Floats:
    """Return log P(x | c) by row, unit and class of the rows of a factor's block."""
    if not is_joint(factor, block):
        return factor.parameters.log_prob(block)
    n = block.n_rows if isinstance(block, Sparse) else len(block)
    out = np.zeros((n, n_classes))
    factor.parameters.add_log_likelihood(block, out)
    return out[:, None]


def _terms_under(model: Model, data: Encoded, rows: Array) -> Floats:
    """Return the terms of some rows under a model."""
    batch = Batch(slice(0, len(rows)), tuple(take_rows(block, rows) for block in data.blocks))
    n_classes = len(model.classes)
    parts = [terms_of(factor, factor.block_of(batch), n_classes) for factor in model.factors]
    return np.concatenate(parts, axis=1)


def fold_terms(
    data: Encoded, recipe: Recipe, folds: Sequence[Fold], used: Mask | None = None
) -> HeldOutTerms:
    """Return the terms of the rows of all folds, one fold behind the other, from one counting.

    Rows of weight 0 have no part, nor those that are not `used`.
    """
    counted = np.ones(len(data), bool) if used is None else used.copy()
    if data.w is not None:
        counted &= data.w > 0.0
    parts = {}
    for number, rows, tally in fold_tallies(data, folds):
        some = rows[counted[rows]]
        part = HeldOutTerms.room(data, list(recipe.plan(tally)), some)
        if len(some):
            model = recipe.model(tally)
            terms = _terms_under(model, data, some)
            part.put(np.arange(len(some)), model.classes, terms, model.log_prior)
        parts[number] = part
    return HeldOutTerms.joined([parts[number] for number in range(len(folds))])


def left_out_terms(
    data: Encoded,
    recipe: Recipe,
    used: Mask | None = None,
    *,
    tally: Tally | None = None,
    recount: bool = True,
) -> HeldOutTerms:
    """Return the terms of rows that are each left out alone, in the order of the data.

    Rows of weight 0 have no part, nor those that are not `used`. Those for which the closed form is
    not exact are counted anew, unless `recount` says no.
    """
    each = LeaveOneOut(data, tally)
    some = np.flatnonzero((each.w > 0.0) & (True if used is None else used))
    room = HeldOutTerms.room(data, list(recipe.plan(each.tally)), some)
    closed = each.terms(recipe, some)
    if closed is not None:
        _, terms, log_prior, exact = closed
        terms[~exact] = np.nan
        room.put(np.arange(len(some)), each.tally.classes, terms, log_prior)
    if not recount:
        return room
    inexact = np.flatnonzero(~room.exact)
    check_refits(len(inexact), NOT_EXACT)
    w = each.w.copy()
    for at in progress(inexact.tolist(), "leaving out row by row"):
        row = some[at]
        before, w[row] = w[row], 0.0
        model = recipe.model(data.tally(w))
        terms = _terms_under(model, data, some[[at]])
        room.put(np.array([at]), model.classes, terms, model.log_prior)
        w[row] = before
    return room
