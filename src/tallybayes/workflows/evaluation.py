"""How good a model is: a stored one on a test file, or a specification by leaving rows out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.kernels.choice import part_of
from tallybayes.metrics import ClassificationReport, Predictions
from tallybayes.model.plans import ScorePlan
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import Stored
from tallybayes.rendering.words import counted
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import map_rows
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.counting import cells_in_all
from tallybayes.workflows.prediction import check_columns
from tallybayes.workflows.streams import Aside, Progress
from tallybayes.workflows.tables import estimator_of, read_labelled


def _notes(aside: Aside) -> tuple[str, ...]:
    """Say how many rows were set aside."""
    if not aside.rows:
        return ()
    return (f"{counted(aside.rows, 'bad row')} {'was' if aside.rows == 1 else 'were'} set aside",)


def judge(
    stored: Stored,
    data: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    read: ReadOptions | None = None,
    progress: Progress | None = None,
    aside: Aside | None = None,
    shown: Callable[[Any], None] | None = None,
) -> Predictions:
    """Let a stored model judge labelled rows, in a stream; `shown` is shown each table of them."""
    read = read or ReadOptions()
    rows = open_rows(data, read)
    schema = stored.fitted.tally.schema
    check_columns(rows, schema)
    label_column = target or schema.target
    for name, what in ((label_column, "what is right"), (weight, "the weights")):
        if name is not None and name not in rows.names:
            hint = did_you_mean(name, rows.names)
            raise TallyBayesError(f"{rows.files[0]} has no column {name!r} for {what}; {hint}")
    plan = ScorePlan.of(stored.fitted, label_column, weight)

    def work(table: Any) -> Any:
        return plan.predictions(table), table if shown is not None else None

    stream = map_rows(rows, plan.types, work, read, progress, what="evaluating")
    parts = []
    with part_of(cells_in_all(rows, schema)):
        for done in stream:
            part, table = done.value
            parts.append(replace(part, rows=done.numbers))
            if shown is not None:
                shown(table)
    aside = (Aside() if aside is None else aside).note(stream.rejected)
    if not sum(map(len, parts)):
        raise TallyBayesError(f"{rows.files[0]} has no rows to score")
    found = replace(Predictions.joined(parts, folds=False), notes=_notes(aside))
    return found if aside.rows else replace(found, rows=None)


def evaluate_model(
    stored: Stored,
    data: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    read: ReadOptions | None = None,
    progress: Progress | None = None,
    aside: Aside | None = None,
) -> ClassificationReport:
    """Score a stored model on labelled rows that it has not seen.

    Parameters
    ----------
    stored
        The model.
    data
        Files, a folder, a pattern, an address, "-", or a table: see `open_rows`.
    target
        The column of labels; the one that the model was trained on when not given.
    weight
        A column that says how often each row counts.
    read, progress
        As for `train`.
    aside
        What is told of the rows that were set aside, if anybody wants to know.
    """
    judged = judge(
        stored, data, target=target, weight=weight, read=read, progress=progress, aside=aside
    )
    return judged.report()


def evaluate(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    *,
    folds: Any = 10,
    repeats: int = 1,
    seed: int = 0,
    weight: str | None = None,
    read: ReadOptions | None = None,
    progress: Progress | None = None,
    aside: Aside | None = None,
) -> ClassificationReport:
    """Score a specification on rows that are held out in turn.

    Parameters
    ----------
    data, target, spec, weight, read, progress
        As for `train`. All rows are read into memory.
    folds
        How many folds; "loo" to leave out each row on its own; a share such as 0.2 to hold out
        once.
    repeats, seed
        How often to do it all, shuffled anew, and what the shuffling begins with.
    aside
        What is told of the rows that were set aside, if anybody wants to know.
    """
    rows = read_labelled(
        data, target, spec or ModelSpec(), weight=weight, read=read, progress=progress, aside=aside
    )
    held = estimator_of(rows.spec).cross_val(
        rows.X, rows.y, folds=folds, repeats=repeats, seed=seed, sample_weight=rows.weights
    )
    report: ClassificationReport = held.report(_notes(rows.aside))
    return report
