"""Folds from one counting: posteriors of rows from models that never saw them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tallybayes.arrays import Array
from tallybayes.kernels.threads import over_rows
from tallybayes.metrics import Predictions
from tallybayes.model import Model, Recipe
from tallybayes.tallies import Tally
from tallybayes.tallies.labelled_rows import FoldTallies, LabelledRows
from tallybayes.validation.folds import Folds
from tallybayes.validation.held_out_terms import judged
from tallybayes.validation.progress import progress

ROWS_AT_ONCE = 4096


def posteriors(
    data: LabelledRows, recipes: Sequence[Recipe], folds: Folds
) -> list[list[Predictions]]:
    """Return for each recipe what its models say of each fold, from tallies alone."""
    found: list[list[Predictions]] = [[] for _ in recipes]
    for rows, tally in _fold_tallies(data, folds):
        for recipe, of_recipe in zip(recipes, found, strict=True):
            of_recipe.append(_judged(data, recipe.model(tally), rows))
    return found


def _fold_tallies(data: LabelledRows, folds: Folds) -> Iterator[tuple[Array, Tally]]:
    """Go through the folds: the rows held out, and the tally of the rows to learn from.

    Folds that hold out different rows and learn from all others are counted together, in one pass.
    """
    for part, n in folds.passes():
        n_parts = max(n, int(part.max()) + 1)
        counted = FoldTallies(data, part, n_parts)
        order = np.argsort(part.astype(np.int16), kind="stable")  # 16 bits sort fast
        edges = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=n_parts))])
        for place in progress(range(n), "fold by fold"):
            yield order[edges[place] : edges[place + 1]], counted.without(place)
    for train, test in progress(folds.pairs, "fold by fold"):
        w = np.zeros(len(data))
        np.add.at(w, train, data.weight[train])
        yield test, data.tally(w)


def _judged(data: LabelledRows, model: Model, rows: Array) -> Predictions:
    """Judge some rows by a model."""
    joint = np.empty((len(rows), len(model.classes)))
    cells = len(rows) * len(model.classes) * max(len(data.schema.names), 1)

    def work(share: slice) -> None:
        # in pieces that stay in the cache between being gathered and being scored
        for start in range(share.start, share.stop, ROWS_AT_ONCE):
            here = slice(start, min(start + ROWS_AT_ONCE, share.stop))
            joint[here] = model.joint_of(data.taken(rows[here]), here.stop - here.start)

    over_rows(work, len(rows), cells)
    return judged(data, joint, model.log_prior, model.classes, model.positive, rows)
