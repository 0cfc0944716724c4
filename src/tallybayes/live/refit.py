"""Weights that are fitted again on labelled events: a calibration, or weighed evidence.

Both are convex problems on leave-one-out terms of these events alone, so they cost a pass over
them, and counts stay as they are. Views and joints stay what they are too: other ones would have to
be counted, which takes a `fit` on all rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.evidence import EvidenceProblem
from tallybayes.evidence.weights import drawn_to_nothing
from tallybayes.live.entries import Entry, Forget, Learn, written
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration, How as FittedHow
from tallybayes.sources import Frame
from tallybayes.sources.columns import ArrayColumn
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation.calibration import calibrated, no_closed_form
from tallybayes.validation.leave_one_out import LeaveOneOut

How = FittedHow | None
FEWEST = 50  # events


def refitted(fitted: Fitted, entries: Sequence[Entry], how: How = None) -> Recipe:
    """Return the recipe with weights fitted on some events.

    Parameters
    ----------
    fitted
        The tally, of which only the schema is read, and the recipe.
    entries
        Events; records that were learnt and forgotten among them are left out.
    how
        What is fitted; as the recipe has it when not given, and otherwise a temperature.
    """
    before = fitted.recipe.calibration
    how = how or (before.how if before is not None else "temperature")
    gone = Counter(_told(entry) for entry in entries if isinstance(entry, Forget))
    rows = []
    for entry in reversed(entries):
        if isinstance(entry, Learn):
            if gone and gone[_told(entry)] > 0:
                gone[_told(entry)] -= 1
            else:
                rows.append(entry)
    rows.reverse()
    labels = [row.label for row in rows]
    if len(rows) < FEWEST or min(Counter(labels).values()) < 2 or len(set(labels)) < 2:
        raise TallyBayesError(
            f"weights are fitted on at least {FEWEST} labelled events, of two classes or more, and "
            f"of each at least two; there are {len(rows)}: wait for more"
        )
    schema = fitted.tally.schema
    columns = {n: ArrayColumn(n, [row.record.get(n) for row in rows]) for n in schema.names}
    data = LabelledRows.of(Frame(columns, len(rows)), schema, labels, None)
    recipe = replace(fitted.recipe, calibration=None)
    found = (
        _of_evidence(data, recipe, before) if how == "evidence" else calibrated(data, recipe, how)
    )
    return replace(recipe, calibration=found)


def _told(entry: Learn | Forget) -> bytes:
    return written([entry.record, entry.label])


def _of_evidence(data: LabelledRows, recipe: Recipe, before: Calibration | None) -> Calibration:
    """Weigh the views and joints that are counted."""
    if before is None or before.how != "evidence":
        raise TallyBayesError(
            "how='evidence' weighs views and joints, which this model does not count; fit a model "
            "that has them, or say 'temperature' or 'weights'"
        )
    together = not before.exponents
    closed = LeaveOneOut(data).closed_terms(recipe, np.arange(len(data)), together=together)
    if closed is None:
        raise no_closed_form("evidence")
    held, exact = closed
    some = np.flatnonzero(exact & (held.w > 0.0))
    y, w, terms = held.y[some], held.w[some], held.terms[some]
    # views that had no weight are in the mean that weights are drawn to, and say nothing
    gone = [name for name in before.uncounted if name not in held.names]
    terms = np.pad(terms, ((0, 0), (0, 0 if together else len(gone)), (0, 0)))
    names = [""] if together else [*held.names, *gone]
    earning = drawn_to_nothing(data.schema, names)
    # as numbers of which most are the same, which had no curve beside their views, have none
    had_none = np.array([before.exponents.get(name, 0.0) == 0.0 for name in names], bool)
    columns = np.isin(names, [*data.schema.names])
    silent = np.isin(names, gone) | (had_none & earning & columns)
    problem = EvidenceProblem(terms, held.log_prior[some], y, w, earning, silent)
    weights = problem.solved()
    own = problem.judged(np.ones(1) if together else columns.astype(np.float64))
    fitted = problem.judged(weights.weights, weights.constants)
    of_names = dict(zip(held.names, weights.weights.tolist(), strict=False))
    return Calibration(
        "evidence",
        {} if together else of_names,
        default=float(weights.weights[0]) if together else 0.0,
        loss=fitted.loss,
        loss_before=own.loss,
        accuracy=fitted.accuracy,
        accuracy_before=own.accuracy,
        rows=len(some),
        constants=dict(zip(held.classes, weights.constants.tolist(), strict=True)),
        gains=before.gains,
        uncounted=before.uncounted,
    )
