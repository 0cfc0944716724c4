"""What a model that was just fitted is worth: some of its rows, each left out of all."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError, TallyBayesWarning
from tallybayes.evidence.diagnosis import better_families
from tallybayes.metrics import Predictions
from tallybayes.model import Fitted, Recipe
from tallybayes.model.worth import LEAST, Worth, worth_of
from tallybayes.sources import Source
from tallybayes.sources.tables import taken
from tallybayes.tallies import Tally
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.tokenizer import Words
from tallybayes.validation.leave_one_out import LeaveOneOut

MOST_ROWS, MOST_CELLS, MOST_CLASSES = 1_000, 2_000_000, 100


def appraised(tally: Tally, recipe: Recipe, source: Source, y: Any, w: Any) -> Worth | None:
    """Judge a model of counts by some of the rows that were counted, each left out of all.

    None if there are too few rows or too many classes, or leave-one-out has no closed form.
    """
    n, texts = source.n_rows, any(isinstance(group.kind, Words) for group in tally.schema.groups)
    most = min(MOST_ROWS, MOST_CELLS // (len(source.names) * max(len(tally.classes), 1)))
    many = int(np.count_nonzero(tally.rows)) > MOST_CLASSES or (texts and n > most)
    if n < LEAST or most < LEAST or many or (tally.rows > 1).sum() < 2 or not recipe.prior.learnt:
        return None
    if n > most:
        some = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
        source, y = taken(source, some), np.asarray(y)[some]
        w = None if w is None else np.asarray(w)[some]
    try:
        data = LabelledRows.of(source, tally.schema, y, w)
        with warnings.catch_warnings():  # that rows are impossible is part of the loss
            warnings.simplefilter("ignore", TallyBayesWarning)
            held = LeaveOneOut(data, tally, part=n > most).predictions(recipe)
    except TallyBayesError:  # some row is all that is known of something
        return None
    return None if held is None else explained(held, Fitted(tally, recipe), source, y, w)


def explained(
    held: Predictions, fitted: Fitted, source: Source, y: Any, w: Any = None
) -> Worth | None:
    """Judge a model by its rows that were left out; of some rows see why it is worse than none."""
    worth = worth_of(held, fitted.recipe.prior)
    if worth is None or not source.n_rows or not worth.held_out.is_worse:
        return worth
    return Worth(worth.held_out, better_families(replace(fitted, worth=None), source, y, w))
