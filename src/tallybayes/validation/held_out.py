"""Posteriors of rows from models that never saw them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import take_rows
from tallybayes.kernels.scoring import shares
from tallybayes.kernels.threads import over_rows
from tallybayes.metrics import Predictions
from tallybayes.model import Model, Recipe
from tallybayes.model.model import winners_of
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.tallies.folds import FoldTallies
from tallybayes.validation.each_row import LeaveOneOut
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.folds import Fold, Partitions, parted
from tallybayes.validation.progress import progress

Array = NDArray[Any]
Floats = NDArray[np.float64]

ROWS_AT_ONCE = 4096


def held_out_folds(data: Encoded, recipe: Recipe, folds: Sequence[Fold]) -> list[Predictions]:
    """Score the rows of each fold by a model of the rows to learn from, from tallies alone."""
    found = {number: scores for number, _, scores in held_out_many(data, [recipe], folds)}
    return [found[number] for number in range(len(folds))]


def held_out_many(
    data: Encoded, recipes: Sequence[Recipe], folds: Sequence[Fold]
) -> Iterator[tuple[int, int, Predictions]]:
    """Go through folds and recipes: the number of the fold, that of the recipe, and the scores."""
    for number, rows, tally in fold_tallies(data, folds):
        for k, recipe in enumerate(recipes):
            yield number, k, _scored(data, recipe.model(tally), rows)


def fold_tallies(data: Encoded, folds: Sequence[Fold]) -> Iterator[tuple[int, Array, Tally]]:
    """Go through the folds: number, the rows held out, and the tally of the rows to learn from.

    Folds that hold out different rows and learn from all others are counted together, in one pass.
    """
    for part, numbers in parted(folds, len(data)):
        if part is None:
            (number,) = numbers
            train, test = folds[number]
            w = np.zeros(len(data))
            np.add.at(w, train, 1.0 if data.w is None else data.w[train])
            yield number, test, data.tally(w)
            continue
        n_parts = int(part.max()) + 1
        counted = FoldTallies(data.schema, data.classes, data.blocks, data.y, data.w, part, n_parts)
        order = np.argsort(part.astype(np.int16), kind="stable")  # 16 bits sort fast
        edges = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=n_parts))])
        for place, number in enumerate(progress(numbers, "fold by fold")):
            rows = order[edges[place] : edges[place + 1]]
            if not isinstance(folds, Partitions):
                rows = folds[number][1]  # in the order that they were given in
            yield number, rows, counted.without(place)


def _scored(data: Encoded, model: Model, rows: Array) -> Predictions:
    """Score some rows by a model."""
    joint = np.empty((len(rows), len(model.classes)))
    cells = len(rows) * len(model.classes) * max(len(data.schema.names), 1)

    def work(share: slice) -> None:
        # in pieces that stay in the cache between being gathered and being scored
        for start in range(share.start, share.stop, ROWS_AT_ONCE):
            here = slice(start, min(start + ROWS_AT_ONCE, share.stop))
            part = [take_rows(block, rows[here]) for block in data.blocks]
            joint[here] = model.joint_of(part, here.stop - here.start)

    over_rows(work, len(rows), cells)
    winners = winners_of(joint, model.prior, model.classes, model.positive, rows)
    proba = posterior_of(joint, model.log_prior)
    return _predictions(data, model.classes, proba, winners, model.positive, rows)


def _predictions(
    data: Encoded,
    known: tuple[Label, ...],
    proba: Floats,
    winners: NDArray[np.intp],
    positive: Label | None,
    rows: Array,
) -> Predictions:
    """Put what was said beside the truth; classes that a model does not know have nothing."""
    if known != data.classes:
        place = {label: k for k, label in enumerate(data.classes)}
        places = np.array([place[label] for label in known])
        wide = np.zeros((len(rows), len(data.classes)))
        wide[:, places] = proba
        proba, winners = wide, places[winners]
    weights = None if data.w is None else data.w[rows]
    return Predictions(data.classes, data.y[rows], winners, proba, weights, rows, positive=positive)


def posterior_of(joint: Floats, log_prior: Floats) -> Floats:
    """Turn log scores into posteriors, in place; impossible rows get the prior."""
    if shares(joint):
        impossible = joint.max(axis=1) == 0.0
        joint[impossible] = np.exp(np.broadcast_to(log_prior, joint.shape)[impossible])
    return joint


def left_out_each(
    data: Encoded, recipe: Recipe, rows: LeaveOneOut | None = None
) -> Predictions | None:
    """Score every row by the model of all others; None if there is no closed form."""
    rows = LeaveOneOut(data) if rows is None else rows
    terms = rows.joint(recipe)
    if terms is None:
        return None
    joint, log_prior = terms
    classes = rows.tally.classes
    winners = winners_of(joint, log_prior, classes, recipe.positive)
    proba = posterior_of(joint, log_prior)
    everything = np.arange(len(data))
    found = _predictions(data, classes, proba, winners, recipe.positive, everything)
    return replace(found, rows=None, held_out="leave-one-out")
